# What the tests of the Triton backend share; see docs/modules/triton.md.
import os
import subprocess

import pytest
import torch
from forkserver import run_new


@pytest.fixture(scope="session", autouse=True)
def _own_caches(tmp_path_factory):
    """Compile everything in this run, and leave nothing behind."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        yield


@pytest.fixture(autouse=True)
def _clean_device():
    """Every test starts on the default stream of device 0, with nothing compiled."""
    for index in range(torch.openreg.device_count()):
        torch.openreg.set_stream(torch.openreg.default_stream(index))
    torch.openreg.set_device(0)
    torch.manual_seed(0)
    torch._dynamo.reset()
    yield
    for index in range(torch.openreg.device_count()):
        torch.openreg.synchronize(index)


@pytest.fixture
def run_python():
    """Run a program in a new interpreter; return the finished process."""

    def run(program: str, **env: str) -> subprocess.CompletedProcess[str]:
        return run_new(program, {**os.environ, **env})

    return run


@pytest.fixture
def compile_with():
    """Choose what generates Inductor's kernels, for one test."""
    import torch._inductor.config
    import torch_openreg._inductor as inductor

    def choose(backend: str) -> None:
        inductor.config.backend = backend
        inductor.register()

    before = inductor.config.backend
    with torch._inductor.config.patch({"compile_threads": 1, "cpp.vec_isa_ok": True}):
        yield choose
    choose(before)


@pytest.fixture
def triton_inductor(compile_with):
    """Let Inductor generate Triton for one test."""
    compile_with("triton")
