# Counts what the compiled operator database consists of; see
# docs/modules/compile-inductor.md.
import datetime
import json
import subprocess
from collections import Counter
from pathlib import Path

import torch

LAST_RUN = Path(__file__).with_name("last_run.json")


def pytest_addoption(parser):
    parser.addoption("--record", action="store_true", help=f"write {LAST_RUN.name}")


def pytest_terminal_summary(terminalreporter, config):
    """Print the counts, and write them for the guide."""
    reports = terminalreporter.getreports("passed")
    counts = Counter(dict(report.user_properties)["verdict"] for report in reports)
    failed = len(terminalreporter.getreports("failed"))
    terminalreporter.write_line(f"{dict(counts.most_common())}, {failed} failed")
    if config.getoption("record"):
        record(counts, failed, len(terminalreporter.stats.get("deselected", ())))


def record(counts, failed, left_out):
    """Write what docs/_ext/compiled_tables.py shows."""
    describe = ["git", "-C", str(LAST_RUN.parent), "describe", "--always", "--dirty"]
    options = ["--abbrev=12", "--exclude=*"]
    commit = subprocess.check_output([*describe, *options], text=True).strip()
    found = {
        "torch": torch.__version__.split("+")[0],
        "commit": commit,
        "date": datetime.date.today().isoformat(),
        "entries": sum(counts.values()) + failed + left_out,
        "counts": dict(counts.most_common()),
        "failed": failed,
    }
    LAST_RUN.write_text(json.dumps(found, indent=1) + "\n")
