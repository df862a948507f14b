# Links the first use of a term on each page to docs/reference/glossary.md.
"""A page writes ``**caching allocator**``; the link is made when the page is read.

The singular of the glossary serves the plural too. Only the first bold use on a page
becomes a link. A bold word that the glossary lacks stays as it is. A test of this file
refuses such a word, unless its list of emphasis has it.

A term that a page never writes in bold is a link where the text first uses it, in the
color of the text. Headings, code, links, the front page and the reference stay as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GLOSSARY = "reference/glossary"
BLOCK = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(\S.*)\n((?:  .+\n)+)", re.MULTILINE)
NOT_BOLD = (nodes.reference, addnodes.pending_xref, nodes.title)
NOT_PLAIN: tuple[type[nodes.Node], ...] = (
    *(*NOT_BOLD, nodes.rubric, nodes.thead, nodes.caption, nodes.math, nodes.literal),
    *(nodes.FixedTextElement, nodes.raw, addnodes.toctree),
)
# Terms that are also everyday words: a plain use may mean something else.
EVERYDAY = {
    *("block", "capture", "cell", "correlation", "event", "fault", "fingerprint"),
    *("generator", "graph", "hooks", "pool", "race", "stage", "store", "sweep"),
    "trace",
}


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
        if term is None or term in linked or isinstance(strong.parent, NOT_BOLD):
            continue
        linked.add(term)
        reference = _reference(term, page)
        strong.replace_self(reference)
        reference += strong
    if page != "index" and not page.startswith("reference/"):
        _link_plain(doctree, terms, linked | EVERYDAY, page)


def _link_plain(
    doctree: nodes.document, terms: Iterable[str], linked: set[str], page: str
) -> None:
    """Wrap the first use of each other term that is neither bold nor code."""
    pattern = _pattern(frozenset(terms))
    for text in _joined_texts(doctree):
        if _is_inside(text, NOT_PLAIN):
            continue
        pieces: list[nodes.Node] = []
        end = 0
        for use in pattern.finditer(text):
            term = _spelled(use[1], terms)
            if term in linked:
                continue
            linked.add(term)
            reference = _reference(term, page)
            reference += nodes.inline("", use[0], classes=["plain-term"])
            pieces += [nodes.Text(text[end : use.start()]), reference]
            end = use.end()
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text[end:])])


def _joined_texts(doctree: nodes.document) -> list[nodes.Text]:
    """All texts, after those of neighboring lines became one."""
    for element in list(doctree.findall(nodes.TextElement)):
        for at in range(len(element) - 1, 0, -1):
            one, two = element[at - 1], element[at]
            if isinstance(one, nodes.Text) and isinstance(two, nodes.Text):
                element[at - 1 : at + 1] = [nodes.Text(one + two)]
    return list(doctree.findall(nodes.Text))


@cache
def _pattern(terms: frozenset[str]) -> re.Pattern[str]:
    """What matches a term in the singular or plural, also at the start of a sentence.

    Of two terms that begin at one place, it matches the longer one.
    """
    names = []
    for term in sorted(terms, key=lambda term: (-len(term), term)):
        first = f"[{term[0]}{term[0].upper()}]"
        names.append(first + r"\s+".join(map(re.escape, term[1:].split(" "))))
    return re.compile(rf"(?<![\w./-])({'|'.join(names)})(?:s|es)?(?![\w/-]|\.\w)")


def _spelled(use: str, terms: Iterable[str]) -> str:
    """The term of a use that may begin a sentence or contain a line break."""
    words = " ".join(use.split())
    return words if words in terms else words[0].lower() + words[1:]


def _is_inside(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    """Whether a node is part of one of these."""
    parent = node.parent
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent
    return parent is not None


def _reference(term: str, page: str) -> addnodes.pending_xref:
    """A reference to an entry, still without a text."""
    return addnodes.pending_xref(
        refdomain="std",
        reftype="term",
        reftarget=term,
        refexplicit=True,
        refwarn=True,
        refdoc=page,
        classes=["term"],
    )


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
