# docs/_ext/site_markdown.py: each kind of block arrives as plain Markdown.
from __future__ import annotations

from pathlib import Path

import pytest
from site_build import build

BLOCKS = {
    "headings and inline marks": (
        "## Part\n\nSome *soft*, **loud** and `code`, and ``a `b` c``.",
        "## Part\n\nSome *soft*, **loud** and `code`, and ``a `b` c``.",
    ),
    "included code": (
        "```{literalinclude} part/code.py\n:language: python\n"
        ":start-after: BEGIN\n:end-before: END\n```",
        "```python\nanswer = 42\n```",
    ),
    "captioned code": (
        "```{code-block} python\n:caption: Why\nx = 1\n```",
        "**Why**\n\n```python\nx = 1\n```",
    ),
    "code with a fence in it": (
        "````text\n```\ninner\n```\n````",
        "````text\n```\ninner\n```\n````",
    ),
    "link to a page": ("See [it](part/page.md).", "See [it](part/page.md)."),
    "link to a section": (
        "See [it](part/page.md#page).",
        "See [it](part/page.md#page).",
    ),
    "link outside": ("[x](https://a.b/c.html)", "[x](https://a.b/c.html)"),
    "nested lists": ("- a\n- b\n  1. c\n  2. d", "- a\n\n- b\n\n  1. c\n  2. d"),
    "code in a list": (
        "1. a\n\n   ```python\n   x = 1\n\n   y = 2\n   ```",
        "1. a\n\n   ```python\n   x = 1\n\n   y = 2\n   ```",
    ),
    "table": (
        "| a | b |\n|---|---|\n| `x` | y \\| z |",
        "| a | b |\n| --- | --- |\n| `x` | y \\| z |",
    ),
    "note": (":::{note}\nCareful.\n:::", "> **Note**\n>\n> Careful."),
    "titled admonition": (
        ":::{admonition} Look\nHere.\n:::",
        "> **Look**\n>\n> Here.",
    ),
    "quote": ("> said", "> said"),
    "definition": ("Term\n: Meaning.", "Term\n\n: Meaning."),
    "card": (
        "::::{grid} 2\n:::{grid-item-card} Title\nText.\n:::\n::::",
        "**Title**\n\nText.",
    ),
    "tabs": (
        "::::{tab-set}\n:::{tab-item} One\nFirst.\n:::\n"
        ":::{tab-item} Two\nSecond.\n:::\n::::",
        "**One**\n\nFirst.\n\n**Two**\n\nSecond.",
    ),
    "image": ("![A dot](dot.png)", "![A dot](dot.png)"),
}
SUPPORT = {
    "part/page.md": "# Page\n",
    "part/code.py": "# BEGIN\nanswer = 42\n# END\n",
    "dot.png": "",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Build one site with a page per kind of block; return their Markdown."""
    folder: Path = tmp_path_factory.mktemp("site")
    pages = {f"p{n}.md": f"# T\n\n{source}\n" for n, (source, _) in _numbered()}
    names = "\n".join(name.removesuffix(".md") for name in pages)
    toctree = f"# Front\n\n```{{toctree}}\n{names}\npart/page\n```\n"
    built = build(folder, {"index.md": toctree, **pages, **SUPPORT})
    assert built.code == 0, built.messages
    return {name: built.text(name) for name in pages}


def _numbered() -> list[tuple[int, tuple[str, str]]]:
    return list(enumerate(BLOCKS.values()))


@pytest.mark.parametrize("kind", BLOCKS)
def test_block_as_markdown(written: dict[str, str], kind: str) -> None:
    number = list(BLOCKS).index(kind)
    assert written[f"p{number}.md"] == f"# T\n\n{BLOCKS[kind][1]}\n"
