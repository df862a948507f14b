# Writes the index that docs/_static/search/search.js searches, and the page of results.
"""The search of the site; Sphinx's own finds only pages with all words of a query.

A record of the index is a page, a section, a row of the error index, a term of the
glossary or a name of an API. ``_static/search/index.js`` holds all records as a script,
because a page that is read from ``file://`` cannot fetch data. The words of a text are
numbers that point into one list of words. MiniSearch, a library beside the script,
makes its tables of them in the browser. ``docs/search.toml`` has the synonyms.

The rows of the error index carry the patterns of ``--explain``, so that a message finds
the same row in both.
"""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from docutils import nodes
from site_llms import page_order
from site_markdown import inline
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

WORD = re.compile(r"[A-Za-z_][\w.:-]*\w")
LONGEST_WORD = 40  # longer ones are paths and hashes
EXCERPT = 120  # letters of a text that a result shows
KINDS = ["page", "section", "error", "term", "symbol"]
GLOSSARY, ERRORS = "reference/glossary", "reference/error-index"
DIAGNOSE = Path(__file__).resolve().parents[2] / "openreg/torch_openreg_diagnose"
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
BODY = """\
<div class="bd-search-container">
<h1>Search</h1>
<form class="bd-search d-flex align-items-center site-search" action="" method="get">
<i class="fa-solid fa-magnifying-glass"></i>
<input type="search" class="form-control" name="q" aria-label="{label}"
 placeholder="{label}" autocomplete="off" autocorrect="off" autocapitalize="off"
 spellcheck="false">
</form>
<noscript><p>The search needs JavaScript.</p></noscript>
<div id="search-results"></div>
</div>
"""


@dataclass
class Record:
    """What a result leads to; ``name`` is a message, a term or a symbol."""

    kind: str
    page: str
    anchor: str
    heading: str = ""
    name: str = ""
    excerpt: str = ""
    words: list[str] = field(default_factory=list)
    patterns: list[tuple[str, int]] = field(default_factory=list)
    piece: str | None = None  # that an experiment took away


def words_of(text: str) -> list[str]:
    """Each word of a text once, without the punctuation around it."""
    found = (word.strip(".:-") for word in WORD.findall(text))
    plain = (word.lower() if word.istitle() else word for word in found)
    return list(dict.fromkeys(word for word in plain if 1 < len(word) <= LONGEST_WORD))


def shorten(text: str) -> str:
    """The beginning of a text on one line, cut between two words."""
    text = " ".join(text.split())
    if len(text) <= EXCERPT:
        return text
    return text[:EXCERPT].rpartition(" ")[0] + " ..."


# -- The records -----------------------------------------------------------------------


def records_of_page(page: str, doctree: nodes.document) -> Iterator[Record]:
    """A record for each section, with the text that is in no section below it."""
    for number, section in enumerate(doctree.findall(nodes.section)):
        own = [child for child in section if not isinstance(child, nodes.section)]
        title = next(child for child in own if isinstance(child, nodes.title))
        texts = [child for child in own[1:] if not is_listed_elsewhere(child, page)]
        paragraphs = (child for child in texts if isinstance(child, nodes.paragraph))
        yield Record(
            "section" if number else "page",
            page,
            section["ids"][0] if number else "",
            heading=inline(title).replace("`", ""),
            excerpt=shorten(next((p.astext() for p in paragraphs), "")),
            words=words_of("\n".join(child.astext() for child in texts)),
        )
    for description in doctree.findall(addnodes.desc):
        signature = next(description.findall(addnodes.desc_signature))
        content = next(description.findall(addnodes.desc_content))
        if signature["ids"]:
            name = signature.get("fullname") or signature["ids"][0]
            text = content.astext()
            yield Record(
                *("symbol", page, signature["ids"][0]),
                name=re.sub(r"^c\.", "", signature["ids"][0] if "." in name else name),
                heading=" ".join(signature.astext().split()),
                excerpt=shorten(text),
                words=words_of(text),
            )
    for item in doctree.findall(nodes.definition_list_item):
        term = next(item.findall(nodes.term), None)
        if page == GLOSSARY and term is not None and term["ids"]:
            text = next(item.findall(nodes.definition)).astext()
            yield Record(
                *("term", page, term["ids"][0]),
                name=term.astext(),
                excerpt=shorten(text),
                words=words_of(text),
            )


def is_listed_elsewhere(node: nodes.Node, page: str) -> bool:
    """Whether other records have this: rows of errors, terms, names of an API."""
    if page == ERRORS and isinstance(node, nodes.Element):
        return any(node.findall(nodes.table))
    left_out = (nodes.comment, nodes.raw, addnodes.glossary, addnodes.desc)
    return isinstance(node, left_out) or type(node).__name__ == "whole_file"


def records_of_errors(folder: Path = DIAGNOSE) -> Iterator[Record]:
    """A record for each row of the error index, which leads to the row's page."""
    spec = importlib.util.spec_from_file_location("explain", folder / "_explain.py")
    assert spec is not None and spec.loader is not None
    explain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(explain)
    for row in explain.rows():
        file, _, anchor = row["page"].partition("#")
        why = LINK.sub(r"\1", row["why"]).replace("`", "")
        yield Record(
            *("error", file.removesuffix(".md"), anchor),
            name=row["seen"].replace("`", ""),
            excerpt=why if len(why) < 2 * EXCERPT else shorten(why),
            words=words_of(why),
            patterns=explain.patterns(row),
            piece=explain.piece_of(row),
        )


# -- The index -------------------------------------------------------------------------


def pack(
    records: list[Record],
    pages: list[tuple[str, str, str, str]],
    settings: dict[str, Any],
) -> str:
    """The script with all records; a text is the differences of its words' numbers."""
    stop = set(settings.get("stop", "").split())
    texts = [[word for word in record.words if word not in stop] for record in records]
    numbers = {page: number for number, (page, *_) in enumerate(pages)}
    vocabulary = sorted({word for text in texts for word in text})
    place = {word: number for number, word in enumerate(vocabulary)}
    packed = [
        [
            *(KINDS.index(record.kind), numbers[record.page], record.anchor),
            record.heading,
            *(record.name, record.excerpt, differences(text, place)),
            *([record.patterns] if record.patterns else []),
            *([record.piece] if record.patterns and record.piece is not None else []),
        ]
        for record, text in zip(records, texts, strict=True)
    ]
    index = {
        "pages": pages,
        "records": packed,
        "words": " ".join(vocabulary),
        "synonyms": settings.get("synonyms", []),
        "stop": sorted(stop),
        "common": settings.get("common", "").split(),
        "kinds": KINDS,
        "after": settings.get("after", []),
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    return f"window.siteSearchIndex = {text};\n"


def differences(words: list[str], place: dict[str, int]) -> str:
    """The places of the words in ascending order, each as its distance in base 36."""
    places = sorted(place[word] for word in words)
    return " ".join(base36(b - a) for a, b in pairwise([0, *places]))


def base36(number: int) -> str:
    """A number as JavaScript's ``parseInt(text, 36)`` reads it."""
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        if not number:
            return digits


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    records: list[Record] = []
    pages = []
    for name, part in page_order(app):
        doctree = app.env.get_doctree(name)
        records += records_of_page(name, doctree)
        address = app.builder.get_target_uri(name)
        title = inline(next(doctree.findall(nodes.title))).replace("`", "")
        pages.append((name, address, title, part))
    known = {name for name, *_ in pages}
    if ERRORS in known:
        records += [found for found in records_of_errors() if found.page in known]
    file = Path(app.srcdir, "search.toml")
    settings = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    out = Path(app.outdir, "_static/search/index.js")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(pack(records, pages, settings), encoding="utf-8")


def _replace_search(app: Sphinx) -> None:
    if isinstance(app.builder, StandaloneHTMLBuilder):
        app.builder.search = False  # neither searchindex.js nor its page


def _page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    if isinstance(app.builder, StandaloneHTMLBuilder):
        label = app.config.html_theme_options.get("search_bar_text", "Search")
        body = BODY.format(label=escape(str(label)))
        yield "search", {"title": "Search", "body": body}, "page.html"


def setup(app: Sphinx) -> dict[str, bool]:
    """Replace Sphinx's search, and write the index when the build is done."""
    app.connect("builder-inited", _replace_search)
    app.connect("html-collect-pages", _page)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
