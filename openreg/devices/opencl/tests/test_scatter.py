"""Elements by index along one dimension."""

import pytest
import torch
from samples import MOVED, compare, numbers
from support import INTEGRAL

COMPUTED = [dtype for dtype in MOVED if not dtype.is_complex]


def places(*sizes, below, seed=2):
    return torch.randint(0, below, sizes, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dtype", MOVED)
def test_gather_and_select(dtype):
    x = numbers(4, 5, dtype=dtype)
    compare(torch.gather, x, 0, places(3, 4, below=4))
    compare(torch.gather, x.t(), 1, places(5, 7, below=4))
    compare(torch.index_select, x, 1, places(6, below=5))
    compare(torch.index_select, x, 0, places(6, below=4).int())


def test_no_dimensions_and_no_elements():
    zero = torch.tensor(0)
    compare(torch.gather, torch.tensor(3.0), 0, zero)
    compare(torch.index_select, torch.tensor(3.0), 0, zero)
    compare(torch.gather, numbers(4, 5), 1, torch.empty(0, 5, dtype=torch.int64))
    compare(torch.scatter_add, torch.tensor(3.0), 0, zero, torch.tensor(2.0))
    compare(torch.scatter, numbers(4), 0, torch.empty(0, dtype=torch.int64), 1.0)


@pytest.mark.parametrize("dtype", MOVED)
def test_scatter(dtype):
    x, index = (
        numbers(4, 5, dtype=dtype),
        torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 1]]),
    )
    compare(torch.scatter, x, 0, index, numbers(3, 5, dtype=dtype, seed=1))
    compare(torch.scatter, x, 0, index, 1)
    compare(torch.index_copy, x, 0, index[0, :4], numbers(4, 5, dtype=dtype, seed=1))
    compare(lambda x, i, s: x.clone().scatter_(0, i, s), x, index, x.flip(0).clone())


@pytest.mark.parametrize("dtype", COMPUTED)
@pytest.mark.parametrize("columns", [3, 70])  # with atomic operations, and without
def test_scatter_adds(dtype, columns):
    x, source = (
        numbers(4, columns, dtype=dtype),
        numbers(30, columns, dtype=dtype, seed=1),
    )
    index = places(20, columns, below=4)
    tolerance = 0.1 if dtype.itemsize == 2 and dtype.is_floating_point else None
    compare(torch.scatter_add, x, 0, index, source, tolerance=tolerance)
    compare(torch.index_add, x, 0, index[:, 0], source[:20], tolerance=tolerance)


@pytest.mark.parametrize("reduce", ["sum", "prod", "amin", "amax"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *INTEGRAL])
def test_scatter_reduce(reduce, dtype):
    x, source = numbers(3, 6, dtype=dtype), numbers(6, 6, dtype=dtype, seed=1)
    index = places(5, 6, below=3)
    for include_self in (True, False):
        compare(
            lambda x, i, s, kept=include_self: x.scatter_reduce(
                0, i, s, reduce, include_self=kept
            ),
            x,
            index,
            source,
        )


def test_index_add_scales_and_accumulates_many():
    index = places(10000, below=3)
    compare(
        lambda x, i, s: x.index_add(0, i, s, alpha=2), numbers(3), index, numbers(10000)
    )
    compare(
        lambda x, i: x.scatter(0, i, 2.0, reduce="multiply"),
        numbers(3),
        torch.tensor([0, 0, 2]),
    )
