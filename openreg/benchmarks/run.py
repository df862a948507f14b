# What an operation costs, against CPU tensors; see docs/start/architecture.md.
"""Times operations on openreg and on CPU tensors in turn, in one process.

    python openreg/benchmarks/run.py [--json FILE] [--quick] [--cores 2]

Machines are noisy, so no figure stands alone: each round times the CPU and the device
one after the other, and the table shows the median of the rounds' ratios. The program
stays on some cores, because the ratios of small calls depend on that: with two, the
host goes on while the device computes; with one, they take turns.
"""

import argparse
import ctypes
import json
import os
import platform
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F

Call = Callable[[], object]
MIB = 1 << 20


@dataclass
class Row:
    """One line of the table; times in microseconds."""

    name: str
    baseline: str
    baseline_us: float
    openreg_us: float
    ratio: float


def microseconds(call: Call, calls: int) -> float:
    """Return the time of one call in microseconds, with what it left to do."""
    torch.accelerator.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    torch.accelerator.synchronize()
    return (time.perf_counter() - start) / calls * 1e6


def compare(
    name: str, baseline: str, base: Call, device: Call, calls: int, rounds: int
) -> Row:
    """Time both calls in turn and return their medians and the median ratio."""

    def settled(call: Call) -> float:
        microseconds(call, max(1, calls // 10))  # the other one had caches and cores
        return microseconds(call, calls)

    pairs = [(settled(base), settled(device)) for _ in range(rounds)]
    return Row(
        name,
        baseline,
        statistics.median(base for base, _ in pairs),
        statistics.median(device for _, device in pairs),
        statistics.median(device / base for base, device in pairs),
    )


def small_operations(rounds: int) -> list[Row]:
    """What one call costs before it computes anything."""
    cpu = torch.ones(1)
    device = torch.ones(1, device="openreg")
    calls = 5000

    def add_and_wait() -> None:
        device + device
        torch.accelerator.synchronize()

    def row(name: str, base: Call, on_device: Call) -> Row:
        return compare(name, "CPU tensor", base, on_device, calls, rounds)

    return [
        row("add, 1 element", lambda: cpu + cpu, lambda: device + device),
        row("add, 1 element, and wait", lambda: cpu + cpu, add_and_wait),
        row("add, 1 element, and item()", lambda: (cpu + cpu).item(),
            lambda: (device + device).item()),
        row("hypot, 1 element (falls back)", lambda: cpu.hypot(cpu),
            lambda: device.hypot(device)),
        row("view", lambda: cpu.view(1, 1), lambda: device.view(1, 1)),
        row("empty, 1 element", lambda: torch.empty(1, device="cpu"),
            lambda: torch.empty(1, device="openreg")),
        row("synchronize, idle", lambda: torch.empty(1), torch.accelerator.synchronize),
    ]  # fmt: skip


def first_calls(rounds: int) -> list[Row]:
    """The first call of an operator in a thread, against its second call there.

    Of one element, the first call takes longer on the CPU as well: caches are cold.
    """
    rows = []
    for count, size in ((1, "1 element"), (64 * MIB // 4, "64 MiB")):
        x = torch.ones(count, device="openreg")
        times: list[tuple[float, float]] = []

        def work(x: torch.Tensor = x, times: list[tuple[float, float]] = times) -> None:
            microseconds(lambda: x - x, 20)  # what a thread needs for any operator
            first = microseconds(lambda: x * x, 1)
            times.append((microseconds(lambda: x * x, 1), first))

        for _ in range(rounds):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        second, first = map(statistics.median, zip(*times, strict=True))
        ratio = statistics.median(a / b for b, a in times)
        rows.append(
            Row(f"mul {size}, first in a thread", "second", second, first, ratio)
        )
    return rows


def streams_and_events(rounds: int) -> list[Row]:
    """What ordering costs, and what it gains: work of two streams at the same time."""
    first, second = torch.Stream("openreg"), torch.Stream("openreg")
    event = torch.Event("openreg")
    timed = torch.Event("openreg", enable_timing=True)
    far = torch.openreg.Stream(1)

    def row(name: str, on_device: Call) -> Row:
        return compare(name, "empty", lambda: torch.empty(1), on_device, 2000, rounds)

    def enter(context: Call) -> Call:
        def enter_and_leave() -> None:
            with context():  # type: ignore[attr-defined]
                pass

        return enter_and_leave

    def sleep_on(*streams: torch.Stream) -> None:
        for stream in streams:
            with stream:
                torch.openreg._sleep(5_000_000)
        for stream in streams:
            stream.synchronize()

    return [
        row("event.record()", event.record),
        row("event.record(), with timing", timed.record),
        row("stream.wait_stream()", lambda: first.wait_stream(second)),
        row("torch.Stream(), from the pool", lambda: torch.Stream("openreg")),
        row("with stream", enter(lambda: first)),
        row("with torch.openreg.stream()", enter(lambda: torch.openreg.stream(first))),
        row("... of another device", enter(lambda: torch.openreg.stream(far))),
        compare("2 x 5 ms, on two streams", "on one", lambda: sleep_on(first, first),
                lambda: sleep_on(first, second), 5, rounds),
    ]  # fmt: skip


def device_memory(rounds: int) -> list[Row]:
    """What the allocator's cache saves, and what its counters cost."""
    from torch_openreg import _C

    driver = ctypes.CDLL(str(Path(_C.__file__).parent / "lib/libopenreg.so"))
    address = ctypes.c_void_p()

    def miss() -> None:
        driver.orMalloc(ctypes.byref(address), ctypes.c_size_t(1024))
        driver.orFree(address)

    def hit() -> None:
        _C._caching_allocator_delete(_C._caching_allocator_alloc(1024))

    cpu = lambda: torch.empty(1)  # noqa: E731
    counters = torch.accelerator.memory_allocated
    return [
        compare("allocate and free 1 KiB, hit", "orMalloc", miss, hit, 2000, rounds),
        compare("memory_allocated()", "CPU tensor", cpu, counters, 200, rounds),
    ]


def copies(rounds: int) -> list[Row]:
    """64 MiB between host and device, against numpy's copy of as much."""
    count = 64 * MIB // 4
    source, target = numpy.ones(count, "f4"), numpy.ones(count, "f4")
    host = torch.from_numpy(source)  # the same memory on both sides
    pinned = host.pin_memory()
    a = torch.ones(count, device="openreg")
    b = torch.ones(count, device="openreg")

    def row(name: str, on_device: Call) -> Row:
        base: Call = lambda: numpy.copyto(target, source)  # noqa: E731
        return compare(name, "numpy.copyto", base, on_device, 3, rounds)

    return [
        row("copy_ 64 MiB, host to device", lambda: a.copy_(host)),
        row("copy_ 64 MiB, device to host", lambda: host.copy_(a)),
        row("copy_ 64 MiB, pinned to device",
            lambda: a.copy_(pinned, non_blocking=True)),
        row("copy_ 64 MiB, device to pinned",
            lambda: pinned.copy_(a, non_blocking=True)),
        row("copy_ 64 MiB, on the device", lambda: a.copy_(b)),
    ]  # fmt: skip


def large_operations(rounds: int) -> list[Row]:
    """Work that is larger than the launch."""
    x, y = torch.ones(64 * MIB // 4), torch.ones(64 * MIB // 4)
    out = torch.empty_like(x)
    dx, dy, dout = (t.to("openreg") for t in (x, y, out))
    return [
        compare("add 64 MiB, out=", "CPU tensor", lambda: torch.add(x, y, out=out),
                lambda: torch.add(dx, dy, out=dout), 3, rounds),
    ]  # fmt: skip


def products(rounds: int) -> list[Row]:
    """Matrix products: a small one, where the launch shows, and a large one."""
    rows = []
    for size, calls in ((64, 500), (1024, 1)):
        cpu, device = torch.randn(size, size), torch.randn(size, size, device="openreg")
        rows.append(
            compare(f"mm {size}", "CPU tensor", lambda a=cpu: a @ a,
                    lambda a=device: a @ a, calls, rounds)
        )  # fmt: skip
    return rows


def mlp(device: str) -> Call:
    """Return a training step of a small multilayer perceptron with SGD."""
    model = torch.nn.Sequential(
        torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
    ).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    inputs = torch.randn(64, 512).to(device)
    labels = torch.randint(10, (64,)).to(device)
    return lambda: train(optimizer, F.cross_entropy(model(inputs), labels))


def transformer(device: str) -> Call:
    """Return a training step of a small Transformer encoder with Adam."""
    layer = torch.nn.TransformerEncoderLayer(
        128, 4, dim_feedforward=256, batch_first=True
    )
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    tokens = torch.randn(16, 32, 128).to(device)
    return lambda: train(optimizer, model(tokens).square().mean())


def mixed_mlp(device: str) -> Call:
    """Return a step of the same kind under autocast: small, so the casts show."""
    layer = torch.nn.Linear(32, 32).to(device)
    inputs = torch.randn(8, 32).to(device)

    def step() -> None:
        with torch.autocast(device, dtype=torch.bfloat16):
            layer(layer(inputs)).float().sum().backward()

    return step


def train(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    """Go one step against the gradient of the loss."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def training_steps(rounds: int) -> list[Row]:
    """Forward, backward and optimizer: many small operators and some large ones."""
    steps = (
        ("MLP step", mlp, 10),
        ("Transformer encoder step", transformer, 2),
        ("two layers under autocast", mixed_mlp, 2000),
    )
    return [
        compare(name, "CPU tensor", make("cpu"), make("openreg"), calls, rounds)
        for name, make, calls in steps
    ]


def random_numbers(rounds: int) -> list[Row]:
    """Draws of one number, and of 16 million."""
    rows = []
    for count, size, calls in ((1, "1 element", 3000), (1 << 24, "16 M elements", 1)):
        cpu, device = torch.empty(count), torch.empty(count, device="openreg")
        rows += [
            compare(f"uniform_, {size}", "CPU tensor", cpu.uniform_, device.uniform_,
                    calls, rounds),
            compare(f"normal_, {size}", "CPU tensor", cpu.normal_, device.normal_,
                    calls, rounds),
        ]  # fmt: skip
    return rows


def graphs(rounds: int) -> list[Row]:
    """Replays of captured work, against launching the same work again."""

    def row(name: str, calls: int, work: Call) -> Row:
        graph = torch.accelerator.Graph()
        with torch.Stream("openreg"):
            work()  # once, for what is only done the first time
            with graph:
                work()
        return compare(name, "eager", work, graph.replay, calls, rounds)

    x, scratch = torch.ones(64, device="openreg"), torch.empty(64, device="openreg")

    def fifty() -> None:
        for _ in range(50):
            torch.add(x, x, out=scratch)

    def fifty_draws() -> None:
        for _ in range(50):
            scratch.uniform_()

    return [
        row("replay of 50 x add, 64 elements", 200, fifty),
        row("replay of 50 x uniform_, 64", 200, fifty_draws),
        row("replay of 2 layers, autocast", 200, mixed_mlp("openreg")),
    ]


def show(rows: list[Row]) -> None:
    """Print the table."""
    heads = ("operation", "against", "that, us", "openreg, us", "ratio")
    print("{:32}{:>14}{:>12}{:>14}{:>8}".format(*heads))
    for row in rows:
        print(
            f"{row.name:32}{row.baseline:>14}{row.baseline_us:12.2f}"
            f"{row.openreg_us:14.2f}{row.ratio:7.2f}x"
        )


def main() -> int:
    """Run all benchmarks and print the table."""
    parser = argparse.ArgumentParser(description="Compare openreg with CPU tensors.")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--threads", type=int, default=1, help="of each kernel")
    parser.add_argument(
        "--cores", type=int, default=2, help="that the program stays on"
    )
    parser.add_argument("--quick", action="store_true", help="few rounds: a smoke test")
    options = parser.parse_args()
    rounds = 3 if options.quick else 15
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)  # of this thread, and of those that it starts
    # Before the first kernel, so that it also counts for the threads of the driver. One
    # is the fairest: the machine may be busy, and the device needs one for its host.
    torch.set_num_threads(options.threads)
    rows = small_operations(rounds) + first_calls(rounds) + streams_and_events(rounds)
    rows += copies(rounds) + large_operations(rounds)
    rows += products(rounds) + training_steps(rounds)
    rows += random_numbers(rounds) + device_memory(rounds) + graphs(rounds)
    show(rows)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(f"torch {torch.__version__}, {machine}, median of {rounds} rounds")
    print(f"{torch.get_num_threads()} thread(s) for each kernel, on both sides")
    print(f"host and device together on {len(cores)} core(s): {cores}")
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        result = {"torch": torch.__version__, "machine": machine, "rounds": rounds}
        result["cores"] = cores  # type: ignore[assignment]
        result["rows"] = [asdict(row) for row in rows]  # type: ignore[assignment]
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
