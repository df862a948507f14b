# Writes docs/start/features.md from feature_list.py.
"""Run it when the list changes: a test compares the page with it.

python openreg/tests/tools/feature_pages.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "support")]

from feature_list import FEATURES, LATER, Feature  # noqa: E402
from ladder_page import anchor  # noqa: E402
from ladder_stages import OPENREG, STAGES  # noqa: E402
from torch_release import CLOSED_IN  # noqa: E402

DOCS = OPENREG.parent / "docs"
FEATURES_PAGE = DOCS / "start/features.md"
FINDER = OPENREG.parent / "cmake/FindInstalledTorch.cmake"
HEAD = """\
# Features

Use this page to plan your backend: it lists what a backend can have, whether common
programs need it, and which test shows that it works. Read [the ladder](ladder.md)
first.

You need not collect the files of a feature yourself. One command
[copies the whole backend](../ship/make-it-yours.md) under the name of your device, and
can leave out the later stages of the [ladder](ladder.md). For a feature of the copy,
you then write the driver functions or the kernels that it calls, and decide wherever
there is a `VENDOR:` comment.

A feature is **required** if common programs fail without it. The page on
[the starter without a piece](../reference/starter-knockouts.md) shows how they fail.
Everything else is optional. Without it, operators run by fallback, programs are slower,
or they raise an error that the [error index](../reference/error-index.md) lists.

{table}

* **you implement:** what PyTorch calls or looks up. Except for your kernels, the copy
  already implements it.
* **stage:** the stage of the [ladder](ladder.md). The [starter](first-backend.md) has
  the features up to stage 3, in fewer lines than the large backend.

All features need torch {oldest} or newer; CMake stops with an error for an older
release. A [table](../ship/upgrading-changes.md) lists what newer releases change. These
features also have an extension point that PyTorch added later:

{later}

`openreg/tests/tools/feature_pages.py` writes this page from a list of the features,
and tests check that each test, chapter and name on it exists.

## Features for your first release

| the first release of your device | implement |
|---|---|
| shows that it works | the required features, stages 0 to 3 |
| trains one model fast | streams, events, the caching allocator, native kernels |
| runs research programs | stages 4 to 7, because they use dropout and autocast |
| trains large models | graphs, the profiler, collectives, sharded attention |
| serves models | graphs or generated kernels, mixed precision |

## Recap

* {required} required features make a backend that trains. They are all in the starter.
* You copy the whole backend, then write driver functions and kernels.
* Each feature has a test, and a chapter that explains it.

Next: [architecture](architecture.md), or the chapter of the first feature you need.
"""


def features_page() -> str:
    lines = ["| feature | required | you implement | stage | test |"]
    lines.append("|---|---|---|--:|---|")
    for feature in FEATURES:
        stage = STAGES[feature.stage]
        cells = [f"[{feature.name}]({link(feature)})"]
        cells += ["yes" if feature.needed else "no", feature.pieces]
        cells += [f"[{stage.number}](ladder.md#{anchor(stage)})"]
        cells += [f"`openreg/tests/{feature.test}`"]
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
        f"from torch {since(one.gap)} on. Before that, {one.before}."
        for one in LATER
    )


def since(gap: str) -> str:
    """The first release without a gap."""
    return ".".join(map(str, CLOSED_IN[gap]))


def link(feature: Feature) -> str:
    return f"../{feature.page}.md"


if __name__ == "__main__":
    FEATURES_PAGE.write_text(features_page())
