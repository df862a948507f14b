# What torch looks up on a device module; see docs/reference/device-module-table.md.
"""Finds the attributes of ``torch.<name>`` that the installed torch asks for.

Torch gets hold of a device module by ``getattr(torch, device_type)``, or by a function
that returns such a module. This tool reads torch's Python sources, follows what these
expressions are assigned to, and collects the attributes that are read from it. It runs
nothing, and may take a module of another device for ours: it errs to that side.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TORCH_FOLDERS_LEFT_OUT = ("include", "lib", "bin", "share", "test")
# A file without one of these words cannot get at a device module.
WORTH_READING = re.compile(
    r"getattr\(\s*torch,|_device_module|device_mod\b|device_handle|_get_device_attr"
    r"|_get_custom_mod_func|_FSDPDeviceHandle"
)
# The second argument of getattr(torch, ...), where it is the type of a device.
A_DEVICE = re.compile(r"device|backend_name|backend_module|private_backend")
BY_NAME = {"_get_custom_mod_func"}  # takes the attribute's name
BY_FUNCTION = {"_get_device_attr"}  # takes a function of the module
HANDLE_CLASS = "_FSDPDeviceHandle"  # forwards every attribute to the module
SUBMODULES = {"_utils"}  # whose attributes torch reads as well

Found = dict[str, set[str]]


class Lookups:
    """What one reading of torch's sources found.

    Attributes:
        found: for each attribute, the places ``file: function`` that look it up.
        other: the second arguments of ``getattr(torch, ...)`` that were not taken for
            the type of a device, with the files.
        dynamic: places that read an attribute whose name is not written there.
    """

    def __init__(self, torch_folder: Path) -> None:
        self.found: Found = defaultdict(set)
        self.other: Found = defaultdict(set)
        self.dynamic: set[str] = set()
        self._functions = {"get_device_module"}  # that return a device module
        self._attributes: set[str] = set()  # that hold one
        trees = dict(_trees(torch_folder))
        before = (0, 0)
        while before != (len(self._functions), len(self._attributes)):
            before = (len(self._functions), len(self._attributes))
            for name, tree in trees.items():
                _Reader(self, name, collect=False).visit(tree)
        for name, tree in trees.items():
            _Reader(self, name, collect=True).visit(tree)


def _trees(folder: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0] in TORCH_FOLDERS_LEFT_OUT:
            continue
        text = path.read_text(encoding="utf-8")
        if WORTH_READING.search(text):
            yield name, ast.parse(text)


class _Reader(ast.NodeVisitor):
    """Walks through one file; ``collect`` says whether to note what it finds."""

    def __init__(self, lookups: Lookups, file: str, collect: bool) -> None:
        self.to, self.file, self.collect = lookups, file, collect
        self.functions: list[str] = []
        self.locals: list[set[str]] = [set()]
        self.strings: list[dict[str, str]] = [{}]

    # -- what is a device module --

    def is_module(self, node: ast.AST | None) -> bool:
        if isinstance(node, ast.Name):
            return any(node.id in names for names in self.locals)
        if isinstance(node, ast.Attribute):
            return node.attr in self.to._attributes
        if isinstance(node, ast.IfExp):
            return self.is_module(node.body) or self.is_module(node.orelse)
        if isinstance(node, ast.BoolOp):
            return any(map(self.is_module, node.values))
        if isinstance(node, ast.NamedExpr):
            return self.is_module(node.value)
        if not isinstance(node, ast.Call):
            return False
        called = _last_name(node.func)
        if called == "getattr" and _is_torch(node.args[0]):
            return bool(A_DEVICE.search(ast.unparse(node.args[1]))) and not isinstance(
                node.args[1], ast.Constant
            )
        if called == "cast":
            return self.is_module(node.args[-1])
        if called == HANDLE_CLASS or ast.unparse(node.func).startswith(HANDLE_CLASS):
            return True
        return called in self.to._functions

    # -- scopes and assignments --

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        handles = {
            argument.arg
            for argument in arguments
            if argument.annotation and HANDLE_CLASS in ast.unparse(argument.annotation)
        }
        handles |= {a.arg for a in arguments} & self.to._attributes
        self.functions.append(node.name)
        self.locals.append(handles)
        self.strings.append({})
        self.generic_visit(node)
        self.locals.pop()
        self.strings.pop()
        self.functions.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Return(self, node: ast.Return) -> None:
        self.generic_visit(node)
        if self.functions and self.is_module(node.value):
            self.to._functions.add(self.functions[-1])

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self._assign(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        if HANDLE_CLASS in ast.unparse(node.annotation):
            self._assign(node.target, None)
        elif node.value:
            self._assign(node.target, node.value)

    def _assign(self, target: ast.AST, value: ast.AST | None) -> None:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            if isinstance(target, ast.Name):
                self.strings[-1][target.id] = value.value
        elif value is None or self.is_module(value):
            if isinstance(target, ast.Name):
                self.locals[-1].add(target.id)
            elif isinstance(target, ast.Attribute):
                self.to._attributes.add(target.attr)

    # -- what is read from it --

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.generic_visit(node)
        inner = node.value
        submodule = isinstance(inner, ast.Attribute) and inner.attr in SUBMODULES
        if self.is_module(inner):
            self._note(node.attr)
        elif submodule and self.is_module(inner.value):
            self._note(f"{inner.attr}.{node.attr}")

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        called, arguments = _last_name(node.func), node.args
        if called in BY_NAME and arguments:
            self._note_named(arguments[0])
        elif called in BY_FUNCTION and isinstance(arguments[0], ast.Lambda):
            module = arguments[0].args.args[0].arg
            for part in ast.walk(arguments[0].body):
                if isinstance(part, ast.Attribute) and _last_name(part.value) == module:
                    self._note(part.attr)
        elif called in ("getattr", "hasattr") and len(arguments) > 1:
            if self.is_module(arguments[0]):
                self._note_named(arguments[1])
            elif called == "getattr" and _is_torch(arguments[0]):
                self._note_other(node)

    def _note_other(self, call: ast.Call) -> None:
        constant = isinstance(call.args[1], ast.Constant)
        if self.collect and not constant and not self.is_module(call):
            self.to.other[ast.unparse(call.args[1])].add(self.file)

    def _note_named(self, name: ast.AST) -> None:
        if isinstance(name, ast.Name):
            for strings in self.strings:
                if name.id in strings:
                    self._note(strings[name.id])
                    return
        if isinstance(name, ast.Constant):
            self._note(str(name.value))
        elif self.collect:
            self.to.dynamic.add(f"{self._place()}: {ast.unparse(name)}")

    def _note(self, name: str) -> None:
        if self.collect and not name.startswith("__"):
            self.to.found[name].add(self._place())

    def _place(self) -> str:
        return f"{self.file}: {self.functions[-1] if self.functions else 'import'}"


def _is_torch(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "torch"


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
