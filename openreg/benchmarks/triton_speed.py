# Times Triton kernels against C++ loops and eager operators; see
# docs/modules/triton-inductor.md.
"""python openreg/benchmarks/triton_speed.py [COMMIT]: prints times, or keeps them.

`nox -s triton -- --record COMMIT` runs it. A row is timed in rounds, all of its columns
one after the other: a busy machine changes the ratios less than the times.
"""

from __future__ import annotations

import datetime
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FunctionType

import torch
import torch.nn.functional as F
import torch_openreg._inductor as inductor
import triton
import triton.language as tl

KEPT = Path(__file__).with_suffix(".json")
ROUNDS = 21
LAUNCHES = 200
COLUMNS = ("eager", "loops", "triton")
Function = Callable[..., torch.Tensor]


def works() -> dict[str, tuple[Function, list[torch.Tensor]]]:
    """Return what is compiled, and its arguments."""
    torch.manual_seed(0)
    x = torch.randn(2048, 1024, device="openreg")
    weight = torch.randn(1024, device="openreg")
    square = torch.randn(512, 512, device="openreg")
    shape = (1024,)
    return {
        "softmax": (lambda x: torch.softmax(x, -1), [x]),
        "GELU": (lambda x: F.gelu(x), [x]),
        "layer norm": (lambda x, w: F.layer_norm(x, shape, w, w), [x, weight]),
        "column sum": (lambda x: x.sum(0), [x]),
        "product, bias and ReLU, 512 x 512": (
            lambda a, b: torch.relu(a @ b + 1),
            [square, square],
        ),
    }


@triton.jit
def matmul_kernel(a, b, out, N: tl.constexpr, BLOCK: tl.constexpr):
    """Write one block of a product of square matrices."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, N, BLOCK):
        inner = k + tl.arange(0, BLOCK)
        left = tl.load(a + rows[:, None] * N + inner[None, :])
        right = tl.load(b + inner[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(out + rows[:, None] * N + columns[None, :], total)


@triton.jit
def nothing(x, y, out, size):
    """Take four arguments, and do nothing."""


def seconds(call: Callable[[], object]) -> float:
    """Return the time of a call, with the work of the device."""
    start = time.perf_counter()
    call()
    torch.openreg.synchronize()
    return time.perf_counter() - start


def medians(calls: list[Callable[[], object]], warm_up: int = 3) -> list[float]:
    """Return the median milliseconds of each call."""
    for call in calls:
        for _ in range(warm_up):
            seconds(call)
    rounds = [[seconds(call) for call in calls] for _ in range(ROUNDS)]
    return [1e3 * statistics.median(times) for times in zip(*rounds, strict=True)]


def compiled(function: Function, backend: str) -> Function:
    """Return what one code generator makes of a function.

    Dynamo would find the code of the other one under the same code object.
    """
    inductor.config.backend = backend
    inductor.register()
    copy = FunctionType(
        function.__code__.replace(),
        function.__globals__,
        closure=function.__closure__,
    )
    return torch.compile(copy, fullgraph=True, dynamic=False)


def row(function: Function, args: list[torch.Tensor]) -> list[float]:
    """Time one function in each column: eager, loops, Triton."""
    columns = [function, *(compiled(function, name) for name in COLUMNS[1:])]
    found: list[Callable[[], object]] = []
    for backend, call in zip(COLUMNS, columns, strict=True):
        if backend != "eager":
            inductor.config.backend = backend
            inductor.register()
        torch.testing.assert_close(call(*args), function(*args), rtol=1e-3, atol=1e-3)
        found.append(partial(call, *args))
    return medians(found)


def matmul() -> list[float]:
    """Time a product of ATen, and one of a user's kernel."""
    a, b = (torch.randn(512, 512, device="openreg") for _ in range(2))
    out = torch.empty_like(a)

    def call() -> None:
        matmul_kernel[(8, 8)](a, b, out, N=512, BLOCK=64)

    call()
    torch.testing.assert_close(out, a @ b, rtol=1e-3, atol=1e-3)
    eager, kernel = medians([lambda: a @ b, call])
    return [eager, 0, kernel]


def launches() -> dict[str, float]:
    """Return the microseconds of a launch: the launcher's part, and all of a call."""
    x = torch.empty(8, device="openreg")
    kernel = nothing[(1,)](x, x, x, 8)
    stream = triton.runtime.driver.active.get_current_stream(0)
    rest = (stream, kernel.function, kernel.packed_metadata, None, None, None)
    calls = {
        "the launcher": lambda: kernel.run(1, 1, 1, *rest, x, x, x, 8),
        "a call of a kernel": lambda: nothing[(1,)](x, x, x, 8),
        "x + x, for comparison": lambda: torch.add(x, x, out=x),
    }
    found = {}
    for name, call in calls.items():
        rounds = []
        for _ in range(ROUNDS):
            torch.openreg.synchronize()
            start = time.perf_counter()
            for _ in range(LAUNCHES):  # fewer than a stream takes without waiting
                call()
            rounds.append(1e6 * (time.perf_counter() - start) / LAUNCHES)
        found[name] = round(min(rounds), 2)
    return found


def compile_time() -> dict[str, float]:
    """Return the milliseconds that stages of a kernel take, all caches empty."""
    x = torch.empty(512, 512, device="openreg")
    found = {}
    for block in (32, 64):
        start = time.perf_counter()
        matmul_kernel.warmup(x, x, x, N=512, BLOCK=block, grid=(1,))
        found[f"a product with blocks of {block}"] = 1e3 * (time.perf_counter() - start)
    start = time.perf_counter()
    nothing.warmup(x, x, x, 8, grid=(1,))
    found["a kernel without a statement"] = 1e3 * (time.perf_counter() - start)
    return {name: round(value, 1) for name, value in found.items()}


def main() -> None:
    """Print the table, and keep it if a commit is named."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
            os.environ[name] = f"{folder}/{name.lower()}"
        compiling = compile_time()
        rows = {name: row(*work) for name, work in works().items()}
        rows["product, 512 x 512, a user's kernel"] = matmul()
        launching = launches()
    print(f"{'milliseconds':36}" + "".join(f"{name:>10}" for name in COLUMNS))
    for name, times in rows.items():
        print(f"{name:36}" + "".join(f"{time:10.3f}" for time in times))
    for title, figures in (("microseconds", launching), ("milliseconds", compiling)):
        for name, value in figures.items():
            print(f"{name:36}{value:10.1f} {title}")
    if sys.argv[1:]:
        kept = {
            "commit": sys.argv[1],
            "date": datetime.date.today().isoformat(),
            "torch": torch.__version__.split("+")[0],
            "triton": triton.__version__,
            "cores": os.cpu_count(),
            "rows": {
                name: [round(t, 4) for t in times] for name, times in rows.items()
            },
            "launch": launching,
            "compile": compiling,
        }
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
