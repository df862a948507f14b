# The drawing of docs/start/ladder.md: how the tree of files grows.
"""Draws a row for each folder and a column for each stage, with the files that arrive.

python openreg/tests/tools/ladder_page.py writes it with the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ladder_stages import OPENREG, STAGES, files_of

PICTURE = OPENREG.parent / "docs/_static/diagrams/ladder.svg"
PACKAGE = "package"
# What a row shows, as a reader of a tree sees it, and the folders it stands for. A file
# belongs to the last row whose folder holds it.
ROWS = [
    ("build, example", ""),
    (f"{PACKAGE}/", PACKAGE),
    ("  _inductor/", f"{PACKAGE}/_inductor"),
    ("csrc/", "csrc"),
    ("  runtime/", "csrc/runtime"),
    ("    device/", "csrc/runtime/device"),
    ("    errors/", "csrc/runtime/errors"),
    ("    interface/", "csrc/runtime/interface"),
    ("    stream/", "csrc/runtime/stream"),
    ("    memory/", "csrc/runtime/memory"),
    ("    random/", "csrc/runtime/random"),
    ("    graph/", "csrc/runtime/graph"),
    ("    ipc/", "csrc/runtime/ipc"),
    ("  aten/", "csrc/aten"),
    ("    ops/", "csrc/aten/ops"),
    ("    meta/", "csrc/aten/meta"),
    ("    host/", "csrc/aten/host"),
    ("  kernels/", "csrc/kernels"),
    ("  amp/", "csrc/amp"),
    ("  profiler/", "csrc/profiler"),
    ("  distributed/", "csrc/distributed"),
]
WIDTH, LEFT, TOP = 380, 130, 44  # of the drawing, of the first column, of the first row
COLUMN, ROW = 25, 22
DESCRIPTION = (
    "A row for each folder, a column for each of the stages 0 to 9, and in each cell "
    "the number of files that the stage adds to the folder. The starter, stages 0 to "
    "3, has {starter} files. Stage 4 fills the runtime, the operators and the package; "
    "stages 5 to 7 fill the kernels; stages 8 and 9 add new folders: graph and "
    "profiler, then ipc, distributed and _inductor. The large backend adds {large} "
    "files."
)


def folder_of(path: Path) -> str:
    """The folder of a file in the tree that both backends share."""
    path = path.relative_to(OPENREG)
    if path.parts[0] == "starter":
        path = path.relative_to("starter")
    top, *rest = path.parent.parts or ("",)
    if top in ("torch_starter", "torch_openreg"):
        top = PACKAGE
    return "/".join([top, *rest])


def row_of(folder: str) -> int:
    """The row of a folder: the last one that is the folder or around it."""
    around = [
        row
        for row, (_, prefix) in enumerate(ROWS)
        if not prefix or f"{folder}/".startswith(f"{prefix}/")
    ]
    return around[-1]


def counts() -> dict[tuple[int, int], int]:
    """How many files arrive, by row and stage."""
    found: dict[tuple[int, int], int] = {}
    for stage in STAGES:
        for path in files_of(stage):
            cell = row_of(folder_of(path)), stage.number
            found[cell] = found.get(cell, 0) + 1
    return found


def description() -> str:
    """Describe the drawing for readers who cannot see it."""
    starter = sum(len(files_of(stage)) for stage in STAGES if stage.in_starter)
    large = sum(len(files_of(stage)) for stage in STAGES if not stage.in_starter)
    return DESCRIPTION.format(starter=starter, large=large)


def picture() -> str:
    """Return the text of the drawing."""
    height = TOP + ROW * len(ROWS) + 4
    frame = 'fill="currentColor" stroke="currentColor" stroke-opacity=".55"'
    lines = [
        "<!-- How the tree grows; shown by docs/start/ladder.md, written by "
        "openreg/tests/tools/ladder_picture.py. -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-size="13" fill="currentColor">',
        "  <title>How the tree of files grows from stage to stage</title>",
        f"  <desc>{description()}</desc>",
        f"  <g {frame}>",
    ]
    found = sorted(counts().items())
    rects: dict[int, str] = {}  # the boxes of a row, on one line
    for (row, stage), _ in found:
        kind = 'class="first" fill-opacity=".06"'
        if stage >= 4:
            kind = 'class="second" fill-opacity=".14"'
        place = f'x="{LEFT + COLUMN * stage}" y="{TOP + ROW * row}"'
        size = f'width="{COLUMN - 2}" height="{ROW - 2}"'
        rects[row] = rects.get(row, "    ") + f'<rect {place} {size} rx="3" {kind}/>'
    lines += rects.values()
    lines.append("  </g>")
    lines += labels()
    for (row, stage), number in found:
        x = LEFT + COLUMN * stage + (COLUMN - 2) // 2
        lines.append(text(x, row, str(number), 'text-anchor="middle"'))
    return "\n".join([*lines, "</svg>", ""])


def labels() -> Iterable[str]:
    """The names of the rows and the columns."""
    for stage in STAGES:
        x = LEFT + COLUMN * stage.number + (COLUMN - 2) // 2
        yield text(x, -1, str(stage.number), 'text-anchor="middle" font-weight="700"')
    yield text(LEFT, -2, "starter", 'font-weight="700"')
    yield text(LEFT + 4 * COLUMN, -2, "large backend", 'font-weight="700"')
    yield text(1, -1, "files of stage", 'font-weight="700"')
    for row, (name, _) in enumerate(ROWS):
        indent = len(name) - len(name.lstrip())
        yield text(1 + 6 * indent, row, name.strip(), 'font-family="monospace"')


def text(x: int, row: int, content: str, style: str) -> str:
    """A text in a row."""
    return f'  <text x="{x}" y="{TOP + ROW * row + 15}" {style}>{content}</text>'
