# What tests of the large backend share, from stage 4 on; see docs/start/ladder.md.
"""Fixtures that need streams, graphs, a compiler or the headers of the driver."""

import fcntl
import hashlib
import subprocess
import sysconfig
from pathlib import Path

import pytest
import torch
from backend import HEADER, LIBRARIES, load
from custom_build import COMPILER, STRICT

OPENREG = Path(__file__).resolve().parents[2]
INSTALLED = Path(str(load().__file__)).parent


@pytest.fixture(autouse=True)
def default_streams(_clean_device):
    """Every test starts on the default streams, and on device 0."""
    for index in range(torch.openreg.device_count()):
        torch.openreg.set_stream(torch.openreg.default_stream(index))
    torch.openreg.set_device(0)


@pytest.fixture
def no_fallback():
    """No operator of the test may fall back to the CPU."""
    with torch.openreg.fallbacks() as counts:
        yield
    assert not counts


@pytest.fixture
def no_capture_left():
    """The test ends every graph capture that it begins."""
    yield
    assert not torch.openreg.is_current_stream_capturing()


@pytest.fixture(scope="session")
def _inductor_cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("inductor"))


@pytest.fixture(scope="module")
def inductor(_inductor_cache):
    """Compile with Inductor: no code of another run is used, and none is left."""
    import torch._inductor.config as config

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", _inductor_cache)
        # Neither starts processes that compile nor tries each vector extension.
        with config.patch({"compile_threads": 1, "cpp.vec_isa_ok": True}):
            yield _inductor_cache


def _compiler_arguments() -> list[str]:
    root = Path(torch.__file__).resolve().parent
    library, driver = INSTALLED / "lib", INSTALLED / "include"
    include = [root / "include", root / "include/torch/csrc/api/include"]
    # Errors in our code, not in torch's headers.
    system = [
        f"-isystem{path}" for path in (*include, sysconfig.get_paths()["include"])
    ]
    return [
        *(*COMPILER, "-std=c++20", "-O0", "-fPIC", "-pthread"),
        *("-Wall", "-Wextra", "-Wno-unused-parameter", *STRICT),
        *("-DAT_PER_OPERATOR_HEADERS", f"-I{OPENREG}", f"-I{driver}", *system),
        *(f"-L{library}", f"-L{root / 'lib'}"),
        *(f"-Wl,-rpath,{library}", f"-Wl,-rpath,{root / 'lib'}", "-Wl,--no-as-needed"),
    ]


@pytest.fixture(scope="session")
def compile_cpp():
    """Compile ``openreg/tests/cpp/NAME.cpp``; return the path of the result.

    The result is a program if the file has a ``main``, otherwise a shared object for
    ``torch.ops.load_library`` or ``ctypes``. It stays in ``build``, under a name that
    holds a hash of what it was made from; processes that want the same one wait.
    Without ``backend`` it is not linked with the backend, which loads that as well.
    """

    def compile_one(name: str, backend: bool = True) -> Path:
        source = OPENREG / "tests/cpp" / f"{name}.cpp"
        text = source.read_text()
        program = "int main(" in text
        arguments = _compiler_arguments()
        parts = [text, torch.__version__, str(backend), *arguments]
        headers = [INSTALLED / "include" / HEADER]
        headers += sorted((OPENREG / "csrc").rglob("*.h"))
        parts += [header.read_text() for header in headers]
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        folder = OPENREG.parent / "build/tests-cpp"
        folder.mkdir(parents=True, exist_ok=True)
        result = folder / f"{name}-{digest}{'' if program else '.so'}"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                made = result.with_suffix(".part")
                libraries = ["-ltorch_cpu", "-lc10"]
                if backend:
                    libraries = [*LIBRARIES, *libraries]
                kind = [] if program else ["-shared"]
                command = [*arguments, *kind, str(source), "-o", str(made), *libraries]
                process = subprocess.run(command, capture_output=True, text=True)
                assert process.returncode == 0, process.stderr
                made.rename(result)
        return result

    return compile_one
