# Writes docs/reference/libraries-table.md; see docs/frontend/training-libraries.md.
"""Runs what users of libraries write, and shows what happens on the device.

python openreg/tests/tools/libraries_table.py                  # write the page again
python openreg/tests/tools/libraries_table.py --record NAME... # measure libraries

The second form needs the libraries that it names, and also writes libraries.json. An
environment does not need all of them, and `nox -s clients` has the smaller ones.
"""

import argparse
import datetime
import importlib
import json
import multiprocessing
import os
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[2] / "docs/reference/libraries-table.md"
RECORDED = HERE / "libraries/recorded.json"
HEAD = """\
# Libraries, line by line

This page shows what users of libraries write and what happens on your device, with
torch 2.13. The tool `openreg/tests/tools/libraries_table.py` ran each line on the
device and on the CPU, compared the numbers and the counters of the
[fallback](../operators/fallback.md), and wrote this page. `nox -s clients` runs the
libraries in `requirements/clients.txt` again; any other library has the date of its
run.

* **works unchanged**: the result has the numbers of the CPU, and no operator fell back.
* **one line**, **plug-in**, **program**: the same, with what the row contains.
* **stays on the CPU**: the library did not find the device, and raised no error.
* **refused**: the first line of the error.

[Training libraries](../frontend/training-libraries.md) explains these rows.
"""


def in_child(library: str, answer: Any) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)  # libraries print and log
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    warnings.simplefilter("ignore")
    sys.path += [str(HERE), str(HERE.parent / "examples/libraries")]
    for module in ("training", "models"):
        importlib.import_module(f"libraries.{module}")
    outcomes = importlib.import_module("libraries.check").outcomes
    answer.put(outcomes(library))


def measure(library: str) -> Any:
    """Run the checks of a library in a separate process.

    A fork of this one could not use the device, if this one has used it.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch"])  # once for all libraries
    answer = context.SimpleQueue()
    child = context.Process(target=in_child, args=(library, answer))
    child.start()
    child.join()
    assert child.exitcode == 0 and not answer.empty(), f"{library}: {child.exitcode}"
    return answer.get()


def cell(needs: str, outcome: str) -> str:
    if outcome == "stays on the CPU":
        return f"**{outcome}**"
    if outcome != "works":
        escaped = outcome.replace("|", "\\|")
        return f"refused: `{escaped}`"
    if not needs:
        return "works unchanged"
    return needs if needs.startswith("[") else f"one line: {needs}"


def page() -> str:
    """Return the text of the page, from what was recorded."""
    lines = [HEAD, "| library | you write | on the device |", "|---|---|---|"]
    for library, found in sorted(json.loads(RECORDED.read_text()).items()):
        date = f", {found['date']}" if "date" in found else ""
        name = f"{library} {found['version']}{date}"
        for what, needs, outcome in found["rows"]:
            shown = what if "`" in what else f"`{what}`"
            lines.append(f"| {name} | {shown} | {cell(needs, outcome)} |")
            name = ""
    return "\n".join(lines) + "\n"


def record(libraries: list[str]) -> None:
    locked = (HERE.parents[2] / "requirements/clients.txt").read_text()
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for library in libraries:
        recorded[library] = measure(library)
        if f"\n{library}==" not in locked:
            recorded[library]["date"] = f"{datetime.date.today():%B %Y}"
    RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", nargs="+", default=[], metavar="NAME")
    record(parser.parse_args().record)
    PAGE.write_text(page())
