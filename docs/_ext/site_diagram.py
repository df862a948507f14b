# The `{diagram} name` directive: inlines docs/_static/diagrams/name.svg into the page.
"""Diagrams are hand-written SVG files, and an SVG file is its own source.

    ```{diagram} shared-objects
    :alt: What somebody who cannot see the drawing must know.
    ```

An inlined drawing takes the page's text color, so one file serves light and dark. The
classes ``first``, ``second`` and ``wrong`` replace it by a color of both schemes. The
directive refuses a drawing that a phone, a screen reader or dark mode would not show:
see ``find_faults``.
"""

from __future__ import annotations

import html
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator
from sphinx.writers.text import TextTranslator

SVG = "{http://www.w3.org/2000/svg}"
COLORS = {"none", "currentColor", "inherit"}
CLASSES = {"first", "second", "wrong"}  # set currentColor, see docs/_static/site.css
WIDEST = 400  # user units: at this width a phone shows the text at its own size
FONT_SIZE = 13.0  # of the whole drawing
WIDE_LETTER = 0.6  # of the font size: the readers' fonts differ, this one is wide


class diagram(nodes.General, nodes.Element):
    """An SVG drawing with its text alternative; named as docutils names nodes."""


def find_faults(name: str, text: str) -> list[str]:
    """Say everything that keeps the drawing ``text`` out of a page."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return [f"is not well-formed XML: {error}"]
    if root.tag != f"{SVG}svg":
        return ["is not an <svg xmlns='http://www.w3.org/2000/svg'> document"]
    faults = []
    for tag in ("title", "desc"):
        element = root.find(SVG + tag)
        if element is None or not (element.text or "").strip():
            faults.append(f"has no <{tag}>, or an empty one")
    box = root.get("viewBox", "").split()
    if len(box) != 4:
        faults.append('has no viewBox="0 0 WIDTH HEIGHT"')
    elif float(box[2]) > WIDEST:
        faults.append(f"is {box[2]} wide: draw top-down, at most {WIDEST} wide")
    elif float(root.get("font-size", "0")) != FONT_SIZE:
        faults.append(f'has no font-size="{FONT_SIZE:g}" on its <svg>')
    else:
        faults += _texts_out_of_place(root, float(box[2]))
    for element in root.iter():
        tag = element.tag.removeprefix(SVG)
        if tag in ("script", "image", "style", "foreignObject"):
            faults.append(f"holds <{tag}>: draw with shapes and text only")
        if element.get("transform") is not None:
            faults.append(f"has a transform in <{tag}>: write the places themselves")
        if element.get("class") not in {None, *CLASSES}:
            known = ", ".join(sorted(CLASSES))
            faults.append(f"has class={element.get('class')!r}: choose from {known}")
        if not element.get("id", name).startswith(name):
            faults.append(f"has id={element.get('id')!r}: ids must start with {name!r}")
        for attribute in ("fill", "stroke"):
            color = element.get(attribute, "none")
            if color not in COLORS and not color.startswith("url(#"):
                faults.append(f"has {attribute}={color!r} in <{tag}>: use currentColor")
    return faults


def _texts_out_of_place(root: ElementTree.Element, width: float) -> list[str]:
    """Find texts that leave the drawing or their box, or lie on another text."""
    faults = []
    frames = [Area.of_frame(rect) for rect in root.iter(f"{SVG}rect")]
    earlier: list[tuple[Area, str]] = []
    for text in root.iter(f"{SVG}text"):
        content, area = "".join(text.itertext()), Area.of_text(text)
        around = [frame for frame in frames if frame.holds_start_of(area)]
        if area.left < 0 or area.right > width:
            faults.append(f"has a text that a wide font cuts off: {content!r}")
        elif around and area.right > min(around, key=Area.size).right:
            faults.append(f"has a text that leaves its box: {content!r}")
        for other, what in earlier:
            if area.meets(other):
                faults.append(f"has two texts in one place: {what!r}, {content!r}")
        earlier.append((area, content))
    return faults


@dataclass(frozen=True)
class Area:
    """The place of a box, or of a text in a wide font."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of_frame(cls, rect: ElementTree.Element) -> Area:
        """Return the place of a <rect>."""
        x, y, width, height = (
            float(rect.get(key, "0")) for key in ("x", "y", "width", "height")
        )
        return cls(x, y, x + width, y + height)

    @classmethod
    def of_text(cls, text: ElementTree.Element) -> Area:
        """Return the place of a <text>, whose font is FONT_SIZE high."""
        x, y = float(text.get("x", "0")), float(text.get("y", "0"))
        length = len("".join(text.itertext())) * FONT_SIZE * WIDE_LETTER
        before = {"middle": length / 2, "end": length}.get(
            text.get("text-anchor", "start"), 0.0
        )
        return cls(x - before, y - 10, x - before + length, y + 3)

    def size(self) -> float:
        """Return the size: of two boxes around a text, the smaller one is its own."""
        return (self.right - self.left) * (self.bottom - self.top)

    def holds_start_of(self, text: Area) -> bool:
        """Tell whether the text begins in this box."""
        across = self.left <= text.left < self.right
        return across and self.top <= text.top and text.bottom <= self.bottom

    def meets(self, other: Area) -> bool:
        """Tell whether the two places have a common part."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Diagram(SphinxDirective):
    """``{diagram} name`` with the mandatory option ``:alt:``."""

    required_arguments = 1
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Check the file and keep its text for the writer."""
        name = self.arguments[0]
        alt = self.options.get("alt", "").strip()
        if not alt:
            raise self.error(f"diagram {name!r}: add :alt: with what the drawing says")
        path = Path(self.env.app.confdir, "_static", "diagrams", f"{name}.svg")
        if not path.is_file():
            raise self.error(f"diagram {name!r}: {path} does not exist")
        self.env.note_dependency(str(path))
        text = path.read_text(encoding="utf-8")
        faults = find_faults(name, text)
        if faults:
            raise self.error(f"diagram {name!r} " + "; ".join(faults))
        return [diagram("", name=name, alt=alt, svg=text[text.index("<svg") :])]


def visit_html(translator: HTML5Translator, node: diagram) -> None:
    """Write the drawing itself, named by its alternative text."""
    alt = html.escape(node["alt"], quote=True)
    svg = node["svg"].replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)
    translator.body.append(f'<figure class="diagram">{svg}</figure>\n')
    raise nodes.SkipNode


def visit_text(translator: TextTranslator, node: diagram) -> None:
    """Write the alternative text where a drawing cannot be shown."""
    translator.add_text(f"[Diagram: {node['alt']}]")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the node and its directive."""
    app.add_node(diagram, html=(visit_html, None), text=(visit_text, None))
    app.add_directive("diagram", Diagram)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
