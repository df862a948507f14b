# What sharding cannot do yet; see docs/ship/known-gaps-compiler.md.
import importlib.util

import pytest
import torch
from torch.distributed._state_dict_utils import _create_cpu_state_dict
from torch_release import has_changed


def test_data_parallel_needs_functions_of_cuda():
    layer = torch.nn.Linear(2, 2).to("openreg")
    x = torch.ones(4, 2, device="openreg")
    missing = "NVIDIA driver" if torch.version.cuda else "no attribute '_scatter'"
    for devices in (None, [0], [0, 1]):
        parallel = torch.nn.DataParallel(layer, device_ids=devices)
        if torch.version.cuda and devices == [0]:
            torch.testing.assert_close(parallel(x), layer(x))
            continue
        with pytest.raises((AttributeError, RuntimeError), match=missing):
            parallel(x)


def test_there_are_no_transports():
    assert importlib.util.find_spec("torch.distributed.transports") is None


RPC = """
    import tempfile, torch, torch.distributed.rpc as rpc

    torch.set_warn_always(False)
    device = torch.device("openreg", 0)
    x = torch.ones(2, device=device)

    def start(name, **options):
        file = tempfile.NamedTemporaryFile(delete=False).name
        options = rpc.TensorPipeRpcBackendOptions(
            init_method=f"file://{file}", _transports=["uv"], **options
        )
        rpc.init_rpc(name, rank=0, world_size=1, rpc_backend_options=options)
"""


def test_rpc_sends_no_tensors_of_the_device(run_forked):
    program = """
    start("a")
    assert rpc.rpc_sync("a", torch.add, args=(x.cpu(), 1)).tolist() == [2, 2]
    try:
        rpc.rpc_sync("a", torch.add, args=(x, 1))
    except RuntimeError as error:
        assert "only supports CPU tensors by default" in str(error), error
        assert "found tensor on device: openreg:0" in str(error), error
    else:
        raise AssertionError("sent")
    rpc.shutdown(graceful=False)
    """
    result = run_forked(RPC + program, GLOO_SOCKET_IFNAME="lo")
    assert result.returncode == 0, result.stderr


def test_rpc_counts_devices_of_cuda_only(run_forked):
    counts = has_changed("RPC asks the device module")
    program = f"""
    def message(call):
        try:
            call()
        except ValueError as error:
            return str(error)
        return ""

    maps = {{"a": {{device: device}}}}
    text = message(lambda: start("a", device_maps=maps))
    assert ("device count = 0" in text) != {counts}, text
    text = message(lambda: rpc.TensorPipeRpcBackendOptions(devices=[device]))
    assert "expect a list of CUDA devices" in text
    """
    result = run_forked(RPC + program, GLOO_SOCKET_IFNAME="lo")
    assert result.returncode == 0, result.stderr


@pytest.mark.smoke
def test_a_state_dict_is_not_shared_and_pinned_at_once():
    state = {"weight": torch.ones(4, device="openreg")}
    pinned = _create_cpu_state_dict(state, pin_memory=True)
    shared = _create_cpu_state_dict(state, share_memory=True)
    assert pinned["weight"].is_pinned() and shared["weight"].is_shared()
    # The build for CUDA looks for CUDA's driver.
    with pytest.raises((AssertionError, RuntimeError), match=r"CUDA|NVIDIA"):
        _create_cpu_state_dict(state, pin_memory=True, share_memory=True)
