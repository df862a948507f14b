"""Elements by index or mask."""

import pytest
import torch
from samples import MOVED, compare, natively, numbers
from support import DEVICE, to_device

INDICES = [
    lambda x: x[[2, 0, -1]],
    lambda x: x[:, torch.tensor([[0, 3], [1, 1]], device=x.device)],
    lambda x: x[[0, 2], :, [1, 1]],
    lambda x: x[:, [0, 1], [1, 0]],
    lambda x: x[torch.tensor([1], device=x.device, dtype=torch.int32)],
    lambda x: x[torch.empty(0, device=x.device, dtype=torch.int64)],
    lambda x: x[x > 0],
    lambda x: x.transpose(0, 2)[:, [1, 0]],
]


@pytest.mark.parametrize("select", INDICES)
def test_index(select):
    compare(select, numbers(3, 4, 5))


@pytest.mark.parametrize("dtype", MOVED)
def test_index_of_every_dtype(dtype):
    compare(lambda x: x[[1, 0, 1]], numbers(3, 4, dtype=dtype))


def put(target, rows, values, accumulate):
    return target.clone().index_put_((rows,), values, accumulate=accumulate)


@pytest.mark.parametrize("dtype", [d for d in MOVED if not d.is_complex])
@pytest.mark.parametrize("width", [2, 80])  # with atomic operations, and without
def test_index_put_accumulates(dtype, width):
    rows = torch.tensor([1, 0, 1, 1, -1])
    compare(
        put, numbers(4, width, dtype=dtype), rows, numbers(5, width, dtype=dtype), True
    )


@pytest.mark.parametrize("dtype", MOVED)
def test_index_put(dtype):
    rows = torch.tensor([1, 3, 0])
    compare(put, numbers(4, 5, dtype=dtype), rows, numbers(3, 5, dtype=dtype), False)
    compare(put, numbers(4, 5, dtype=dtype).t(), rows, numbers(1, dtype=dtype), False)


@pytest.mark.parametrize("dtype", MOVED)
def test_masked_fill(dtype):
    x, mask = numbers(3, 4, 5, dtype=dtype), numbers(4, 1, dtype=torch.bool)
    compare(lambda x, mask: x.masked_fill(mask, 1), x, mask)
    compare(
        lambda x, mask: x.transpose(0, 1).masked_fill(mask.view(4, 1, 1), 1), x, mask
    )

    def assign(x, mask):
        x = x.clone()
        x[:, mask[:, 0]] = 0
        return x

    if not dtype.is_complex:  # a complex value has no kernel that fills with it
        compare(assign, x, mask)


def test_index_fill():
    rows = torch.tensor([0, -1])
    compare(lambda x, rows: x.index_fill(0, rows, 7), numbers(3, 4), rows)
    compare(lambda x, rows: x.index_fill(1, rows, 7), numbers(3, 4), rows)
    compare(lambda x, rows: x.t().index_fill(0, rows, 7), numbers(3, 4), rows)


def test_an_operand_without_dimensions():
    x, row = torch.tensor(3.0), torch.tensor(0)
    compare(lambda x, row: x.index_fill(0, row, 7), x, row)
    compare(lambda x: x.masked_fill(x > 0, 7), x)
    compare(torch.nonzero, x)
    compare(lambda x, row: x[None][row], x, row)


@pytest.mark.parametrize("sizes", [(3, 4), (100, 77), (1,)])
def test_masked_scatter_and_nonzero(sizes):
    mask, source = numbers(*sizes, dtype=torch.bool), numbers(10000, seed=1)
    compare(lambda x, m, s: x.masked_scatter(m, s), numbers(*sizes), mask, source)
    compare(torch.nonzero, mask)
    compare(torch.nonzero, numbers(*sizes).t() if len(sizes) == 2 else numbers(*sizes))
    compare(torch.count_nonzero, mask)


def test_a_wrong_index_is_reported():
    x = to_device(numbers(3, 4))
    for call in (
        lambda: x[torch.tensor([3], device=DEVICE)],
        lambda: x.gather(0, torch.full((1, 4), -1, device=DEVICE)),
        lambda: x.index_select(1, torch.tensor([9], device=DEVICE)),
        lambda: x.masked_scatter(x > -100, x[0]),
    ):
        with pytest.raises(IndexError, match="out of bounds"):
            call().cpu()
    with natively():
        assert x[[2]].cpu().shape == (1, 4)


def test_many_elements():
    rows = torch.randint(0, 1000, (5000,), generator=torch.Generator().manual_seed(1))
    compare(lambda x, rows: x[rows], numbers(1000, 64), rows)


def test_triangles():
    for x in (numbers(2, 4, 5), numbers(4, 5).t(), numbers(0, 3), numbers(3, 3).bool()):
        for diagonal in (-2, 0, 1):
            compare(torch.tril, x, diagonal)
            compare(lambda x, k: x.clone().triu_(k), x, diagonal)
