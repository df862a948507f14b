# What an operator only reads stays shared by lazy clones; see docs/runtime/storage.md.
import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import SampleInput
from torch.utils._pytree import tree_leaves, tree_map_only

SAMPLES = 3
INDICES_ON_HOST = ("tensor_split",)  # refuses a tensor of indices on a device


def shared(op, sample, device: str) -> list[bool]:
    """Which tensors of the call are still lazy clones after it."""
    originals = []  # alive, so that no tensor is the only owner of the memory

    def clone(tensor: torch.Tensor) -> torch.Tensor:
        originals.append(tensor.detach().clone().to(device))
        return torch._lazy_clone(originals[-1])

    given = (sample.input, sample.args, sample.kwargs)
    value, args, kwargs = tree_map_only(torch.Tensor, clone, given)
    with torch.no_grad():
        op(value, *args, **kwargs)
    leaves = tree_leaves((value, args, kwargs))
    return [torch._C._is_cow_tensor(x) for x in leaves if isinstance(x, torch.Tensor)]


def samples(op):
    supported = op.supported_dtypes("cpu")
    preferred = [d for d in (torch.float32, torch.int64) if d in supported]
    if not supported:  # an operator for GPUs
        return []
    dtype = next(iter(preferred or sorted(supported, key=str)))
    found = op.sample_inputs_func(op, "cpu", dtype, requires_grad=False)
    return [sample for sample, _ in zip(found, range(SAMPLES), strict=False)]


def by_letter() -> dict[str, list]:
    groups: dict[str, list] = {}
    for op in op_db:
        if op.name.startswith("jiterator") or op.name in INDICES_ON_HOST:
            continue
        groups.setdefault(op.name.rpartition(".")[2].lstrip("_")[0], []).append(op)
    return groups


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("letter", sorted(by_letter()))
def test_what_the_cpu_only_reads_the_device_only_reads(letter):
    copied, compared = [], 0
    for op in by_letter()[letter]:
        for sample in samples(op):
            try:
                expected = shared(op, sample, "cpu")
            except (RuntimeError, TypeError):  # a sample that is no plain call
                continue
            found = shared(op, sample, "openreg")
            compared += 1
            if any(e and not f for e, f in zip(expected, found, strict=True)):
                copied.append((op.formatted_name, expected, found))
    assert compared > 0
    assert copied == []


def test_a_written_input_is_noticed():
    sample = SampleInput(torch.ones(2), args=(torch.ones(2),))
    for device in ("cpu", "openreg"):
        assert shared(torch.add, sample, device) == [True, True]
        assert shared(lambda x, y: x.add_(y), sample, device) == [False, True]


def test_random_operators_only_read_their_inputs():
    """The database draws with few of them."""
    p = torch.rand(64, device="openreg")
    grad = torch.rand(64, device="openreg")
    mask = p > 0.5
    calls = {
        "bernoulli": lambda x: torch.bernoulli(x),
        "bernoulli_": lambda x: p.clone().bernoulli_(x),
        "binomial": lambda x: torch.binomial(x.round(), x),
        "dirichlet": lambda x: torch._sample_dirichlet(x),
        "multinomial": lambda x: torch.multinomial(x, 3),
        "native_dropout": lambda x: torch.native_dropout(x, 0.5, True),
        "native_dropout_backward": lambda x: torch.ops.aten.native_dropout_backward(
            x, mask, 2.0
        ),
        "normal": lambda x: torch.normal(x, x),
        "poisson": lambda x: torch.poisson(x),
        "rrelu": lambda x: torch.nn.functional.rrelu(x, training=True),
        "standard_gamma": lambda x: torch._standard_gamma(x),
        "standard_gamma_grad": lambda x: torch._standard_gamma_grad(x, grad),
        "cosine_similarity": lambda x: torch.cosine_similarity(x, grad, 0),
    }
    copied = []
    for name, call in calls.items():
        x = torch._lazy_clone(p)
        call(x)
        if not torch._C._is_cow_tensor(x):
            copied.append(name)
    assert copied == []


def test_a_mask_and_probabilities_are_only_read():
    values = torch.rand(64, device="openreg")
    mask = torch._lazy_clone(values > 0.5)
    torch.ops.aten.native_dropout_backward(values, mask, 2.0)
    probabilities = torch._lazy_clone(values)
    torch.binomial(torch.full((64,), 9.0, device="openreg"), probabilities)
    assert torch._C._is_cow_tensor(mask) and torch._C._is_cow_tensor(probabilities)
