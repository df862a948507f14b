# What a profile costs per operator; see docs/modules/profiler.md.
"""Times additions of one element with and without a profile, in turn.

    python openreg/benchmarks/profiler.py [--rounds N]

Each round times all of them one after the other; the table shows the medians of the
times, and of the rounds' ratios to the same tensors without a profile. Starting a
profile and making its trace do not count.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.autograd.profiler import profile as profile_with_events
from torch.profiler import ProfilerActivity, profile

CALLS = 2000
HOST = [ProfilerActivity.CPU]
Profile = Callable[[], AbstractContextManager[Any]]
PROFILES: list[tuple[str, str, Profile]] = [
    ("cpu", "no profile", nullcontext),
    ("cpu", "CPU", lambda: profile(activities=HOST)),
    ("openreg", "no profile", nullcontext),
    ("openreg", "CPU", lambda: profile(activities=HOST)),
    ("openreg", "CPU and device", profile),
    (
        "openreg",
        "events, no Kineto",
        lambda: profile_with_events(use_device="openreg", use_kineto=False),
    ),
]


def microseconds(device: str, make: Profile) -> float:
    """Return the time of one addition under a profile."""
    x = torch.ones(1, device=device)
    with make():
        x + x
        torch.openreg.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS):
            x + x
        torch.openreg.synchronize()
        return (time.perf_counter() - start) / CALLS * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description="Time additions under profiles.")
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    for device, _, make in PROFILES:
        microseconds(device, make)  # the first call of each only warms up
    times = [
        [microseconds(device, make) for device, _, make in PROFILES]
        for _ in range(rounds)
    ]
    print(f"{'tensor':10}{'profile':20}{'one add':>12}{'ratio':>8}")
    for column, (device, name, _) in enumerate(PROFILES):
        base = next(i for i, other in enumerate(PROFILES) if other[0] == device)
        spent = statistics.median(row[column] for row in times)
        ratio = statistics.median(row[column] / row[base] for row in times)
        print(f"{device:10}{name:20}{spent:9.2f} us{ratio:8.2f}")


if __name__ == "__main__":
    main()
