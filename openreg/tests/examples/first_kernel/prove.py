# What a first kernel must do, on any backend; see docs/start/first-kernel.md.
import itertools
import sys

import torch

NAME, DTYPES = sys.argv[1], ["float32", "int64", "float64", "bool"]
OPS, MODULE = getattr(torch.ops, NAME), getattr(torch, NAME)
STARTER = not hasattr(MODULE, "fallback_counts")


def fallbacks():
    counts = OPS.fallback_counts() if STARTER else MODULE.fallback_counts()
    return counts.get("aten::add.out", 0)


def shapes(dtype):
    x = torch.arange(24).remainder(7).to(dtype).view(2, 3, 4)
    yield x, x + x
    yield x.transpose(0, 2), x.transpose(0, 2)[:, :, :1]  # strides, broadcast
    yield x[:, ::2, 1:], x[0, 0, 1:]  # gaps, an offset
    yield x[:0], x[:0]
    yield x[0, 0, 0], x[0, 0, 1]
    yield x, torch.tensor(2).to(dtype)  # a number of the CPU
    yield torch.tensor(2).to(dtype), x
    yield x.expand(2, 2, 3, 4), x
    yield x.as_strided([2] * 9, [1] * 9), x[0, 0, :2]  # nine dimensions


def move(x):
    elements = x.untyped_storage().nbytes() // x.element_size()
    if elements == 1:
        return x  # a number stays on the CPU
    memory = x.as_strided([elements], [1], 0).to(NAME)
    return memory.as_strided(x.size(), x.stride(), x.storage_offset())


for one, other in itertools.product(DTYPES, DTYPES):
    before = fallbacks()
    pairs = zip(shapes(getattr(torch, one)), shapes(getattr(torch, other)), strict=True)
    for (a, _), (_, b) in pairs:
        expected = a + b
        actual = move(a) + move(b)
        assert actual.device.type == NAME, (a, b)
        assert actual.dtype == expected.dtype and actual.stride() == expected.stride()
        assert torch.equal(actual.cpu(), expected), (a, b)
    print(one, other, fallbacks() - before)

x = torch.rand(3, 4)
a = x.to(NAME)
out = torch.empty(4, 3, device=NAME).t()
assert torch.add(a, a, alpha=2, out=out) is out and out.stride() == (1, 3)
assert torch.equal(out.cpu(), torch.add(x, x, alpha=2))
double = torch.empty(3, 4, dtype=torch.float64, device=NAME)
assert torch.equal(torch.add(a, a, out=double).cpu(), (x + x).double())
a.t().add_(1.5)
assert torch.equal(a.cpu(), x + 1.5)
for bad in (
    lambda: a + torch.ones(4),
    lambda: a + torch.ones(3, device=NAME),
    lambda: a[:1].expand(3, 4).add_(1),
    lambda: torch.add(a.long(), a.long(), alpha=0.5),
):
    try:
        bad()
    except RuntimeError as error:
        print(str(error)[:40])
    else:
        raise AssertionError("no error")
fused = OPS.add_relu
y = torch.randn(3, 4)
assert torch.equal(fused(a, y.to(NAME)).cpu(), torch.relu(x + 1.5 + y))
mixed = fused(a.double(), y.to(NAME))
assert torch.equal(mixed.cpu(), torch.relu((x + 1.5).double() + y))
