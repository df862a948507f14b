"""Runs every `{doctest}` and `{transcript}` of the guide and compares what they print.

Explained in CONTRIBUTING.md, "Writing a chapter".

    python docs/_ext/run_pages.py                        all but those of ELSEWHERE
    python docs/_ext/run_pages.py docs/start/ladder.md   only this one
    python docs/_ext/run_pages.py --json out.json        also counts for programs

Each page runs in one process of its own, in an empty folder of its own; one page
more at a time than there are cores. The exit status is 0 only if everything printed
what its page says, every example that a page shows was run, and there was at least one.
Needs markdown-it-py and mdit-py-plugins, and whatever the pages import.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from snippet_contract.blocks import blocks, find_pages  # noqa: E402
from snippet_contract.examples import count_written  # noqa: E402
from snippet_contract.transcripts import TIMEOUT  # noqa: E402
from warm_python import WarmPython  # noqa: E402

DOCS = HERE.parent
EXAMPLES = DOCS.parent / "openreg/tests/examples"  # which pages may import
JOBS = min(4, (os.cpu_count() or 1) + 1)  # pages often wait, as tests do
TAIL_LINES = 40
# How pages below docs/ begin that need another environment, and the sessions of nox
# that run them.
ELSEWHERE = {
    "opencl/": "opencl",
    "modules/triton": "triton",
    "frontend/serving": "serving",
}


@dataclass
class PageResult:
    """What came of one page."""

    page: str
    written: int  # `>>>` examples that the text of the page shows
    run: int = 0
    commands: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


def run_page(
    path: Path, name: str, timeout: float, warm: WarmPython | None = None
) -> PageResult:
    """Run one page; `name` is how messages call it. Slower without `warm`."""
    text = path.read_text(encoding="utf-8")
    result = PageResult(name, count_written(text))
    job = {
        "page": name,
        "timeout": min(timeout, TIMEOUT),
        "blocks": [
            {"kind": block.directive, "body": block.body, "line": block.body_line}
            for block in blocks(text)
            if block.directive in ("doctest", "transcript")
        ],
    }
    done = True
    if job["blocks"]:
        with tempfile.TemporaryDirectory(prefix="page-") as folder:
            done = _run_worker(job, Path(folder), result, timeout, warm)
    if done and result.written != result.run:
        result.problems.append(
            f"{name}: {result.written} examples are written in the page, but"
            f" {result.run} were run. Write '>>>' only in {{doctest}} blocks."
        )
    return result


def run_pages(
    pages: Sequence[Path], root: Path, *, jobs: int = JOBS, timeout: float = 600.0
) -> list[PageResult]:
    """Run pages, `jobs` at a time; `root` shortens their names."""

    def run(path: Path) -> PageResult:
        path = path.resolve()
        inside = path.is_relative_to(root)
        name = str(path.relative_to(root)) if inside else str(path)
        result = run_page(path, name, timeout, warm)
        _print_page(result)
        return result

    with tempfile.TemporaryDirectory(prefix="warm-") as folder:
        warm = WarmPython(Path(folder), page_environment())
        try:
            with ThreadPoolExecutor(jobs) as pool:
                return list(pool.map(run, pages))
        finally:
            warm.close()


def _run_worker(
    job: dict[str, Any],
    folder: Path,
    result: PageResult,
    timeout: float,
    warm: WarmPython | None,
) -> bool:
    """Run the blocks of a page in a process; True if it came to its end."""
    file = folder / "page.job"
    file.write_text(json.dumps(job), encoding="utf-8")
    cwd = folder / "cwd"
    cwd.mkdir()
    log = folder / "page.log"
    python = warm.python if warm else sys.executable
    started = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [python, str(HERE / "page_worker.py"), str(file)],
            cwd=cwd,
            env=warm.env if warm else page_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    result.seconds = round(time.perf_counter() - started, 3)
    events = _read_events(folder / "page.events")
    _take_events(events, result)
    done = bool(events) and events[-1]["event"] == "done"
    if status != 0 or not done:
        result.problems.append(_how_it_ended(result.page, status, timeout, events, log))
    return done


def page_environment() -> dict[str, str]:
    """Environment of a page: this Python first, no colors, 88 columns.

    Pages run in an empty folder; OPENREG_REPOSITORY leads to the files of the guide.
    They can import `guide_examples`. No CUDA toolkit is there: in a CUDA build,
    torch.utils.cpp_extension would print that it found one without a GPU, on some
    machines and not on others.
    """
    python = str(Path(sys.executable).parent)
    python_path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {
        **{key: value for key, value in os.environ.items() if key != "BASH_ENV"},
        "PATH": python + os.pathsep + os.environ.get("PATH", os.defpath),
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "88",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "OPENREG_REPOSITORY": str(DOCS.parent),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(EXAMPLES), *python_path])),
        "CUDA_HOME": "",
        "CUDA_PATH": "",
    }


def _read_events(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    # A process that is killed may leave half a line.
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _take_events(events: list[dict[str, Any]], result: PageResult) -> None:
    result.run = sum(event["event"] == "example" for event in events)
    result.commands = sum(event["event"] == "command" for event in events)
    for fault in (event for event in events if event["event"] == "fault"):
        place = f"{result.page}:{fault['line']}"
        if fault["source"]:
            parts = ["this did not print what the page says", _indent(fault["source"])]
            for title in ("expected", "got"):
                parts += [
                    f"  {title}",
                    _indent(fault[title].strip("\n") or "(nothing)"),
                ]
            result.problems.append(f"{place}: " + "\n".join(parts))
        else:
            result.problems.append(f"{place}: {fault['got']}")


def _how_it_ended(
    page: str,
    status: int | None,
    timeout: float,
    events: list[dict[str, Any]],
    log: Path,
) -> str:
    last = next((event for event in reversed(events) if "source" in event), None)
    if status is None:
        how = f"was still running after {timeout:g} s and was ended"
    elif status < 0:
        how = f"ended by {signal.Signals(-status).name}"
    else:
        how = f"ended with status {status}"
    if events and events[-1]["event"] == "done":
        text = f"{page}: the page {how} after its last example"
    elif last:
        text = f"{page}:{last['line']}: the page {how}, while it ran"
        text += "\n" + _indent(last["source"])
    else:
        text = f"{page}: the page {how} before its first example"
    if status is not None and status < 0:
        text += "\n  docs/ship/known-crashes.md explains this signal"
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
    if tail:
        text += "\n  its last output\n" + _indent("\n".join(tail))
    return text


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines())


def _print_page(result: PageResult) -> None:
    counts = f"{result.run:3d} examples {result.commands:3d} commands"
    state = "ok" if result.ok else "FAILED"
    print(f"{result.page:44s} {counts} {result.seconds:7.1f} s  {state}", flush=True)


def pages_of_here(docs: Path) -> list[Path]:
    """Return the pages that this environment can run."""
    elsewhere = tuple(ELSEWHERE)
    pages = find_pages(docs)
    return [p for p in pages if not str(p.relative_to(docs)).startswith(elsewhere)]


def _commands_of(page: Path) -> int:
    text = page.read_text(encoding="utf-8")
    return text.count("\n$ ") + text.count("subprocess.run(")


def summary(results: Sequence[PageResult]) -> dict[str, Any]:
    """Counts of a run, for programs."""
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError:
        torch = None
    return {
        "torch": torch,
        "python": ".".join(map(str, sys.version_info[:3])),
        "written": sum(result.written for result in results),
        "run": sum(result.run for result in results),
        "commands": sum(result.commands for result in results),
        "ok": all(result.ok for result in results),
        "pages": [asdict(result) | {"ok": result.ok} for result in results],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: all pages")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages")
    parser.add_argument("--jobs", type=int, default=JOBS, help="pages at a time")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a page")
    parser.add_argument("--json", type=Path, help="write counts to this file")
    chosen = parser.parse_args(arguments)
    docs = chosen.docs.resolve()
    missing = [str(path) for path in chosen.pages if not path.is_file()]
    if not docs.is_dir():
        parser.error(f"no such folder: {chosen.docs}")
    if missing:
        parser.error(f"no such page: {', '.join(missing)}")
    if chosen.jobs < 1 or chosen.timeout <= 0:
        parser.error("--jobs and --timeout must be positive")
    # Commands take longest: a page with many, begun last, would run alone at the end.
    pages = sorted(chosen.pages or pages_of_here(docs), key=_commands_of, reverse=True)
    results = run_pages(pages, docs.parent, jobs=chosen.jobs, timeout=chosen.timeout)
    counts = summary(results)
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    failed = [result for result in results if not result.ok]
    for result in failed:  # at the end: nox -s docs shows only the last lines
        print("\n".join(result.problems))
    print(
        f"{len(results)} pages: {counts['run']} of {counts['written']} examples run,"
        f" {counts['commands']} commands, {len(failed)} pages failed"
    )
    if counts["run"] == 0:
        print(f"no example ran below {docs}: a guide without examples proves nothing")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
