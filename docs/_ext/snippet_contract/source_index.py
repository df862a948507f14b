"""Knows every marked snippet of the repository and which of them the pages include.

Explained in CONTRIBUTING.md, "Writing a chapter". Markers are read once, before the
first page; a marker that no page includes is refused after the last one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from snippet_contract.markers import (
    Snippet,
    find_snippets,
    read_source,
    source_files,
)
from snippet_contract.report import problem


class SourceIndex:
    """Source files of the repository, outside of `docs` but for its browser tests."""

    def __init__(self, root: Path, docs: Path) -> None:
        self.root = root.resolve()
        self.docs = docs.resolve()
        self.snippets: dict[str, dict[str, Snippet]] = {}
        self.problems: list[tuple[str, str]] = []
        places: dict[str, str] = {}
        for path in source_files(self.root):
            if not self.may_be_shown(path):
                continue
            text = read_source(path)
            if text is None:
                continue
            name = path.relative_to(self.root).as_posix()
            found, faults = find_snippets(text)
            self.snippets[name] = found
            self.problems += [(f"{name}:{line}", text) for line, text in faults]
            for snippet in found.values():
                place = f"{name}:{snippet.start}"
                first = places.setdefault(snippet.name, place)
                if first != place:
                    text = (
                        f"snippet name {snippet.name} is already used at {first}."
                        " A name is used once in the repository."
                    )
                    self.problems.append((place, text))

    def may_be_shown(self, path: Path) -> bool:
        if not path.is_relative_to(self.docs):
            return True
        return path.relative_to(self.docs).parts[0] == "_tests"


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
    index = SourceIndex(root, Path(app.srcdir))
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
    app.connect("env-check-consistency", _refuse_unused)
