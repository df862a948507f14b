# Writes the C++ of one function; see docs/modules/triton-compiler.md.
"""Statements, loops and buffers, and which value has which name."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..ttir import Operation
from .types import count_of, cpp_type, size_of
from .values import Indices, Tensor, Value

MAX_NEST = 3  # deeper blocks, as of `tl.sort`, get one loop
ALIGNMENT = 64


@dataclass(frozen=True)
class Slot:
    """The shape of a buffer that may be used again."""

    element: str
    count: int


class Writer:
    """The text of a function, in the order of execution."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.env: dict[str, Value] = {}
        self.slots: dict[str, Slot] = {}  # of buffers, by name
        self.free: dict[Slot, list[str]] = {}
        self.pinned: list[str] = []  # buffers that a loop still needs
        self.known: list[dict[tuple[Tensor, Indices], str]] = [{}]
        self.flat: dict[tuple[tuple[int, ...], Indices], str] = {}
        self.uses: dict[str, int] = {}
        self.count = 0

    # ---- statements ---------------------------------------------------------------

    def new(self, prefix: str = "v") -> str:
        """Return a name that is not in use."""
        self.count += 1
        return f"{prefix}{self.count}"

    def do(self, *statements: str) -> None:
        """Write statements."""
        self.lines += statements

    def emit(self, element: str, expression: str) -> str:
        """Write a constant with a value; return its name."""
        name, cpp = self.new(), self.cpp(element)
        typed = f"{cpp} const" if cpp.endswith("*") else f"const {cpp}"
        self.do(f"{typed} {name} = {expression};")
        return name

    def cpp(self, element: str) -> str:
        """Return the C++ type of an element."""
        if (found := cpp_type(element)) is None:
            raise TypeError(element)
        return found

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        """A compound statement; what is computed inside is unknown behind it."""
        self.do(f"{head} {{")
        self.known.append({})
        yield
        self.known.pop()
        self.do("}")

    # ---- loops --------------------------------------------------------------------

    @contextmanager
    def loops(
        self, shape: tuple[int, ...], parallel: bool = True, last: str = ""
    ) -> Iterator[Indices]:
        """Loops over a shape. ``last`` is the range of the innermost, if not all."""
        big = [n for n in shape if n > 1]
        indices: list[str] = []
        depth = len(self.known)
        if len(big) > MAX_NEST and not last:
            k, left = self.new("k"), count_of(shape)
            self._for(k, f"0; {k} < {left}", parallel)
            for n in shape:
                left //= n
                indices.append("0" if n == 1 else self.new("i"))
                if n > 1:
                    self.do(f"const int {indices[-1]} = {k} / {left} % {n};")
            self.flat[shape, tuple(indices)] = k
            opened = 1
        else:
            opened = 0
            for d, n in enumerate(shape):
                inner = d == len(shape) - 1
                indices.append(
                    "0" if n == 1 and not (inner and last) else self.new("i")
                )
                i = indices[-1]
                if inner and last:
                    self._for(i, last.format(i=i), parallel)
                elif n > 1:
                    innermost = not any(m > 1 for m in shape[d + 1 :]) and not last
                    self._for(i, f"0; {i} < {n}", parallel and innermost)
                opened += indices[-1] != "0"
        yield tuple(indices)
        del self.known[depth:]
        self.do(*["}"] * opened)

    def _for(self, index: str, range_: str, parallel: bool) -> None:
        if parallel:  # elements of a block do not depend on each other
            self.do("#pragma GCC ivdep")
        self.do(f"for (int {index} = {range_}; ++{index}) {{")
        self.known.append({})

    # ---- elements -----------------------------------------------------------------

    def at(self, value: Value, indices: Indices) -> str:
        """Return one element: a name or a literal, computed once in each loop."""
        if isinstance(value, str):
            return value
        for known in self.known:
            if (value, indices) in known:
                return known[value, indices]
        element = value.at(indices)
        self.known[-1][value, indices] = element
        return element

    def linear(self, shape: tuple[int, ...], indices: Indices) -> str:
        """Return where an element is in a buffer."""
        if (shape, indices) in self.flat:
            return self.flat[shape, indices]
        terms, stride = [], 1
        for n, index in reversed(list(zip(shape, indices, strict=True))):
            if index != "0":
                terms.append(index if stride == 1 else f"{index} * {stride}")
            stride *= n
        return " + ".join(reversed(terms)) or "0"

    # ---- buffers ------------------------------------------------------------------

    def allocate(self, shape: tuple[int, ...], element: str) -> Tensor:
        """Return a buffer; one that no value reads any more, if there is one."""
        slot = Slot(element, count_of(shape))
        if names := self.free.get(slot):
            name = names.pop()
        else:
            name = self.new("buffer")
            self.slots[name] = slot
        return self.view(name, shape, element)

    def view(self, name: str, shape: tuple[int, ...], element: str) -> Tensor:
        """Return the value that a buffer has."""

        def read(indices: Indices) -> str:
            return self.emit(element, f"{name}[{self.linear(shape, indices)}]")

        return Tensor(shape, element, read, {name: True}, 1, name)

    def put(self, element: str, target: Tensor, indices: Indices) -> None:
        """Write one element to a buffer."""
        where = self.linear(target.shape, indices)
        self.do(f"{target.buffer}[{where}] = {element};")

    def copy(self, source: Tensor, target: Tensor) -> None:
        """Compute all elements of a block."""
        with self.loops(source.shape) as indices:
            self.put(self.at(source, indices), target, indices)

    def buffered(self, source: Tensor) -> Tensor:
        """Return a value whose elements are computed already."""
        return source if source.buffer is not None else self.copied(source)

    def copied(self, source: Tensor) -> Tensor:
        """Return a value in a new buffer."""
        target = self.allocate(source.shape, source.element)
        self.copy(source, target)
        return target

    def sweep(self) -> None:
        """Find the buffers that no value reads any more."""
        live = set(self.pinned)
        for value in self.env.values():
            if isinstance(value, Tensor):
                live.update(value.reads)
        for names in self.free.values():
            live.update(names)
        for name, slot in self.slots.items():
            if name not in live:
                self.free.setdefault(slot, []).append(name)

    @property
    def scratch_bytes(self) -> int:
        """The size of all buffers."""
        sizes = (s.count * size_of(s.element) for s in self.slots.values())
        return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)

    def declarations(self) -> list[str]:
        """Return the buffers as C++: on the stack of the device's thread."""
        return [
            f"alignas({ALIGNMENT}) {self.cpp(s.element)} {name}[{s.count}];"
            for name, s in self.slots.items()
        ]

    # ---- trying -------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the state, to go back to it."""
        return {
            "lines": list(self.lines),
            "env": dict(self.env),
            "slots": dict(self.slots),
            "free": {slot: list(names) for slot, names in self.free.items()},
            "pinned": list(self.pinned),
            "known": [dict(known) for known in self.known],
            "flat": dict(self.flat),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Forget all that was written since."""
        self.__dict__.update(state)

    def check_types(self, op: Operation) -> None:
        """Refuse an operation with a type that C++ has no name for here."""
        for type_ in op.type_list:
            inner = type_.removeprefix("tensor<")
            element = inner.lstrip("0123456789x") if inner != type_ else type_
            element = element.removesuffix(">") if inner != type_ else element
            if cpp_type(element) is None:
                raise op.unsupported(
                    f"the type {element}", "use float8e5 or float8e4nv for 8 bits"
                )
