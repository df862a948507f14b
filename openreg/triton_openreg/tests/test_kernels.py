# Kernels as users write them, against torch; see docs/modules/triton.md.
import math

import pytest
import torch
import triton
import triton.language as tl
from torch.nn import functional
from torch.testing import assert_close

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
TOLERANCE = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}


@triton.jit
def softmax_kernel(out, x, stride, n, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.program_id(0) * stride
    v = tl.load(x + row + i, mask=i < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row + i, e / tl.sum(e, axis=0), mask=i < n)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_softmax(dtype):
    x = torch.randn(37, 781, dtype=dtype)
    out = torch.empty_like(x, device="openreg")
    softmax_kernel[(37,)](out, x.to("openreg"), 781, 781, B=1024)
    assert_close(out.cpu(), x.softmax(1), rtol=TOLERANCE[dtype], atol=1e-5)


@triton.jit
def layer_norm_kernel(out, x, weight, bias, n, eps, B: tl.constexpr):
    x += tl.program_id(0) * n
    out += tl.program_id(0) * n
    total = tl.zeros([B], dtype=tl.float32)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        total += tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    total = tl.zeros([B], dtype=tl.float32)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
        v = tl.where(i < n, v - mean, 0.0)
        total += v * v
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / n + eps)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        w, b = tl.load(weight + i, mask=i < n), tl.load(bias + i, mask=i < n)
        v = tl.load(x + i, mask=i < n).to(tl.float32)
        tl.store(out + i, (v - mean) * scale * w + b, mask=i < n)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_layer_norm(dtype):
    x, weight, bias = (torch.randn(*s).to(dtype) for s in ((33, 700), (700,), (700,)))
    out = torch.empty_like(x, device="openreg")
    tensors = (t.to("openreg") for t in (x, weight, bias))
    layer_norm_kernel[(33,)](out, *tensors, 700, 1e-5, B=256)
    expected = functional.layer_norm(x, (700,), weight, bias)
    assert_close(out.cpu(), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@triton.jit
def leaky_relu(v):
    return tl.where(v >= 0, v, 0.01 * v)


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, am, ak, bk, bn, cm, cn, ACTIVATION: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = program // (GROUP * columns)
    size = min(rows - group * GROUP, GROUP)
    row = group * GROUP + (program % (GROUP * columns)) % size
    column = (program % (GROUP * columns)) // size
    m = (row * BM + tl.arange(0, BM)) % M
    n = (column * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_places = a + (m[:, None] * am + k[None, :] * ak)
    b_places = b + (k[:, None] * bk + n[None, :] * bn)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        left = K - step * BK
        x = tl.load(a_places, mask=k[None, :] < left, other=0.0)
        y = tl.load(b_places, mask=k[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        a_places += BK * ak
        b_places += BK * bk
    if ACTIVATION is not None:
        total = ACTIVATION(total)
    m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    inside = (m[:, None] < M) & (n[None, :] < N)
    places = c + cm * m[:, None] + cn * n[None, :]
    tl.store(places, total.to(c.dtype.element_ty), mask=inside)


def matmul(a, b, activation=None):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(m, 32) * triton.cdiv(n, 32),)
    matmul_kernel[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), activation,
        BM=32, BN=32, BK=32, GROUP=2,
    )  # fmt: skip
    return c


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matmul(dtype):
    a, b = torch.randn(100, 130, dtype=dtype), torch.randn(130, 70, dtype=dtype)
    c = matmul(a.to("openreg"), b.to("openreg"))
    tolerance = TOLERANCE[dtype]
    assert_close(c.cpu(), a @ b, rtol=tolerance, atol=tolerance)


def test_matmul_of_a_transposed_matrix_with_an_activation():
    a, b = torch.randn(64, 65).T, torch.randn(64, 33)
    c = matmul(a.to("openreg"), b.to("openreg"), leaky_relu)
    assert_close(c.cpu(), functional.leaky_relu(a @ b), rtol=1e-4, atol=1e-4)


@triton.jit
def attention_kernel(
    q, k, v, out, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr
):
    start = tl.program_id(0) * BM
    m, d = start + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + m[:, None] * D + d[None, :], mask=m[:, None] < n, other=0.0)
    largest = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    result = tl.zeros([BM, D], tl.float32)
    for first in range(0, start + BM, BN):
        i = first + tl.arange(0, BN)
        key = tl.load(k + i[None, :] * D + d[:, None], mask=i[None, :] < n, other=0.0)
        score = tl.dot(query, key) * scale
        score = tl.where(m[:, None] >= i[None, :], score, -1e30)
        new = tl.maximum(largest, tl.max(score, 1))
        p, shrink = tl.exp(score - new[:, None]), tl.exp(largest - new)
        total = total * shrink + tl.sum(p, 1)
        value = tl.load(v + i[:, None] * D + d[None, :], mask=i[:, None] < n, other=0.0)
        result = tl.dot(p.to(value.dtype), value, result * shrink[:, None])
        largest = new
    tl.store(
        out + m[:, None] * D + d[None, :], result / total[:, None], mask=m[:, None] < n
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_causal_attention(dtype):
    q, k, v = (torch.randn(100, 32, dtype=dtype) for _ in range(3))
    out = torch.empty_like(q, device="openreg")
    tensors = [t.to("openreg") for t in (q, k, v)]
    attention_kernel[(4,)](*tensors, out, 100, 32**-0.5, BM=32, BN=32, D=32)
    expected = functional.scaled_dot_product_attention(
        q[None], k[None], v[None], is_causal=True
    )[0]
    assert_close(out.cpu(), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@triton.jit
def column_sum_kernel(out, x, M, N, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros([BM, BN], tl.float32)
    for row in range(0, M, BM):
        m = row + tl.arange(0, BM)
        inside = (m[:, None] < M) & (n[None, :] < N)
        total += tl.load(x + m[:, None] * N + n[None, :], mask=inside, other=0.0)
    tl.store(out + n, tl.sum(total, 0), mask=n < N)


def test_column_sum():
    x = torch.randn(61, 100)
    out = torch.empty(100, device="openreg")
    column_sum_kernel[(4,)](out, x.to("openreg"), 61, 100, BM=8, BN=32)
    assert_close(out.cpu(), x.sum(0), rtol=1e-5, atol=1e-5)


@triton.jit
def combine(mean, squares, weight, other_mean, other_squares, other_weight):
    delta = other_mean - mean
    total = weight + other_weight
    share = other_weight / total
    between = delta * delta * weight * share
    return mean + delta * share, squares + other_squares + between, total


@triton.jit
def variance_kernel(out, x, M: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    one = tl.full([M, N], 1.0, tl.float32)
    _, squares, weight = tl.reduce((v, tl.zeros_like(v), one), 1, combine)
    tl.store(out + tl.arange(0, M), squares / weight)


def test_variance_by_a_reduction_of_three_values():
    x = torch.randn(8, 128)
    out = torch.empty(8, device="openreg")
    variance_kernel[(1,)](out, x.to("openreg"), M=8, N=128)
    assert_close(out.cpu(), x.var(1, correction=0), rtol=1e-5, atol=1e-5)


@triton.jit
def lock_kernel(lock, total, n):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + tl.program_id(0))
    tl.atomic_xchg(lock, 0)


def test_spin_lock():
    lock, total = torch.zeros(2, 1, dtype=torch.int32, device="openreg")
    lock_kernel[(10,)](lock, total, 10)
    assert (lock.item(), total.item()) == (0, 45)


@triton.jit
def bins_kernel(x, bins, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


def test_counting_by_atomics():
    x = torch.randint(0, 10, (3000,), dtype=torch.int32)
    bins = torch.zeros(10, dtype=torch.int32, device="openreg")
    bins_kernel[(12,)](x.to("openreg"), bins, 3000, B=256)
    assert torch.equal(bins.cpu().long(), torch.bincount(x, minlength=10))


@triton.jit
def gather_rows_kernel(out, table, index, n, B: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    i = tl.arange(0, B)
    v = tl.load(table + row * n + i, mask=i < n)
    tl.store(out + tl.program_id(0) * n + i, v, mask=i < n)


def test_embedding():
    table, index = torch.randn(20, 100), torch.randint(0, 20, (50,))
    out = torch.empty(50, 100, device="openreg")
    gather_rows_kernel[(50,)](out, table.to("openreg"), index.to("openreg"), 100, B=128)
    assert torch.equal(out.cpu(), table[index])


@triton.jit
def list_sum_kernel(out, addresses, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for k in range(n):
        place = tl.load(addresses + k).to(tl.pointer_type(tl.float32))
        total += tl.load(place + i)
    tl.store(out + i, total)


def test_a_list_of_tensors_by_their_addresses():
    tensors = [torch.full((16,), float(n), device="openreg") for n in range(5)]
    addresses = torch.tensor([t.data_ptr() for t in tensors], device="openreg")
    out = torch.empty(16, device="openreg")
    list_sum_kernel[(1,)](out, addresses, 5, B=16)
    assert_close(out.cpu(), torch.full((16,), 10.0))


@triton.jit
def address_kernel(out, x):
    tl.store(out, (x + 3).to(tl.int64))


def test_an_address_as_a_number():
    x, out = (
        torch.ones(8, device="openreg"),
        torch.zeros(1, dtype=int, device="openreg"),
    )
    address_kernel[(1,)](out, x)
    assert out.item() == x[3].data_ptr()


@triton.jit
def fp8_kernel(small, back, x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(small + i, tl.load(x + i).to(small.dtype.element_ty))
    tl.store(back + i, tl.load(small + i).to(tl.float32))


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.float8_e4m3fn], ids=str)
def test_numbers_of_8_bits(dtype):
    edges = [0.0, -0.0, 1e-3, 1e-9, 448, 464, 465, 57344, 65000, math.inf, math.nan]
    x = torch.cat([torch.randn(1024 - len(edges)) * 100, torch.tensor(edges)])
    small = torch.zeros(1024, device="openreg").to(dtype)
    back = torch.empty(1024, device="openreg")
    fp8_kernel[(1,)](small, back, x.to("openreg"), B=1024)
    expected = x.to(dtype)
    assert torch.equal(small.cpu().view(torch.uint8), expected.view(torch.uint8))
    assert_close(back.cpu(), expected.float(), rtol=0, atol=0, equal_nan=True)


@triton.jit
def fp8_matmul_kernel(c, a, b, B: tl.constexpr):
    k = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(c + k, tl.dot(tl.load(a + k), tl.load(b + k)))


def test_matmul_of_8_bits():
    a, b = (torch.randn(32, 32).to(torch.float8_e4m3fn) for _ in range(2))
    c = torch.empty(32, 32, device="openreg")
    fp8_matmul_kernel[(1,)](c, a.to("openreg"), b.to("openreg"), B=32)
    assert_close(c.cpu(), a.float() @ b.float(), rtol=1e-5, atol=1e-5)


@triton.jit
def print_kernel(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.device_print("value", tl.load(x + i), n)
    tl.device_print("hex", tl.load(x + i).to(tl.int32), hex=True)
    tl.device_print("done")


PRINTS = """
    import torch
    from test_kernels import print_kernel

    print_kernel[(1,)](torch.tensor([1.5, 2.0], device="openreg"), 7, B=2)
    torch.openreg.synchronize()
"""


def test_print(run_python, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", import_path())
    done = run_python(PRINTS)
    assert done.stdout.splitlines() == [
        "pid (0, 0, 0) idx (0) value: 1.500000",
        "pid (0, 0, 0) idx (1) value: 2.000000",
        "pid (0, 0, 0) idx () value: 7",
        "pid (0, 0, 0) idx (0) hex: 0x00000001",
        "pid (0, 0, 0) idx (1) hex: 0x00000002",
        "pid (0, 0, 0) done",
    ], done.stderr


def import_path():
    import os
    import sys

    return os.pathsep.join(path for path in sys.path if path)


@triton.jit
def assert_kernel(x, n, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    tl.device_assert(v < n, "not in the table")
    tl.store(x, 5.0)


ASSERTS = """
    import torch
    from test_kernels import assert_kernel

    x = torch.tensor([1.0, 2.0], device="openreg")
    assert_kernel[(3,)](x, 9, B=2, debug=True)
    torch.openreg.synchronize()
    try:
        assert_kernel[(3,)](x, 2, B=2, debug=True)
        torch.openreg.synchronize()
    except RuntimeError as error:
        print(error)
"""


def test_assert_is_a_fault_of_the_device(run_python, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", import_path())
    done = run_python(ASSERTS)
    line = assert_kernel.starting_line_number + 3
    expected = f"test_kernels.py:{line}: device_assert failed: not in the table"
    assert f"{expected} in program (0, 0, 0)" in done.stdout, done.stderr
    assert "orErrorLaunchFailure" in done.stdout


def test_no_assert_without_debug():
    x = torch.tensor([1.0, 2.0], device="openreg")
    assert_kernel[(1,)](x, 0, B=2)
    assert x[0].item() == 5
