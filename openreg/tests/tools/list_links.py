# Compares the lists of files with object files; see docs/reference/copy-lists.md.
"""``nox -s ladder`` calls it for what it built last.

If a source of a list leaves a symbol to the linker, the list or the stages before it
must have a source that defines it, unless no source of the backend does.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from feature_files import there_before, to_copy, to_replace
from feature_list import FEATURES, Feature
from ladder_stages import OPENREG, STAGES  # finds the package cloning

# isort: split
from cloning.spelling import Spelling
from cloning.stages import stage_of


@dataclass(frozen=True)
class Symbols:
    """What an object file defines, and what it leaves to the linker."""

    defined: frozenset[str]
    undefined: frozenset[str]


def symbols_of(path: Path) -> Symbols:
    """The symbols of an object file that other files see."""
    command = ["nm", "--extern-only", "--format=posix", str(path)]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    kinds = dict(line.split(" ")[:2] for line in process.stdout.splitlines())
    undefined = {name for name, kind in kinds.items() if kind == "U"}
    return Symbols(frozenset(kinds.keys() - undefined), frozenset(undefined))


def definers_of(objects: dict[str, Symbols]) -> dict[str, set[str]]:
    """For each symbol, the sources that define it."""
    found: dict[str, set[str]] = {}
    for source, symbols in objects.items():
        for symbol in symbols.defined:
            found.setdefault(symbol, set()).add(source)
    return found


def lacking(
    there: set[str], undefined: frozenset[str], definers: dict[str, set[str]]
) -> set[str]:
    """The sources that define a symbol which none of those that are there defines."""
    wanted = [definers[symbol] for symbol in undefined & definers.keys()]
    return {source for sources in wanted if not sources & there for source in sources}


def check_lists(folder: Path, name: str, stage: int) -> None:
    """Compare the lists up to a stage with the object files of a copy of the backend.

    Args:
        folder: has the object files in folders such as those of csrc.
        name: of the copy.
        stage: of the copy.
    """
    objects = objects_of(folder, name, stage)
    definers = definers_of(objects)
    for feature in FEATURES:
        if feature.stage > stage:
            continue
        listed, there = files_of(feature)
        for source in sorted(name for name in listed if name.endswith(".cpp")):
            lacks = lacking(there, objects[source].undefined, definers)
            assert not lacks, f"list of {feature.name}: {source} needs {sorted(lacks)}"


def objects_of(folder: Path, name: str, stage: int) -> dict[str, Symbols]:
    """The object files of a copy, by the sources in the backend."""
    found = {}
    for path in sorted((OPENREG / "csrc").rglob("*.cpp")):
        source = str(path.relative_to(OPENREG))
        if stage_of(f"openreg/{source}") <= stage:  # older files may lie beside them
            built = Spelling(name).renamed(source.removeprefix("csrc/"), "")
            found[source] = symbols_of(folder / f"{built}.o")
    return found


def files_of(feature: Feature) -> tuple[set[str], set[str]]:
    """The list of a feature in the large backend, and all files that are there."""
    small = STAGES[feature.stage].in_starter
    paths = to_replace(feature) if small else to_copy(feature)
    listed = {str(path.relative_to(OPENREG)) for path in paths}
    return listed, listed if small else listed | there_before(feature.stage)
