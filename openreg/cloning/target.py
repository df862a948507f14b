# Writes a copy as a whole or not at all; see docs/ship/make-it-yours.md.
"""A part of a copy would prevent the next try in the same folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cloning.full import DRIVER, FOLDERS, ROOT
from cloning.starter import STARTER

# What copies are made of: the next one would contain a copy that lies in there.
SOURCES = [STARTER, *(ROOT / name for name in (*FOLDERS, "openreg/tests"))]
SOURCES.append((ROOT / DRIVER).parent)


def check_target(target: Path) -> None:
    """Raise ValueError if a copy cannot be in this folder."""
    for path in (target, *target.parents):
        if os.path.lexists(path) and not path.is_dir():
            raise ValueError(f"{path} is not a folder. Choose another path.")
    if target.is_dir() and any(target.iterdir()):
        raise ValueError(f"{target} exists and is not empty. Choose another folder.")
    for folder in SOURCES:
        if target.resolve().is_relative_to(folder):
            raise ValueError(
                f"{target} is in {folder}, whose files are copied. Choose a folder "
                "outside of it."
            )


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """Return a folder to write into, which becomes the target if nothing fails.

    A target that exists stays the folder that it is: it may be the current one of a
    shell, or another file system is mounted there.
    """
    there = target.is_dir()
    place = target if there else target.parent
    place.mkdir(parents=True, exist_ok=True)
    work = place / f".new-{os.getpid()}"
    work.mkdir()
    try:
        yield work
        if there:
            for path in list(work.iterdir()):
                path.rename(target / path.name)
            work.rmdir()
        else:
            work.rename(target)
    except BaseException:  # Ctrl-C, too
        shutil.rmtree(work, ignore_errors=True)
        raise
