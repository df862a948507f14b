# Writes the table of what the kernel library takes; see docs/operators/structured.md.
"""Try each kernel of the library with all dtypes, on small CPU tensors:

python openreg/tests/tools/kernel_dtypes.py            compare with the table
python openreg/tests/tools/kernel_dtypes.py --write    write it
"""

import argparse
import difflib
import itertools
import os
import sys
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

os.environ["TORCH_CPP_LOG_LEVEL"] = "ERROR"  # torch reads it once: no kernel warns

import torch
from kernel_list import CSRC, Kernel, kernels
from kernel_overlaps import refused_overlaps
from kernel_samples import Sample, collect

TABLE = CSRC / "aten" / "kernels" / "KernelDtypesTable.cpp"

# As in KernelDtypes.cpp.
LETTERS = {
    "?": torch.bool,
    "B": torch.uint8,
    "b": torch.int8,
    "h": torch.int16,
    "i": torch.int32,
    "l": torch.int64,
    "H": torch.uint16,
    "I": torch.uint32,
    "L": torch.uint64,
    "e": torch.float16,
    "y": torch.bfloat16,
    "f": torch.float32,
    "d": torch.float64,
    "E": torch.complex32,
    "F": torch.complex64,
    "D": torch.complex128,
    "4": torch.float8_e4m3fn,
    "5": torch.float8_e5m2,
    "6": torch.float8_e4m3fnuz,
    "7": torch.float8_e5m2fnuz,
    "8": torch.float8_e8m0fnu,
}
FLOAT8 = "45678"
LETTER_OF = {dtype: letter for letter, dtype in LETTERS.items()}


class Entry(NamedTuple):
    """A line of the table, but for its name."""

    patterns: tuple[str, ...]
    numbers: str
    overlaps: str = ""


# What the rules below do not find. The base of pow.Scalar chooses the dtype of the
# result, in which the kernel computes. The host checks the exponent of
# pow.Tensor_Scalar.
# The backend's own kernel of nansum is a sum for complex numbers.
EXCEPTIONS = {
    "pow.Scalar": Entry((".*:BbhileyfdFD",), "."),
    "nansum": Entry((".*:?BbhileyfdFD",), ""),
}
CHECKED_BY_HOST = {("pow.Tensor_Scalar", "exponent")}
HEAD = """// Which arguments the kernel library takes; see docs/operators/structured.md.
//
// Written by openreg/tests/tools/kernel_dtypes.py, which tries the kernels.
#include "csrc/aten/kernels/KernelDtypes.h"

namespace openreg {
namespace {

// clang-format off
constexpr KernelDtypes::Row kRows[] = {
"""
TAIL = """};
// clang-format on

}  // namespace

const at::ArrayRef<KernelDtypes::Row> kKernelDtypes(kRows);

}  // namespace openreg
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the table")
    parser.add_argument("-k", default="", help="only operators with this in the name")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    entries = measure(lambda name: options.k in name)
    if options.k:
        for name, entry in entries.items():
            print(f"{name:40} {' '.join(entry.patterns)}  {entry.numbers!r}")
        return 0
    text = render(entries)
    if options.write:
        TABLE.write_text(text)
        return 0
    old = TABLE.read_text().splitlines()
    changes = list(difflib.unified_diff(old, text.splitlines(), "table", "measured"))
    print(*changes, sep="\n")
    return 1 if changes else 0


# -- what they take --


def measure(wanted: Callable[[str], bool]) -> dict[str, Entry]:
    found = [kernel for kernel in kernels() if wanted(kernel.entry)]
    samples = collect({kernel.named.operator for kernel in found})
    entries: dict[str, Entry] = {}
    for kernel in found:
        if kernel.entry in EXCEPTIONS:
            entries[kernel.entry] = EXCEPTIONS[kernel.entry]
            continue
        by_text: dict[str, list[Sample]] = {}
        for sample in samples[kernel.named.operator]:
            by_text.setdefault(sample.text, []).append(sample)
        measured = {text: entry_of(group, kernel) for text, group in by_text.items()}
        if len(set(measured.values())) == 1:
            entries[kernel.entry] = next(iter(measured.values()))
        else:
            for text, entry in measured.items():
                entries[f"{kernel.entry}:{text}"] = entry
    return entries


def entry_of(samples: list[Sample], kernel: Kernel) -> Entry:
    named = kernel.named
    # By the tensors that are given; all other samples of such calls must be taken.
    found: dict[tuple[bool, ...], dict[str, set[str]]] = {}
    for sample in samples:
        if sample.for_overlaps:
            continue
        given = () if kernel.one_dtype else sample.missing()
        taken = taken_by(sample, kernel)
        found[given] = both(found.get(given, {}), taken, bool(sample.tensors))
    merged: dict[str, set[str]] = defaultdict(set)
    for taken in found.values():
        for places, letters in taken.items():
            merged[places] |= letters | set(named.more if "*" in places else "")
    if kernel.one_dtype:
        merged = {"=": merged["="] | {*named.more}}
    texts = [
        f"{places}:{ordered(letters)}".rstrip(":") for places, letters in merged.items()
    ]
    numbers = named.numbers
    if numbers is None:
        numbers = numbers_of(samples[0], set().union(*merged.values()))
    overlaps = refused_overlaps(samples) if kernel.structured else ""
    return Entry(tuple(texts), numbers, overlaps)


def both(
    one: dict[str, set[str]], other: dict[str, set[str]], strict: bool
) -> dict[str, set[str]]:
    """What two samples take; if they have no place in common, what either takes.

    Not ``strict``: what either takes. Without tensors, numbers may be out of range.
    """
    if "=" in one:  # a sample may promote what another one refuses
        refused = one["refused"] | other["refused"]
        return {"=": (one["="] | other["="]) - refused, "refused": refused}
    common = one.keys() & other.keys()
    if strict and common:
        return {
            places: one[places] & letters
            for places, letters in other.items()
            if places in common
        }
    return {
        places: one.get(places, set()) | other.get(places, set())
        for places in [*one, *other]
    }


def taken_by(sample: Sample, kernel: Kernel) -> dict[str, set[str]]:
    """The dtypes that go together in the places of a pattern."""
    if kernel.one_dtype:
        refused = {x for x in LETTERS if sample.run(all_as(sample, x)) is None}
        return {"=": {*computed_dtypes(sample)} - refused, "refused": refused}
    named, taken = kernel.named, {}
    for places, letters in patterns_of(sample).items():
        if named.inplace:  # `self` is the output, and no input
            places = places[1:-1] + places[0]
        if named.out:
            places = places[:-1] + named.out
        taken[places] = taken.get(places, set()) | letters
    return taken


def ordered(letters: Iterable[str]) -> str:
    return "".join(letter for letter in LETTERS if letter in letters)


def moved(sample: Sample) -> list[str]:
    """The arguments of the dtype of the operator: values, not indices or masks."""
    dtypes = {place: sample.dtype_at(place) for place in sample.tensors}
    floats = [
        place
        for place, dtype in dtypes.items()
        if dtype is not None and (dtype.is_floating_point or dtype.is_complex)
    ]
    return floats or [place for place, dtype in dtypes.items() if dtype is not None]


def all_as(sample: Sample, letter: str) -> dict[str, torch.dtype]:
    return dict.fromkeys(moved(sample), LETTERS[letter])


def computed_dtypes(sample: Sample) -> Iterator[str]:
    """The dtypes in which TensorIterator computes and there is a kernel."""
    for letter, dtype in LETTERS.items():
        result = sample.run(dict.fromkeys(moved(sample), dtype))
        if result is None:
            continue
        integral = not dtype.is_floating_point and not dtype.is_complex
        promoted = integral and result.dtype.is_floating_point
        promoted |= dtype is torch.bool and result.dtype is torch.int64
        yield LETTER_OF[result.dtype] if promoted else letter


def patterns_of(sample: Sample) -> dict[str, set[str]]:
    """The dtypes that go together, as in KernelDtypes.h: {"*l*": {"f", "d"}}."""
    if "dtype" in sample.values:
        return results(sample)
    values = moved(sample)
    found = defaultdict(set)
    accepted = []
    for indices in index_dtypes(sample, values):
        together = {}
        for letter, dtype in LETTERS.items():
            result = sample.run(dict.fromkeys(values, dtype) | indices)
            if result is not None:
                together[letter] = LETTER_OF[result.dtype]
        if together:
            found[places_of(sample, indices) + out_place(together)] |= set(together)
            accepted.append(indices)
    letters = set().union(*found.values())
    for indices in accepted:
        for places in mixtures(sample, values, letters, indices):
            found[places] = set()
    return found


def places_of(sample: Sample, dtypes: dict[str, torch.dtype]) -> str:
    """A letter for each tensor; the dtypes in a list are checked by the host."""
    letters = {place: LETTER_OF[dtype] for place, dtype in dtypes.items()}
    lists = dict.fromkeys(sample.lists, ".")
    return "".join((lists | letters).get(place, "*") for place in sample.tensors)


def index_dtypes(sample: Sample, values: list[str]) -> Iterator[dict[str, torch.dtype]]:
    """All dtypes of the arguments that are indices or masks."""
    others = [
        place
        for place in sample.tensors
        if place not in [*values, *sample.lists] and sample.dtype_at(place) is not None
    ]
    for chosen in itertools.product("lihbB?", repeat=len(others)):
        yield {p: LETTERS[letter] for p, letter in zip(others, chosen, strict=True)}


def out_place(together: dict[str, str]) -> str:
    """The place of the result: its dtype follows that of the values, or does not."""
    if all(letter == out for letter, out in together.items()):
        return "*"
    return next(iter(together.values())) if len(set(together.values())) == 1 else "."


def mixtures(
    sample: Sample,
    values: list[str],
    letters: set[str],
    indices: dict[str, torch.dtype],
) -> Iterator[str]:
    """Arguments that differ in their dtypes: one of them, or the first in a layer that
    computes in low precision and has parameters in float32."""
    if len(values) < 2:
        return
    chosen = [
        dict.fromkeys(values, first) | {place: other}
        for first, other in itertools.permutations(ordered(letters), 2)
        for place in values
    ]
    chosen += [dict.fromkeys(values, "f") | {values[0]: first} for first in "ey"]
    for places in chosen:
        dtypes = {place: LETTERS[letter] for place, letter in places.items()} | indices
        result = sample.run(dtypes)
        if result is not None:
            yield places_of(sample, dtypes) + LETTER_OF[result.dtype]


def results(sample: Sample) -> dict[str, set[str]]:
    """Of an operator whose caller may choose the dtype of the result."""
    if not sample.tensors:
        chosen = {x for x in LETTERS if sample.run({}, dtype=LETTERS[x]) is not None}
        return {"*": chosen}
    found = {}
    for letter, dtype in LETTERS.items():
        values = dict.fromkeys(moved(sample), dtype)
        outs = [sample.run(values, dtype=wanted) for wanted in LETTERS.values()]
        chosen = {LETTER_OF[out.dtype] for out in outs if out is not None}
        if chosen:
            found[letter] = chosen
    alike = len({frozenset(chosen) for chosen in found.values()}) == 1
    if alike and len(found) == len(LETTERS):
        return {"." * len(sample.tensors) + "*": next(iter(found.values()))}
    return {letter + "*": chosen for letter, chosen in found.items()}


# -- which numbers they take --


def numbers_of(sample: Sample, letters: set[str]) -> str:
    """To what each number is converted: a letter as in KernelDtypes.h."""
    return "".join(number_kind(sample, name, letters) for name in sample.numbers)


def number_kind(sample: Sample, name: str, letters: set[str]) -> str:
    if (sample.name, name) in CHECKED_BY_HOST or not sample.tensors:
        return "."  # numbers make the sizes of a result, and are checked with them
    observed = {}
    for letter in letters - set(FLOAT8):
        dtype = LETTERS[letter]
        dtypes = dict.fromkeys(moved(sample), dtype)
        is_float = dtype.is_floating_point or dtype.is_complex
        chosen = {"dtype": dtype} if "dtype" in sample.values else {}
        for number in (1j, 1e300, 1e39, 1e5, 2) if is_float else (10**10, 300, 2):
            accepted = sample.run(dtypes, **{name: number}, **chosen) is not None
            observed[dtype, number] = accepted
    for kind in "*^d.":
        if all(ok == holds(kind, *key) for key, ok in observed.items()):
            return kind
    wrong = {
        kind: [key for key, ok in observed.items() if ok != holds(kind, *key)]
        for kind in "*^d."
    }
    print(f"{sample.op}: no rule for {name}: {wrong}"[:600])
    return "!"


def holds(kind: str, dtype: torch.dtype, number: complex) -> bool:
    """Whether a number of the kind can be converted."""
    if kind == "." or dtype is torch.bool:
        return True
    if kind == "d":
        return not isinstance(number, complex)
    if kind == "^":
        wide = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
        dtype = wide.get(dtype, dtype)
    if isinstance(number, complex):
        return dtype.is_complex
    if dtype.is_floating_point or dtype.is_complex:
        return abs(number) <= torch.finfo(dtype).max
    info = torch.iinfo(dtype)
    lowest = info.min if info.min < 0 else -info.max  # unsigned numbers wrap around
    return lowest <= number <= info.max


# -- the table --


def render(entries: dict[str, Entry]) -> str:
    names = defaultdict(list)
    for name, entry in entries.items():
        names[entry].append(name)
    rows = []
    for entry, operators in sorted(names.items(), key=lambda item: sorted(item[1])):
        patterns, called = quoted(entry.patterns), quoted(sorted(operators))
        rows.append(
            f"    {{{patterns},\n"
            f'     "{entry.numbers}", "{entry.overlaps}",\n'
            f"     {called}}},\n"
        )
    return HEAD + "".join(rows) + TAIL


def quoted(words: Iterable[str]) -> str:
    """A literal of C++ in lines of at most 88 columns."""
    lines = textwrap.wrap(" ".join(words), 78, break_on_hyphens=False)
    return "\n     ".join(
        f'"{line}{" " if line is not lines[-1] else ""}"' for line in lines
    )


if __name__ == "__main__":
    sys.exit(main())
