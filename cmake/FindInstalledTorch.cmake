# Finds the torch installed in the Python that builds; explained in docs/start/architecture.md.
#
# Gives the targets Torch::cpu and Torch::python, and OPENREG_TORCH_VERSION. find_package(Torch)
# does the same job; this file is shorter, asks the interpreter only once, and refuses a
# release of torch for which the backend is not tested. The headers of torch bring their own
# pybind11: one from elsewhere need not share its internals with torch.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)

# Reads the version without importing torch: an import would load the backends that are
# installed, and cannot load a torch for another processor.
set(_query "import os, runpy; from importlib.util import find_spec")
string(APPEND _query "; d = os.path.dirname(os.path.realpath(find_spec('torch').origin))")
string(APPEND _query "; print(runpy.run_path(d + '/version.py')['__version__'], d, sep=';')")
execute_process(
  COMMAND ${Python_EXECUTABLE} -c "${_query}"
  OUTPUT_VARIABLE _answer OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_VARIABLE _error RESULT_VARIABLE _result)
if(NOT _result EQUAL 0)
  message(FATAL_ERROR "${Python_EXECUTABLE} finds no torch: install the version named in "
                      "requirements/torch.txt and build with --no-build-isolation.\n${_error}")
endif()
list(GET _answer 0 OPENREG_TORCH_VERSION)
list(GET _answer 1 _torch_dir)

# VENDOR: which releases of torch a build accepts, here and in pyproject.toml
# LITERALINCLUDE START: TORCH_RANGE
set(OPENREG_TORCH_FROM 2.13 CACHE STRING "The oldest torch that a build accepts")
set(OPENREG_TORCH_BELOW 2.16 CACHE STRING "The first torch that is too new for it")
if(OPENREG_TORCH_VERSION VERSION_LESS OPENREG_TORCH_FROM)
  message(FATAL_ERROR "torch ${OPENREG_TORCH_VERSION} is too old: install torch "
                      "${OPENREG_TORCH_FROM} or newer.")
elseif(OPENREG_TORCH_VERSION VERSION_GREATER_EQUAL OPENREG_TORCH_BELOW)
  message(FATAL_ERROR "torch ${OPENREG_TORCH_VERSION} is newer than this backend: it "
                      "is tested with releases below ${OPENREG_TORCH_BELOW}. Install "
                      "one of them. To try the new one, build with CMAKE_ARGS="
                      "-DOPENREG_TORCH_BELOW=, followed by the release after it.")
endif()
# LITERALINCLUDE END: TORCH_RANGE

set(TORCH_INCLUDE_DIR "${_torch_dir}/include")

# AT_PER_OPERATOR_HEADERS: ATen's headers include what they name, not all operators.
foreach(_name IN ITEMS c10 torch_cpu torch_python)
  add_library(Torch::${_name} SHARED IMPORTED)
  set_target_properties(
    Torch::${_name}
    PROPERTIES IMPORTED_LOCATION "${_torch_dir}/lib/lib${_name}.so"
               INTERFACE_COMPILE_DEFINITIONS
               "_GLIBCXX_USE_CXX11_ABI=1;AT_PER_OPERATOR_HEADERS"
               INTERFACE_INCLUDE_DIRECTORIES
               "${_torch_dir}/include;${_torch_dir}/include/torch/csrc/api/include")
endforeach()
add_library(Torch::cpu INTERFACE IMPORTED)
target_link_libraries(Torch::cpu INTERFACE Torch::torch_cpu Torch::c10)
add_library(Torch::python INTERFACE IMPORTED)
target_link_libraries(Torch::python INTERFACE Torch::torch_python Torch::cpu Python::Module)

message(STATUS "torch ${OPENREG_TORCH_VERSION} in ${_torch_dir}")
