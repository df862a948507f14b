# Where the time of one operator goes, station by station; see docs/ship/performance.md.
"""Times calls that end at known stations, on the device and on the CPU, in turn.

    python openreg/benchmarks/budget.py stations | costs [--rounds N]
    python openreg/benchmarks/budget.py record

It prints a table in Markdown. ``record`` writes both to ``last_run.json``, which the
page shows: run it on a quiet machine. A time is the least of all rounds: what other
programs take only adds.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import timeit
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

LAST_RUN = Path(__file__).with_name("last_run.json")
DEVICE = "openreg"
CALLS = 500
SLEEP = 10_000_000  # nanoseconds, more than the host needs for all calls
MIB = 1 << 20
Row = tuple[str, str, float, float | None]  # title, statement, device, CPU; in ns

# LITERALINCLUDE START: STATIONS
STATIONS = {  # each call does what the one before does, and one thing more
    "x.dim()": "Python, from the call to C++",
    "x.is_same_size(y)": "dispatcher",
    "torch.add(none, none, out=none)": "checks of dtypes, sizes and devices",
    "torch.add(x, y, out=out)": "launch",
    "torch.add(x, y)": "memory and tensor of the result",
    "torch.add(w, y)": "node of autograd",  # w requires a gradient
}


def host_times(rounds: int) -> dict[str, dict[str, float]]:
    """Return the nanoseconds that each call takes on the host."""
    return in_turn(STATIONS, rounds, before=lambda: torch.openreg._sleep(SLEEP))  # (1)


# LITERALINCLUDE END: STATIONS
# LITERALINCLUDE START: KERNEL_TIME
def kernel_time() -> float:
    """Return the nanoseconds of a kernel in a full queue."""
    names = operands(DEVICE)
    start, end = (torch.Event(DEVICE, enable_timing=True) for _ in range(2))
    torch.openreg._sleep(SLEEP)
    start.record()
    for _ in range(CALLS):
        torch.add(names["x"], names["y"], out=names["out"])
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / CALLS * 1e6


# LITERALINCLUDE END: KERNEL_TIME
def operands(device: str) -> dict[str, Any]:
    """Return the names that statements may use."""
    x, y, out = (torch.ones(1, device=device) for _ in range(3))
    many, more, target = (torch.ones(MIB, device=device) for _ in range(3))
    return {
        **{"torch": torch, "x": x, "y": y, "out": out},
        "w": torch.ones(1, device=device, requires_grad=True),
        "none": torch.empty(0, device=device),
        **{"many": many, "more": more, "target": target},
        "wait": torch.accelerator.synchronize,
        "host": torch.ones(MIB),
        "pinned": torch.ones(MIB).pin_memory(),
        "device": device,
    }


def in_turn(
    statements: Iterable[str],
    rounds: int,
    calls: int = CALLS,
    before: Callable[[], object] = lambda: None,
) -> dict[str, dict[str, float]]:
    """Time each statement on both devices in each round; return the least times."""
    times: dict[str, dict[str, list[float]]] = {
        statement: {DEVICE: [], "cpu": []} for statement in statements
    }
    names = {device: operands(device) for device in (DEVICE, "cpu")}
    timers = [
        (found, timeit.Timer(statement, globals=names[device]), device)
        for statement, on_both in times.items()
        for device, found in on_both.items()
    ]
    for _ in range(rounds):
        for found, timer, device in timers:
            timer.timeit(max(1, calls // 10))  # warm
            torch.accelerator.synchronize()
            if device == DEVICE:
                before()
            found.append(timer.timeit(calls) / calls * 1e9)
            torch.accelerator.synchronize()
    return {
        statement: {device: min(found) for device, found in both.items()}
        for statement, both in times.items()
    }


def stations(rounds: int) -> list[Row]:
    """Return the budget of one addition of two numbers."""
    rows: list[Row] = []
    last = {DEVICE: 0.0, "cpu": 0.0}
    for statement, now in host_times(rounds).items():
        more = {device: now[device] - last[device] for device in now}
        rows.append((STATIONS[statement], f"`{statement}`", more[DEVICE], more["cpu"]))
        last = now
    rows.append(("**the host, together**", "", last[DEVICE], last["cpu"]))
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            found = in_turn(["torch.add(w, y)"], rounds)["torch.add(w, y)"]
        title = f"the host, in `{mode.__name__}`"
        rows.append((title, "`torch.add(w, y)`", found[DEVICE], found["cpu"]))
    kernel = min(kernel_time() for _ in range(rounds))
    rows.append(("kernel, on the device", "between two events", kernel, None))
    waits = "torch.add(x, y, out=out); wait()"
    whole = in_turn([waits], rounds)[waits][DEVICE]
    rows.append(("launch, kernel and wait", f"`{waits}`", whole, None))
    return rows


def costs(rounds: int) -> list[Row]:
    """Return what memory, fallbacks and copies cost."""
    small = in_turn(["torch.hypot(x, y); wait()"], rounds)
    cached = in_turn(["torch.empty(1 << 24, device=device)"], rounds)
    large = in_turn(
        [
            "torch.hypot(many, more); wait()",
            "target.copy_(host); wait()",
            "target.copy_(pinned, non_blocking=True); wait()",
            "target.copy_(pinned, non_blocking=True)",
        ],
        rounds,
        calls=5,
    )
    titles = [
        "64 MiB from the cache",
        "a fallback, 1 element",
        "a fallback, 4 MiB",
        "4 MiB from pageable memory",
        "4 MiB from pinned memory",
        "the same, until the call returns",
    ]
    found = {**cached, **small, **large}
    rows: list[Row] = [
        (title, f"`{statement}`", both[DEVICE], both["cpu"])
        for title, (statement, both) in zip(titles, found.items(), strict=True)
    ]
    miss = min(driver_time() for _ in range(rounds))
    rows.insert(1, ("64 MiB from the driver", "the same, cache empty", miss, None))
    return rows


def driver_time() -> float:
    """Return the nanoseconds of an allocation that the cache cannot serve."""
    torch.accelerator.synchronize()
    torch.accelerator.memory.empty_cache()
    start = timeit.default_timer()
    torch.empty(1 << 24, device=DEVICE)
    return (timeit.default_timer() - start) * 1e9


def table(rows: list[Row]) -> str:
    """Return the rows as a table in Markdown."""
    lines = ["| what | measured by | openreg, ns | CPU, ns | ratio |"]
    lines.append("|---|---|--:|--:|--:|")
    for title, statement, device, cpu in rows:
        beside = f"{cpu:,.0f} | {device / cpu:.2g}" if cpu else "| "
        lines.append(f"| {title} | {statement} | {device:,.0f} | {beside} |")
    return "\n".join(lines)


def machine() -> str:
    """Say what kind of machine this is, without its name."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    model = " ".join(next(models, platform.machine()).split())
    return f"{model}, {os.cpu_count()} cores, Linux"


def record(tables: dict[str, list[Row]]) -> dict[str, Any]:
    """Return what the page shows; a station that takes less than nothing is noise."""
    negative = [title for rows in tables.values() for title, _, ns, _ in rows if ns < 0]
    if negative:
        raise SystemExit(f"other programs disturbed {negative}: run it again")
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.check_output(command, cwd=LAST_RUN.parent, text=True).strip()
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit,
        "torch": torch.__version__,
        "machine": machine(),
        "tables": {name: table(rows).splitlines() for name, rows in tables.items()},
    }


def main() -> None:
    """Print one of the tables, or record both."""
    parser = argparse.ArgumentParser(description="Show what one operator costs.")
    tables: dict[str, Callable[[int], list[Row]]] = {
        "stations": stations,
        "costs": costs,
    }
    parser.add_argument("table", choices=[*tables, "record"])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)  # before the first kernel: the same on both sides
    if options.table == "record":
        found = {name: measure(options.rounds) for name, measure in tables.items()}
        LAST_RUN.write_text(json.dumps(record(found), indent=1) + "\n")
    else:
        print(table(tables[options.table](options.rounds)))


if __name__ == "__main__":
    main()
