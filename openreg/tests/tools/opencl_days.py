# The bring-up of the second device, day by day; see docs/opencl/cost.md.
"""What the conformance kit says of the device after each part was written.

    nox -s opencl -- --record COMMIT      builds and judges each day, writes the file

The days are an estimate. What the device could do at the end of each is measured: the
backend is built with the files that are there by then.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "openreg"))

from cloning.build import pip_install  # noqa: E402

ROOMS = ROOT / "openreg/devices/opencl"
RECORDED = Path(__file__).with_name("conformance") / "opencl.json"
ADD = ("opencl/*", "Copy*", "Fill*", "Binary*", "Unary*", "Comparison*")
NETWORK = ("Product*", "Reduce*", "Softmax*", "NllLoss*", "Activation*", "Optimizer*")
NETWORK += ("IndexingFault*", "IndexingPlacement*")  # a loss checks its classes
DAYS: dict[str, tuple[str, tuple[str, ...]]] = {  # what is there: days, kernels
    "the driver": ("1 to 4", ()),
    "pointwise operators": ("5, 6", ADD),
    "a first network": ("7 to 10", (*ADD, *NETWORK)),
    "everything": ("11 to 20", ("*", "opencl/*")),
}


def kernels(patterns: tuple[str, ...]) -> list[Path]:
    """The files of the kernels' room that match, relative to it."""
    room = ROOMS / "kernels"
    found = {path for one in patterns for path in room.glob(one) if path.is_file()}
    return sorted(path.relative_to(room) for path in found)


def lines(files: list[Path]) -> int:
    """Lines of code, comments included, without blank ones."""
    texts = (path.read_text(encoding="utf-8") for path in files)
    return sum(bool(line.strip()) for text in texts for line in text.splitlines())


def driver_files() -> list[Path]:
    every = sorted((ROOMS / "driver").rglob("*"))
    left_out = {"tests", "drop_in"}
    return [
        path
        for path in every
        if path.suffix in (".cpp", ".h") and not left_out & set(path.parts)
    ]


def build(copy: Path, site: Path, chosen: list[Path]) -> None:
    """Build the copy with these kernels in place of all of them."""
    room = copy / "csrc/kernels"
    for path in [*room.glob("*.cpp"), *room.glob("opencl/*")]:
        path.unlink()
    for path in chosen:
        (room / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOMS / "kernels" / path, room / path)
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, *pip_install(copy, site), "--quiet"]
    subprocess.run(command, check=True)


def judge(site: Path, env: dict[str, str], report: Path) -> dict[str, Any]:
    """Run the levels 0 to 4 of the kit."""
    command = [sys.executable, "-m", "torch_conformance", "--device", "ocl"]
    command += ["--level", "0..4", "--json", str(report)]
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL)  # 1: a case failed
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def record(copy: Path, site: Path, env: dict[str, str], commit: str) -> None:
    """Build and judge each day, and keep what the table shows."""
    rows = {}
    for name, (days, patterns) in DAYS.items():
        chosen = kernels(patterns)
        build(copy, site, chosen)
        report = judge(site, env, site.with_name("day.json"))
        outcomes = [result["outcome"] for result in report["results"]]
        rows[name] = {
            "days": days,
            "driver": lines(driver_files()),
            "kernels": lines([ROOMS / "kernels" / path for path in chosen]),
            "levels": report["levels"],
            "passed": outcomes.count("passed"),
            "cases": len(outcomes),
        }
        print(name, rows[name], flush=True)
    found = {"commit": commit, "date": datetime.date.today().isoformat(), "rows": rows}
    RECORDED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    folder, commit = Path(sys.argv[1]), sys.argv[2]
    record(folder / "copy", folder / "site", dict(os.environ), commit)
