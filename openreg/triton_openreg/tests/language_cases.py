# Kernels that use each part of the language; see docs/modules/triton-compiler.md.
"""Each case runs kernels on a device and returns tensors.

The tests compare them with what Triton's interpreter computes on the CPU.
"""

from collections.abc import Callable

import torch
import triton
import triton.language as tl

Case = Callable[[str], list[torch.Tensor]]
CASES: dict[str, Case] = {}
FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


def case(*variants: str) -> Callable[[Callable[..., list[torch.Tensor]]], Case]:
    """Add a case, or one for each variant."""

    def register(function: Callable[..., list[torch.Tensor]]) -> Case:
        name = function.__name__
        if not variants:
            CASES[name] = function
        for variant in variants:
            CASES[f"{name}-{variant}"] = lambda device, v=variant: function(device, v)
        return function

    return register


def numbers(dtype: str, *shape: int, seed: int = 0, low: int = -50) -> torch.Tensor:
    """Return the same numbers on each call."""
    generator = torch.Generator().manual_seed(seed)
    kind = getattr(torch, dtype)
    if kind.is_floating_point:
        return torch.randn(shape, generator=generator).to(kind)
    low = 0 if dtype[0] == "u" else low
    return torch.randint(low, 50, shape, generator=generator).to(kind)


@triton.jit
def arithmetic_kernel(x, y, out, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    mask = i < N
    a = tl.load(x + i, mask=mask, other=1)
    b = tl.load(y + i, mask=mask, other=1)
    tl.store(out + i, a + b, mask=mask)
    tl.store(out + B + i, a - b, mask=mask)
    tl.store(out + 2 * B + i, a * b, mask=mask)
    tl.store(out + 3 * B + i, tl.where(a > b, a, b), mask=mask)
    tl.store(out + 4 * B + i, tl.minimum(a, b), mask=mask)
    tl.store(out + 5 * B + i, tl.abs(a), mask=mask)
    tl.store(out + 6 * B + i, -a, mask=mask)
    tl.store(out + 7 * B + i, (a == b) | (a < b), mask=mask)


@case(*FLOATS, *INTEGERS)
def arithmetic(device: str, dtype: str) -> list[torch.Tensor]:
    x, y = (numbers(dtype, 128, seed=s).to(device) for s in (0, 1))
    out = torch.zeros(8, 128, dtype=x.dtype, device=device)
    arithmetic_kernel[(1,)](x, y, out, 100, B=128)
    return [out]


@triton.jit
def division_kernel(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a // b)
    tl.store(out + B + i, a % b)
    tl.store(out + 2 * B + i, a << (b & 3))
    tl.store(out + 3 * B + i, a >> (b & 3))
    tl.store(out + 4 * B + i, (a & b) | (a ^ 5))
    tl.store(out + 5 * B + i, ~a)
    tl.store(out + 6 * B + i, tl.cdiv(a, 7))


@case("int8", "int16", "int32", "int64", "uint8", "uint32")
def division(device: str, dtype: str) -> list[torch.Tensor]:
    x = numbers(dtype, 128, low=0).to(device)
    y = (numbers("int64", 128, seed=1, low=0) % 13 + 1).to(x.dtype).to(device)
    out = torch.zeros(7, 128, dtype=x.dtype, device=device)
    division_kernel[(1,)](x, y, out, B=128)
    return [out]


@triton.jit
def math_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    p = tl.abs(v) + 0.1
    tl.store(out + i, tl.exp(v) + tl.exp2(v))
    tl.store(out + B + i, tl.log(p) + tl.log2(p))
    tl.store(out + 2 * B + i, tl.sin(v) + tl.cos(v))
    tl.store(out + 3 * B + i, tl.sqrt(p) + tl.rsqrt(p))
    tl.store(out + 4 * B + i, tl.math.erf(v) + tl.sigmoid(v))
    tl.store(out + 5 * B + i, tl.floor(v) + tl.ceil(v))
    tl.store(out + 6 * B + i, tl.fma(v, p, v))
    tl.store(out + 7 * B + i, tl.clamp(v, -0.5, 0.5))


@case("float32", "float64")
def functions(device: str, dtype: str) -> list[torch.Tensor]:
    x = (3 * numbers(dtype, 256)).to(device)
    out = torch.zeros(8, 256, dtype=x.dtype, device=device)
    math_kernel[(1,)](x, out, B=256)
    return [out]


TYPES = (*FLOATS, "int8", "int16", "int32", "int64", "uint8")


@triton.jit
def cast_kernel(x, a, b, c, d, e, f, g, h, k, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(a + i, v.to(a.dtype.element_ty))
    tl.store(b + i, v.to(b.dtype.element_ty))
    tl.store(c + i, v.to(c.dtype.element_ty))
    tl.store(d + i, v.to(d.dtype.element_ty))
    tl.store(e + i, v.to(e.dtype.element_ty))
    tl.store(f + i, v.to(f.dtype.element_ty))
    tl.store(g + i, v.to(g.dtype.element_ty))
    tl.store(h + i, v.to(h.dtype.element_ty))
    tl.store(k + i, v.to(k.dtype.element_ty))


@case(*TYPES)
def cast(device: str, dtype: str) -> list[torch.Tensor]:
    x = 3 * numbers("float32" if "float" in dtype else dtype, 128).abs()
    x = x.to(getattr(torch, dtype)).to(device)
    out = [torch.zeros(128, dtype=getattr(torch, t), device=device) for t in TYPES]
    cast_kernel[(1,)](x, *out, B=128)
    return out


@triton.jit
def reduce_kernel(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    L: tl.constexpr = N if AXIS == 0 else M
    k = tl.arange(0, L)
    tl.store(out + k, tl.sum(v, AXIS))
    tl.store(out + L + k, tl.max(v, AXIS))
    tl.store(out + 2 * L + k, tl.min(v, AXIS))
    tl.store(out + 3 * L + k, tl.argmax(v, AXIS))
    tl.store(out + 4 * L + k, tl.argmin(v, AXIS))


@case(*(f"{d}-{a}" for d in ("float16", "float32", "int32", "int64") for a in (0, 1)))
def reduction(device: str, variant: str) -> list[torch.Tensor]:
    dtype, axis = variant.split("-")
    x = numbers(dtype, 16, 64).to(device)
    out = torch.zeros(5, 64 if axis == "0" else 16, dtype=x.dtype, device=device)
    reduce_kernel[(1,)](x, out, M=16, N=64, AXIS=int(axis))
    return [out]


@triton.jit
def xor_pair(a, b, c, d):
    return a ^ c, b + d


@triton.jit
def custom_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a, b = tl.reduce((v, v * 2), 0, xor_pair)
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, tl.xor_sum(v, 0))
    c, d = tl.associative_scan((v, v), 0, xor_pair)
    tl.store(out + B + i, c)
    tl.store(out + 2 * B + i, d)


@case()
def custom_combination(device: str) -> list[torch.Tensor]:
    x = numbers("int32", 64).to(device)
    out = torch.zeros(3, 64, dtype=torch.int32, device=device)
    custom_kernel[(1,)](x, out, B=64)
    return [out]


@triton.jit
def scan_kernel(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    k = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + k)
    tl.store(out + k, tl.cumsum(v, AXIS))
    tl.store(out + M * N + k, tl.cumsum(v, AXIS, reverse=True))
    tl.store(out + 2 * M * N + k, tl.cumprod(v, AXIS))


@case("float32-0", "float32-1", "int32-0", "int64-1")
def scan(device: str, variant: str) -> list[torch.Tensor]:
    dtype, axis = variant.split("-")
    x = numbers(dtype, 8, 16).to(device)
    out = torch.zeros(3, 8, 16, dtype=x.dtype, device=device)
    scan_kernel[(1,)](x, out, M=8, N=16, AXIS=int(axis))
    return [out]


@triton.jit
def sort_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.sort(v))
    tl.store(out + N + i, tl.sort(v, descending=True))
    tl.store(out + 2 * N + i, tl.flip(v, 0))


@case("float32", "int32", "int64")
def sort(device: str, dtype: str) -> list[torch.Tensor]:
    x = numbers(dtype, 64).to(device)
    out = torch.zeros(3, 64, dtype=x.dtype, device=device)
    sort_kernel[(1,)](x, out, N=64)
    return [out]


@triton.jit
def topk_kernel(x, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    k = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(out + k, tl.topk(v, K))


@case()
def topk(device: str) -> list[torch.Tensor]:
    x = numbers("float32", 4, 32).to(device)
    out = torch.zeros(4, 8, device=device)
    topk_kernel[(1,)](x, out, M=4, N=32, K=8)
    return [out]


@triton.jit
def shape_kernel(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    both = tl.join(a, b)
    left, right = tl.split(both)
    tl.store(out + i, left - right)
    tl.store(out + B + i, tl.ravel(tl.trans(tl.reshape(a, (4, B // 4)))))
    k = tl.arange(0, 2 * B)
    tl.store(out + 2 * B + k, tl.cat(a, b, can_reorder=True))
    tl.store(out + 4 * B + k, tl.interleave(a, b))
    cube = tl.reshape(a, (2, 4, B // 8))
    tl.store(out + 6 * B + i, tl.ravel(tl.permute(cube, (2, 0, 1))))
    wide = tl.broadcast_to(tl.sum(cube, 1)[:, None, :], (2, 4, B // 8))
    tl.store(out + 7 * B + i, tl.ravel(wide))
    tl.store(out + 8 * B + i, tl.gather(a, B - 1 - i, 0))
    tl.store(out + 9 * B + i, tl.sum(both, 1))


@case("float32", "int32")
def shapes(device: str, dtype: str) -> list[torch.Tensor]:
    x, y = (numbers(dtype, 64, seed=s).to(device) for s in (0, 1))
    out = torch.zeros(10, 64, dtype=x.dtype, device=device)
    shape_kernel[(1,)](x, y, out, B=64)
    return [out]


@triton.jit
def gather_kernel(x, index, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    k = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + k, tl.gather(tl.load(x + k), tl.load(index + k), AXIS))


@case("0", "1")
def gather(device: str, axis: str) -> list[torch.Tensor]:
    x = numbers("float32", 8, 16).to(device)
    index = numbers("int32", 8, 16, low=0).remainder(8).to(torch.int32).to(device)
    out = torch.zeros_like(x)
    gather_kernel[(1,)](x, index, out, M=8, N=16, AXIS=int(axis))
    return [out]


@triton.jit
def histogram_kernel(x, out, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + tl.arange(0, BINS), tl.histogram(v, BINS))
    tl.store(out + BINS + tl.arange(0, BINS), tl.histogram(v, BINS, mask=i < 20))


@case()
def histogram(device: str) -> list[torch.Tensor]:
    x = numbers("int32", 64, low=0).to(device) % 16
    out = torch.zeros(2, 16, dtype=torch.int32, device=device)
    histogram_kernel[(1,)](x, out, B=64, BINS=16)
    return [out]


@triton.jit
def dot_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    place = m[:, None] * N + n[None, :]
    acc = tl.load(c + place)
    tl.store(c + place, tl.dot(x, y, acc, out_dtype=c.dtype.element_ty))


@case("float32", "float64", "float16", "bfloat16", "int8")
def dot(device: str, dtype: str) -> list[torch.Tensor]:
    x, y = (numbers(dtype, 16, 16, seed=s, low=-20).to(device) for s in (0, 1))
    kind = {"int8": torch.int32, "float64": torch.float64}.get(dtype, torch.float32)
    out = torch.ones(16, 16, dtype=kind, device=device)
    dot_kernel[(1,)](x, y, out, M=16, N=16, K=16)
    return [out]


@triton.jit
def batched_dot_kernel(a, b, c, B: tl.constexpr, M: tl.constexpr):
    i = tl.arange(0, M)
    k = tl.arange(0, B)[:, None, None] * M * M + i[None, :, None] * M + i[None, None, :]
    tl.store(c + k, tl.dot(tl.load(a + k), tl.trans(tl.load(b + k), 0, 2, 1)))


@case("float32", "float16")
def batched_dot(device: str, dtype: str) -> list[torch.Tensor]:
    x, y = (numbers(dtype, 4, 16, 16, seed=s).to(device) for s in (0, 1))
    out = torch.zeros(4, 16, 16, device=device)
    batched_dot_kernel[(1,)](x, y, out, B=4, M=16)
    return [out]


@triton.jit
def half_dot_kernel(a, b, c, M: tl.constexpr):
    k = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(c + k, tl.dot(tl.load(a + k), tl.load(b + k), out_dtype=tl.float16))


@case()
def half_dot(device: str) -> list[torch.Tensor]:
    x, y = (numbers("float16", 16, 16, seed=s).to(device) for s in (0, 1))
    out = torch.zeros(16, 16, dtype=torch.float16, device=device)
    half_dot_kernel[(1,)](x, y, out, M=16)
    return [out]


@triton.jit
def atomic_kernel(x, out, index, B: tl.constexpr):
    i = tl.arange(0, B)
    v, where = tl.load(x + i), tl.load(index + i)
    mask = i < B - 3
    tl.atomic_add(out + where, v, mask=mask)
    tl.atomic_max(out + 8 + where, v, mask=mask)
    tl.atomic_min(out + 16 + where, v, sem="relaxed")
    tl.atomic_xchg(out + 24 + i % 8, v, mask=i < 8)


@case("int32", "int64", "uint32", "float32", "float64")
def atomics(device: str, dtype: str) -> list[torch.Tensor]:
    x = numbers(dtype, 64).to(device)
    index = numbers("int32", 64, low=0).to(device) % 8
    out = torch.zeros(4, 8, dtype=x.dtype, device=device)
    atomic_kernel[(2,)](x, out, index, B=64)
    return [out]


@triton.jit
def atomic_bits_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.atomic_and(out + i % 4, v)
    tl.atomic_or(out + 4 + i % 4, v)
    tl.atomic_xor(out + 8 + i % 4, v)
    seven = tl.full([], 7, x.dtype.element_ty)
    old = tl.atomic_cas(out + 12, seven, seven + 2)
    tl.store(out + 13, old)


@case("int32", "int64")
def atomic_bits(device: str, dtype: str) -> list[torch.Tensor]:
    x = numbers(dtype, 16, low=0).to(device)
    out = torch.full((16,), 7, dtype=x.dtype, device=device)
    atomic_bits_kernel[(1,)](x, out, B=16)
    return [out]


@triton.jit
def collatz_kernel(x, out, n, B: tl.constexpr):
    program = tl.program_id(0)
    if program >= n:
        return
    v = tl.load(x + program)
    steps = 0
    while v != 1:
        if v % 2 == 0:
            v = v // 2
        else:
            v = 3 * v + 1
        steps += 1
    i = tl.arange(0, B)
    a, b = tl.zeros([B], tl.int32), i
    for k in range(steps):
        a, b = b, a + k
        if k % 3 == 0:
            a += 1
    tl.store(out + program * B + i, a + steps)


@case()
def control_flow(device: str) -> list[torch.Tensor]:
    x = torch.tensor([1, 6, 7, 27], dtype=torch.int32).to(device)
    out = torch.zeros(6, 8, dtype=torch.int32, device=device)
    collatz_kernel[(6,)](x, out, 4, B=8)
    return [out]


@triton.jit
def returns_kernel(x, out, n):
    program = tl.program_id(0)
    v = tl.load(x + program)
    if v > 0:
        if v > 20:
            tl.store(out + program, 1.0)
            return
        v += 100
    elif v < -20:
        return
    if v > n:
        v = v * 2
    tl.store(out + program, v)


@case()
def early_returns(device: str) -> list[torch.Tensor]:
    x = (20 * numbers("float32", 64)).to(device)
    out = torch.zeros_like(x)
    returns_kernel[(64,)](x, out, 50.0)
    return [out]


@triton.jit(noinline=True)
def scaled_sum(a, b, c):
    total = a + b
    for k in range(c):
        total = total * 2 + k
    return total, a - b


@triton.jit
def call_kernel(x, out):
    a, b = scaled_sum(tl.load(x), tl.load(x + 1), 3)
    c, d = scaled_sum(a, b, 2)
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    tl.store(out + 3, d)


@case("float32", "int32")
def calls(device: str, dtype: str) -> list[torch.Tensor]:
    x = numbers(dtype, 2).to(device)
    out = torch.zeros(4, dtype=x.dtype, device=device)
    call_kernel[(1,)](x, out)
    return [out]


@triton.jit
def pointers_kernel(a, out, M, N, B: tl.constexpr):
    rows = tl.arange(0, B)
    pointers = a + rows[:, None] * N + tl.arange(0, B)[None, :]
    total = tl.zeros([B, B], tl.float32)
    for column in range(0, N, B):
        inside = (rows[:, None] < M) & (column + tl.arange(0, B)[None, :] < N)
        total += tl.load(pointers, mask=inside, other=0.0)
        pointers += B
    for _ in range(2):  # not a step of one size: the addresses go through a buffer
        pointers = tl.where(rows[:, None] == 0, a, a + 1) + tl.zeros([B, B], tl.int32)
    total += tl.load(pointers)
    tl.store(out + rows[:, None] * B + tl.arange(0, B)[None, :], total)


@case()
def moving_pointers(device: str) -> list[torch.Tensor]:
    x = numbers("float32", 13, 37).to(device)
    out = torch.zeros(16, 16, device=device)
    pointers_kernel[(1,)](x, out, 13, 37, B=16)
    return [out]


@triton.jit
def descriptor_kernel(a, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(a, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
    row = tl.program_id(0) * BM
    target.store([row, 0], source.load([row, 0]) * 2)


@case()
def tensor_descriptors(device: str) -> list[torch.Tensor]:
    x = numbers("float32", 20, 28).to(device)
    out = torch.zeros_like(x)
    descriptor_kernel[(2,)](x, out, 20, 28, BM=16, BN=32)
    return [out]


@triton.jit
def random_kernel(out, seed, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.rand(seed, i))
    tl.store(out + B + i, tl.randn(seed, i))
    tl.store(out + 2 * B + i, tl.randint(seed, i) % 1000)


@case()
def random(device: str) -> list[torch.Tensor]:
    out = torch.zeros(3, 128, dtype=torch.float32, device=device)
    random_kernel[(1,)](out, 1234, B=128)
    return [out]


@triton.jit
def masks_kernel(x, out, low, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, v, mask=(i >= low) & (i < n))
    tl.store(out + B + i, tl.load(x + i, mask=v > 0, other=-1.0), mask=i <= n)
    tl.store(out + 2 * B + i, tl.load(x + i, mask=n > i, other=v + 1), mask=i % 3 == 0)
    tl.store(out + 3 * B + i, v, mask=n > 5)
    tl.store(out + 4 * B + i, v, mask=(i < n) & (n < 5))
    tl.store(out + 5 * B + i, tl.load(x + tl.zeros([B], tl.int32)))


@case()
def masks(device: str) -> list[torch.Tensor]:
    x = numbers("float32", 64).to(device)
    out = torch.zeros(6, 64, device=device)
    masks_kernel[(1,)](x, out, 3, 50, B=64)
    return [out]


@triton.jit
def larger_and_scaled(a, b):
    if a > b:
        return a, b * 2
    return b * 3, a


@triton.jit
def swapped(first, second):
    return second, first


@triton.jit
def map_kernel(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.map_elementwise(larger_and_scaled, tl.load(x + i), tl.load(y + i))
    tl.store(out + i, a)
    tl.store(out + B + i, b)
    tl.store(out + 2 * B + i, tl.map_elementwise(swapped, a, pack=2))


@case("float32", "int32")
def mapped(device: str, dtype: str) -> list[torch.Tensor]:
    x, y = (numbers(dtype, 32, seed=s).to(device) for s in (0, 1))
    out = torch.zeros(3, 32, dtype=x.dtype, device=device)
    map_kernel[(1,)](x, y, out, B=32)
    return [out]


@triton.jit
def grid_kernel(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny = tl.num_programs(0), tl.num_programs(1)
    tl.store(out + (z * ny + y) * nx + x, x + 10 * y + 100 * z)


@case()
def grid(device: str) -> list[torch.Tensor]:
    out = torch.zeros(4, 3, 2, dtype=torch.int32, device=device)
    grid_kernel[(2, 3, 4)](out)
    return [out]
