# Links names of PyTorch and CUDA to their documentation; the names: api_links.toml.
"""The first time that a page writes ``torch.accelerator.synchronize``, it is a link.

Only code between backticks counts, with or without ``()``. Titles, the text of other
links and pages of the reference stay as they are. Nothing is loaded from these
addresses: a reader follows them, or does not.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

LINKS = Path(__file__).with_name("api_links.toml")
NOT_INSIDE = (nodes.reference, addnodes.pending_xref, nodes.title)


@cache
def addresses(file: Path = LINKS) -> dict[str, str]:
    """Each name with the address of its documentation."""
    listed = tomllib.loads(file.read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for project in listed.values():
        for page, names in project.get("pages", {}).items():
            found |= dict.fromkeys(names, project["base"] + page)
    generated = listed["pytorch"]["generated"]
    base = f"{listed['pytorch']['base']}generated/"
    found |= {name: f"{base}{name}.html" for name in generated["names"]}
    for page, names in generated["short"].items():
        found |= dict.fromkeys(names, f"{base}{page}.html")
    for name in generated["memory"]:
        for prefix in ("torch.accelerator", "torch.accelerator.memory"):
            page = f"torch.accelerator.memory.{name}.html"
            found[f"{prefix}.{name}"] = base + page
    return found


def link_names(doctree: nodes.document) -> None:
    """Wrap the first use of each name in a link."""
    linked = set()
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removesuffix("()")
        address = addresses().get(name)
        if address is None or name in linked or _is_inside(literal):
            continue
        linked.add(name)
        link = nodes.reference("", "", refuri=address, internal=False)
        literal.replace_self(link)
        link += literal


def _is_inside(node: nodes.Node) -> bool:
    """Whether a node is part of a title or of a link."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, NOT_INSIDE):
            return True
        parent = parent.parent
    return False


def _link(app: Sphinx, doctree: nodes.document) -> None:
    if not app.env.docname.startswith("reference/"):
        app.env.note_dependency(str(LINKS))
        link_names(doctree)


def setup(app: Sphinx) -> dict[str, bool]:
    """Link the names of each page after it is read."""
    app.connect("doctree-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
