# Operations on blocks: numbers, reductions, shapes; see
# docs/modules/triton-compiler.md.
import torch
import triton
import triton.language as tl
from cases import FLOATS, INTEGERS, TYPES, case, numbers


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
