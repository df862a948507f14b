"""What models need besides the common operators; see docs/operators/structured.md."""

import pytest
import torch
from against_cpu import check_against_cpu, ints, random, same, same_error
from torch.nn import functional as F

pytestmark = pytest.mark.usefixtures("no_fallback")


@pytest.mark.parametrize(
    "call",
    [
        lambda d: random(2, 3, 4)(d).flip(0, 2),
        lambda d: random(3, 4)(d).t().flip(1),
        lambda d: random(0, 3)(d).flip(0),
        lambda d: random(1)(d)[0].flip(0),
        lambda d: random(1, 2, 3, 4)(d).to(memory_format=torch.channels_last).flip(3),
        lambda d: random(3, 4)(d).roll(1),
        lambda d: random(3, 4)(d).t().roll((1, -2), (0, 1)),
        lambda d: random(0, 4)(d).roll(1, 0),
        lambda d: torch.bincount(ints(9)(d)),
        lambda d: torch.bincount(ints(9)(d), minlength=8),
        lambda d: torch.bincount(ints(9)(d)[::2], random(5)(d)),
        lambda d: torch.bincount(ints(9)(d), ints(9)(d)),
        lambda d: torch.bincount(ints(0)(d), minlength=3),
        lambda d: torch.histc(random(3, 4)(d).t(), 4),
        lambda d: torch.histc(random(9)(d), 3, -1, 1),
        lambda d: torch.histc(random(0)(d), 3),
        lambda d: torch.histc(torch.full((4,), 2.0, device=d), 3),
    ],
)
def test_reordering_and_counting(call):
    same(call)


def test_histc_counts_integers_as_cuda_does():
    values = torch.tensor([3, 0, 1, 1, 7, -2, 3])
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        found = values.to("openreg", dtype).histc(4, 0, 3)
        assert found.dtype == dtype
        assert found.tolist() == [1, 2, 0, 2]
        assert values.to("openreg", dtype).histc(3).tolist() == [2, 4, 1]
    every = torch.arange(256).to("openreg", torch.uint8)
    assert every.histc(256).tolist() == [1] * 256
    out = torch.zeros(8, dtype=torch.int32, device="openreg")
    torch.histc(values.to("openreg", torch.int32), 4, 0, 3, out=out[::2])
    assert out.tolist() == [1, 0, 2, 0, 0, 0, 2, 0]


def lengths(*values, device="cpu"):
    return torch.tensor(values, device=device)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    "targets",
    [
        torch.tensor([[1, 2, 2, 3], [4, 1, 0, 0]]),
        torch.tensor([1, 2, 2, 3, 4, 1]),
        torch.tensor([2]).expand(6),  # the CPU reads outside of its memory for this one
    ],
    ids=["padded", "flat", "expanded"],
)
def test_ctc_loss(targets, reduction):
    def loss(x):
        return F.ctc_loss(
            x.log_softmax(2),
            targets.to(x.device) if x.device.type == "openreg" else targets.clone(),
            lengths(9, 7),
            lengths(4, 2),
            reduction=reduction,
            zero_infinity=True,
        )

    check_against_cpu(loss, torch.randn(9, 2, 5))


def test_ctc_loss_with_lengths_on_the_device():
    x = torch.randn(9, 2, 5).log_softmax(2)
    targets = torch.tensor([[1, 2, 2], [4, 1, 0]])
    same(
        lambda d: torch.ops.aten._ctc_loss.Tensor(
            x.to(d), targets.to(d), lengths(9, 7, device=d), lengths(3, 2, device=d)
        )[0]
    )


@pytest.mark.parametrize("dim", [0, 2])
def test_weight_norm(dim):
    sizes = [3, 1, 1] if dim == 0 else [1, 1, 5]
    check_against_cpu(
        lambda v, g: torch._weight_norm(v, g, dim),
        torch.randn(3, 4, 5),
        torch.rand(sizes),
    )


def test_weight_norm_takes_one_norm_for_each_slice():  # the CPU reads other memory
    v, g = random(3, 4)("openreg"), random(4, 1)("openreg")
    with pytest.raises(RuntimeError, match="_weight_norm_interface: expected one norm"):
        torch._weight_norm_interface(v, g, 0)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nll_loss2d(reduction, weighted):
    target = torch.randint(3, (2, 4, 5))
    target[0, 0, 0] = -100
    weight = torch.rand(3) if weighted else None

    def loss(x):
        to = {"weight": None if weight is None else weight.to(x.device)}
        return F.nll_loss(x, target.to(x.device), reduction=reduction, **to)

    check_against_cpu(loss, torch.randn(2, 3, 4, 5))


@pytest.mark.parametrize(
    "call",
    [
        lambda d: random(2, 3)(d).flip(0, 0),
        lambda d: random(2, 3)(d).flip(2),
        lambda d: random(2, 3)(d).roll((1, 2), 0),
        lambda d: random(2, 3)(d).roll(()),
        lambda d: random(2, 3)(d).roll(1, 5),
        lambda d: random(4)(d).histc(0),
        lambda d: random(4)(d).histc(3, 2, 1),
        lambda d: torch.full((2,), torch.inf, device=d).histc(3),
        lambda d: random(4)(d).histc(3, 0, torch.nan),
        lambda d: torch.histc(random(4)(d), 3, out=ints(3)(d)),
        lambda d: random(4, dtype=torch.complex64)(d).histc(3),
        lambda d: (-ints(4)(d) - 1).bincount(),
        lambda d: random(4)(d).bincount(),
        lambda d: ints(4, 2)(d).bincount(),
        lambda d: ints(4)(d).bincount(random(3)(d)),
        lambda d: ints(4)(d).bincount(minlength=-1),
        lambda d: F.nll_loss(random(2, 3, 4, 5)(d), ints(2, 4, 6)(d)),
        lambda d: F.nll_loss(random(2, 3, 4, 5)(d), ints(2, 4, 5)(d).int()),
        lambda d: F.nll_loss(random(2, 3, 4, 5)(d), ints(2, 4, 5)(d), random(4)(d)),
        lambda d: F.ctc_loss(random(9, 2, 5)(d), ints(2, 4)(d), [9, 10], [4, 2]),
        lambda d: F.ctc_loss(random(9, 2, 5)(d), ints(2, 4)(d), [9, 9], [4, 5]),
        lambda d: F.ctc_loss(random(9, 2, 5)(d), ints(7)(d), [9, 9], [4, 2]),
        lambda d: F.ctc_loss(random(9, 2, 5)(d), ints(2, 4)(d), [9, 9], [4, 2], 5),
    ],
)
def test_what_the_cpu_refuses(call):
    same_error(call)
