# Lowers one function; see docs/modules/triton-compiler.md.
"""Walks over operations, and forgets each value after its last use."""

import re
from collections.abc import Callable

from ..ttir import VALUE, Block, Function, Operation, Unsupported
from .effects import INSTEAD
from .registry import HANDLERS
from .types import element_of, is_tensor, shape_of
from .values import Tensor, Value
from .writer import Writer

MAX_BLOCKS = 200  # written; a block behind two branches is written twice
TERMINATORS = ("scf.yield", "scf.condition", "tt.reduce.return", "tt.scan.return")


def names_in(op: Operation) -> set[str]:
    """Return the values that an operation uses, in its regions too."""
    names = set(VALUE.findall(op.text))
    for region in op.regions:
        for block in region:
            for inner in block.operations:
                names |= names_in(inner)
    return names


def count_uses(blocks: list[Block], uses: dict[str, int], weight: int = 1) -> None:
    """Count uses; those in a loop count twice, as it runs more than once."""
    for block in blocks:
        for op in block.operations:
            for name in VALUE.findall(op.text):
                uses[name] = uses.get(name, 0) + weight
            for region in op.regions:
                count_uses(region, uses, 2 if "scf." in op.name else weight)


class FunctionLowering(Writer):
    """The C++ of one function."""

    def __init__(self, function: Function, functions: dict[str, str]) -> None:
        super().__init__()
        self.function = function
        self.functions = functions  # C++ names
        self.includes: set[str] = set()
        self.dying: set[str] = set()
        self.written = 0
        count_uses(function.blocks, self.uses)

    # ---- values -------------------------------------------------------------------

    def value(self, name: str) -> Value:
        """Return a value."""
        return self.env[name]

    def tensor(self, name: str) -> Tensor:
        """Return a value that is a block."""
        value = self.env[name]
        assert isinstance(value, Tensor), name
        return value

    def scalar(self, name: str) -> str:
        """Return a value that is a number."""
        value = self.env[name]
        assert isinstance(value, str), name
        return value

    def received(self, name: str, type_: str) -> Value:
        """Return a parameter; a block is in the buffer of the caller."""
        if not is_tensor(type_):
            return name
        return self.view(name, shape_of(type_), element_of(type_))

    def ends(self, name: str, buffer: str) -> bool:
        """Return whether the operation at hand is the last that needs a buffer."""
        others = (v for n, v in self.env.items() if n != name and isinstance(v, Tensor))
        return name in self.dying and not any(buffer in v.reads for v in others)

    # ---- operations ---------------------------------------------------------------

    def lower(self, op: Operation) -> None:
        """Write an operation, and remember its results."""
        handler = HANDLERS.get(op.name)
        if handler is None:
            raise op.unsupported(
                "the operation is not implemented", INSTEAD.get(op.name, "")
            )
        self.check_types(op)
        made = handler(self, op)
        results = made if isinstance(made, list) else [made]
        for name, value in zip(op.results, results, strict=bool(op.results)):
            if value is not None:
                self.env[name] = value

    def run(self, block: Block, arguments: list[str] | None = None) -> list[Value]:
        """Write the operations of a region; return what it passes on."""
        return self.steps(block, {*(arguments or ())}, set())

    def steps(self, block: Block, defined: set[str], kept: set[str]) -> list[Value]:
        """Write a block, up to its end; forget each value after its last use."""
        last = {}
        for k, op in enumerate(block.operations):
            for name in (*names_in(op), *op.results):
                last[name] = k
            defined |= set(op.results)
        defined -= kept
        outer = self.dying
        for k, op in enumerate(block.operations):
            ended = {name for name, use in last.items() if use == k} & defined
            if op.name in TERMINATORS:
                self.dying = outer
                return [self.env[x] for x in VALUE.findall(op.text)]
            if op.name in ("tt.return", "cf.br", "cf.cond_br") or op.name.endswith(
                "map_elementwise.return"
            ):
                break
            self.dying = ended
            self.lower(op)
            for name in ended:
                self.env.pop(name, None)
            if ended:
                self.sweep()
        self.dying = outer
        return []

    def inline(self, block: Block, args: list[str]) -> list[str]:
        """Write the operations of a region on scalars."""
        for (name, _), value in zip(block.arguments, args, strict=True):
            self.env[name] = value
        *ops, end = block.operations
        for op in ops:
            self.lower(op)
        return [self.scalar(x) for x in end.operands]

    # ---- branches between blocks --------------------------------------------------

    def flow(
        self,
        blocks: list[Block],
        index: int,
        args: list[Value] | list[str],
        finish: Callable[[list[Value]], None],
    ) -> None:
        """Write a block and what follows, up to each return.

        Branches form no loops here: loops are operations of their own. So a block that
        two branches lead to is written twice, and no value has to cross a ``goto``.
        """
        self.written += 1
        block = blocks[index]
        if self.written > MAX_BLOCKS:
            end = block.operations[-1]
            raise end.unsupported("too many branches", "return at fewer places")
        for (name, _), value in zip(block.arguments, args, strict=True):
            self.env[name] = value
        others = {
            name
            for other in blocks if other is not block
            for op in other.operations
            for name in names_in(op)
        }  # fmt: skip
        self.steps(block, set(), others)
        end = block.operations[-1]
        if end.name == "cf.br":
            self.branch(blocks, end.text, finish)
        elif end.name == "cf.cond_br":
            condition, *targets = re.split(r",\s*(?=\^)", f"{end.text} : {end.types}")
            env = dict(self.env)
            with self.braces(f"if ({self.scalar(condition.strip())})"):
                self.branch(blocks, targets[0], finish)
            self.env = env
            self.branch(blocks, targets[1], finish)
        else:
            finish([self.env[x] for x in end.operands])

    def branch(
        self, blocks: list[Block], text: str, finish: Callable[[list[Value]], None]
    ) -> None:
        """Go on with the block that a branch names."""
        label, _, rest = text.strip().partition("(")
        args = [self.env[x] for x in VALUE.findall(rest)]
        labels = [block.label for block in blocks]
        target = label.split()[0]
        if target not in labels:
            raise Unsupported(f"a branch to {target}")
        self.flow(blocks, labels.index(target), args, finish)
