# Names of devices that torch 2.13 compares; see docs/ship/known-gaps-names.md.
#
# A test that fails here is good news: torch has lost a limit. Remove the test, the
# section of the page and the workaround.
import pytest
import torch
from torch_release import has_changed

RENAMED = """
import types, torch
module = types.ModuleType("module")
module.is_available, module.device_count = lambda: True, lambda: 1
torch.utils.rename_privateuse1_backend({name!r})
torch._register_device_module({name!r}, module)
def error_of(call):
    try:
        call()
    except Exception as error:
        print(error)
"""
LOAD = """
from torch.serialization import default_restore_location
storage = torch.ones(2).untyped_storage()
error_of(lambda: default_restore_location(storage, {name!r} + ":0"))
"""
LOAD_SCRIPT = """
from torch.jit._serialization import validate_map_location
error_of(lambda: validate_map_location({name!r} + ":0"))
"""


@pytest.mark.parametrize("name", ["mpsx", "mps_two"])
def test_load_takes_a_name_that_begins_with_mps_for_mps(run_forked, name):
    process = run_forked(
        (RENAMED + LOAD).format(name=name), TORCH_DEVICE_BACKEND_AUTOLOAD="0"
    )
    assert "Storage device not recognized: mps" in process.stdout, process.stderr


@pytest.mark.parametrize("name", ["cpux", "cudax", "xpux", "meta_two", "some_device"])
def test_load_finds_the_module_of_every_other_name(run_forked, name):
    process = run_forked(
        (RENAMED + LOAD).format(name=name), TORCH_DEVICE_BACKEND_AUTOLOAD="0"
    )
    # Torch moves the storage with our module, which is not complete.
    assert "module 'module' has no attribute 'device'" in process.stdout, process.stderr


@pytest.mark.parametrize(
    ("name", "told"),
    [("cudax", "Expected a cuda device, but got: cudax:0\n"), ("some_device", "")],
)
def test_scripts_take_a_name_that_begins_with_cuda_for_cuda(run_forked, name, told):
    process = run_forked(
        (RENAMED + LOAD_SCRIPT).format(name=name), TORCH_DEVICE_BACKEND_AUTOLOAD="0"
    )
    assert (process.stdout, process.returncode) == (told, 0), process.stderr


# A backend without a kernel for the operator; mode.values of ours is registered.
MODE = """
import torch
from torch.utils import backend_registration
class Module:
    _lazy_init = staticmethod(lambda: None)
backend_registration._setup_privateuseone_for_python_backend("bare", Module())
make = torch._C._acc.create_empty_tensor
out = make((2,), torch.float32), make((2,), torch.int64)
try:
    torch.mode(make((2, 3), torch.float32), out=out)
except RuntimeError as error:
    print(error)
"""


def test_mode_has_a_list_of_devices(run_forked):
    process = run_forked(MODE, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    told = "mode only supports CPU, CUDA and XPU device type, got: bare"
    assert process.stdout.startswith(told), process.stderr


DECORATED = """
import unittest, torch
from torch.testing._internal import common_distributed as common
class Test(unittest.TestCase):
    @common.requires_accelerator_dist_backend()
    def test_backend(self):
        print("runs")
    @common.skip_if_lt_x_gpu(1)
    def test_devices(self):
        print("runs")
    @common.requires_world_size(1)
    def test_world_size(self):
        print("runs")
assert torch.accelerator.device_count()
assert torch.distributed.is_backend_available("occl")
try:
    Test({test!r}).debug()
except unittest.SkipTest as skip:
    print(skip)
except SystemExit as end:
    print(*[skip.message for skip in common.TEST_SKIPS.values()
            if skip.exit_code == end.code])
"""
COUNTS = "tests count accelerators and ask for capabilities"


@pytest.mark.parametrize(
    ("test", "skipped", "runs"),
    [
        ("test_backend", "No accelerator communication backend available", None),
        ("test_devices", "Need at least 1 CUDA device", COUNTS),
        ("test_world_size", "requires 1 GPUs, found 0", COUNTS),
    ],
)
@pytest.mark.smoke
def test_distributed_tests_are_skipped_silently(run_forked, test, skipped, runs):
    process = run_forked(DECORATED.format(test=test))
    # The build for CUDA has NCCL, which the first decorator counts without a GPU.
    passes = has_changed(runs) if runs else bool(torch.version.cuda)
    assert ("runs" in process.stdout) == passes, process.stdout + process.stderr
    assert passes or skipped in process.stdout, process.stdout + process.stderr
