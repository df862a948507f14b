# What the borrowed kernels need of the build; see docs/operators/borrowed-kernels.md.

# LITERALINCLUDE START: SAME_BITS
# With an instruction for a * b + c, the compiler would round once instead of twice, and
# the numbers of a seed would depend on the processor: always on Arm, on x86-64 from v3.
target_compile_options(torch_openreg PRIVATE -ffp-contract=off)
# LITERALINCLUDE END: SAME_BITS

# Lets the compiler compute several square roots at once. The precompiled header was
# made without these options.
set_source_files_properties(
  kernels/cpu/BoxMuller.cpp PROPERTIES COMPILE_OPTIONS "-O3;-fno-math-errno"
                                        SKIP_PRECOMPILE_HEADERS ON)

# Custom operators of other packages are also kernels of this kind.
foreach(name Argument HostKernel Launch LaunchState Operands Shrink TensorArg Trial)
  install(FILES kernels/cpu/${name}.h DESTINATION include/csrc/kernels/cpu)
endforeach()
