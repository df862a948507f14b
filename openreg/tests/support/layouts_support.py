# Tensors of every layout, compared with the CPU's; see docs/operators/layouts.md.
import io
import warnings

import torch
from torch.testing import assert_close

IGNORED = [
    "ignore:The PyTorch API of nested tensors",
    "ignore:Sparse CSR tensor support",
    "ignore:Sparse invariant checks",
    "ignore:torch.quantize_per_tensor",
    "ignore:.torch.jit.script. is deprecated",
    "ignore:is_fx_tracing",
    "ignore:TypedStorage is deprecated",
    "ignore:sparse_compressed_to_sparse_bs. executing on the CPU",
]


def random(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes)))


def holes(*sizes: int) -> torch.Tensor:
    x = random(*sizes)
    return x * (x > 0)


def same(actual, expected):
    """Compare a result of the device with one of the CPU, of any layout."""
    if isinstance(expected, torch.Tensor):
        assert actual.device.type == "openreg"
        # .cpu() of a quantized tensor with holes stays on its device: a gap of torch.
        actual = (actual.contiguous() if expected.is_quantized else actual).cpu()
    if isinstance(expected, torch.Tensor) and expected.is_nested:
        for one, other in zip(actual.unbind(), expected.unbind(), strict=True):
            assert_close(one, other)
    elif isinstance(expected, torch.Tensor) and expected.is_quantized:
        assert torch.equal(actual, expected)
    else:
        assert_close(actual, expected)


def check(call, *tensors):
    """Run ``call`` on both devices. The tensors may have any layout."""
    expected = call(*tensors)
    same(call(*(tensor.to("openreg") for tensor in tensors)), expected)


def through_a_file(x):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    # From torch 2.15 on, nested tensors load only if their function is allowed.
    allowed = [torch._utils._rebuild_nested_tensor]
    with warnings.catch_warnings(), torch.serialization.safe_globals(allowed):
        warnings.filterwarnings("ignore", "Validating sparse tensor invariants")
        return torch.load(file)
