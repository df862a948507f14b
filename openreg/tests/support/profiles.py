# Profiles for the tests, and traces as Chrome reads them; see docs/modules/profiler.md.
import json
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

BOTH = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
# Torch and the backend each convert the processor's counter to nanoseconds. The two
# conversions differ by some tens of them, more on a busy machine.
SAME_MOMENT = 1.0  # microseconds
ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CALL = "privateuse1_runtime"


@dataclass
class Slice:
    """A bar of the trace; times in microseconds."""

    kind: str
    name: str
    pid: int
    row: int
    begin: float
    end: float
    args: dict[str, Any]

    def holds(self, other: "Slice") -> bool:
        """Whether the other bar lies inside of this one."""
        begins = self.begin <= other.begin + SAME_MOMENT
        return begins and other.end <= self.end + SAME_MOMENT


@dataclass
class Trace:
    """An exported trace."""

    slices: list[Slice]
    flows: dict[int, dict[str, tuple[int, int, float]]] = field(repr=False)
    rows: dict[tuple[int, int], str]
    processes: dict[int, str]
    whole: dict[str, Any] = field(repr=False)

    def of(self, *kinds: str) -> list[Slice]:
        """The bars of these kinds, the earliest first."""
        found = [piece for piece in self.slices if piece.kind in kinds]
        return sorted(found, key=lambda piece: piece.begin)

    def streams(self) -> dict[tuple[int, int], list[Slice]]:
        """The work of each stream, by device and stream."""
        work = defaultdict(list)
        for piece in self.of(*ON_DEVICE):
            work[piece.pid, piece.row].append(piece)
        return dict(work)

    def op_of(self, piece: Slice) -> Slice | None:
        """The operator that a call or a piece of work belongs to."""
        number = piece.args.get("External id")
        ops = (op for op in self.of("cpu_op") if op.args["External id"] == number)
        return next(ops, None)


def trace_of(prof: profile) -> Trace:
    """Export the trace and read it again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        prof.export_chrome_trace(str(path))
        return read_trace(path)


def read_trace(path: Path) -> Trace:
    """Read an exported trace."""
    whole = json.loads(path.read_text())
    trace = Trace([], defaultdict(dict), {}, {}, whole)
    for event in whole["traceEvents"]:
        match event["ph"]:
            case "X" if event["pid"] != "Spans":
                begin, pid, row = float(event["ts"]), event["pid"], event["tid"]
                end = round(begin + float(event["dur"]), 3)
                args = event.get("args", {})
                piece = Slice(event["cat"], event["name"], pid, row, begin, end, args)
                trace.slices.append(piece)
            case "s" | "f" if event["cat"] == "ac2g":
                place = (event["pid"], event["tid"], float(event["ts"]))
                trace.flows[event["id"]][event["ph"]] = place
            case "M" if event["name"] == "thread_name":
                trace.rows[event["pid"], event["tid"]] = event["args"]["name"]
            case "M" if event["name"] == "process_name":
                trace.processes[event["pid"]] = event["args"]["name"]
    return trace


def profiled(call, **options) -> profile:
    """Run a call under the profiler."""
    torch.openreg.synchronize()
    with profile(activities=options.pop("activities", BOTH), **options) as prof:
        call()
    return prof


def averages(prof: profile) -> dict[str, Any]:
    """The rows of the table, by name."""
    return {row.key: row for row in prof.key_averages()}
