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
        LAST_RUN.write_text(json.dumps(last_run(counts, failed), indent=1) + "\n")


def last_run(counts, failed):
    """Return what docs/_ext/compiled_tables.py shows."""
    describe = ["git", "-C", str(LAST_RUN.parent), "describe", "--always", "--dirty"]
    commit = subprocess.check_output([*describe, "--exclude=*"], text=True).strip()
    return {
        "torch": torch.__version__.split("+")[0],
        "commit": commit,
        "date": datetime.date.today().isoformat(),
        "counts": dict(counts.most_common()),
        "failed": failed,
    }
