"""Products of matrices and vectors: every dtype, strides, edges of tiles."""

import pytest
import torch
from support import FLOATING, compare, sample

DTYPES = [*FLOATING, torch.int64, torch.uint8]
TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 1e-1, torch.float32: 1e-4}
SIZES = [(3, 5, 7), (70, 65, 130), (1, 130, 9), (70, 65, 1), (33, 100, 129), (2, 0, 3)]


def tolerance(dtype):
    return {"rtol": TOLERANCE.get(dtype, 1e-10), "atol": TOLERANCE.get(dtype, 1e-10)}


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices(dtype):
    for rows, depth, columns in SIZES:
        a, b = sample((rows, depth), dtype), sample((depth, columns), dtype)
        compare(lambda a, b: a @ b, a, b, **tolerance(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
def test_transposed_and_strided_operands(dtype):
    a, b = sample((65, 70), dtype), sample((130, 65), dtype)
    compare(lambda a, b: a.t() @ b.t(), a, b, **tolerance(dtype))
    compare(lambda a, b: a[:, ::2].t() @ b[::3].t(), a, b, **tolerance(dtype))
    compare(lambda a: a[:1].expand(65, 70).t() @ a, a, **tolerance(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_sums_with_a_product(dtype):
    a, b = sample((4, 20, 30), dtype), sample((4, 30, 40), dtype)
    c, row = sample((4, 20, 40), dtype), sample((40,), dtype)

    def products(a, b, c, row):
        return [
            torch.bmm(a, b),
            torch.bmm(a, b[:, :, :1]),
            torch.baddbmm(c, a, b, beta=2, alpha=3),
            torch.addmm(row, a[0], b[0], beta=2),
            torch.addmm(row[:1], a[0], b[0], alpha=2),
            torch.addmv(row[:20], a[1], b[1, :, 3], beta=3, alpha=2),
            torch.mv(b[2].t(), a[2, 3]),
            torch.dot(row, row),
            c.clone().baddbmm_(a, b),
        ]

    compare(products, a, b, c, row, **tolerance(dtype))


def test_beta_zero_ignores_what_is_not_finite():
    c, a = torch.full((20, 20), float("nan")), sample((20, 20), torch.float32)
    compare(
        lambda c, a: [
            torch.addmm(c, a, a, beta=0),
            torch.addmv(c[0], a, a[0], beta=0),
            torch.addmm(c.fill_(2.0), a[:, :0], a[:0], beta=3),
        ],
        *(c, a),
        **tolerance(torch.float32),
    )


def test_linear_and_its_gradients():
    x, weight = sample((6, 9, 70), torch.float32), sample((40, 70), torch.float32)
    bias, grad = sample((40,), torch.float32), sample((6, 9, 40), torch.float32)

    def gradients(x, weight, bias, grad):
        leaves = [t.detach().requires_grad_() for t in (x, weight, bias)]
        y = torch.nn.functional.linear(*leaves)
        return y.detach(), *torch.autograd.grad(y, leaves, grad)

    compare(gradients, x, weight, bias, grad, **tolerance(torch.float32))
