# torch.openreg has the names of torch.xpu; see docs/frontend/accelerator-api.md.
import inspect
import re
import time
from pathlib import Path

import pytest
import torch

openreg = torch.openreg
PAGE = Path(__file__).parents[2] / "docs/frontend/accelerator-api.md"
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
    assert offered | set(left_out) == set(torch.xpu.__all__)
    assert offered <= set(openreg.__all__)


def test_what_is_offered_is_sorted_and_documented():
    assert openreg.__all__ == sorted(openreg.__all__)
    for name in openreg.__all__:
        value = getattr(openreg, name)
        if callable(value) or inspect.ismodule(value):
            assert inspect.getdoc(value), name


SAME_KIND = [name for name in torch.xpu.__all__ if hasattr(openreg, name)]


@pytest.mark.parametrize("name", SAME_KIND)
def test_a_function_takes_what_that_of_torch_xpu_takes(name):
    theirs, ours = getattr(torch.xpu, name), getattr(openreg, name)
    if not inspect.isfunction(theirs):
        return
    accepted = inspect.signature(ours).parameters
    for parameter in inspect.signature(theirs).parameters.values():
        assert parameter.name in accepted
        if parameter.default is not inspect.Parameter.empty:
            assert accepted[parameter.name].default is not inspect.Parameter.empty


# ------------------------------------------------------- capabilities


def test_capability_is_the_properties():
    for device in (None, 1, "openreg:1", torch.device("openreg")):
        properties = openreg.get_device_properties(device)
        assert openreg.get_device_capability(device) == properties._asdict()
    with pytest.raises(ValueError, match="there is no device 9"):
        openreg.get_device_capability(9)


def test_devices_reach_each_other_s_memory():
    assert openreg.can_device_access_peer(0, 1)
    assert openreg.can_device_access_peer("openreg:1", "openreg:0")
    with pytest.raises(ValueError, match="there is no device 9"):
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
    start = time.monotonic()
    with openreg.stream(stream):
        openreg._sleep(50_000_000)
    assert not stream.query()
    stream.synchronize()
    assert time.monotonic() - start >= 0.05
    with pytest.raises(ValueError, match="takes a number of cycles, but got -1"):
        openreg._sleep(-1)
