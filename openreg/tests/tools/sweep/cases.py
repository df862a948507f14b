# Names the cases of the sweep and makes their samples; see docs/ship/sweep.md.
"""A case is an entry of PyTorch's operator database, with a dtype, run in one way."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from .exceptions import NOT_CALLED
from .mistakes import mistakes
from .overloads import overload, overloads
from .schema_search import chosen
from .seeds import seed_all
from .views import in_gaps

T = TypeVar("T")

OPERATORS: dict[str, OpInfo] = {op.full_name: op for op in op_db}
DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "complex64": torch.complex64,
    "int64": torch.int64,
    "bool": torch.bool,
}
# The others that the wheel's kernels take.
MORE_DTYPES = {
    "float16": torch.float16,
    "complex128": torch.complex128,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
}
ALL_DTYPES = DTYPES | MORE_DTYPES
# LITERALINCLUDE START: DTYPES_OF_WAYS
# The ways that do not run in every dtype, since their code hardly depends on it.
SOME_DTYPES = {
    "forward AD": ("float32", "float64", "complex64"),
    "double backward": ("float32", "float64", "complex64"),
    "vmap": ("float32", "int64", "bool"),
    "launched": ("float32", "bfloat16", "complex64", "int64"),
    "mistakes": ("float32", "int64"),
    "schema": ("float32", "complex64", "int64", "bool"),
}
# LITERALINCLUDE END: DTYPES_OF_WAYS
MISTAKEN_SAMPLES = 10  # at most: each gives a dozen wrong ones
IN_GAPS = ("strided", "in-place view")  # their tensors are views in larger memory
DIFFERENTIABLE = ("backward", "forward AD", "double backward")
RIGHT = "right"
ANY = "any"  # the dtype of a case whose samples choose theirs: bad arguments


class Case(NamedTuple):
    """What is checked on its own, and gets a verdict."""

    operator: str  # of the database; or an overload, such as "aten::add.out"
    dtype: str
    way: str  # a key of sweep.ways.WAYS


@dataclass
class Verdict:
    """What became of a case.

    It is one of "right", "same error" (for every sample, as on the CPU), "error",
    "wrong value", "wrong device", "crash" and "hang".
    """

    operator: str
    dtype: str
    way: str
    verdict: str = RIGHT
    detail: str = ""  # of the first sample that was not right
    others: list[tuple[str, str]] = field(default_factory=list)  # verdicts and details
    samples: int = 0
    same_errors: int = 0  # samples that both devices refuse with the same type of error
    fallbacks: list[str] = field(default_factory=list)

    @property
    def case(self) -> Case:
        return Case(self.operator, self.dtype, self.way)

    def add_failure(self, verdict: str, detail: str) -> None:
        """Keep what is wrong with a sample; the first one is the verdict."""
        if self.verdict == RIGHT:
            self.verdict, self.detail = verdict, detail
        else:
            self.others.append((verdict, detail))

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Verdicts and details of the samples that were not right, alike ones once."""
        if self.verdict in (RIGHT, "same error"):
            return []
        return [(self.verdict, self.detail), *map(tuple, self.others)]  # lists in JSON


def operator(case: Case) -> Any:
    """Return what a way calls."""
    by_schema = case.way == "schema"
    return overload(case.operator) if by_schema else OPERATORS[case.operator]


def all_cases() -> list[Case]:
    """Every operator, with every dtype that it takes on the CPU, in all its ways."""
    refusing = [name for name, op in OPERATORS.items() if op.error_inputs_func]
    return [*_cases(DTYPES, _ways), *(Case(name, ANY, "refusal") for name in refusing)]


def more_cases() -> list[Case]:
    """What the session ``sweep`` runs besides: more ways, and more dtypes."""
    generated = [
        Case(name, dtype, "schema")
        for dtype in SOME_DTYPES["schema"]
        for name in overloads()
    ]
    return [*_cases(DTYPES, _more_ways), *_cases(MORE_DTYPES, _ways), *generated]


def _cases(
    dtypes: dict[str, torch.dtype], ways: Callable[[OpInfo, torch.dtype], list[str]]
) -> Iterator[Case]:
    return (
        Case(name, text, way)
        for text, dtype in dtypes.items()
        for name, op in OPERATORS.items()
        if dtype in op.supported_dtypes("cpu")
        for way in ways(op, dtype)
        if text in SOME_DTYPES.get(way, ALL_DTYPES) and (name, way) not in NOT_CALLED
    )


def _more_ways(op: OpInfo, dtype: torch.dtype) -> list[str]:
    differentiable = dtype in op.supported_backward_dtypes("cpu")
    outs = ["out view", "out shape", "out overlap"]
    return [
        "strided",
        *(["in-place view"] if op.inplace_variant is not None else []),
        *(outs if op.supports_out else []),
        *(["forward AD"] if op.supports_forward_ad and differentiable else []),
        *(["double backward"] if op.supports_gradgrad and differentiable else []),
        "vmap",
        "launched",
        "mistakes",
    ]


def _ways(op: OpInfo, dtype: torch.dtype) -> list[str]:
    differentiable = dtype in op.supported_backward_dtypes("cpu")
    return [
        "forward",
        *(["in-place"] if op.inplace_variant is not None else []),
        *(["out"] if op.supports_out else []),
        *(["backward"] if op.supports_autograd and differentiable else []),
    ]


def _seeded(iterable: Iterable[T]) -> Iterator[T]:
    """Make each sample with the same seed, as ``op.sample_inputs`` does.

    That one also looks through the stack for the test that asks: for each sample, and
    for longer than most samples run.
    """
    iterator = iter(iterable)
    while True:
        seed_all()
        try:
            yield next(iterator)
        except StopIteration:
            return


def samples(case: Case, limit: int | None) -> list[SampleInput]:
    """Make the samples of a case on the CPU, the same in every run.

    Args:
        limit: how many to take, spread evenly over all that the database has.
    """
    if case.way == "schema":
        return _few(chosen(overload(case.operator), ALL_DTYPES[case.dtype]), limit)
    op = OPERATORS[case.operator]
    if case.way == "refusal":
        return [bad.sample_input for bad in _seeded(op.error_inputs_func(op, "cpu"))]
    dtype, differentiate = ALL_DTYPES[case.dtype], case.way in DIFFERENTIABLE
    made = list(_seeded(op.sample_inputs_func(op, "cpu", dtype, differentiate)))
    if case.way.startswith("in-place"):
        made = [sample for sample in made if not sample.broadcasts_input]
    if case.way == "mistakes":
        few = _few(made, MISTAKEN_SAMPLES if limit is None else limit)
        made = [one for sample in few for one in mistakes(sample)]
        limit = None if limit is None else 4 * limit
    made = _few(made, limit)
    if case.way in IN_GAPS:
        return [in_gaps(sample) for sample in made]
    return made


def _few(made: list[SampleInput], limit: int | None) -> list[SampleInput]:
    if limit is None or len(made) <= limit:
        return made
    return [made[index * len(made) // limit] for index in range(limit)]
