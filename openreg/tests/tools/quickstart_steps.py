# Runs the examples of the quickstart on a device; see docs/ship/make-it-yours.md.
"""python openreg/tests/tools/quickstart_steps.py acme [STAGE]

The package of the device is imported first, so that the program works where autoload is
off, as it must be with two backends in one environment. It prints how many examples
passed, and ends with 1 if one of them printed something else than the page shows.
STAGE is the last stage of the ladder that the device has, at least 4. The examples that
ask for native kernels are left out before stage 5.
"""

from __future__ import annotations

import doctest
import importlib
import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/start/quickstart.md"
NAME = re.compile(r"\bopenreg\b")  # the driver's own name is spelled OpenReg
DOCTEST = re.compile(r"^```\{doctest\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(
    r"^\$ cat > (\S+) <<'END'\n((?:>[^\n]*\n)+?)> END\n\$ python \1\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
NATIVE = re.compile(r"_dispatch_has_kernel|\.fallback_counts\(\)")
NATIVE_FROM = 5  # the stage of the ladder that brings these kernels


def steps(text: str, device: str, stage: int = NATIVE_FROM) -> list[doctest.Example]:
    """The examples of a page, written for a device that has reached a stage."""
    parser = doctest.DocTestParser()
    renamed = NAME.sub(device, text)
    return [
        step
        for body in DOCTEST.findall(renamed)
        for step in parser.get_examples(body)
        if stage >= NATIVE_FROM or not NATIVE.search(step.source)
    ]


def programs(text: str, device: str) -> list[tuple[str, str]]:
    """The programs that a page writes to a file and runs, and what they print."""
    return [
        (re.sub(r"^> ?", "", source, flags=re.MULTILINE), output)
        for _, source, output in PROGRAM.findall(NAME.sub(device, text))
    ]


def run_steps(text: str, device: str, stage: int) -> tuple[int, int]:
    """Run all of them; return how many failed, and how many ran."""
    examples = steps(text, device, stage)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test = doctest.DocTest(examples, {}, device, str(PAGE), 0, None)
    failed, tried = runner.run(test)
    for source, expected in programs(text, device):
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(source, str(PAGE), "exec"), {"__name__": "__main__"})
        tried += 1
        if printed.getvalue() != expected:
            failed += 1
            print(f"Expected:\n{expected}Got:\n{printed.getvalue()}")
    return failed, tried


if __name__ == "__main__":
    device, *stage = sys.argv[1:]
    importlib.import_module(f"torch_{device}")
    reached = int(stage[0]) if stage else NATIVE_FROM
    failed, tried = run_steps(PAGE.read_text(), device, reached)
    print(f"{device}: {tried - failed} of {tried} examples of the quickstart")
    sys.exit(failed > 0)
