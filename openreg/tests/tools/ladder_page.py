# The text of docs/start/ladder.md around what ladder.py measures.
"""Makes the page out of what the programs do, and a page with the files.

python openreg/tests/tools/ladder_page.py

That brings the files and lines up to date, and keeps what the programs did.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "support")]

from ladder_picture import PICTURE, description, picture  # noqa: E402
from ladder_stages import (  # noqa: E402
    OPENREG,
    STAGES,
    Stage,
    driver_functions,
    files_of,
    lines_of,
)
from starter_knockouts import quoted  # noqa: E402

PAGE = OPENREG.parent / "docs/start/ladder.md"
FILES_PAGE = OPENREG.parent / "docs/reference/ladder-files.md"
Measured = dict[int, tuple[str, str]]  # for each stage: output, and error without it
LONG = {3: "loss.backward()", 6: "y.square().sum().backward()"}  # what stands out
FILES = "../reference/ladder-files.md"
MARKER = "LITERALINCLUDE"  # alone: a line with more of it would be one
HEAD = """\
# The ladder

A backend is too large to write at once, so this guide divides it into ten stages, each
of which you can run and test. This page lists them in the order in which to build them,
with what works after each stage and the error that you get without it. Read [copies and
fallback](first-fallback.md) of your first backend first: that backend is stages 0 to 3.

Each stage has a program that shows what the stage is for. `nox -s ladder -- all` builds
every stage and runs two programs on it: the program of the stage must pass, and the
program of the next stage must fail. Without `all`, the session stops at stage 4. The
errors below come from these runs, with `...` for the rest of a long line, and the
session fails if one of them differs.

Stages 0 to 3 are the starter, without the files of later stages. From stage 4 on, the
files are those of the large backend, cut down to the stage. `new_backend.py` adds them
to a copy of the starter, and leaves its driver and its kernels unchanged:

```{{transcript}}
$ NEW="$OPENREG_REPOSITORY/openreg/new_backend.py"
$ python "$NEW" acme --into torch_acme
torch_acme: ... files of the package torch_acme
$ python "$NEW" acme --into torch_acme --stage 4
torch_acme: ... files of the package torch_acme
$ ls torch_acme/csrc/runtime
device
errors
interface
memory
random
stream
```

The copy contains neither files nor registrations of later stages. `--stage 5` adds
those of stage 5, and so on; [make it yours](../ship/make-it-yours.md) explains the
copy. The session runs [the portable tests](first-backend.md#test-it) on both copies,
and on the copy at stage 4 also [the kernel](first-kernel.md) that was written for the
starter.

## Stages of bring-up

{table}

* **files, lines:** what the stage adds to the stages before it. Blank lines and snippet
  markers do not count, and from stage 4 on the lines are rounded to hundreds.
* **driver:** how many driver functions the stage calls for the first time.
* **days:** an estimate, not a measurement, for one engineer who has experience with the
  driver.

The picture shows how many files each stage adds to each folder. The package and its
device module are Python:

```{{diagram}} ladder
:alt: {picture}
```

The files of stages 0 to 3 are those of `openreg/starter`, and a test checks that each
file is in one stage. From stage 4 on, the files are those of the large backend,
including its Python package. `openreg/cloning/stages.py` lists what each stage adds. It
also removes from a copy the table rows, bindings and imports that belong to missing
files.
"""
FILES_HEAD = """\
# Files of each stage

For each stage of [the ladder](../start/ladder.md), this page lists the files that it
adds, and the driver functions that these files call for the first time.
`nox -s ladder -- all` builds every stage from exactly these files.
"""
STAND_IN = """\
There is no C++ yet, so a file `_C.py` stands in for it:

```{{literalinclude}} ../../openreg/tests/examples/ladder/stand_in.py
:language: python
:start-after: {marker} START: LADDER_STAND_IN
:end-before: {marker} END: LADDER_STAND_IN
```
"""
TAIL = """\
## Recap

* After stage 3 a network trains: every operator computes correct results, but slowly.
* Stages 4 and 5 make the backend fast.
* Stages 6 to 9 add convolutions, mixed precision, the profiler, graphs and collectives.

Next: [the driver map](../ship/driver-map.md).
"""


def brought() -> Iterator[tuple[Stage, list[Path], list[str]]]:
    """Each stage, its files, and the driver functions that no stage before calls."""
    seen: set[str] = set()
    for stage in STAGES:
        files = files_of(stage)
        functions = [name for name in driver_functions(files) if name not in seen]
        seen |= set(functions)
        yield stage, files, functions


def page(measured: Measured) -> str:
    """Return the text of the page."""
    lines = ["| stage | files | lines | driver | days | the error without it |"]
    lines.append("|---|--:|--:|--:|--:|---|")
    parts = []
    for stage, files, functions in brought():
        printed, error = measured[stage.number]
        link = f"[{stage.number}. {stage.title}](#{anchor(stage)})"
        lines_ = lines_of(files) if stage.in_starter else round(lines_of(files), -2)
        counts = f"{len(files)} | {lines_} | {len(functions)} | {stage.days}"
        lines.append(f"| {link} | {counts} | {quoted(error)} |")
        parts.append(section(stage, printed, error, files, functions))
    return "\n".join(
        [HEAD.format(table="\n".join(lines), picture=description()), *parts, TAIL]
    )


def files_page() -> str:
    """Return the text of the page with the files of each stage."""
    parts = [FILES_HEAD]
    for stage, files, new in brought():
        functions = ", ".join(f"`{name}`" for name in new) or "none"
        parts.append(f"## {stage.number}. {stage.title}\n")
        parts += [*by_folder(files), f"* driver: {functions}\n"]
    return "\n".join(parts)


def measured_of(text: str) -> Measured:
    """What a page says that the programs do."""
    found: Measured = {}
    for number, body in re.findall(r"^## (\d)\. .*\n((?:(?!^## ).*\n)*)", text, re.M):
        printed = re.search(r"^It prints (.*)\. Without", body, re.MULTILINE)
        error = re.search(r"^> `(.*)`$", body, re.MULTILINE)
        assert printed and error, f"stage {number}"
        output = "".join(f"{line}\n" for line in re.findall("`([^`]+)`", printed[1]))
        found[int(number)] = (output, error[1])
    return found


def anchor(stage: Stage) -> str:
    """The anchor of its heading, as MyST makes it."""
    title = f"{stage.number} {stage.title}".lower().replace(",", "")
    return title.replace(" ", "-")


def section(
    stage: Stage, printed: str, error: str, files: list[Path], functions: list[str]
) -> str:
    program = f"../../openreg/tests/examples/ladder/{stage.program.name}"
    output = "; ".join(f"`{line}`" for line in printed.splitlines())
    text = [
        f"## {stage.number}. {stage.title}\n",
        f"{stage.what} See {stage.pages}, and the test `openreg/tests/{stage.test}`.\n",
        f"```{{literalinclude}} {program}",
        ":language: python",
        f":start-after: {MARKER} START: LADDER_STAGE_{stage.number}",
        f":end-before: {MARKER} END: LADDER_STAGE_{stage.number}",
        *([f":emphasize-text: {LONG[stage.number]}"] if stage.number in LONG else []),
        "```\n",
        *([STAND_IN.format(marker=MARKER)] if stage.number == 0 else []),
        f"It prints {output}. Without this stage, it fails with this error:\n",
        f"> {quoted(error)}\n",
        f"The stage adds [{len(files)} files]({FILES}#{anchor(stage)}) and "
        f"{len(functions) or 'no'} new driver call{'s' * (len(functions) != 1)}.\n",
    ]
    return "\n".join(text)


def by_folder(files: list[Path]) -> list[str]:
    """A list of the files, a line for each folder."""
    folders: dict[Path, list[str]] = {}
    for path in files:
        folder = path.parent.relative_to(OPENREG.parent)
        folders.setdefault(folder, []).append(f"`{path.name}`")
    return [f"* `{folder}`: {', '.join(names)}" for folder, names in folders.items()]


if __name__ == "__main__":
    PAGE.write_text(page(measured_of(PAGE.read_text())))
    FILES_PAGE.write_text(files_page())
    PICTURE.write_text(picture())
