"""Reductions and scans: values, places, NaN, empty tensors, any dimensions."""

import pytest
import torch
from support import ALL, FLOATING, compare, sample

NAN = float("nan")
LOOSE = {
    torch.float16: {"rtol": 1e-2, "atol": 1e-2},
    torch.bfloat16: {"rtol": 4e-2, "atol": 4e-2},
    torch.float32: {"rtol": 1e-4, "atol": 1e-4},
}
DIMS = [None, 0, 1, -1, (0, 2), (0, 1, 2), ()]


def tolerance(dtype):
    return LOOSE.get(dtype, {})


@pytest.mark.parametrize("dtype", ALL)
def test_sums_and_products(dtype):
    x = sample((3, 70, 5), dtype, low=-1, high=2)

    def reduce(x):
        sums = [x.sum(dim, keepdim=keep) for dim in DIMS for keep in (False, True)]
        products = [x[:, :6].prod(dim) for dim in (0, 1, 2)]
        return [*sums, *products, x[:2, :4, :2].prod(), x.sum(), x.count_nonzero()]

    compare(reduce, x, **tolerance(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
def test_means_norms_and_moments(dtype):
    x = sample((4, 70, 3), dtype)
    every = [0, 1, 2, 3, 0.5, float("inf"), float("-inf")]
    orders = every if dtype == torch.float32 else [2]

    def reduce(x):
        norms = [torch.linalg.vector_norm(x, p, dim=1) for p in orders]
        moments = [x.var(1), x.std((0, 2)), x.var(), x.var(1, correction=0)]
        both = *torch.var_mean(x, 1, keepdim=True), *torch.std_mean(x, (0, 1))
        return [x.mean(), x.mean((0, 2)), x.norm(), *norms, *moments, *both]

    compare(reduce, x, **tolerance(dtype))


@pytest.mark.parametrize("dtype", ALL)
def test_extrema_and_their_places(dtype):
    x = sample((3, 70, 4), dtype)  # has equal elements: the first one counts

    def reduce(x):
        return [
            *(x.max(), x.min(), x.amax((0, 2)), x.amin(1), x.argmax(), x.argmin()),
            *(*x.max(1), *x.min(2, keepdim=True), x.argmax(0), x.argmin(1)),
            *(*torch.aminmax(x), *torch.aminmax(x, dim=1)),
        ]

    if dtype == torch.bool:
        compare(
            lambda x: [x.max(), x.amax((0, 2)), *x.max(1), *x.min(2)], x, exact=True
        )
    else:
        compare(reduce, x, exact=True)


@pytest.mark.parametrize("dtype", ALL)
def test_any_and_all(dtype):
    x = sample((3, 70, 4), dtype)
    compare(
        lambda x: [
            *(x.any(), x.all(), x.any(1), x.all(2, keepdim=True)),
            *(x.any(dim) for dim in DIMS),
        ],
        x,
        exact=True,
    )


def test_nan_wins_and_the_first_one_counts():
    x = sample((5, 80), torch.float32)
    x[1, 70] = x[1, 3] = x[3, 0] = NAN
    compare(
        lambda x: [
            *(x.max(), *x.max(1), *x.min(1), x.amax(0), x.argmax(), x.argmin(1)),
            *(*torch.aminmax(x, dim=1), x.nansum(1), x.sum(1), x.norm(float("inf"))),
        ],
        x,
        rtol=1e-5,
        atol=1e-5,
    )


def test_strides_and_dtypes():
    x = sample((6, 8, 10), torch.float32)
    compare(
        lambda x: [
            x.permute(2, 0, 1)[::2].sum((0, 2)),
            x[:1].expand(4, 8, 10).amax((0, 1)),
            x[:, ::3, 1:].permute(1, 2, 0).argmax(),
            x.sum(1, dtype=torch.float64),
            x.sum(dtype=torch.int64),
            x.mean(2, dtype=torch.float64),
            x.prod(0, dtype=torch.float64),
        ],
        x,
        rtol=1e-5,
        atol=1e-5,
    )


def test_tensors_without_elements_or_dimensions():
    empty, number = torch.empty(3, 0, 2), torch.tensor(2.5)
    compare(
        lambda e, n: [
            *(e.sum(), e.sum(1), e.prod(1), e.mean(1), e.all(1), e.any(), e.norm()),
            *(e.sum(0), n.sum(), n.max(), *n.max(0), n.argmin(), n.mean(), n.cumsum(0)),
        ],
        empty,
        number,
    )


@pytest.mark.parametrize(
    "shape,dim", [((300_000,), 0), ((4, 50_000), 1), ((9000, 3), 0)]
)
def test_long_lines_are_reduced_in_parts(shape, dim):
    x = sample(shape, torch.float32)
    compare(
        lambda x: [x.sum(dim), x.amax(dim), *x.min(dim), x.var(dim), x.mean(dim)],
        x,
        rtol=1e-4,
        atol=1e-2,
    )
    compare(lambda x: x.argmax(dim), x, exact=True)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.int64, torch.int8, torch.bool])
def test_scans(dtype):
    x = sample((3, 300, 2), dtype, low=0, high=1)
    compare(
        lambda x: [
            *(x.cumsum(0), x.cumsum(1), x.cumsum(-1), x.transpose(0, 1).cumsum(0)),
            *(x[:, :9].cumprod(1), x[:1].expand(2, 300, 2).cumsum(1)),
        ],
        x,
        rtol=2e-2 if dtype.itemsize == 2 else 1e-5,
        atol=2e-2 if dtype.itemsize == 2 else 1e-4,
    )
