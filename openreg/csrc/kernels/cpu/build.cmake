# What the borrowed kernels need of the build; see docs/operators/borrowed-kernels.md.

# Lets the compiler compute several square roots at once. The precompiled header was
# made without these options.
set_source_files_properties(
  kernels/cpu/BoxMuller.cpp PROPERTIES COMPILE_OPTIONS "-O3;-fno-math-errno"
                                        SKIP_PRECOMPILE_HEADERS ON)

# Custom operators of other packages are also kernels of this kind.
foreach(name Argument HostKernel Launch LaunchState Operands Shrink TensorArg Trial)
  install(FILES kernels/cpu/${name}.h DESTINATION include/csrc/kernels/cpu)
endforeach()
