"""The snippet contract: a Sphinx extension that refuses any code a page only claims.

Explained in CONTRIBUTING.md, "Writing a chapter". Put `docs/_ext` on `sys.path` and
list `snippet_contract` after `myst_parser` in `extensions`. Every violation is a
warning of type `contract`, so that `sphinx-build -W` fails.

`setup` imports Sphinx late: the page runner uses `blocks`, `examples`, `transcripts`
and `markers` in environments where Sphinx is not installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    from snippet_contract import (
        doctree_rules,
        header,
        illustrative,
        literalinclude,
        other_hosts,
        page_rules,
        refused,
        report,
        run_blocks,
        snippet_use,
        source_pages,
        torch_quote,
        transcript_lexer,
    )

    for part in (
        report,
        snippet_use,
        header,
        literalinclude,
        run_blocks,
        transcript_lexer,
        illustrative,
        torch_quote,
        refused,
        page_rules,
        doctree_rules,
        other_hosts,
        source_pages,
    ):
        part.setup(app)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
