# One round of the soak, in a separate process; see docs/ship/robustness.md.
"""python -m soak.round KIND SECONDS SEED

Prints one line of JSON: how often each call ran, and what the process still holds.
"""

import faulthandler
import gc
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import hypothesis
import torch
from hypothesis.stateful import run_state_machine_as_test

from .many import round_of_streams
from .programs import Programs
from .ranks import round_of_ranks
from .workers import round_of_loaders, round_of_shared_memory

STEPS = 60  # of one program
PATIENCE = 120  # seconds for the last round; more means that it hangs


def round_of_programs(seed: int, calls: dict[str, int]) -> None:
    """Run ten random programs; hypothesis prints one that fails."""
    Programs.calls = calls
    Programs.devices = range(torch.openreg.device_count())
    machine = hypothesis.seed(seed)(Programs)
    settings = hypothesis.settings(
        max_examples=10,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
        phases=[hypothesis.Phase.generate],  # a shorter program may take hours to find
    )
    run_state_machine_as_test(machine, settings=settings)
    calls["programs"] = calls.get("programs", 0) + 10


ROUNDS: dict[str, Callable[[int, dict[str, int]], None]] = {
    "programs": round_of_programs,
    "ranks": round_of_ranks,
    "shared memory": round_of_shared_memory,
    "loaders": round_of_loaders,
    "streams": round_of_streams,
}


# LITERALINCLUDE START: HELD
def held() -> dict[str, int]:
    """What this process holds, when nothing runs and nothing is cached."""
    gc.collect()
    count = torch.openreg.device_count()
    for index in range(count):
        torch.openreg.synchronize(index)
    torch.openreg.ipc_collect()
    torch.accelerator.empty_cache()
    return {
        "bytes on devices": sum(torch.openreg.memory_reserved(i) for i in range(count)),
        "open files": len(list(Path("/proc/self/fd").iterdir())),
    }


# LITERALINCLUDE END: HELD


def main(kind: str, seconds: float, seed: int) -> None:
    """Repeat one kind of round until the time is over."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # a capture of nothing, a name that torch gives up
    faulthandler.dump_traceback_later(seconds + PATIENCE, exit=True)
    calls: dict[str, int] = {}
    end = time.monotonic() + seconds
    ROUNDS[kind](seed, calls)  # the first one starts threads and servers that stay
    before = held()
    while time.monotonic() < end:
        seed += 1
        ROUNDS[kind](seed, calls)
    after = held()
    if after != before:
        raise AssertionError(
            f"it held {before} after one round, and {after} at the end"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = {"calls": calls, "held": after, "peak KiB": peak}
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
