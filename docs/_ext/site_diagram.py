# The `{diagram} name` directive: inlines docs/_static/diagrams/name.svg into the page.
"""Diagrams are hand-written SVG files, and an SVG file is its own source.

    ```{diagram} shared-objects
    :alt: What somebody who cannot see the drawing must know.
    ```

An inlined drawing takes the page's text color, so one file serves light and dark. The
directive refuses a drawing that a phone, a screen reader or dark mode would not show:
see ``find_faults``.
"""

from __future__ import annotations

import html
import xml.etree.ElementTree as ElementTree
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
        faults += _texts_too_long(root, float(box[2]))
    for element in root.iter():
        tag = element.tag.removeprefix(SVG)
        if tag in ("script", "image", "style", "foreignObject"):
            faults.append(f"holds <{tag}>: draw with shapes and text only")
        if not element.get("id", name).startswith(name):
            faults.append(f"has id={element.get('id')!r}: ids must start with {name!r}")
        for attribute in ("fill", "stroke"):
            color = element.get(attribute, "none")
            if color not in COLORS and not color.startswith("url(#"):
                faults.append(f"has {attribute}={color!r} in <{tag}>: use currentColor")
    return faults


def _texts_too_long(root: ElementTree.Element, width: float) -> list[str]:
    faults = []
    for text in root.iter(f"{SVG}text"):
        content = text.text or ""
        end = float(text.get("x", "0")) + len(content) * FONT_SIZE * WIDE_LETTER
        if end > width:
            faults.append(f"has a text that a wide font cuts off: {content!r}")
    return faults


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
