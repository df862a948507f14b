# Kernels of the plug-in against plain loops; see docs/frontend/serving-attention.md.
import pytest
import torch
from vllm_openreg.kernels import slot_mapping

pytestmark = pytest.mark.usefixtures("no_fallback")


@pytest.mark.parametrize("counts", [[1], [5, 1, 20], [0, 3, 0, 2], [33, 33]])
def test_slot_mapping(counts):
    """Each request has its own past, so its new tokens start anywhere."""
    size, room = 16, sum(counts) + 4
    pasts = torch.randint(0, 30, (len(counts),)).tolist()
    table = torch.randperm(len(counts) * 4).reshape(-1, 4).int()
    expected, positions, starts = [], [], [0]
    for row, (count, past) in enumerate(zip(counts, pasts, strict=True)):
        for position in range(past, past + count):
            block = int(table[row, position // size])
            expected.append(block * size + position % size)
            positions.append(position)
        starts.append(starts[-1] + count)
    found = torch.full((room,), 7, dtype=torch.long, device="openreg")
    slot_mapping(
        *(sum(counts), room, torch.tensor(starts, dtype=torch.int32).to("openreg")),
        *(torch.tensor(positions).to("openreg"), table.to("openreg"), 4, found, size),
    )
    assert found.tolist() == [*expected, -1, -1, -1, -1]


def test_parameters_are_those_of_the_kernel_in_its_order():
    """vLLM passes them by position, so only their number can be compared."""
    import inspect

    from vllm.v1.worker.block_table import ComputeSlotMappingKernel

    kernel = ComputeSlotMappingKernel.kernel
    theirs = inspect.signature(getattr(kernel, "func", kernel)).parameters
    ours = inspect.signature(slot_mapping).parameters
    assert len(ours) == len(theirs)
    names = list(theirs)
    assert names[2].startswith("query_start_loc") and names[3].startswith("positions")
    assert names[4].startswith("block_table") and names[6].startswith("slot_mapping")
    assert names[7] == "KV_CACHE_BLOCK_SIZE" and names[11] == "PAD_ID"


def test_context_parallelism_is_rejected():
    nothing = torch.empty(0, dtype=torch.int32, device="openreg")
    with pytest.raises(NotImplementedError, match="context parallel"):
        slot_mapping(0, 0, nothing, nothing, nothing, 1, nothing, 16, 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_layers(dtype):
    """Equal to what vLLM computes with PyTorch's operators, on the CPU."""
    import torch.nn.functional as F
    from vllm_openreg.layers import OpenRegSiluAndMul, rms_norm, whole_rows

    x, weight = torch.randn(5, 32).to(dtype), torch.randn(32).to(dtype)
    found = rms_norm.impl_fn(x.to("openreg"), weight.to("openreg"), 1e-5)
    exact = F.rms_norm(x.double(), (32,), weight.double(), 1e-5)
    bound = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(found.cpu().double(), exact, rtol=bound, atol=bound)
    found = OpenRegSiluAndMul.forward_oot(None, x.to("openreg"))
    gate, up = x.double().chunk(2, dim=-1)
    torch.testing.assert_close(
        found.cpu().double(), F.silu(gate) * up, rtol=bound, atol=bound
    )
    assert whole_rows(x, weight, 1e-5) and not whole_rows(x, weight, 1e-5, 16)
