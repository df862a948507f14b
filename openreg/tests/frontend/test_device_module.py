# torch.openreg is a module like torch.xpu; see docs/frontend/device-module.md.
import importlib
import inspect
import re
import runpy
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch_openreg
from torch_release import has_changed

pytestmark = pytest.mark.smoke  # forks, versions and names: see pyproject.toml

openreg = torch.openreg
PAGE = Path(__file__).parents[3] / "docs/frontend/accelerator-api.md"
HEADING = "## The module torch.openreg"


def names_left_out() -> list[str]:
    """The names in the first column of the table of the page."""
    section = PAGE.read_text().split(HEADING)[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert all(len(row.split("|")[2].split()) >= 5 for row in rows), "a reason, please"
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]


def test_each_name_of_torch_xpu_is_there_or_in_the_table_with_the_reason():
    offered = {name for name in torch.xpu.__all__ if hasattr(openreg, name)}
    left_out = names_left_out()
    assert len(left_out) == len(set(left_out))
    assert offered.isdisjoint(left_out)
    missing = set(torch.xpu.__all__) - offered - set(left_out)
    lists = has_changed("torch.xpu lists processes")
    assert missing == ({"list_gpu_processes"} if lists else set())
    assert set(left_out) <= set(torch.xpu.__all__)
    assert offered <= set(openreg.__all__)


def test_what_is_offered_is_documented():
    assert len(openreg.__all__) == len(set(openreg.__all__))
    for name in openreg.__all__:
        value = getattr(openreg, name)
        if callable(value) or inspect.ismodule(value):
            assert inspect.getdoc(value), name


# Parameters of torch.xpu and torch.cuda that openreg does not take, and why.
OTHER_PARAMETERS = {
    "torch.xpu.MemPool": "no allocator can be plugged in, so a pool has no options",
    "torch.cuda.MemPool": "the same",
    "torch.cuda.can_device_access_peer": "the second name is that of torch.xpu, peer",
    "torch.cuda.MemPool.snapshot": "the history is that of memory._snapshot(), always",
    "torch.cuda.memory_snapshot": "the same",
}


def parameters(function: object) -> list[tuple[object, ...]] | None:
    """Name, kind and default of each parameter; None where there is no signature.

    Python 3.13 and newer derive one for methods in C that take no argument or one.
    """
    if not callable(function) or inspect.ismethoddescriptor(function):
        return None
    try:
        signature = inspect.signature(function)
    except ValueError:
        return None
    types = ("xpu", "cuda", "openreg")
    return [
        (p.name, p.kind, "the device" if p.default in types else p.default)
        for p in signature.parameters.values()
    ]


def pairs(theirs: object, ours: object, name: str) -> Iterator[tuple[str, ...]]:
    """The name, and each public method that both classes define, with parameters."""
    yield name, parameters(theirs), parameters(ours)
    if inspect.isclass(theirs):
        for method in vars(theirs).keys() & vars(ours).keys():
            if callable(getattr(theirs, method)) and not method.startswith("_"):
                yield from pairs(
                    getattr(theirs, method), getattr(ours, method), f"{name}.{method}"
                )


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_whatever_torch_xpu_or_torch_cuda_has_too_takes_the_same_parameters():
    compared, differ = 0, set()
    for module in (torch.xpu, torch.cuda):
        both = [name for name in module.__all__ if hasattr(openreg, name)]
        for name in both:
            members = pairs(getattr(module, name), getattr(openreg, name), name)
            for member, theirs, ours in members:
                if theirs is None or ours is None:  # torch's own classes, in C++
                    continue
                compared += 1
                if theirs != ours:
                    differ.add(f"{module.__name__}.{member}")
    assert differ == set(OTHER_PARAMETERS)
    assert compared > 90


def test_nothing_public_lacks_types():
    for name in openreg.__all__:
        value = getattr(openreg, name)
        if not inspect.isfunction(value):
            continue
        signature = inspect.signature(value)
        annotations = [p.annotation for p in signature.parameters.values()]
        annotations.append(signature.return_annotation)
        assert inspect.Signature.empty not in annotations, name
    package = Path(torch_openreg.__file__).parent
    assert (package / "py.typed").is_file() and (package / "_C.pyi").is_file()


def test_a_program_with_types_runs():
    program = Path(__file__).parents[1] / "examples/typed_user.py"
    names = runpy.run_path(str(program))
    assert names["work"](torch.device("openreg:1"))[2] == [2.0, 2.0]
    with pytest.raises(ValueError, match=r"an integer, but got:1\.5"):
        names["mistakes"]()


# ------------------------------------------------------- how torch finds the module


def test_torch_finds_the_module_under_each_of_its_names():
    assert torch.get_device_module("openreg:1") is openreg
    assert torch.get_device_module() is openreg
    assert sys.modules["torch.openreg"] is openreg
    assert importlib.import_module("torch.openreg") is openreg
    assert torch._utils._get_device_module("openreg") is openreg


def test_two_functions_remember_the_module_that_they_saw_first(run_forked):
    program = """
        import types
        import torch
        torch.utils.rename_privateuse1_backend("tiny")
        for find in (torch._utils._get_device_module, torch.get_device_module):
            torch.tiny = first = types.ModuleType("first")
            assert find("tiny") is first
            torch.tiny = types.ModuleType("second")
            assert find("tiny") is first
    """
    process = run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert process.returncode == 0, process.stderr


# ------------------------------------------------------- capabilities


def test_capability_is_the_properties():
    for device in (None, 1, "openreg:1", torch.device("openreg")):
        properties = openreg.get_device_properties(device)
        assert openreg.get_device_capability(device) == properties._asdict()
    with pytest.raises(torch.AcceleratorError, match="there is no device 9"):
        openreg.get_device_capability(9)


def test_devices_reach_each_other_s_memory():
    assert openreg.can_device_access_peer(0, 1)
    assert openreg.can_device_access_peer("openreg:1", "openreg:0")
    with pytest.raises(torch.AcceleratorError, match="there is no device 9"):
        openreg.can_device_access_peer(0, 9)
    x = torch.arange(4.0).to("openreg:0")
    assert x.to("openreg:1").tolist() == [0, 1, 2, 3]


def test_bfloat16_is_emulated_and_tf32_is_not_there():
    assert openreg.is_bf16_supported()
    assert not openreg.is_bf16_supported(including_emulation=False)
    x = torch.ones(4, dtype=torch.bfloat16, device="openreg")
    assert (x + x).tolist() == [2, 2, 2, 2]
    assert not openreg.is_tf32_supported()


def test_device_memory_used_counts_what_the_driver_gave():
    openreg.empty_cache()
    before = openreg.device_memory_used(1)
    x = torch.empty(64 << 20, dtype=torch.uint8, device="openreg:1")
    assert openreg.device_memory_used("openreg:1") - before >= 64 << 20
    del x
    assert openreg.device_memory_used(1) - before >= 64 << 20  # cached
    openreg.empty_cache()
    assert openreg.device_memory_used(1) == before


def test_device_of_follows_tensors_and_storages():
    x = torch.empty(1, device="openreg:1")
    for on_device in (x, x.untyped_storage()):
        with openreg.device_of(on_device):
            assert openreg.current_device() == 1
        assert openreg.current_device() == 0
    with openreg.device(1), openreg.device_of(torch.empty(1)):
        assert openreg.current_device() == 1


def test_sleep_takes_its_time_on_the_stream_and_not_on_the_host():
    stream = openreg.Stream()
    with openreg.simulator.hold(stream):
        with openreg.stream(stream):
            openreg._sleep(50_000_000)
        assert not stream.query()
        start = time.monotonic()
    stream.synchronize()
    assert time.monotonic() - start >= 0.05
    with pytest.raises(ValueError, match=r"0 to 2\*\*63 - 1 cycles, but got -1"):
        openreg._sleep(-1)
