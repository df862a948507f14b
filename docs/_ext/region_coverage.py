"""Says which lines that the guide shows were never executed by a test.

Explained in CONTRIBUTING.md, "Writing a chapter".

    coverage json -o build/coverage.json
    (cd build/coverage && gcov --json-format $(find . -name '*.gcda'))
    python docs/_ext/region_coverage.py --python build/coverage.json \\
        --cpp build/coverage

Reads coverage.py's JSON report, and every `*.gcov.json` or `*.gcov.json.gz` below the
folder given with --cpp. Only languages with a report are judged. A snippet that cannot
run here is listed in `region_exceptions.toml`, with a reason and the number of lines
that nothing runs; an entry that is wrong or not needed any more is refused. The front
page shows the sum of these numbers. Needs only the standard library.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from snippet_contract.markers import Snippet  # noqa: E402
from snippet_contract.sources import SourceIndex  # noqa: E402

PYTHON = {".py"}
CPP = {".c", ".cpp", ".h"}
# Executions of every line that can be executed, by absolute path.
Counts = dict[Path, dict[int, int]]
ONLY_BRACKETS = re.compile(r"[\s(){}\[\];,]+")
EXCEPTIONS = HERE / "region_exceptions.toml"


class InputError(Exception):
    """A report or the list of exceptions cannot be used."""


class Reason(NamedTuple):
    """Why the reports do not show that a snippet ran."""

    text: str
    never_run: int  # lines that nothing runs; 0: something without counters runs all


def read_python(report: Path, root: Path) -> Counts:
    """Counts of a JSON report of coverage.py; relative paths start at `root`."""
    files = _read_json(report).get("files")
    if not isinstance(files, dict):
        raise InputError(f"{report} is no JSON report of coverage.py")
    return {
        (root / name).resolve(): {
            **dict.fromkeys(lines["missing_lines"], 0),
            **dict.fromkeys(lines["executed_lines"], 1),
        }
        for name, lines in files.items()
    }


def read_cpp(folder: Path) -> Counts:
    """Counts of all gcov reports below a folder, added up."""
    reports = sorted([*folder.rglob("*.gcov.json"), *folder.rglob("*.gcov.json.gz")])
    if not reports:
        raise InputError(f"no *.gcov.json or *.gcov.json.gz below {folder}")
    counts: Counts = {}
    for report in reports:
        content = _read_json(report)
        start = Path(content.get("current_working_directory", "."))
        for file in content["files"]:
            lines = counts.setdefault((start / file["file"]).resolve(), {})
            for line in file["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, 0) + line["count"]
            # gcov counts nothing for the first line of some lambdas that ran.
            for function in file.get("functions", []):
                if function["start_line"] in lines:
                    lines[function["start_line"]] += function["execution_count"]
    return counts


def read_exceptions(file: Path) -> dict[str, Reason]:
    """Reasons by snippet name."""
    if not file.exists():
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}") from None
    if unknown := sorted(content.keys() - {"reason"}):
        raise InputError(f"{file}: only [[reason]] is read, not {unknown}")
    reasons: dict[str, Reason] = {}
    for entry in content.get("reason", []):
        names = entry.get("snippets")
        if not (names and str(entry.get("text", "")).strip()):
            raise InputError(f"{file}: every [[reason]] needs a text and snippets")
        reason = Reason(entry["text"], entry.get("never_run", 0))
        if reason.never_run and len(names) > 1:
            raise InputError(f"{file}: never_run counts one snippet, not {names}")
        for name in names:
            if name in reasons:
                raise InputError(f"{file}: {name} has two reasons")
            reasons[name] = reason
    return reasons


def lines_never_run(file: Path = EXCEPTIONS) -> int:
    """How many lines the guide shows that nothing runs, for its front page."""
    return sum(reason.never_run for reason in read_exceptions(file).values())


def find_faults(
    index: SourceIndex, counts: Counts, suffixes: set[str], reasons: dict[str, Reason]
) -> list[str]:
    """A message for each snippet that has not run, and for each incorrect entry."""
    faults = []
    names = set()
    for path, snippets in sorted(index.snippets.items()):
        names |= {snippet.name for snippet in snippets.values()}
        if Path(path).suffix not in suffixes:
            continue
        lines = counts.get(index.root / path)
        if lines is not None and Path(path).suffix in CPP:
            lines = _without_brackets(lines, index.root / path)
        for snippet in snippets.values():
            reason = reasons.get(snippet.name)
            fault = _fault(path, snippet, lines)
            if reason is None:
                faults += [fault] if fault else []
            elif not fault:
                faults.append(
                    f"{path}: {snippet.name} ran. Remove it from the exceptions."
                )
            elif lines is not None and reason.never_run:
                idle = len(_idle(snippet, lines))
                if idle != reason.never_run:
                    faults.append(
                        f"exception {snippet.name}: never_run is {reason.never_run}, "
                        f"but {idle} lines did not run. {fault}"
                    )
    faults += [
        f"exception {name}: there is no such snippet. Remove it."
        for name in sorted(set(reasons) - names)
    ]
    return faults


def _without_brackets(lines: dict[int, int], file: Path) -> dict[int, int]:
    """Leaves out lines of nothing but brackets: there gcov counts only unwinding."""
    text = file.read_text(encoding="utf-8").splitlines()
    brackets = {n for n, line in enumerate(text, 1) if ONLY_BRACKETS.fullmatch(line)}
    return {number: lines[number] for number in lines.keys() - brackets}


def _idle(snippet: Snippet, lines: dict[int, int]) -> list[int]:
    return [number for number in snippet.lines if lines.get(number) == 0]


def _fault(path: str, snippet: Snippet, lines: dict[int, int] | None) -> str:
    if lines is None:
        return (
            f"{path}:{snippet.start}: {snippet.name} is shown, but no report has its"
            " file: no test loaded it. Test it, or list it with a reason."
        )
    idle = _idle(snippet, lines)
    if not idle:
        return ""
    return (
        f"{path}:{idle[0]}: {snippet.name} is shown, but no test ran its lines"
        f" {', '.join(map(str, idle))}. Test them, or list it with a reason."
    )


def _read_json(file: Path) -> dict[str, Any]:
    try:
        data = file.read_bytes()
        content = json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {file}: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{file} is no coverage report")
    return content


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path, help="JSON report of coverage.py")
    parser.add_argument("--cpp", type=Path, help="folder with gcov's JSON reports")
    parser.add_argument("--root", type=Path, default=HERE.parents[1])
    parser.add_argument("--exceptions", type=Path, default=EXCEPTIONS)
    chosen = parser.parse_args(arguments)
    if not (chosen.python or chosen.cpp):
        parser.error("give --python, --cpp, or both")
    root = chosen.root.resolve()
    counts: Counts = {}
    suffixes: set[str] = set()
    try:
        if chosen.python:
            counts |= read_python(chosen.python, root)
            suffixes |= PYTHON
        if chosen.cpp:
            counts |= read_cpp(chosen.cpp)
            suffixes |= CPP
        reasons = read_exceptions(chosen.exceptions)
    except InputError as error:
        parser.error(str(error))
    index = SourceIndex(root, root / "docs", root / "build")
    faults = find_faults(index, counts, suffixes, reasons)
    judged = sum(
        len(snippets)
        for path, snippets in index.snippets.items()
        if Path(path).suffix in suffixes
    )
    print("\n".join([*faults, f"{judged} snippets judged, {len(faults)} faults"]))
    if judged == 0:
        print("no snippet was checked: pass the repository as --root")
    return 1 if faults or not judged else 0


if __name__ == "__main__":
    sys.exit(main())
