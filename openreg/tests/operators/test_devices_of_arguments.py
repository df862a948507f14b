# Tensors of another device among the arguments; see docs/operators/composite.md.
"""A kernel that reads one does not wait for the stream that writes it."""

import pytest
import torch
from sweep.calls import call
from sweep.cases import ALL_DTYPES, OPERATORS, Case, samples
from sweep.mirror import mirror, parts
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_flatten, tree_unflatten

HERE, THERE = "openreg:0", "openreg:1"
# What takes such a tensor even on CUDA, because no kernel reads it.
NO_KERNEL = {
    "only its sizes matter": (
        "broadcast_tensors expand_as reshape_as view_as resize_as_ to"
    ),
    "torch copies it": (
        "as_strided_scatter diagonal_scatter select_scatter slice_scatter "
        "_unsafe_masked_index _unsafe_masked_index_put_accumulate index_put "
        "nn.functional.ctc_loss"
    ),
    "torch copies one number": "where nn.functional.cosine_embedding_loss",
    "torch takes its value": (
        "linspace.tensor_overload logspace.tensor_overload narrow"
    ),
}
TAKEN = {name for names in NO_KERNEL.values() for name in names.split()}
TAKEN.add(
    "nn.functional.bilinear"
)  # with an input without rows, nothing reads the weight


def _moved(sample):
    """Each sample that differs by one tensor on the other device."""
    leaves, shape = tree_flatten(parts(mirror(sample, HERE)))
    full = [i for i, x in enumerate(leaves) if torch.is_tensor(x) and x.numel() > 0]
    for place in full if len(full) > 1 else []:
        own = [*leaves[:place], leaves[place].to(THERE), *leaves[place + 1 :]]
        value, args, kwargs = tree_unflatten(own, shape)
        yield SampleInput(value, args=args, kwargs=kwargs)


def _accepts(name: str) -> bool:
    op = OPERATORS[name]
    dtypes = [x for x, y in ALL_DTYPES.items() if y in op.supported_dtypes("cpu")]
    for sample in samples(Case(name, dtypes[0], "forward"), 3) if dtypes else []:
        for moved in _moved(sample):
            try:
                call(op, moved)
            except Exception:
                torch.accelerator.synchronize()  # a device fault is none of them
            else:
                return True
    return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.needs(devices=2)
def test_a_tensor_of_another_device_is_refused():
    assert {name for name in OPERATORS if _accepts(name)} == TAKEN


@pytest.mark.needs(devices=2)
@pytest.mark.parametrize("name", ["grad_scale", "found_inf"])
@pytest.mark.parametrize("where", [THERE, "cpu"])
def test_what_grad_scaler_passes_to_a_fused_optimizer(name, where):
    x = torch.ones(3, device=HERE)
    lists = [[x.clone()] for _ in range(4)]
    options = {"lr": 0.1, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.0}
    options |= {"eps": 1e-8, "amsgrad": False, "maximize": False}
    options[name] = torch.ones((), device=where)
    with pytest.raises(RuntimeError, match="same device"):
        torch._fused_adam_(*lists, [], [torch.ones((), device=HERE)], **options)
    assert lists[0][0].cpu().tolist() == [1, 1, 1]
