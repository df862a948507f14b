# The command line of the conformance kit; see docs/ship/conformance.md.
from __future__ import annotations

import argparse
import errno
import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from torch_conformance import _html
from torch_conformance._case import LEVELS, LIMIT
from torch_conformance._load import LoadError
from torch_conformance._outcome import Result
from torch_conformance._report import Report, advice, compare, read, show
from torch_conformance._runner import run, select


def _levels(text: str) -> range:
    """``3`` stands for this level, ``0..3`` for all of them."""
    first, dots, last = text.partition("..")
    if not re.fullmatch(r"[0-5](\.\.[0-5])?", text) or (dots and first > last):
        raise argparse.ArgumentTypeError(f"expected N or N..M from 0 to 5, got {text}")
    return range(int(first), int(last or first) + 1)


def _jobs(text: str) -> int:
    if not re.fullmatch("[0-9]+", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, got {text}")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) or float(text) == 0:
        raise argparse.ArgumentTypeError(
            f"expected a number of seconds above 0, got {text}"
        )
    return float(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m torch_conformance",
        description="Test a PyTorch backend, level by level.",
        epilog="exit status: 0 if every case passes, 1 if not, "
        "2 for wrong arguments, or a report that cannot be written",
    )
    parser.add_argument("--device", help="name of the device type, such as acme")
    parser.add_argument(
        "--level",
        type=_levels,
        default=range(6),
        help="level N, or levels N..M; default: 0..5",
    )
    parser.add_argument(
        "-k",
        metavar="WORD",
        action="append",
        help="run only cases with WORD in the name",
    )
    parser.add_argument(
        "--import",
        dest="module",
        metavar="MODULE",
        help="module that registers the backend, if it has no entry point yet",
    )
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=1,
        help="number of cases that run in parallel; default: 1",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="fail a case after SECONDS without progress; default: "
        f"{LIMIT}, and more for cases that compile",
    )
    parser.add_argument(
        "--warm",
        action="store_true",
        help="load the backend once, before the cases fork",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the report as JSON"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as HTML")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help="compare with the JSON report of an earlier run",
    )
    parser.add_argument("--list", action="store_true", help="list the cases and exit")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if find_spec("torch") is None:
        parser.error("PyTorch is missing: install the release that your backend needs")
    words = options.k or ()
    if options.list:
        for case in select(options.level, words):
            print(f"{case.level} {case.name}: {advice(case)['expects']}")
        return 0
    if options.device is None:
        parser.error("--device is required: pass the device type of the backend")
    try:  # before the run, which takes minutes
        earlier = read(options.against) if options.against else None
        for file in filter(None, (options.json, options.html)):
            _check_output(file)
        _check_module(options.module)
    except ValueError as error:
        parser.error(str(error))
    try:
        results = run(
            options.device,
            options.level,
            words=words,
            module=options.module,
            jobs=options.jobs,
            warm=options.warm,
            timeout=options.timeout,
            each=_progress,
        )
    except LoadError as error:
        parser.error(f"{error}\nWithout --warm, each case reports its own error.")
    print(file=sys.stderr)
    if not results:
        parser.error(
            f"no case of level {LEVELS[options.level[0]]} has such a name: see --list"
        )
    import torch

    report = Report(options.device, torch.__version__, results)
    print(show(report))
    status = 0 if report.complete else 1
    texts = (json.dumps(report.as_json(), indent=1) + "\n", _html.page(report))
    for file, text in zip((options.json, options.html), texts, strict=True):
        try:
            if file:
                file.write_text(text, encoding="utf-8")
        except OSError as error:  # such as a disk that is full by now
            print(f"cannot write {file}: {error.strerror}", file=sys.stderr)
            status = 2
    if earlier is not None:
        print(f"\n{compare(report, earlier)}")
    return status


def _check_output(file: Path) -> None:
    """Raise ValueError if no report can be written there."""
    try:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not file.exists():
            tempfile.TemporaryFile(dir=file.parent).close()
        elif not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, "it is write-protected")
    except OSError as error:
        raise ValueError(
            f"cannot write {file}: {error.strerror}. Choose another file."
        ) from None


def _check_module(name: str | None) -> None:
    """Raise ValueError if there is no such module; import nothing."""
    top = None if name is None else name.partition(".")[0]
    if top is not None and (not top or find_spec(top) is None):
        raise ValueError(
            f"--import: there is no module {name!r}. Install it, or put its folder on "
            "PYTHONPATH."
        )


def _progress(result: Result) -> None:
    print("." if result.passed else "F", end="", file=sys.stderr, flush=True)
