# What is tried on one release of torch; see docs/ship/upgrading.md.
"""Each function runs programs and returns counts; none of them imports torch."""

import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

OPENREG = Path(__file__).resolve().parents[3]
ROOT = OPENREG.parent
SWEEP = OPENREG / "tests/tools/sweep_operators.py"
PROBES = OPENREG / "tests/examples/probe_gaps.py"
RUN_PAGES = ROOT / "docs/_ext/run_pages.py"
FIRST_TENSOR = "import torch; print((torch.ones(2, device='openreg') + 1).cpu().sum())"

Counts = dict[str, int | float | str]


@dataclass
class Choice:
    """What the parts need to know, and what the caller leaves out.

    Attributes:
        wheel: the one that was built for this torch.
        docs_python: a Python with the tools of the guide and this torch.
        tests: files or folders of tests; empty means all.
        pages: pages of the guide; empty means all.
    """

    wheel: Path | None = None
    docs_python: Path | None = None
    tests: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)


def build(chosen: Choice) -> Counts | None:
    """Return the size of the wheel; building it is the caller's work."""
    if chosen.wheel is None:
        return None
    return {"MB": round(chosen.wheel.stat().st_size / 1e6, 1)}


def first_tensor(chosen: Choice) -> Counts:
    """Return how long a new Python takes to import torch and add on the device."""
    start = time.monotonic()
    command = [sys.executable, "-c", FIRST_TENSOR]
    done = subprocess.run(command, capture_output=True, text=True)
    right = done.returncode == 0 and done.stdout.strip() == "tensor(4.)"
    seconds = round(time.monotonic() - start, 1)
    return {"passed": int(right), "failed": int(not right), "seconds": seconds}


def gaps(chosen: Choice) -> Counts:
    """Return which gaps of torch are still there, asked without the backend."""
    env = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONPATH": ""}
    command = [sys.executable, str(PROBES)]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return {gap: int(there) for gap, there in json.loads(done.stdout)["gaps"].items()}


def backend_tests(chosen: Choice) -> Counts:
    """Return how many tests of the backend passed."""
    jobs = str(min(4, (os.cpu_count() or 1) + 1))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "junit.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", jobs]
        command += [f"--junitxml={report}", *(chosen.tests or ["openreg/tests"])]
        subprocess.run(command, cwd=ROOT)
        return count_tests(report) | _what(chosen.tests)


def count_tests(report: Path) -> Counts:
    """Return how many test cases of a JUnit report passed, failed and were skipped."""
    found: Counter[str] = Counter()
    for case in xml.parse(report).getroot().iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        found[
            "skipped" if kinds == {"skipped"} else "failed" if kinds else "passed"
        ] += 1
    return {kind: found[kind] for kind in ("passed", "failed", "skipped")}


def operator_database(chosen: Choice) -> Counts:
    """Return how many operators computed in float32 as the CPU does, and derived."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "sweep.json"
        command = [sys.executable, str(SWEEP), "--quick", "-d", "float32"]
        command += ["-w", "forward", "-w", "backward", "--json", str(report)]
        subprocess.run(command, cwd=ROOT)
        return count_verdicts(json.loads(report.read_text()))


def count_verdicts(verdicts: list[dict[str, str]]) -> Counts:
    """Return the counts by way; an error on both devices is also right."""
    right = [it for it in verdicts if it["verdict"] in ("right", "same error")]
    ways = Counter(it["way"] for it in right)
    return {"passed": len(right), "failed": len(verdicts) - len(right), **ways}


def examples(chosen: Choice) -> Counts | None:
    """Return how many pages of the guide printed what they show."""
    if chosen.docs_python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "pages.json"
        command = [str(chosen.docs_python), str(RUN_PAGES), "--json", str(report)]
        subprocess.run([*command, *chosen.pages], cwd=ROOT)
        found = json.loads(report.read_text())["pages"]
    failed = sum(bool(page["problems"]) for page in found)
    return {"passed": len(found) - failed, "failed": failed} | _what(chosen.pages)


def _what(part: list[str]) -> Counts:
    return {"of": " ".join(part)} if part else {}


PARTS: dict[str, Callable[[Choice], Counts | None]] = {
    "build": build,
    "gaps": gaps,
    "first tensor": first_tensor,
    "tests": backend_tests,
    "operators": operator_database,
    "examples": examples,
}
