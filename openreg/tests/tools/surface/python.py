# Reads extension points from Python sources; see docs/ship/upgrading.md.
"""Entry points, functions that register, and the methods of classes to derive from."""

import ast
import re
from collections.abc import Iterator

Found = dict[str, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef

REGISTERS = re.compile(r"_?register_\w+")


def entry_points(tree: ast.Module, file: str) -> Found:
    """Return the groups of entry points that this file reads."""
    named = dict(_constants(tree))
    found: Found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _last(node.func) == "entry_points":
            for keyword in node.keywords:
                if keyword.arg == "group":
                    group = _text(keyword.value, named)
                    found[group or ast.unparse(keyword.value)] = file
    return found


def register_functions(tree: ast.Module, file: str) -> Found:
    """Return the functions of a module that register something with it."""
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return {
        f"{module}.{node.name}": _signature(node)
        for node in tree.body
        if isinstance(node, Function) and REGISTERS.fullmatch(node.name)
    }


def public_functions(tree: ast.Module, file: str) -> Found:
    """Return what a module offers: its functions, classes and their methods."""
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    found: Found = {}
    for node in tree.body:
        if isinstance(node, Function) and not node.name.startswith("_"):
            found[f"{module}.{node.name}"] = _signature(node)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found |= {f"{module}.{key}": value for key, value in _methods(node).items()}
    return found


def methods(tree: ast.Module, classes: set[str]) -> Found:
    """Return the methods and attributes of the classes that a backend derives from."""
    found: Found = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in classes:
            found |= _methods(node)
    return found


def _methods(node: ast.ClassDef) -> Found:
    found: Found = {node.name: f"({', '.join(map(ast.unparse, node.bases))})"}
    for item in node.body:
        if isinstance(item, Function):
            found[f"{node.name}.{item.name}"] = _signature(item)
        elif isinstance(item, ast.ClassDef):
            for key, value in _methods(item).items():
                found[f"{node.name}.{key}"] = value
        elif isinstance(item, ast.AnnAssign):
            found[f"{node.name}.{ast.unparse(item.target)}"] = ""
        elif isinstance(item, ast.Assign):
            for target in item.targets:
                found[f"{node.name}.{ast.unparse(target)}"] = ""
    return found


def _signature(node: Function) -> str:
    """Return names and defaults; annotations change nothing for a caller."""
    arguments = node.args
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return f"({ast.unparse(arguments)})"


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                    yield target.id, node.value.value


def _text(node: ast.AST, named: dict[str, str]) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return named.get(node.id, "") if isinstance(node, ast.Name) else ""


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
