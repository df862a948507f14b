# What all tests of the backend share; see docs/start/quickstart.md.
import fcntl
import gc
import hashlib
import os
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest
import torch
import torch_openreg
from custom_build import COMPILER, STRICT
from forkserver import ForkServer

OPENREG = Path(__file__).resolve().parents[1]
collect_ignore = ["clients"]  # what they import is in the environment of nox -s clients
LIBRARIES = Path(torch_openreg.__file__).parent / "lib"


@pytest.fixture(autouse=True)
def _clean_device():
    """Every test starts on device 0 and the default streams, and leaves no work.

    Tensors of an earlier test, in the cycles of an exception that it caught, go before
    or after a test that counts memory, and not meanwhile.
    """
    gc.collect(1)
    gc.disable()
    for index in range(torch.openreg.device_count()):
        torch.openreg.set_stream(torch.openreg.default_stream(index))
    torch.openreg.set_device(0)
    yield
    for index in range(torch.openreg.device_count()):
        torch.openreg.synchronize(index)
    torch.openreg.set_device(0)
    gc.enable()


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


def _environment(env: dict[str, str]) -> dict[str, str]:
    # Some programs hold a kernel back until a later line of theirs.
    always = {"PYTHONFAULTHANDLER": "1", "OPENREG_LAUNCH_BLOCKING": "0"}
    return {**os.environ, **always, **env}


@pytest.fixture(scope="session")
def _inductor_cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("inductor"))


@pytest.fixture(scope="module")
def inductor(_inductor_cache):
    """Compile with Inductor: no code of another run is used, and none is left."""
    import torch._inductor.config as config

    before = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = _inductor_cache
    # Neither starts processes that compile nor tries each vector extension.
    with config.patch({"compile_threads": 1, "cpp.vec_isa_ok": True}):
        yield _inductor_cache
    torch._dynamo.reset()
    if before is None:
        del os.environ["TORCHINDUCTOR_CACHE_DIR"]
    else:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = before


@pytest.fixture
def run_python():
    """Run a program in a new interpreter; return the finished process."""

    def run(program: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            capture_output=True,
            text=True,
            timeout=120,
            env=_environment(env),
        )

    return run


@pytest.fixture(scope="session")
def _fork_server():
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture
def run_forked(_fork_server):
    """Do as ``run_python``, and much faster, where torch may be there already."""

    def run(program: str, **env: str) -> subprocess.CompletedProcess[str]:
        return _fork_server.run(program, _environment(env))

    return run


def _compiler_arguments() -> list[str]:
    root = Path(torch.__file__).resolve().parent
    driver = OPENREG / "third_party/openreg/include"
    include = [root / "include", root / "include/torch/csrc/api/include"]
    # Errors in our code, not in torch's headers.
    system = [
        f"-isystem{path}" for path in (*include, sysconfig.get_paths()["include"])
    ]
    return [
        *(*COMPILER, "-std=c++20", "-O0", "-fPIC", "-pthread"),
        *("-Wall", "-Wextra", "-Wno-unused-parameter", *STRICT),
        *("-DAT_PER_OPERATOR_HEADERS", f"-I{OPENREG}", f"-I{driver}", *system),
        *(f"-L{LIBRARIES}", f"-L{root / 'lib'}"),
        *(
            f"-Wl,-rpath,{LIBRARIES}",
            f"-Wl,-rpath,{root / 'lib'}",
            "-Wl,--no-as-needed",
        ),
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
        headers = [OPENREG / "third_party/openreg/include/openreg.h"]
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
                    libraries = ["-ltorch_openreg", "-lopenreg", *libraries]
                kind = [] if program else ["-shared"]
                command = [*arguments, *kind, str(source), "-o", str(made), *libraries]
                process = subprocess.run(command, capture_output=True, text=True)
                assert process.returncode == 0, process.stderr
                made.rename(result)
        return result

    return compile_one
