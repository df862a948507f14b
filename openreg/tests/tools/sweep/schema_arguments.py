# Generates arguments from the schema of an operator; see docs/ship/sweep.md.
"""Each argument is made for its type, unless a hint says what it must be."""

import random
from collections.abc import Callable
from fnmatch import fnmatch
from functools import cache
from typing import Any, NamedTuple

import torch
from torch.testing._internal.opinfo.core import SampleInput

from .schema_names import BY_NAME
from .schema_operators import BY_OPERATOR
from .schema_shapes import Always, Shape
from .schema_sparse import SPARSE
from .views import view_in_memory


class Style(NamedTuple):
    """What the tensors of a sample have in common."""

    rank: int | None  # dimensions of a tensor; None: what the operator needs
    sizes: tuple[int, ...] = (3,)  # each dimension has one of these
    strided: bool = False  # views with gaps in larger memory
    given: float = 0.5  # how often an optional argument is given
    odd: float = 0.0  # how often an argument is not one that fits


STYLES = {
    "plain": Style(None, given=0),
    "options": Style(None, (2, 4), given=1),
    "larger": Style(None, (4,)),
    "matrices": Style(2),
    "batches": Style(3, (2,)),
    "vectors": Style(1),
    "numbers": Style(0),
    "no elements": Style(2, (0,)),
    "some sizes are 0": Style(None, (0, 2)),
    "views": Style(None, strided=True),
    "views of matrices": Style(2, (2, 4), strided=True),
    "odd": Style(None, (1, 2, 3), odd=0.2),
}
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64)


@cache
def _hints(operator: str) -> dict[str, Any]:
    found = dict(BY_NAME)
    for pattern, hints in (*BY_OPERATOR.items(), *SPARSE.items()):
        if fnmatch(operator, pattern):
            found |= hints
    return found


class Draw:
    """The random choices of one sample."""

    def __init__(
        self, overload: torch._ops.OpOverload, dtype: torch.dtype, style: str, turn: int
    ) -> None:
        self.name = overload._schema.name.removeprefix("aten::")
        self.dtype, self.style, self.turn = dtype, STYLES[style], turn
        types = [str(one.real_type) for one in overload._schema.arguments]
        self.on_a_device = any("Tensor" in text for text in types)
        self.random = random.Random(f"{overload} {dtype} {style} {turn}")
        self.values = torch.Generator().manual_seed(self.random.getrandbits(32))
        self.hints = _hints(self.name)
        natural = self.hints.get("rank", self._rank)
        self.rank = natural(self) if self.style.rank is None else self.style.rank
        self.sizes = [self.random.choice(self.style.sizes) for _ in range(6)]
        self.size = max(self.sizes)
        self.spatial = max(1, self.rank - 2)
        self.kernel = self.choice((1, 3))
        self.out_dtype = self.choice((dtype, dtype, *DTYPES))
        self.count = self.choice((2, 1, 3))  # of a list of tensors
        self.tensors = 0

    @staticmethod
    def _rank(draw: "Draw") -> int:
        spatial = [n for n in (1, 2, 3) if f"{n}d" in draw.name]
        return spatial[0] + 2 if spatial else 2 + draw.turn % 2

    def choice(self, values: Any) -> Any:
        """Return the first of some values in the first turn, then any of them."""
        return values[0] if self.turn == 0 else self.random.choice(values)

    def is_odd(self) -> bool:
        return self.random.random() < self.style.odd

    def argument(self, argument: torch._C.Argument) -> Any:
        """Make one argument."""
        kind, hint = argument.real_type, self._hint(argument)
        always = isinstance(hint, Always) or self.names_the_device(argument)
        if isinstance(kind, torch.OptionalType):
            kind = kind.getElementType()
            if not always and self.random.random() >= self.style.given:
                return None
        if isinstance(hint, Always):
            hint = hint.value
        text = str(kind)
        if "Tensor" in text:
            make = self.out if argument.is_out else self.tensor
            many = hint(self) if callable(hint) else [hint] * self.count
            return [make(one) for one in many] if "List" in text else make(hint)
        taken = hint is not None and not isinstance(hint, Shape)
        if taken and (always or not self.is_odd()):
            made = hint(self) if callable(hint) else self.choice(hint)
            if isinstance(made, list) and made and argument.N:
                made = (made * argument.N)[: argument.N]
            if made is None or _fits(made, text):
                return made
        if argument.default_value is not None and self.style.given == 0:
            return argument.default_value
        return OF_TYPES[text](self, argument.N)

    def names_the_device(self, argument: torch._C.Argument) -> bool:
        """Return whether this alone says where the result is."""
        return argument.name == "device" and not self.on_a_device

    def _hint(self, argument: torch._C.Argument) -> Any:
        is_list = "List[" in str(argument.real_type)
        many = self.hints.get(f"{argument.name}[]") if is_list else None
        return many or self.hints.get(argument.name)

    def tensor(self, hint: Any = None) -> torch.Tensor:
        made = self._tensor(hint)
        made.on_host = isinstance(hint, Shape) and hint.on_host
        return made

    def _tensor(self, hint: Any = None) -> torch.Tensor:
        want = hint if isinstance(hint, Shape) else Shape()
        rank = self.rank if want.rank is None else want.rank
        rank = self.random.randrange(4) if self.is_odd() else rank
        shape = tuple(self.sizes[:rank])
        if want.shape is not None:
            made = want.shape(self) if callable(want.shape) else want.shape
            shape = tuple(self.sizes[0] if size is None else size for size in made)
        tensor = self._elements(shape, want.dtype or self.dtype, want)
        self.tensors += 1
        layout = want.layout
        if layout != torch.strided:
            blocks = (1, 1) if layout in (torch.sparse_bsr, torch.sparse_bsc) else None
            return tensor.to_sparse(layout=layout, blocksize=blocks)
        if self.style.strided:
            transposed = self.tensors % 2 == 1 and len(shape) > 1
            view = view_in_memory(shape, tensor.dtype, "cpu", transposed=transposed)
            return view.copy_(tensor)
        return tensor

    def out(self, hint: Any = None) -> torch.Tensor:
        dtype = hint.dtype if isinstance(hint, Shape) and hint.dtype else self.out_dtype
        if isinstance(hint, Shape) and hint.layout != torch.strided:
            return self.tensor(hint)
        if not self.style.strided:
            return torch.empty(0, dtype=dtype)
        shape = tuple(self.sizes[: self.rank])
        return view_in_memory(shape, dtype, "cpu", transposed=len(shape) > 1)

    def _elements(
        self, shape: tuple[int, ...], dtype: torch.dtype, want: Shape
    ) -> torch.Tensor:
        if not (dtype.is_floating_point or dtype.is_complex):
            # Each number is an index of each dimension that has elements.
            sizes = [size for size in self.sizes if size] if self.rank else [1]
            high = min(sizes, default=1) if want.high is None else want.high
            high = 2 if dtype == torch.bool else max(high, want.low + 1)
            return torch.randint(
                want.low, high, shape, generator=self.values, dtype=dtype
            )
        made = torch.rand(shape, generator=self.values, dtype=dtype)
        if want.definite and len(shape) > 1 and shape[-1] == shape[-2]:
            made = made + made.mH + 4 * torch.eye(shape[-1], dtype=dtype)
        return made

    def integer(self) -> int:
        odd = -4, 5, 7
        return self.random.choice(odd) if self.is_odd() else self.choice((1, 0, 2, -1))

    def number(self) -> Any:
        odd = True, 2j, float("nan"), -7, 1e30
        usual = 1, 2, 0.5, 0, -1
        return self.random.choice(odd) if self.is_odd() else self.choice(usual)

    def real(self) -> float:
        return self.choice((0.5, 1.0, 0.1, 2.0, 0.0))

    def many(self, one: Callable[[], Any], count: int | None) -> list[Any]:
        return [one() for _ in range(count or self.choice((1, 2, 0)))]

    def truth(self) -> bool:
        return self.random.random() < 0.5


OF_TYPES: dict[str, Callable[[Draw, int | None], Any]] = {
    "int": lambda draw, _: draw.integer(),
    "float": lambda draw, _: draw.real(),
    "bool": lambda draw, _: draw.truth(),
    "number": lambda draw, _: draw.number(),
    "str": lambda draw, _: "unknown",
    "List[int]": lambda draw, count: draw.many(draw.integer, count),
    "List[float]": lambda draw, count: draw.many(draw.real, count),
    "List[number]": lambda draw, count: draw.many(draw.number, count or 2),
    "List[bool]": lambda draw, count: draw.many(draw.truth, count),
    "ScalarType": lambda draw, _: draw.choice((draw.dtype, *DTYPES)),
    "Layout": lambda draw, _: torch.strided,
    "MemoryFormat": lambda draw, _: draw.choice(
        (torch.contiguous_format, torch.preserve_format, torch.channels_last)
    ),
    "Device": lambda draw, _: torch.device("cpu"),
    "Generator": lambda draw, _: torch.Generator().manual_seed(draw.turn),
    "Storage": lambda draw, _: draw.tensor().untyped_storage(),
}
_PYTHON = {"int": int, "float": (int, float), "bool": bool, "str": str}


def _fits(value: Any, text: str) -> bool:
    """Return whether a hint, which goes by the name, is of the type of an argument."""
    if text.startswith("List["):
        inner = text.removeprefix("List[").removesuffix("]")
        return isinstance(value, list) and all(_fits(one, inner) for one in value)
    if isinstance(value, bool) and text in ("int", "float"):
        return False
    return isinstance(value, _PYTHON.get(text, object)) and not isinstance(value, list)


def sample(
    overload: torch._ops.OpOverload, dtype: torch.dtype, style: str, turn: int
) -> SampleInput:
    """Make all arguments of a call, the same in every run."""
    draw = Draw(overload, dtype, style, turn)
    schema = overload._schema.arguments
    args = [draw.argument(one) for one in schema if not one.kwarg_only]
    kwargs = {one.name: draw.argument(one) for one in schema if one.kwarg_only}
    kwargs = {name: value for name, value in kwargs.items() if value is not None}
    return SampleInput(args[0], args=tuple(args[1:]), kwargs=kwargs)
