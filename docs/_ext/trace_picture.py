# `{trace-picture}`: runs a profiled program, draws its trace; docs/modules/profiler.md.
"""A picture of a trace that was made in the same build.

    ```{trace-picture} ../../openreg/tests/examples/profiled.py
    :alt: What somebody who cannot see the drawing must know.
    ```

The program writes the trace that torch.profiler exports to the path that it is given.
Words after the name of the program are further arguments of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from site_diagram import FONT_SIZE, WIDE_LETTER, diagram, find_faults
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

WIDTH = 390.0
LEFT, RIGHT = 6.0, 384.0
HEADING, BAR, GAP = 18.0, 22.0, 26.0
LETTER = FONT_SIZE * WIDE_LETTER
# Imports the backend, so that it need not be installed: PYTHONPATH may name it instead.
RUN = """
import runpy, sys, torch_openreg
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
WORK = {"kernel": 0.5, "gpu_memcpy": 0.2, "gpu_memset": 0.2}  # how dark the bars are


@dataclass
class Row:
    """A thread of the host or a stream of the device."""

    title: str
    bars: list[dict[str, Any]] = field(default_factory=list)

    def heading(self) -> str:
        """Name the row and what is in it, as far as there is room."""
        names = dict.fromkeys(bar["name"].partition(" (")[0] for bar in self.bars)
        text = f"{self.title}: {', '.join(names)}"
        room = int((WIDTH - LEFT) / LETTER)
        return text if len(text) <= room else text[: room - 3] + "..."


def draw(trace: dict[str, Any], name: str) -> str:
    """Return an SVG drawing of a trace: who launched what, and when it ran."""
    events = trace["traceEvents"]
    titles = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["ph"] == "M" and event["name"] == "thread_name"
    }
    bars = [event for event in events if event["ph"] == "X"]
    work = [bar for bar in bars if bar["cat"] in WORK]
    if not work:
        raise ValueError("the trace shows no work of the device")
    numbers = {bar["args"]["correlation"] for bar in work}
    calls = {
        bar["args"]["correlation"]: bar
        for bar in bars
        if bar["cat"] == "privateuse1_runtime" and bar["args"]["correlation"] in numbers
    }
    rows: dict[tuple[int, int], Row] = {}
    work.sort(key=lambda bar: (bar["pid"], bar["tid"], bar["ts"]))
    for bar in [*calls.values(), *work]:
        key = bar["pid"], bar["tid"]
        title = titles[key] if bar["cat"] in WORK else "host"
        rows.setdefault(key, Row(title)).bars.append(bar)
    return _svg(rows, calls, name)


def _svg(rows: dict[tuple[int, int], Row], calls: dict[int, Any], name: str) -> str:
    bars = [bar for row in rows.values() for bar in row.bars]
    begin = min(bar["ts"] for bar in bars)
    whole = max(bar["ts"] + bar["dur"] for bar in bars) - begin

    def place(time: float) -> float:
        return LEFT + (time - begin) / whole * (RIGHT - LEFT)

    parts: list[str] = []
    arrows: list[str] = []
    headings: list[tuple[float, float]] = []  # of the rows so far: top, right end
    top = 4.0
    for row in rows.values():
        parts.append(_text(LEFT, top + 13, row.heading()))
        headings.append((top, LEFT + (len(row.heading()) + 1) * LETTER))
        for bar in row.bars:
            left, right = place(bar["ts"]), place(bar["ts"] + bar["dur"])
            dark = WORK.get(bar["cat"], 0.8)
            parts.append(_bar(left, top + HEADING, max(right - left, 1.5), dark))
            if bar["cat"] in WORK:
                from_x = place(calls[bar["args"]["correlation"]]["ts"])
                from_y = 4.0 + HEADING + BAR
                start, end = (from_x, from_y), (left, top + HEADING)
                arrows.append(
                    f'<path d="{line(start, end, headings[1:])}" fill="none" '
                    'stroke="currentColor" stroke-opacity=".35"/>'
                )
        top += HEADING + BAR + GAP
    top -= 8
    parts.append(
        f'<path d="M{LEFT} {top:.0f}H{RIGHT}" fill="none" stroke="currentColor"/>'
    )
    parts.append(_text(LEFT, top + 16, "0"))
    length = f"{whole / 1000:.2f} ms"
    parts.append(_text(RIGHT - len(length) * LETTER, top + 16, length))
    what = f"{len(calls)} launches, and the work on {len(rows) - 1} streams"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} '
            f'{top + 24:.0f}" font-size="{FONT_SIZE:g}" fill="currentColor">',
            f"<title>A trace</title><desc>{what}</desc>",
            *arrows,
            *parts,
            "</svg>",
        ]
    )


def line(
    start: tuple[float, float],
    end: tuple[float, float],
    headings: list[tuple[float, float]],
) -> str:
    """Return the path from start down to end, interrupted where it meets a heading."""
    (x, y), (width, height) = start, (end[0] - start[0], end[1] - start[1])
    path = f"M{x:.1f} {y:.1f}"
    for top, right in headings:
        upper, lower = (top - y) / height, min((top + HEADING - y) / height, 1.0)
        if width > 0:  # it leaves the heading at its right end
            lower = min(lower, (right - x) / width)
        elif width < 0:  # it enters it there
            upper = max(upper, (right - x) / width)
        elif x > right:
            continue
        if upper < lower:
            path += f"L{x + upper * width:.1f} {y + upper * height:.1f}"
            path += f"M{x + lower * width:.1f} {y + lower * height:.1f}"
    return path + f"L{end[0]:.1f} {end[1]:.1f}"


def _bar(x: float, y: float, width: float, dark: float) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.0f}" width="{width:.1f}" height="{BAR:.0f}" '
        f'fill="currentColor" fill-opacity="{dark}" stroke="currentColor" '
        'stroke-opacity=".8" stroke-width=".7"/>'
    )


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.0f}">{escape(text)}</text>'


class TracePicture(SphinxDirective):
    """``{trace-picture} program`` with the mandatory option ``:alt:``."""

    required_arguments = 1
    optional_arguments = 3
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Run the program, draw what it recorded."""
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        alt = self.options.get("alt", "").strip()
        if not alt:
            raise self.error("trace-picture: add :alt: with what the drawing says")
        extra = self.arguments[1:]
        name = "-".join([Path(path).stem, *extra])
        svg = draw(record(Path(path), *extra), name)
        faults = find_faults(name, svg)
        if faults:
            raise self.error(f"trace-picture {name!r} " + "; ".join(faults))
        return [diagram("", name=name, alt=alt, svg=svg)]


def record(program: Path, *extra: str) -> dict[str, Any]:
    """Run a program that writes a trace to the path it is given; read the trace."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        run_program(program, str(trace), *extra)
        result: dict[str, Any] = json.loads(trace.read_text(encoding="utf-8"))
        return result


def run_program(program: Path, *arguments: str) -> str:
    """Run a program with the backend; return what it prints."""
    process = subprocess.run(
        [sys.executable, "-c", RUN, str(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if process.returncode != 0:
        raise ExtensionError(f"{program} failed:\n{process.stderr}")
    return process.stdout


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive; site_diagram has the node."""
    app.setup_extension("site_diagram")
    app.add_directive("trace-picture", TracePicture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
