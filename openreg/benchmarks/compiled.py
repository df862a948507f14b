# Compiled functions against eager ones and the CPU; see
# docs/modules/compile-inductor.md.
"""Times compiled code of the device, of the CPU, eager code and replays in one run.

    python openreg/benchmarks/compiled.py [--rounds N] [--record]

Each round times both sides of a row one after the other. The table shows the medians of
the times and of the rounds' ratios: a busy machine changes the ratios less than the
times. `--record` writes the table that the guide shows.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import nn

RECORDED = Path(__file__).with_name("compiled.json")
Call = Callable[[], object]


@dataclass
class Row:
    """What is timed, and what it is compared with."""

    name: str
    this: Call
    other: Call
    repeat: int = 1  # calls of each in a round
    rounds: int | None = None  # where the default would take minutes
    warm_up: int = 2  # the first call compiles


def timed(call: Call, repeat: int = 1) -> float:
    """Return the seconds of a call, the work of the device included."""
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    torch.openreg.synchronize()
    return (time.perf_counter() - start) / repeat


def training(
    make: Callable[[], nn.Module], *shape: int, channels_last: bool = True
) -> Callable[[str], Call]:
    options = {"layout_optimization": channels_last}

    def on(device: str) -> Call:
        torch.manual_seed(0)
        net, x = make().to(device), torch.randn(*shape).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        forward = torch.compile(net, options=options)

        def step() -> None:
            optimizer.zero_grad()
            forward(x).square().mean().backward()
            optimizer.step()

        return step

    return on


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(16, 32, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)
    )


def transformer() -> nn.Module:
    return nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)


def large(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * 2 + x.exp()).sum()


def replayed(function: Callable[[torch.Tensor], object], x: torch.Tensor) -> Call:
    stream, graph = torch.openreg.Stream(), torch.accelerator.Graph()
    with stream:
        function(x)
    with stream, graph:
        function(x)
    return graph.replay


def step_in_a_new_process(device: str, cache: str) -> None:
    """Compile the MLP and differentiate it in a process, with a cache of graphs."""
    program = [sys.executable, __file__, "--compile-once", device]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache}
    subprocess.run(program, env=environment, check=True, stdout=subprocess.DEVNULL)


def rows(cache: str) -> list[Row]:
    x, small = torch.rand(1 << 20, device="openreg"), torch.rand(8, device="openreg")
    fused, on_cpu = torch.compile(large), torch.rand(8)
    # Two functions, since one would search its graphs for that of the device.
    call, call_on_cpu = (torch.compile(lambda x: x * 2 + 1) for _ in range(2))
    images = (16, 16, 32, 32)
    steps = {
        "MLP step, device / CPU": training(mlp, 64, 512),
        "CNN step, device / CPU": training(cnn, *images),
        "CNN step, device / CPU, contiguous": training(
            cnn, *images, channels_last=False
        ),
        "Transformer step, device / CPU": training(transformer, 4, 128, 256),
    }
    found = [Row(name, on("openreg"), on("cpu")) for name, on in steps.items()]
    found += [
        Row("1 M elements, compiled / eager", lambda: fused(x), lambda: large(x), 3),
        Row("tiny, device / CPU", lambda: call(small), lambda: call_on_cpu(on_cpu), 50),
        Row("tiny, replay / call", replayed(call, small), lambda: call(small), 50),
    ]
    here, there = (partial(step_in_a_new_process, d, cache) for d in ("openreg", "cpu"))
    name = "new process, device / CPU"
    found.append(Row(name, here, there, rounds=3, warm_up=1))
    return found


def measure(row: Row, rounds: int) -> tuple[float, float, float]:
    """Return the median seconds of both sides, and of the ratios of the rounds."""
    for _ in range(row.warm_up):
        timed(row.this), timed(row.other)
    pairs = [
        (timed(row.this, row.repeat), timed(row.other, row.repeat))
        for _ in range(row.rounds or rounds)
    ]
    one, two = map(statistics.median, zip(*pairs, strict=True))
    return one, two, statistics.median(a / b for a, b in pairs)


def current_commit() -> str:
    command = ["git", "-C", str(RECORDED.parent), "describe", "--always", "--dirty"]
    options = ["--abbrev=12", "--exclude=*"]
    return subprocess.check_output([*command, *options], text=True).strip()


def record(found: dict[str, tuple[float, float, float]], commit: str) -> None:
    """Write the figures for the guide."""
    figures = {
        "torch": torch.__version__.split("+")[0],
        "commit": commit,
        "date": datetime.date.today().isoformat(),
        "cores": os.cpu_count(),
        "rows": {name: [round(x, 7) for x in row] for name, row in found.items()},
    }
    RECORDED.write_text(json.dumps(figures, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Time compiled functions.")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--record", action="store_true", help="write compiled.json")
    parser.add_argument("--compile-once", metavar="DEVICE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compile_once:
        training(mlp, 64, 512)(options.compile_once)()
        return
    found, commit = {}, current_commit() if options.record else ""
    print(f"{'':32}{'this':>12}{'other':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as cache:
        for row in rows(cache):
            one, two, ratio = found[row.name] = measure(row, options.rounds)
            print(
                f"{row.name:32}{one * 1e6:9.0f} us{two * 1e6:9.0f} us{ratio:8.2f}",
                flush=True,
            )
    if options.record:
        record(found, commit)


if __name__ == "__main__":
    main()
