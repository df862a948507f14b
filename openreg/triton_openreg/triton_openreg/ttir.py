# Reads the text of Triton's IR; see docs/modules/triton-compiler.md.
"""Operations, and the blocks inside them, from what MLIR prints.

Triton's Python bindings show operations, but neither constants nor arrays, so a backend
without C++ of its own reads the text. An operation that is not understood is an error.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TYPE = re.compile(
    r"tensor<(?:[^<>]|<[^<>]*>)*>|!tt\.ptr<[^<>]*>|\bindex\b|\bbf16\b|\bf8\w+"
    r"|\b[fi]\d+\b"
)
VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
OPERATION = re.compile(r'(?:((?:%[\w$.:-]+(?:, )?)+) = )?"?([\w.]+)"?(.*)')
LOCATION = r"loc\((?:[^()\"]|\"[^\"]*\"|\((?:[^()\"]|\"[^\"]*\")*\))*\)"
TRAILING_LOCATION = re.compile(rf"\s*({LOCATION})$")
ARGUMENT = re.compile(r"(%[\w$.-]+): ((?:[^<>,(){}]|<(?:[^<>]|<[^<>]*>)*>)*)")


class Unsupported(NotImplementedError):
    """An operation that this backend cannot compile."""


@dataclass
class Block:
    """A label, its arguments as names and types, and operations."""

    label: str
    arguments: list[tuple[str, str]]
    operations: list["Operation"] = field(default_factory=list)


@dataclass
class Operation:
    """One operation; ``text`` is the text between its name and its types."""

    name: str
    results: list[str]
    text: str
    types: str
    location: str
    regions: list[list[Block]] = field(default_factory=list)

    @property
    def operands(self) -> list[str]:
        """The values between the name and the types, without those in attributes."""
        return VALUE.findall(re.sub(r"\{.*?\}", "", self.text))

    @property
    def type_list(self) -> list[str]:
        """The types behind the colon, those of operands first."""
        return TYPE.findall(self.types)

    def attribute(self, name: str) -> str:
        """Return an attribute, as text without its type."""
        found = re.search(rf"\b{name} = ([^,}}>]+?)(?: : \w+)?\s*[,}}>]", self.text)
        if found is None:
            raise self.unsupported(f"it has no attribute {name}")
        return found[1].strip('"')

    def unsupported(self, why: str, instead: str = "") -> Unsupported:
        """Return the error that names the operation and the line of the kernel."""
        hint = f"; {instead}" if instead else ""
        return Unsupported(
            f"{self.location}: openreg cannot compile {self.name}: {why}{hint}"
        )


@dataclass
class Function:
    """A function: a kernel, or one that was not inlined."""

    name: str
    parameters: list[tuple[str, str]]
    results: list[str]
    blocks: list[Block]


class Locations:
    """Finds the line of the kernel behind ``loc(#loc7)``."""

    def __init__(self, text: str) -> None:
        self.aliases = dict(re.findall(r"^(#loc\d*) = (.*)$", text, re.MULTILINE))

    def resolve(self, location: str) -> str:
        """Return ``file:line``; where functions were inlined, of the innermost."""
        for _ in range(50):
            if found := re.search(r'"([^"]+)":(\d+):\d+', location):
                return f"{found[1]}:{found[2]}"
            if (alias := re.search(r"#loc\d*", location)) is None:
                break
            location = self.aliases.get(alias[0], "")
        return "unknown line"


def split_types(text: str) -> tuple[str, str]:
    """Split at the last colon that is not in braces."""
    depth = 0
    for i in range(len(text) - 1, 0, -1):
        depth += {"}": 1, "{": -1}.get(text[i], 0)
        if depth == 0 and text.startswith(" : ", i):
            return text[:i], text[i + 3 :]
    return text, ""


def parse_arguments(text: str) -> list[tuple[str, str]]:
    """Read ``%x: i32 loc(...), ...``."""
    found = ARGUMENT.findall(re.sub(LOCATION, "", text))
    return [(name, type_.strip()) for name, type_ in found]


class Parser:
    """Reads the lines of a module."""

    def __init__(self, text: str) -> None:
        self.locations = Locations(text)
        lines = text.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("module"))
        self.lines: Iterator[str] = iter(lines[start + 1 :])

    def region(self) -> tuple[list[Block], str]:
        """Read blocks up to the brace that ends the region, and its line."""
        blocks = [Block("", [])]
        for line in self.lines:
            line = line.strip()
            if line.startswith("}"):
                return [b for b in blocks if b.operations or b.label], line
            if line.startswith("^"):
                label, _, rest = re.sub(r"\s*//.*", "", line).partition("(")
                blocks.append(Block(label.rstrip(":"), parse_arguments(rest)))
            elif line and not line.startswith(("//", "#")):
                blocks[-1].operations.append(self.operation(line))
        raise Unsupported("the Triton IR ends inside a region")

    def operation(self, line: str) -> Operation:
        """Read an operation and its regions."""
        location = ""
        if found := TRAILING_LOCATION.search(line):
            line, location = line[: found.start()], found[1]
        match = OPERATION.fullmatch(line)
        if match is None:
            raise Unsupported(f"openreg cannot parse {line}")
        results, name, text = match.groups()
        names: list[str] = []
        for result in (results or "").split(", ") if results else ():
            value, _, count = result.partition(":")
            names += [f"{value}#{i}" for i in range(int(count))] if count else [value]
        op = Operation(name, names, text, "", "")
        if line.endswith("{"):
            op.text, more = text.rstrip("({"), True
            while more:
                region, end = self.region()
                op.regions.append(region)
                if found := TRAILING_LOCATION.search(end):
                    end, location = end[: found.start()], found[1]
                more = end.endswith("{")  # `} else {`, `} do {`
            op.types = end.partition(" : ")[2]
        else:
            op.text, op.types = split_types(text)
        op.location = self.locations.resolve(location)
        return op


def parse(text: str) -> list[Function]:
    """Return the functions of a module, the kernel first."""
    blocks, _ = Parser(text).region()
    functions: list[Function] = []
    for op in blocks[0].operations:
        name = re.search(r'@([\w$.]+|".*?")', op.text)
        if op.name != "tt.func" or name is None:
            raise op.unsupported("it is outside a function")
        head = re.sub(LOCATION, "", op.text)
        signature = head.partition("(")[2].partition(" attributes ")[0]
        inputs, _, outputs = signature.partition("->")
        parameters, results = parse_arguments(inputs), TYPE.findall(outputs)
        function = Function(name[1].strip('"'), parameters, results, op.regions[0])
        functions.insert(0 if "public" in head else len(functions), function)
    return functions
