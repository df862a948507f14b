# Writes every page as Markdown next to its HTML, and llms.txt and llms-full.txt.
"""The guide for readers that are programs.

``start/quickstart.html`` gets ``start/quickstart.md`` with all snippets resolved;
``llms.txt`` lists the pages by part in the order of the guide, with the first sentence
of each; ``llms-full.txt`` holds them all. docs/_ext/site_markdown.py writes the text.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from site_markdown import inline, markdown
from sphinx import addnodes
from sphinx.application import Sphinx

FIRST_SENTENCE = re.compile(r"^.*?[.:!?](?=\s|$)", re.DOTALL)

LINKED_ONLY = "Tables"  # the part of pages that only other pages link


@dataclass(frozen=True)
class Page:
    """One page as Markdown."""

    name: str
    part: str
    title: str
    text: str

    @property
    def summary(self) -> str:
        """Return the first sentence below the title, on one line."""
        for block in self.text.split("\n\n"):
            if block[:1].isalnum():
                sentence = FIRST_SENTENCE.match(block)
                return " ".join((sentence.group() if sentence else block).split())
        return ""


def index_text(pages: list[Page], title: str, summary: str, base_url: str) -> str:
    """Return llms.txt: a heading per part, a line per page."""
    lines = [f"# {title}", "", f"> {summary}"]
    part = None
    for page in pages:
        if page.part != part:
            part = page.part
            lines += ["", f"## {part}", ""]
        line = f"- [{page.title}]({base_url}{page.name}.md)"
        lines.append(f"{line}: {page.summary}" if page.summary else line)
    return "\n".join(lines) + "\n"


def full_text(pages: list[Page]) -> str:
    """Return llms-full.txt: the pages one after another, each with its address."""
    return "\n".join(f"<!-- {page.name}.md -->\n\n{page.text}\n" for page in pages)


def page_order(app: Sphinx) -> list[tuple[str, str]]:
    """List (page, part) as the toctrees of the front page name them."""
    root = app.config.root_doc
    order = {root: "Start"}
    for toctree in app.env.get_doctree(root).findall(addnodes.toctree):
        for name in toctree["includefiles"]:
            order.setdefault(name, toctree.get("caption") or "Pages")
    for name in sorted(app.env.found_docs):
        order.setdefault(name, LINKED_ONLY)
    return list(order.items())


def _read_page(app: Sphinx, name: str, part: str) -> Page:
    doctree = app.env.get_and_resolve_doctree(name, app.builder)
    title = inline(next(doctree.findall(nodes.title)))
    return Page(name, part, title, markdown(doctree))


def _link(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Tell the templates of a chapter where its Markdown is."""
    if doctree is not None:
        context["site_markdown"] = posixpath.basename(pagename) + ".md"


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    pages = [_read_page(app, name, part) for name, part in page_order(app)]
    out = Path(app.outdir)
    for page in pages:
        (out / f"{page.name}.md").write_text(page.text + "\n", encoding="utf-8")
    config = app.config
    index = index_text(
        pages, config.project, config.site_llms_summary, config.html_baseurl
    )
    (out / "llms.txt").write_text(index, encoding="utf-8")
    (out / "llms-full.txt").write_text(full_text(pages), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the files when the build is done."""
    app.add_config_value("site_llms_summary", "", "html", types=[str])
    app.connect("html-page-context", _link)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
