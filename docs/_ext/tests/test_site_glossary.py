# docs/_ext/site_glossary.py: bold terms link to the glossary, which is sound.
from __future__ import annotations

import re
from pathlib import Path

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from myst_parser.docutils_ import Parser
from site_build import Built, build
from site_glossary import EVERYDAY, GLOSSARY, entries, link_terms, term_of
from sphinx import addnodes

DOCS = Path(__file__).resolve().parents[2]
TERMS = entries(DOCS / f"{GLOSSARY}.md")
PAGES = {
    page.relative_to(DOCS).with_suffix("").as_posix(): page.read_text()
    for page in [DOCS / "index.md", *sorted(DOCS.glob("[a-z]*/*.md"))]
}
GENERATED = ("reference/error-index", "reference/torchao-table")
BOLD = re.compile(r"\*\*([a-z][A-Za-z]*(?:[ -][A-Za-z]+)*)\*\*")
LINK = re.compile(r"\]\(([^)#]+)\)")
# Bold words that stress a sentence or name a row, and need no definition.
EMPHASIS = {
    *("a rank is late or dead", "code", "error", "fragments", "invalidates", "loaded"),
    *("compiled", "loss parallelism", "mode", "offset"),
    *("openreg", "pinned memory is freed in destructors", "quantizer", "required"),
    *("safetensors", "scale", "shard", "signal", "silently", "state", "thread"),
    *("state-dict API", "ticket", "tiles", "torchao", "twin", "ways", "wrapper"),
    *("wrong values", "zero tensor", "cause", "slow kernel", "twins", "build"),
    *("sources", "finds", "one line", "plug-in", "program", "refused"),
    *("stays on the CPU", "works unchanged", "capability"),
    *("ledger", "materializer", "soak"),  # words of one page
}
REQUIRED = """
dispatcher, dispatch key, kernel, kernel launch, asynchronous, stream, event,
synchronize, caching allocator, fragmentation, coalescing, pinned memory,
reference count, lifetime, ownership, use-after-free, race, deadlock, GIL, thread-safe,
noexcept, undefined behavior, segfault, workaround, out-of-tree, backend,
device module, entry point, circular import, ABI, symbol visibility, process group,
collective, rank, bucket, transport, sharding
"""


def used(term: str, text: str) -> bool:
    """Whether a page has the term, in the singular or the plural, over line breaks."""
    words = r"\s+".join(map(re.escape, term.split()))
    return bool(re.search(rf"(?<![\w-]){words}(?:s|es)?(?!\w)", text, re.IGNORECASE))


def test_the_terms_of_the_field_are_defined() -> None:
    assert set(re.split(r",\s+", REQUIRED.strip())) <= set(TERMS)


def test_the_terms_are_in_alphabetical_order() -> None:
    assert list(TERMS) == sorted(TERMS, key=str.lower)


def test_each_line_of_the_glossary_belongs_to_a_term() -> None:
    block = (DOCS / f"{GLOSSARY}.md").read_text().partition("```{glossary}\n")[2]
    heads = re.findall(r"^(\S.*)$", block.removesuffix("```\n"), re.MULTILINE)
    assert heads == list(TERMS)


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_defined_shortly_and_used(term: str) -> None:
    definition, see, links = " ".join(TERMS[term].split()).partition(" See [")
    if not see:
        definition, see, links = definition.partition("See [")
    assert see, "end with: See [page](page.md)."
    assert 1 <= len(re.findall(r"[.;](?= |$)", definition)) <= 3
    found = LINK.findall(see + links)
    targets = [(DOCS / "reference" / link).resolve() for link in found]
    assert targets and all(target.is_file() for target in targets)
    explaining = [target.read_text() for target in targets]
    assert any(used(term, text) for text in explaining), "its page does not use it"


@pytest.mark.parametrize("page", sorted(set(PAGES) - {GLOSSARY, *GENERATED}))
def test_a_bold_term_has_an_entry(page: str) -> None:
    bold = {" ".join(text.split()) for text in BOLD.findall(PAGES[page])}
    unknown = {text for text in bold - EMPHASIS if term_of(text, TERMS) is None}
    assert not unknown, f"define {unknown} in {GLOSSARY}.md, or list it as emphasis"


def test_no_emphasis_is_listed_in_vain() -> None:
    there = {" ".join(t.split()) for p in PAGES.values() for t in BOLD.findall(p)}
    assert there >= EMPHASIS
    assert not {text for text in EMPHASIS if term_of(text, TERMS)}


ENTRIES = "```{glossary}\nrace\n  Who is first. See [page](../page.md).\n```\n"
SETTINGS = 'extensions.append("site_glossary")\n'


def build_page(folder: Path, text: str, glossary: str) -> Built:
    """Build a page beside a glossary."""
    front = f"# Front\n\n```{{toctree}}\npage\n{GLOSSARY}\n```\n"
    pages = {"page.md": f"# Page\n\n{text}\n", f"{GLOSSARY}.md": f"# G\n\n{glossary}"}
    return build(folder, {"index.md": front, **pages}, settings=SETTINGS)


def test_the_first_bold_use_is_a_link(tmp_path: Path) -> None:
    text = "No race. Two **races**, a **race**, a **lock**."
    built = build_page(tmp_path, text, ENTRIES)
    assert built.code == 0, built.messages
    page = built.text("page.html")
    assert page.count("glossary.html#term-race") == 1
    (link,) = re.findall(r"<a [^>]*#term-race[^>]*>.*?</a>", page)
    assert "<strong>races</strong>" in link
    assert "[**races**]" in built.text("page.md")


WORDS = "fake tensor", "GIL", "kernel", "kernel launch", "store", "symmetric memory"
PLAIN = """# The kernel, symmetric memory

## A fake tensor

[The GIL](#a-fake-tensor), `kernel` and `a kernel launch`, a subkernel, a
kernel-like GILs.md.

```text
A kernel launch.
```

| kernel |
|---|
| Kernel launches store a kernel
  |

Two kernels, a **fake tensor**, a fake tensor, a kernel
launch, and the gil; the GIL. Symmetric
memory, and symmetric memory.
"""


def test_the_first_plain_use_is_a_link() -> None:
    parser = {"parser": Parser(), "settings_overrides": {"report_level": 5}}
    doctree = publish_doctree(PLAIN, **parser)
    link_terms(doctree, dict.fromkeys(WORDS, ""), "page")
    found = list(doctree.findall(addnodes.pending_xref))
    links = [(link["reftarget"], link.astext()) for link in found]
    assert links == [
        ("kernel launch", "Kernel launches"),
        ("kernel", "kernel"),
        ("fake tensor", "fake tensor"),
        ("GIL", "GIL"),
        ("symmetric memory", "Symmetric\nmemory"),
    ]
    bold = [isinstance(link[0], nodes.strong) for link in found]
    assert bold == [False, False, True, False, False]


@pytest.mark.parametrize("page", ["index", "reference/errors"])
def test_these_pages_link_bold_terms_only(page: str) -> None:
    doctree = publish_doctree("A kernel, a **GIL**.", parser=Parser())
    link_terms(doctree, {"kernel": "", "GIL": ""}, page)
    (link,) = doctree.findall(addnodes.pending_xref)
    assert link["reftarget"] == "GIL"


def test_a_plain_link_leads_to_the_glossary(tmp_path: Path) -> None:
    glossary = f"A kernel.\n\n{ENTRIES.replace('race', 'kernel')}"
    built = build_page(tmp_path, "A kernel, a kernel.", glossary)
    assert built.code == 0, built.messages
    links = re.findall(r"<a [^>]*#term-kernel[^>]*>(.*?)</a>", built.text("page.html"))
    assert links == ['<span class="plain-term">kernel</span>']
    assert "plain-term" not in built.text(f"{GLOSSARY}.html")


def test_each_everyday_term_is_a_term() -> None:
    assert set(TERMS) > EVERYDAY


def test_a_term_that_the_glossary_lost_stops_the_build(tmp_path: Path) -> None:
    """The extension takes the term from the text; Sphinx must have it as well."""
    built = build_page(tmp_path, "A **race**.", f"````none\n{ENTRIES}````\n")
    assert built.code != 0
    assert "term not in glossary" in built.messages
