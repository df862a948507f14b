# Products, memory, control flow and the grid; see docs/modules/triton-compiler.md.
import torch
import triton
import triton.language as tl
from cases import case, numbers


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
        if v % 2 == 0:  # noqa: SIM108
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
    tl.store(out + 3 * B + i, v, mask=(n > 5) & (i >= 0))
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
    tl.store(out + 2 * B + i, tl.map_elementwise(swapped, a, pack=2)[0])


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


@triton.jit
def carried_kernel(x, out, n, B: tl.constexpr):
    k = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    a = tl.load(x + k)
    b = a * 2
    for i in range(n):  # each reads what the other was, at other places
        a, b = tl.trans(a) + b, a - tl.sum(b, 0)[None, :] * 0.01
        if i == 2:
            a = tl.flip(a, 1)
    tl.store(out + k, a)
    tl.store(out + B * B + k, tl.dot(a, b, a))


@case()
def carried_blocks(device: str) -> list[torch.Tensor]:
    x = numbers("float32", 16, 16).div(8).to(device)  # tl.dot sums in any order
    out = torch.zeros(2, 16, 16, device=device)
    carried_kernel[(1,)](x, out, 5, B=16)
    return [out]


@triton.jit
def changed(v, flag):
    if flag > 1:
        return v + 1
    return v * 2


@triton.jit
def block_call_kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for j in range(n):  # a function with two returns is not inlined in a loop
        v = changed(v, j)
        if j % 2 == 1:
            v = changed(v, tl.sum(v, 0).to(tl.int32))
    tl.store(out + i, v)


@case()
def calls_with_blocks(device: str) -> list[torch.Tensor]:
    x = numbers("float32", 16).to(device)
    out = torch.zeros_like(x)
    block_call_kernel[(1,)](x, out, 4, B=16)
    return [out]


@triton.jit
def branch_kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if n > 3:
        w, s, t = v + 1, tl.sum(v + 1, 0), i * 2
    else:
        w, s, t = v * 2, tl.max(v, 0), i + 1
    r = w
    if n > 4:
        w, r = r * 2, w + v
    tl.store(out + i, w + s + t)
    tl.store(out + B + i, r)


@case("3", "4", "5")
def branches(device: str, n: str) -> list[torch.Tensor]:
    x = numbers("float32", 16).to(device)
    out = torch.zeros(2, 16, device=device)
    branch_kernel[(1,)](x, out, int(n), B=16)
    return [out]


@triton.jit
def masks_2d_kernel(x, out, n, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    k = r[:, None] * N + c[None, :]
    inside = (r[:, None] < n) & (c[None, :] < n + 3) & (c[None, :] >= 1)
    v = tl.load(x + k, mask=inside, other=7.0)
    tl.store(out + k, v, mask=(c[None, :] <= n) & (r[:, None] >= 1))
    rows = tl.broadcast_to((r < n)[:, None], (M, N))
    tl.store(out + M * N + k, tl.load(x + k, mask=rows, other=v), mask=rows & (n > 2))
    turned = out + 2 * M * N + c[None, :] * M + r[:, None]
    tl.store(turned, v, mask=(n > r[:, None]) & (c[None, :] < 5))
    tl.store(out + 3 * M * N + r, tl.sum(tl.where(rows, v, 0.0), 1), mask=r < n)


@case()
def masks_of_two_dimensions(device: str) -> list[torch.Tensor]:
    x = numbers("float32", 8, 16).to(device)
    out = torch.zeros(4, 8, 16, device=device)
    masks_2d_kernel[(1,)](x, out, 5, M=8, N=16)
    return [out]


@triton.jit
def cube_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None, None], tl.arange(0, N)[None, :, None]
    k = tl.arange(0, 4)[None, None, :]
    inside = (i < 3) & (j < 5) & (k < 3)
    v = tl.load(x + i * N * 4 + j * 4 + k, mask=inside, other=0.0)
    m, n, p = tl.arange(0, M), tl.arange(0, N), tl.arange(0, 4)
    tl.store(out + m[:, None] * N + n[None, :], tl.sum(v, 2))
    tl.store(out + M * N + m[:, None] * 4 + p[None, :], tl.max(v, 1))
    scanned = tl.cumsum(tl.sum(v, 0), 0)
    tl.store(out + 2 * M * N + n[:, None] * 4 + p[None, :], scanned)
    tl.store(out + 3 * M * N, tl.sum(v))


@case()
def three_dimensions(device: str) -> list[torch.Tensor]:
    x = numbers("float32", 4, 8, 4).to(device)
    out = torch.zeros(4, 4, 8, device=device)
    cube_kernel[(1,)](x, out, M=4, N=8)
    return [out]
