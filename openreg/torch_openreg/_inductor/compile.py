# Compiles the fused kernels; see docs/modules/compile-wrapper.md.
"""What the generated Python imports."""

from pathlib import Path
from typing import Any

from torch._inductor.async_compile import AsyncCompile, get_compile_threads
from torch._inductor.codecache import CppPythonBindingsCodeCache, LambdaFuture

from .kernels import is_launcher

PACKAGE = Path(__file__).resolve().parents[1]
LIBRARIES = PACKAGE / "lib"
FLAGS = (
    f"-I{PACKAGE / 'include'}",
    "-Wl,--no-as-needed",  # only headers refer to them
    str(LIBRARIES / "libtorch_openreg.so"),
    str(LIBRARIES / "libopenreg.so"),
    f"-Wl,-rpath,{LIBRARIES}",
)


# LITERALINCLUDE START: INDUCTOR_COMPILE
class OpenRegAsyncCompile(AsyncCompile):
    """Compiles kernels of the device with its headers and libraries."""

    def cpp_pybinding(self, argtypes: list[str], source_code: str) -> Any:
        """Return a kernel, or the promise of one."""
        if not is_launcher(source_code):  # the CPU's part of a mixed graph
            return super().cpp_pybinding(argtypes, source_code)
        types = [*argtypes, "int64_t"]  # the index of the device
        cache = CppPythonBindingsCodeCache
        if get_compile_threads() <= 1:
            return cache.load_pybinding(types, source_code, extra_flags=FLAGS)
        return LambdaFuture(
            cache.load_pybinding_async(
                types, source_code, extra_flags=FLAGS, submit_fn=self.submit
            )
        )


# LITERALINCLUDE END: INDUCTOR_COMPILE
