# Links the first bold use of a term on each page to docs/reference/glossary.md.
"""A page writes ``**caching allocator**``; the link is made when the page is read.

The singular of the glossary serves the plural too. Only the first use on a page becomes
a link. A bold word that the glossary lacks stays as it is. A test of this file refuses
such a word, unless its list of emphasis has it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GLOSSARY = "reference/glossary"
BLOCK = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(\S.*)\n((?:  .+\n)+)", re.MULTILINE)


@cache
def entries(glossary: Path) -> dict[str, str]:
    """Each term of the glossary with its definition, in the order of the page."""
    block = BLOCK.search(glossary.read_text(encoding="utf-8"))
    return dict(ENTRY.findall(block[1])) if block else {}


def term_of(text: str, terms: dict[str, str]) -> str | None:
    """The term that a bold text names, in the singular or the plural."""
    by_name = {term.lower(): term for term in terms}
    name = " ".join(text.lower().split())
    return by_name.get(name) or by_name.get(name.removesuffix("s"))


def link_terms(doctree: nodes.document, terms: dict[str, str], page: str) -> None:
    """Wrap the first bold use of each term in a reference to the glossary."""
    linked = set()
    for strong in list(doctree.findall(nodes.strong)):
        term = term_of(strong.astext(), terms)
        inside = (nodes.reference, addnodes.pending_xref, nodes.title)
        if term is None or term in linked or isinstance(strong.parent, inside):
            continue
        linked.add(term)
        reference = addnodes.pending_xref(
            refdomain="std",
            reftype="term",
            reftarget=term,
            refexplicit=True,
            refwarn=True,
            refdoc=page,
            classes=["term"],
        )
        strong.replace_self(reference)
        reference += strong


def _link(app: Sphinx, doctree: nodes.document) -> None:
    glossary = Path(app.srcdir) / f"{GLOSSARY}.md"
    page = app.env.docname
    if page == GLOSSARY or not glossary.is_file():
        return
    app.env.note_dependency(str(glossary))
    link_terms(doctree, entries(glossary), page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Link the terms of each page after it is read."""
    app.connect("doctree-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
