# Which files a feature consists of; see docs/start/features.md.
"""The closure of what an entry of feature_list.py names.

That is what these files include or import, the source beside each header, and the
sources that define what the files use, without the files of the stages before. Up to
stage 3 the small backend has them; the large one replaces them in stage 4.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from definitions import defining
from feature_list import FEATURES, MODULE, PACKAGE, Feature
from ladder_stages import OPENREG, STAGES, STARTER, files_of, included

FROM_MODULE = re.compile(r"^from \.(\w+) import", re.MULTILINE)
FROM_PACKAGE = re.compile(r"^from torch_openreg import ([\w, ]+)", re.MULTILINE)


def roots(feature: Feature) -> list[str]:
    """The files that the feature names in the large backend."""
    return [
        str(path.relative_to(OPENREG))
        for path in matches(feature.files, OPENREG, feature)
    ]


def matches(patterns: tuple[str, ...], root: Path, feature: Feature) -> list[Path]:
    found = []
    for pattern in patterns:
        files = [path for path in sorted(root.glob(pattern)) if path.is_file()]
        assert files, f"{feature.name}: {pattern}"
        found += files
    return found


def imported(path: Path) -> list[Path]:
    """The files of the package that a Python file imports.

    The device module imports all others; those that you leave out leave it, too.
    """
    if path == OPENREG / MODULE / "__init__.py":
        return [path.with_name("_contexts.py"), path.with_name("_utils.py")]
    text = path.read_text()
    files = [path.with_name(f"{name}.py") for name in FROM_MODULE.findall(text)]
    for group in FROM_PACKAGE.findall(text):
        files += [OPENREG / PACKAGE / f"{name}.py" for name in group.split(", ")]
    return [file for file in files if file.is_file()]


def closure(roots: list[str]) -> set[str]:
    """The files that some include, and the sources that the linker needs with them."""
    found: set[str] = set()
    left = list(roots)
    while left:
        name = left.pop()
        path = OPENREG / name
        if name in found or not path.is_file():
            continue
        found.add(name)
        left += included(path)
        if path.suffix == ".h":
            left.append(str(Path(name).with_suffix(".cpp")))
        left += defining(name)
    return found


@cache
def needed_files(feature: Feature) -> frozenset[str]:
    """All files of the large backend that the feature cannot be built without."""
    found: set[str] = set()
    left = [OPENREG / name for name in roots(feature) if name.endswith(".py")]
    while left:
        path = left.pop()
        name = str(path.relative_to(OPENREG))
        if name not in found:
            found.add(name)
            left += imported(path)
    cpp = [name for name in roots(feature) if not name.endswith(".py")]
    return frozenset(found | closure(cpp))


@cache
def there_before(stage: int) -> frozenset[str]:
    """The files of the large backend in the stages before this one."""
    found: set[str] = set()
    for other in STAGES[:stage]:
        if not other.in_starter:
            found |= {str(path.relative_to(OPENREG)) for path in files_of(other)}
    for feature in FEATURES:
        if STAGES[feature.stage].in_starter or feature.stage >= stage:
            continue
        found |= needed_files(feature)
    return frozenset(found)


def to_copy(feature: Feature) -> list[Path]:
    """The files to copy for a feature: of the small backend up to stage 3."""
    if STAGES[feature.stage].in_starter:
        return sorted(matches(feature.small, STARTER, feature))
    new = needed_files(feature) - there_before(feature.stage)
    return sorted(OPENREG / name for name in new)


def to_replace(feature: Feature) -> list[Path]:
    """The files of the large backend that replace those of the small one."""
    if not STAGES[feature.stage].in_starter:
        return []
    return sorted(OPENREG / name for name in needed_files(feature))


def copy_into(feature: Feature, folder: Path) -> list[Path]:
    """Copy the list of a feature to what the stages before have brought.

    Return the copies of the list. Features of one stage of the small backend come
    together: each of its files is in one of them.
    """
    stage = STAGES[feature.stage]
    if stage.in_starter:
        root = STARTER
        earlier = [path for f in FEATURES if f.small for path in to_copy(f)]
        earlier = [path for path in earlier if stage_of(path) <= stage.number]
    else:
        root = OPENREG
        earlier = [OPENREG / name for name in there_before(stage.number)]
    listed = to_copy(feature)
    copy_files({*earlier, *listed}, root, folder)
    return [folder / path.relative_to(root) for path in listed]


def copy_files(files: Iterable[Path], root: Path, folder: Path) -> None:
    """Copy files below one folder to the same places below another."""
    for path in files:
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def stage_of(path: Path) -> int:
    """The stage that brings a file of the small backend."""
    return next(stage.number for stage in STAGES if path in files_of(stage))
