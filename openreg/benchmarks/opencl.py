# Times the kernels in OpenCL C against the CPU's; see docs/opencl/cost.md.
"""python openreg/benchmarks/opencl.py [COMMIT]: prints times; with COMMIT, keeps them.

`nox -s opencl -- --record COMMIT` runs it where torch finds the device ocl. Each time
is the best of several runs, in microseconds, and includes a synchronize.
"""

from __future__ import annotations

import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

KEPT = Path(__file__).with_suffix(".json")
RUNS = 15


def best(work: Callable[[], object], device: str) -> float:
    """Microseconds of the fastest run; the first ones compile."""
    seconds = []
    for _ in range(3 + RUNS):
        start = time.perf_counter()
        work()
        if device != "cpu":
            torch.accelerator.synchronize()
        seconds.append(time.perf_counter() - start)
    return 1e6 * min(seconds[3:])


def works(device: str) -> dict[str, Callable[[], object]]:
    """What is timed, on a device."""
    torch.manual_seed(0)
    small = torch.randn(64).to(device)
    large = torch.randn(4 << 20).to(device)
    square = torch.randn(512, 512).to(device)
    rows = torch.randn(1024, 1024).to(device)
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
    ).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(128, 256).to(device)
    targets = torch.randint(10, (128,)).to(device)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return {
        "add, 64 elements": lambda: small + small,
        "add, 4 million elements": lambda: large + large,
        "sum of 4 million elements": lambda: large.sum(),
        "mm, 512 x 512": lambda: square @ square,
        "softmax of 1024 rows": lambda: rows.softmax(1),
        "training step of an MLP": step,
    }


def first_calls(device: str) -> list[float]:
    """Microseconds of the first call of several operators, in a new process."""
    x = torch.ones(64).to(device)
    seconds = []
    for name in ("exp", "sin", "cos", "tanh", "sqrt", "erf"):
        start = time.perf_counter()
        getattr(x, name)()
        if device != "cpu":
            torch.accelerator.synchronize()
        seconds.append(1e6 * (time.perf_counter() - start))
    return seconds


def compiled() -> dict[str, list[float]]:
    """Rows of the first calls; the device has no program on disk."""
    answers = []
    for device in ("ocl", "cpu"):
        command = [sys.executable, "-P", __file__, "--first-calls", device]
        env = {**os.environ, "OCLRT_CACHE_DIR": ""}
        answers.append(json.loads(subprocess.check_output(command, env=env)))
    kernels, on_cpu = answers
    return {
        "first kernel of a process": [round(kernels[0], 1), round(on_cpu[0], 1)],
        "another kernel, compiled": [
            round(statistics.median(kernels[1:]), 1),
            round(statistics.median(on_cpu[1:]), 1),
        ],
    }


def main() -> None:
    if sys.argv[1:2] == ["--first-calls"]:
        print(json.dumps(first_calls(sys.argv[2])))
        return
    on_device, on_cpu = works("ocl"), works("cpu")
    rows = {
        name: [round(best(on_device[name], "ocl"), 1), round(best(work, "cpu"), 1)]
        for name, work in on_cpu.items()
    }
    rows |= compiled()
    for name, (device, cpu) in rows.items():
        print(f"{name:28} {device:10.1f} {cpu:10.1f} {device / cpu:6.1f}")
    if sys.argv[1:]:
        found = {"commit": sys.argv[1], "date": datetime.date.today().isoformat()}
        KEPT.write_text(json.dumps({**found, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
