# What the tests of a backend share, on any device; see docs/start/ladder.md.
import faulthandler
import gc
import os
import subprocess
import sys

import backend
import pytest
import torch
from forkserver import ForkServer, run_new
from patience import PATIENCE

collect_ignore = ["clients"]  # what they import is in the environment of nox -s clients
backend.load()
if backend.STAGE >= backend.LARGE:
    from large_backend import (  # noqa: F401  fixtures
        _inductor_cache,
        compile_cpp,
        default_streams,
        inductor,
        no_capture_left,
        no_fallback,
    )
NEEDS = "needs(stage, devices, capability, release): deselects the test without them"
LEFT_OUT = pytest.StashKey[dict[str, list[str]]]()
TERMINAL = pytest.StashKey[int]()  # while a test runs, its output is captured


def pytest_configure(config):
    config.addinivalue_line("markers", NEEDS)
    config.stash[TERMINAL] = os.dup(sys.__stderr__.fileno())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """End the run where a test hangs, and print what each thread does."""
    terminal = item.config.stash[TERMINAL]
    faulthandler.dump_traceback_later(2 * PATIENCE, exit=True, file=terminal)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_report_header():
    return f"device: {backend.DEVICE}, up to stage {backend.STAGE} of the ladder"


def pytest_collection_modifyitems(config, items):
    """Deselect the tests that need more than the backend has."""
    left_out: dict[str, list[str]] = {}
    deselected = []
    for item in items:
        needed = [mark.kwargs for mark in item.iter_markers("needs")]
        if "no_fallback" in item.fixturenames:
            needed.append({"capability": "a kernel for every operator"})
        missing = next(filter(None, (backend.lacks(**what) for what in needed)), "")
        if missing:
            deselected.append(item)
            left_out.setdefault(missing, []).append(item.name)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in deselected]
    config.stash[LEFT_OUT] = left_out


def pytest_terminal_summary(terminalreporter, config):
    """Name what was deselected: it was not tested."""
    for missing, names in config.stash.get(LEFT_OUT, {}).items():
        terminalreporter.section(f"{len(names)} deselected, without {missing}")
        for name in names:
            terminalreporter.write_line(name)


@pytest.fixture(autouse=True)
def _clean_device():
    """Every test starts on device 0, seeded, with nothing compiled; it leaves no work.

    torch compiles one function, such as the one of ``nn.Linear``, eight times at most:
    the tests before must not count. Tensors of an earlier test, in the cycles of an
    exception that it caught, go before or after a test that counts memory, and not
    meanwhile.
    """
    gc.collect(1)
    gc.disable()
    torch.accelerator.set_device_index(0)
    torch.manual_seed(0)
    # A thread that starts takes the number that any thread set last, and the one that
    # pins a DataLoader's batches sets 1: sums come in another order then.
    torch.set_num_threads(torch.get_num_threads())
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
    yield
    for index in range(torch.accelerator.device_count()):
        torch.accelerator.synchronize(index)
    torch.accelerator.set_device_index(0)
    # A thread keeps the map_location of a torch.load that failed; copies read it.
    torch.serialization._serialization_tls.map_location = None
    gc.enable()
    warns_always = torch.is_warn_always_enabled()
    torch.set_warn_always(False)
    assert not warns_always, "this test left torch.set_warn_always(True)"


def _environment(env: dict[str, str]) -> dict[str, str]:
    always = {"PYTHONFAULTHANDLER": "1", **backend.ENVIRONMENT}
    return {**os.environ, **always, **env}


@pytest.fixture
def run_python():
    """Run a program in a new interpreter; return the finished process."""

    def run(program: str, **env: str) -> subprocess.CompletedProcess[str]:
        return run_new(program, _environment(env))

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
