# Which files of openreg/tests a test needs; see docs/reference/copy-lists.md.
"""What a test imports, compiles and runs, with the conftest.py beside it.

A test names such files in four ways: it imports a module, calls `compile_cpp` with a
name, builds a path of strings (``"examples/profiled.py"``), or has a program in a
string that imports a module. Some read their chapter, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ladder_stages import OPENREG, TESTS

REPOSITORY = OPENREG.parent
SUPPORT, TOOLS, CPP, EXAMPLES = (
    TESTS / name for name in ("support", "tools", "cpp", "examples")
)
MODULES = [SUPPORT, TOOLS, EXAMPLES]
MODULES += sorted(path for path in EXAMPLES.iterdir() if path.is_dir())
OF_ALL_SORTS = {OPENREG, TESTS, SUPPORT, TOOLS, CPP, EXAMPLES}
IMPORT = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
CONFTEST = "conftest.py"


def needed_with(test: Path) -> list[Path]:
    """The files to take with a test, but for those that every test needs."""
    return sorted(closure(test, test.with_name(CONFTEST)) - common() - {test})


def listed_with(test: Path) -> list[str]:
    """The same as names below openreg/tests; a folder of which all is needed is one."""
    needed = needed_with(test)
    names = {}
    for path in needed:
        inside = [folder for folder in path.parents if REPOSITORY in folder.parents]
        whole = [f for f in inside if (files := {*_below(f)}) and files <= {*needed}]
        names[f"{_name(whole[-1])}/" if whole else _name(path)] = None
    return list(names)


def _name(path: Path) -> str:
    inside = TESTS in path.parents
    return path.relative_to(TESTS if inside else REPOSITORY).as_posix()


@cache
def common() -> frozenset[Path]:
    """The files that every test needs, without what some fixtures build."""
    names = closure(TESTS / CONFTEST)
    return frozenset(
        path
        for path in names
        if path.suffix == ".py" and path.parent in {TESTS, SUPPORT}
    )


def closure(*roots: Path) -> set[Path]:
    """The files, and all that they name."""
    found: set[Path] = set()
    left = [path for path in roots if path.is_file()]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += named_in(path)
    return found


@cache
def named_in(path: Path) -> tuple[Path, ...]:
    """The files that a file names."""
    if path.suffix != ".py":
        return ()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return tuple(file for node in ast.walk(tree) for file in _named_by(node))


def _named_by(node: ast.AST) -> Iterator[Path]:
    match node:
        case ast.Import():
            for alias in node.names:
                yield from _module(alias.name)
        case ast.ImportFrom(level=0, module=str(module)):
            yield from _module(module)
        case ast.Call(func=ast.Name("compile_cpp"), args=[ast.Constant(str(name)), *_]):
            yield CPP / f"{name}.cpp"
        case ast.BinOp(op=ast.Div()):
            yield from _below(TESTS / "/".join(_strings(node)))
        case ast.Constant(value=str(text)) if text.endswith(".md"):
            chapter = REPOSITORY / "docs" / text.removeprefix("docs/")
            yield from [chapter] if chapter.is_file() else []
        case ast.Constant(value=str(text)):
            for module in IMPORT.findall(text):
                yield from _module(module)


def _module(name: str) -> Iterator[Path]:
    first = name.partition(".")[0]
    for folder in MODULES:
        yield from _below(folder / f"{first}.py")
        yield from _below(folder / first)
    if first == "cloning":
        yield from _below(OPENREG / first)


def _strings(node: ast.expr) -> list[str]:
    """The strings at the end of ``folder / "examples" / "profiled.py"``."""
    match node:
        case ast.BinOp(op=ast.Div(), right=ast.Constant(value=str(text))):
            return [*_strings(node.left), text]
    return []


def _below(path: Path) -> Iterator[Path]:
    """A file, or those of a folder that belongs together: it has no tests."""
    if path.is_file():
        yield path
    elif path not in OF_ALL_SORTS and not any(path.glob("test_*.py")):
        yield from (p for p in path.rglob("*") if p.is_file() and p.suffix != ".pyc")
