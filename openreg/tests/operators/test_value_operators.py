"""Distinct values, places, distances, bags and updates; see
docs/operators/structured.md."""

import pytest
import torch
from against_cpu import (
    check_against_cpu,
    ints,
    random,
    same,
    same_error,
    same_into_a_view,
)
from torch.nn import functional as F

aten = torch.ops.aten


pytestmark = pytest.mark.usefixtures("no_fallback")


def mask(*shape):
    return lambda device: (
        (torch.arange(24) % 3 == 0)[: torch.Size(shape).numel()].view(shape).to(device)
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda d: torch.unique(ints(3, 4)(d)),
        lambda d: torch.unique(ints(3, 4)(d).t(), True, True, True),
        lambda d: torch.unique(ints(3, 2, 4, high=2)(d), True, True, True, dim=1),
        lambda d: torch.unique(ints(9, 2, high=2)(d), dim=0),
        lambda d: torch.unique(random(0, 3)(d), return_inverse=True),
        lambda d: torch.unique(random(0, 3)(d), dim=0),
        lambda d: torch.unique(random(1)(d)[0], True, True, True),
        lambda d: torch.unique_consecutive(ints(20, high=2)(d), True, True),
        lambda d: torch.unique_consecutive(ints(20, high=2)(d)),
        lambda d: torch.unique_consecutive(ints(3, 9, high=2)(d), True, True, dim=1),
        lambda d: torch._unique(ints(3, 4)(d), return_inverse=True),
        lambda d: torch.searchsorted(torch.arange(5.0).to(d), random(3, 4)(d).t()),
        lambda d: torch.searchsorted(random(2, 5)(d).sort().values, random(2, 3)(d)),
        lambda d: torch.searchsorted(torch.arange(5).to(d), 2.5, right=True),
        lambda d: torch.searchsorted(
            torch.tensor([3, 1, 2]).to(d),
            ints(4)(d),
            sorter=torch.tensor([1, 2, 0]).to(d),
            side="right",
            out_int32=True,
        ),
        lambda d: torch.bucketize(random(3, 0)(d), torch.arange(5.0).to(d)),
        lambda d: torch.bucketize(2, torch.arange(5.0).to(d)),
        lambda d: torch.isin(ints(3, 4)(d), ints(2)(d)),
        lambda d: torch.isin(ints(3, 4)(d), 2, invert=True),
        lambda d: torch.cdist(random(2, 1, 3, 4)(d), random(5, 6, 4)(d), 1),
        lambda d: torch.cdist(random(0, 4)(d), random(6, 4)(d)),
        lambda d: torch.cdist(random(40, 4)(d), random(30, 4)(d)),
        lambda d: torch.linspace(0, 1, 5, device=d),
        lambda d: torch.linspace(5, -3, 4, device=d, dtype=torch.int32),
        lambda d: torch.linspace(0, 1, 0, device=d),
        lambda d: torch.logspace(0, 3, 4, 2, device=d),
        lambda d: torch.linspace(torch.tensor(1.0).to(d), 2, 3, device=d),
        lambda d: torch.eye(3, 4, device=d, dtype=torch.bool),
        lambda d: torch.var_mean(random(2, 3, 4)(d).transpose(0, 2), (0, 2)),
        lambda d: torch.std_mean(random(3, dtype=torch.complex64)(d)),
        lambda d: torch.nansum(random(3, 4)(d).log(), 1, keepdim=True),
        lambda d: torch.nansum(ints(3, 4)(d)),
        lambda d: torch.nansum(random(3, 4)(d).log(), dtype=torch.float64),
        lambda d: torch.nanmean(random(3, 4)(d).log(), 0),
        lambda d: torch.count_nonzero(ints(3, 4)(d), dim=(0,)),
        lambda d: torch.trace(ints(3, 4)(d)),
        lambda d: random(3, 5)(d).median(),
        lambda d: random(3, 5)(d).t().median(0, keepdim=True),
        lambda d: random(3, 5)(d).log().nanmedian(1),
        lambda d: random(1)(d)[0].median(0),
        lambda d: random(3, 5)(d).t().cummax(0),
        lambda d: ints(3, 5)(d).cummin(1),
        lambda d: torch.complex(random(3, 1)(d), random(4)(d)),
        lambda d: torch.polar(random(3, 1)(d), random(4)(d).expand(3, 4)),
        lambda d: torch.logit(ints(4)(d) / 7, 0.2),
        lambda d: torch.logit(ints(4, high=2)(d)),
        lambda d: random(3, 4)(d).index_fill(1, ints(2, high=4)(d), 3),
        lambda d: ints(3, 4)(d).index_fill(-1, ints(1)(d)[0], torch.tensor(3).to(d)),
        lambda d: random(3, 4)(d).t().index_fill(0, ints(0)(d), 3),
        lambda d: random(3, 4)(d).masked_scatter(mask(3, 1)(d), random(9)(d)),
        lambda d: random(3, 4)(d).masked_scatter(mask(3, 4)(d), random(9, 2)(d).t()),
        lambda d: random(3, 4)(d).t().put(ints(2, 2)(d), random(2, 2)(d)),
        lambda d: random(3, 4)(d).put(ints(5)(d), random(5)(d), accumulate=True),
        lambda d: torch.repeat_interleave(ints(5)(d)),
        lambda d: random(3, 4)(d).repeat_interleave(ints(4)(d), 1),
        lambda d: random(3)(d).repeat_interleave(
            torch.ones(3).int().to(d), output_size=3
        ),
        lambda d: (
            torch.ones(2, 2, dtype=torch.int64)
            .to(d)
            .index_reduce(0, torch.tensor([1, 1]).to(d), ints(2, 2)(d), "amax")
        ),
        lambda d: random(3, 4)(d).renorm(2, 0, 0.5),
        lambda d: torch.zeros(2, dtype=torch.float16, device=d).fill_(
            torch.tensor(1e30, device=d)
        ),
        lambda d: ints(4)(d).to(torch.uint8).fill_(torch.tensor(300, device=d)),
        lambda d: (x := ints(4)(d)).fill_(x[1]),
        lambda d: torch.max(random(4)(d), out=torch.empty((), device=d).double()),
        lambda d: torch.min(random(4)(d), out=torch.empty((), device=d).half()),
        lambda d: torch.bucketize(mask(3)(d), torch.arange(5.0).to(d)),
        lambda d: torch.searchsorted(torch.arange(5).to(d), mask(3)(d), right=True),
        lambda d: torch.addbmm(random(3, 5)(d), random(2, 3, 4)(d), random(2, 4, 5)(d)),
        lambda d: torch.linalg.cross(random(2, 3)(d), random(2, 3)(d)),
    ],
)
@pytest.mark.filterwarnings("ignore:torch.searchsorted", "ignore:index_reduce")
def test_values_sizes_and_strides(call):
    same(call)


@pytest.mark.parametrize(
    "loss", [F.mse_loss, F.smooth_l1_loss, F.huber_loss], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("reduction", ["none", "mean"])
@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.bool, torch.float64, torch.float16, torch.bfloat16]
)
def test_losses_of_two_dtypes(loss, reduction, dtype):
    def losses(d, swap=False):
        x, target = random(2, 3, 4, 5)(d), ints(2, 3, 4, 5)(d).to(dtype)
        x = x.to(memory_format=torch.channels_last)
        return loss(*((target, x) if swap else (x, target)), reduction=reduction)

    same(losses)
    if loss is not F.huber_loss:  # its result has the dtype of the first tensor
        same(lambda d: losses(d, swap=True))


@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_cross_entropy_keeps_the_memory_format(reduction):
    def losses(d):
        x = random(2, 3, 4, 5)(d).sigmoid().to(memory_format=torch.channels_last)
        return F.binary_cross_entropy(x, x.square(), reduction=reduction)

    same(losses)


INDICES = torch.tensor([1, 4, 0, 2, 2, 3])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_embedding_bag(mode, padding, dtype):
    def bags(weight, *, offsets=(0, 2, 2), **options):
        place = {"device": weight.device}
        options |= {"mode": mode, "padding_idx": padding}
        offsets = torch.tensor(offsets, **place)
        return F.embedding_bag(INDICES.to(**place), weight, offsets, **options)

    weight = torch.randn(5, 3, dtype=dtype)
    check_against_cpu(bags, weight)
    check_against_cpu(lambda w: bags(w.t()), torch.randn(3, 5, dtype=dtype))
    last = {"offsets": (0, 2, 6), "include_last_offset": True}
    check_against_cpu(lambda w: bags(w, **last), weight)
    same(lambda d: bags(weight.to(d), max_norm=0.5))  # as with torch.no_grad()
    # The CPU's own kernel writes to a bag that is not there.
    none = bags(weight.to("openreg"), offsets=(0,), include_last_offset=True)
    assert none.shape == (0, 3)
    if mode == "sum":
        check_against_cpu(
            lambda w, each: bags(w, per_sample_weights=each),
            weight,
            weight[0, 0].new_ones(6),
        )
    if mode != "max":
        sparse = weight.to("openreg").requires_grad_()
        bags(sparse, sparse=True).sum().backward()
        assert sparse.grad.is_sparse


@pytest.mark.parametrize(
    "call",
    [
        lambda a: F.glu(a, 1),
        lambda a: F.logsigmoid(a.t()),
        lambda a: a.unfold(1, 2, 1),
        lambda a: a.unfold(1, 2, 3),
        lambda a: F.prelu(a, a[0, :1].detach() * 0.1),
        lambda a: torch.logit(a.sigmoid(), 0.3),
        lambda a: torch.cdist(a, a * 2 + 1, 1.5),
        lambda a: torch.var_mean(a, 1)[0],
        lambda a: a.cummax(1).values,
        lambda a: a.median(1).values,
        lambda a: F.multi_margin_loss(a, torch.arange(3).to(a.device), p=2),
        lambda a: F.multilabel_margin_loss(
            a, torch.arange(12).view(3, 4).to(a.device) % 4
        ),
        lambda a: torch.polar(a.abs(), a).real,
        lambda a: a.flip(0).roll(1),
        lambda a: a.erfinv(),
    ],
)
def test_gradients_and_theirs(call):
    a = torch.rand(3, 4) - 0.3
    check_against_cpu(call, a)
    grads = []
    for device in ("cpu", "openreg"):
        x = a.to(device).requires_grad_()
        (first,) = torch.autograd.grad(call(x).square().sum(), x, create_graph=True)
        try:
            (second,) = torch.autograd.grad(first.square().sum(), x)
        except (RuntimeError, NotImplementedError) as error:
            second = torch.tensor(len(str(error).splitlines()[0]))
        grads.append((first.detach().cpu(), second.cpu()))
    torch.testing.assert_close(*grads)


def test_the_gradient_of_pdist():
    """Without a second derivative, which falls back; see test_fallback.py."""
    check_against_cpu(F.pdist, torch.rand(3, 4) - 0.3)


@pytest.mark.parametrize(
    "call",
    [
        lambda d, o: torch.linspace(0, 3, 4, device=d, **o),
        lambda d, o: torch.logspace(0, 3, 4, device=d, **o),
        lambda d, o: torch.eye(3, 2, device=d, **o),
        lambda d, o: torch.searchsorted(torch.arange(5.0).to(d), random(3, 4)(d), **o),
        lambda d, o: torch.bucketize(random(3, 4)(d), torch.arange(5.0).to(d), **o),
        lambda d, o: torch.nansum(random(3, 4)(d), 1, **o),
        lambda d, o: torch.logit(random(3, 4)(d).sigmoid(), **o),
        lambda d, o: torch.complex(random(3, 4)(d), random(3, 4)(d), **o),
        lambda d, o: torch.isin(ints(3, 4)(d), ints(2)(d), **o),
        lambda d, o: aten.glu_backward(
            random(3, 2)(d),
            random(3, 4)(d),
            1,
            **({"grad_input": o["out"]} if o else {}),
        ),
    ],
)
def test_out_is_a_view(call):
    same_into_a_view(lambda d, out: call(d, {} if out is None else {"out": out}))


def test_nansum_of_complex_numbers_as_cuda_has_it():
    x = torch.complex(torch.tensor([1.0, torch.nan, 3]), torch.tensor([2.0, 5, 0]))
    assert x.to("openreg").nansum().item() == 4 + 2j
    assert x.to("openreg").nanmean().item() == 2 + 1j


def test_linspace_keeps_the_shape_of_out():
    memory = torch.zeros(2, 4, device="openreg")
    torch.linspace(0, 3, 4, out=memory.narrow(1, 1, 2))
    assert memory.tolist() == [[0, 0, 1, 0], [0, 2, 3, 0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda d: torch.unique(random(2, 0)(d), dim=0),
        lambda d: torch.unique(random(0, 0)(d), dim=0),
        lambda d: torch.unique(random(2, 3)(d), dim=2),
        lambda d: torch.unique(random(2, dtype=torch.complex64)(d)),
        lambda d: torch.searchsorted(random(2, 5)(d), random(3, 3)(d)),
        lambda d: torch.searchsorted(random(5)(d), random(3)(d), side="middle"),
        lambda d: torch.searchsorted(
            random(5)(d), random(3)(d), right=True, side="left"
        ),
        lambda d: torch.searchsorted(random(5)(d), random(3)(d), sorter=ints(4)(d)),
        lambda d: torch.searchsorted(random(2)(d), random(3)(d), sorter=ints(2)(d) + 5),
        lambda d: torch.searchsorted(random(5)(d), random(3)(d), out=random(3)(d)),
        lambda d: torch.bucketize(random(3)(d), random(2, 3)(d)),
        lambda d: torch.cdist(random(3, 4)(d), random(3, 5)(d)),
        lambda d: torch.cdist(random(3, 4)(d), random(3, 4)(d), -1),
        lambda d: torch.cdist(ints(3, 4)(d), ints(3, 4)(d)),
        lambda d: F.pdist(random(3, 4, 5)(d)),
        lambda d: torch.linspace(0, 1, -1, device=d),
        lambda d: torch.eye(-1, device=d),
        lambda d: torch.var_mean(ints(3)(d)),
        lambda d: torch.var_mean(random(3)(d), (0, 0)),
        lambda d: torch.var_mean(random(3)(d), 4),
        lambda d: torch.trace(random(3)(d)),
        lambda d: random(3, 0)(d).median(1),
        lambda d: random(3, dtype=torch.complex64)(d).median(),
        lambda d: torch.complex(random(3)(d), random(3)(d).double()),
        lambda d: torch.complex(ints(3)(d), ints(3)(d)),
        lambda d: torch.polar(random(3)(d), random(4)(d)),
        lambda d: F.glu(random(3)(d)),
        lambda d: aten.glu_backward(random(3)(d), random(4)(d), 0),
        lambda d: random(3, 4)(d).index_fill_(0, random(2)(d), 1),
        lambda d: random(3, 4)(d).index_fill_(0, ints(2, 2)(d), 1),
        lambda d: random(3, 4)(d).index_fill_(2, ints(2)(d), 1),
        lambda d: random(3, 4)(d).index_fill_(0, ints(2)(d), 1j),
        lambda d: ints(3, dtype=torch.int8)(d).index_fill_(0, ints(2, high=2)(d), 999),
        lambda d: random(3, 4)(d).index_fill_(0, ints(2, high=3)(d), random(2)(d)),
        lambda d: random(3, 4)(d).masked_scatter_(ints(3, 4)(d), random(12)(d)),
        lambda d: random(3, 4)(d).masked_scatter_(mask(3, 4)(d), ints(12)(d)),
        lambda d: random(3, 4)(d).masked_scatter_(mask(2, 4)(d), random(12)(d)),
        lambda d: random(3, 4)(d).put_(random(2)(d), random(2)(d)),
        lambda d: random(3, 4)(d).put_(ints(2)(d), random(3)(d)),
        lambda d: random(3, 4)(d).put_(ints(2)(d), ints(2)(d)),
        lambda d: (lambda x: x.put_(ints(3)(d), x[1:4]))(random(9)(d)),
        lambda d: torch.repeat_interleave(ints(2, 2)(d)),
        lambda d: torch.repeat_interleave(random(2)(d)),
        lambda d: F.multi_margin_loss(random(3, 4)(d), ints(3)(d), p=3),
        lambda d: F.multi_margin_loss(random(3, 4)(d), ints(2)(d)),
        lambda d: F.multilabel_margin_loss(random(3, 4)(d), ints(3, 3)(d)),
        lambda d: F.embedding_bag(INDICES.to(d), random(5)(d), ints(1)(d)),
        lambda d: F.embedding_bag(random(2)(d), random(5, 3)(d), ints(1)(d)),
        lambda d: torch.isin(random(2, dtype=torch.complex64)(d), random(2)(d)),
    ],
)
def test_what_the_cpu_refuses(call):
    same_error(call)
