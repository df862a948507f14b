# A dtype without a kernel is an error of the call, and not of the device; see
# docs/operators/structured.md.
import itertools
import warnings

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map_only

openreg = torch.openreg
SAMPLES = 12  # of each operator, at most


def samples(op):
    """Samples in a dtype that the CPU takes, and this dtype."""
    for dtype in (torch.float32, torch.int64):
        if dtype in op.dtypes:
            made = op.sample_inputs_func(op, "cpu", dtype, requires_grad=False)
            return itertools.islice(made, SAMPLES), dtype
    return (), None


def outcome(op, sample, device, taken, refused):
    """Return the error of a call with tensors of another dtype, or None."""

    def move(x):
        return (
            x.detach().clone().to(refused if x.dtype == taken else x.dtype).to(device)
        )

    moved = tree_map_only(
        torch.Tensor, move, (sample.input, sample.args, sample.kwargs)
    )
    kwargs = {k: device if k == "device" else v for k, v in moved[2].items()}
    try:
        op(moved[0], *moved[1], **kwargs)
        openreg.synchronize()
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize(
    "refused",
    [torch.uint16, torch.float8_e4m3fn, torch.complex64, torch.bool],
)
def test_a_dtype_without_a_kernel_does_not_stop_the_device(refused):
    stopped, refusals = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in op_db:
            if refused in op.dtypes:
                continue
            given, taken = samples(op)
            for sample in given:
                error = outcome(op, sample, "openreg", taken, refused)
                refusals += error is not None
                if isinstance(error, torch.AcceleratorError):
                    stopped.append(f"{op.name}: {str(error)[:300]}")
                    openreg.simulator.reset()
    assert not stopped, "\n".join(stopped)
    assert refusals > 10


@pytest.mark.parametrize("name", ["linspace", "logspace"])
@pytest.mark.parametrize("dtype", [torch.uint16, torch.float8_e4m3fn, torch.bool])
def test_a_dtype_of_a_result_without_a_kernel(name, dtype):
    with pytest.raises(NotImplementedError, match=f'"{name}" not implemented for'):
        getattr(torch, name)(0, 3, 4, dtype=dtype, device="openreg")


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint64, torch.float8_e5m2])
def test_values_that_are_not_zero_are_counted_as_on_cuda(dtype):
    """The CPU counts along a dimension only, and CUDA in each case."""
    x = torch.tensor([[0, 1, 2], [0, 0, 3]]).to(dtype).to("openreg")
    assert x.count_nonzero().item() == 3
    assert x.count_nonzero(1).tolist() == [2, 1]
    with pytest.raises(NotImplementedError, match='"nonzero" not implemented for'):
        x.nonzero()
