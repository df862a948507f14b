# Finds circular imports among the modules of a package; see CONTRIBUTING.md.
"""Reads the sources and imports nothing, so that it takes any package as it is.

Each import counts: one within a function, or for a type checker, makes two modules
depend on each other as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def modules_of(package: Path) -> dict[str, Path]:
    """The files of a package by the names of their modules; a stub is one as well."""
    found = {}
    for path in sorted([*package.rglob("*.pyi"), *package.rglob("*.py")]):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


def imports_of(package: Path) -> dict[str, set[str]]:
    """Which modules of a package each of its modules imports."""
    modules = modules_of(package)
    return {
        name: {it for it in _named(name, path, modules) if it != name}
        for name, path in modules.items()
    }


def _named(name: str, path: Path, modules: dict[str, Path]) -> Iterator[str]:
    is_package = path.name == "__init__.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            source = _source(node, name, is_package)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                if inner in modules or source in modules:
                    yield inner if inner in modules else source


def _source(node: ast.ImportFrom, name: str, is_package: bool) -> str:
    """The absolute name behind `from`."""
    if not node.level:
        return node.module or ""
    parts = name.split(".")
    kept = parts[: len(parts) - node.level + is_package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def cycle(package: Path) -> list[str]:
    """Return modules that import each other in a circle, or nothing."""
    try:
        TopologicalSorter(imports_of(package)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
