# Writes docs/start/features.md and docs/reference/copy-lists.md from feature_list.py.
"""Run it when a feature gets a file: a test compares both pages with the sources.

python openreg/tests/tools/feature_pages.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "support")]

from feature_files import to_copy, to_replace  # noqa: E402
from feature_list import FEATURES, LATER, Feature  # noqa: E402
from ladder_page import anchor, by_folder  # noqa: E402
from ladder_stages import (  # noqa: E402
    OPENREG,
    STAGES,
    TESTS,
    driver_functions,
    lines_of,
)
from needed_by_tests import common, listed_with  # noqa: E402
from torch_release import CLOSED_IN  # noqa: E402

DOCS = OPENREG.parent / "docs"
FEATURES_PAGE = DOCS / "start/features.md"
LISTS_PAGE = DOCS / "reference/copy-lists.md"
FINDER = OPENREG.parent / "cmake/FindInstalledTorch.cmake"
HEAD = """\
# Features

After this page you can plan a backend. For each feature you see whether it is required,
what you implement and how much code that is. You also see the test that shows that it
works, and the chapter that explains it. Read [the ladder](ladder.md) first.

A feature is **required** if common programs fail without it. The page on
[the starter without a piece](../reference/starter-knockouts.md) shows how they fail.
Everything else is optional. Without it, operators run by fallback, programs are slower,
or they get an error of the [error index](../reference/error-index.md).

{table}

* **files, lines:** what to copy, without the files of the stages before. Lines are
  neither blank nor markers of snippets, and rounded to tens from stage 4 on. The number
  of files links to their names.
* **stage:** of the [ladder](ladder.md). Up to stage 3 the files are those of the
  [starter](first-backend.md). The chapter shows the large backend, whose files replace
  them in stage 4.

All features need torch {oldest} or newer, and CMake stops with an error for an older
release. A [table](../ship/upgrading-changes.md) lists what newer releases change. These
features also have an extension point that came later:

{later}

`openreg/tests/tools/feature_pages.py` writes this page and the
[lists of files](../reference/copy-lists.md) from the sources. A test copies each list
into an empty folder, and checks that all included and imported files are there.
`nox -s ladder` compiles a source of each list in such a folder. The lists also name
what each test needs. Each chapter links its list below "Copy into your backend".

## What to take

| the first release of your device | take |
|---|---|
| shows that it works | the required features, stages 0 to 3 |
| trains one model fast | streams, events, the caching allocator, native kernels |
| runs the programs of researchers | stages 4 to 7: they use dropout and autocast |
| trains large models | graphs, the profiler, collectives, sharded attention |
| serves models | graphs or generated kernels, mixed precision |

## Recap

* {required} required features make a backend that trains. The starter has all of them.
* Every other feature has a list of files, a test and a chapter of its own.
* The lists come from the sources, and `nox -s ladder` compiles a source of each.

Next: [architecture](architecture.md), or the chapter of the first feature you need.
"""
LISTS_HEAD = """\
# Files of each feature

The files to copy for each [feature](../start/features.md): those that the chapter
shows, those that they include or import, the source beside each header, and the sources
that define what these files use. The files of earlier stages of the
[ladder](../start/ladder.md) are left out. `driver` names the functions of the
[driver](../ship/driver-map.md) in these files, if there are any.

Up to stage 3 a list names the files of the starter. The second list of such a feature
has the files of the large backend, with everything that they include. They replace
those of the starter from stage 4 on.

With the stages before it, a list has what the linker needs: `nox -s ladder -- all`
checks that with object files. No list has the table
`openreg/csrc/aten/RegisterNative.cpp`, because it needs the sources of most operators:
take the lines of yours. Of `openreg/csrc/simulator`, your device needs `AutogradExit`
only. The lists name its other files because `Launch.h` includes them;
`openreg/csrc/README.md` says how to do without.

**With** a test come the files that it imports, compiles and runs, named from
`openreg/tests` on. Each test also needs the `pythonpath` of `pyproject.toml`, and these
files:

{common}
"""


def features_page() -> str:
    lines = ["| feature | required | you implement | stage | files | lines | test |"]
    lines.append("|---|---|---|--:|--:|--:|---|")
    for feature in FEATURES:
        files = to_copy(feature)
        stage = STAGES[feature.stage]
        count = lines_of(files) if stage.in_starter else round(lines_of(files), -1)
        name = f"[{feature.name}]({link(feature)})"
        listed = f"[{len(files)}](../reference/copy-lists.md#{title_anchor(feature)})"
        cells = [name, "yes" if feature.needed else "no", feature.pieces]
        cells += [f"[{stage.number}](ladder.md#{anchor(stage)})", listed]
        cells += [str(max(count, 10)), f"`openreg/tests/{feature.test}`"]
        lines.append(f"| {' | '.join(cells)} |")
    needed = sum(feature.needed for feature in FEATURES)
    return HEAD.format(
        table="\n".join(lines), required=needed, oldest=oldest_torch(), later=later()
    )


def oldest_torch() -> str:
    """The first release that a build accepts."""
    (release,) = re.findall(r"set\(OPENREG_TORCH_FROM (\S+)", FINDER.read_text())
    return release


def later() -> str:
    """The extension points that came with a later release, as a list."""
    features = {feature.name: feature for feature in FEATURES}
    return "\n".join(
        f"* [{one.feature}]({link(features[one.feature])}): {one.point}, "
        f"from torch {since(one.gap)} on. Before, {one.before}."
        for one in LATER
    )


def since(gap: str) -> str:
    """The first release without a gap."""
    return ".".join(map(str, CLOSED_IN[gap]))


def lists_page() -> str:
    head = LISTS_HEAD.format(common="\n".join(by_folder(sorted(common()))))
    return "\n".join([head, *(section(feature) for feature in FEATURES)])


def section(feature: Feature) -> str:
    """The part of the page about one feature."""
    files, large = to_copy(feature), to_replace(feature)
    number = STAGES[feature.stage].number
    lines = [
        f"## {feature.name}\n",
        f"Stage {number}. Chapter: [{feature.page}]({link(feature)}). "
        f"Test: `openreg/tests/{feature.test}`{with_test(feature)}.\n",
        *listing(files),
    ]
    if large:
        lines += ["\nIn the large backend:\n", *listing(large)]
    return "\n".join([*lines, ""])


def with_test(feature: Feature) -> str:
    names = [f"`{name}`" for name in listed_with(TESTS / feature.test)]
    return f", with {', '.join(names)}" if names else ""


def listing(files: list[Path]) -> list[str]:
    functions = [f"`{name}`" for name in driver_functions(files)]
    driver = [f"* driver: {', '.join(functions)}"] if functions else []
    return [*by_folder(files), *driver]


def link(feature: Feature) -> str:
    return f"../{feature.page}.md"


def title_anchor(feature: Feature) -> str:
    return feature.name.lower().replace(",", "").replace(" ", "-")


if __name__ == "__main__":
    FEATURES_PAGE.write_text(features_page())
    LISTS_PAGE.write_text(lists_page())
