"""Keeps book of which pages include which marked snippet of the repository.

Explained in CONTRIBUTING.md, "Writing a chapter". Markers are read once, before the
first page; a marker that no page includes is refused after the last one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from snippet_contract.report import problem
from snippet_contract.sources import SourceIndex


def index_of(env: BuildEnvironment) -> SourceIndex:
    """The index that this build made when it started."""
    return env.contract_index  # type: ignore[attr-defined]


def used_snippets(env: BuildEnvironment) -> dict[str, set[tuple[str, str]]]:
    """For every page the (path, name) of the snippets it includes."""
    if not hasattr(env, "contract_used"):
        env.contract_used = {}  # type: ignore[attr-defined]
    return env.contract_used  # type: ignore[attr-defined]


def note_use(env: BuildEnvironment, path: str, name: str) -> None:
    used_snippets(env).setdefault(env.docname, set()).add((path, name))


def _read_markers(app: Sphinx) -> None:
    root = Path(app.config.contract_root or Path(app.srcdir).parent)
    index = SourceIndex(root, Path(app.srcdir), Path(app.outdir))
    app.env.contract_index = index  # type: ignore[attr-defined]
    for place, text in index.problems:
        problem("marker", text, place)


def _refuse_unused(app: Sphinx, env: BuildEnvironment) -> None:
    used = set().union(*used_snippets(env).values())
    for path, snippets in index_of(env).snippets.items():
        for name in sorted({name for name in snippets if (path, name) not in used}):
            problem(
                "marker",
                f"no page includes snippet {name}. Include it or remove its markers.",
                f"{path}:{snippets[name].start}",
            )


def _forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    used_snippets(env).pop(docname, None)


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: Any
) -> None:
    for docname in docnames:
        if docname in used_snippets(other):
            used_snippets(env)[docname] = used_snippets(other)[docname]


def setup(app: Sphinx) -> None:
    app.add_config_value("contract_root", None, "env", types=(str, Path, type(None)))
    app.connect("builder-inited", _read_markers)
    app.connect("env-purge-doc", _forget)
    app.connect("env-merge-info", _merge)
    app.connect("env-updated", _refuse_unused)  # also without a page to read
