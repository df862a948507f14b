# Writes a copy, and brings a later stage to it; see docs/ship/make-it-yours.md.
"""The copy contains a list of what was written, which shows what the vendor has edited:
such a file is reported, and never overwritten."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cloning.full import FOLDERS, ROOT
from cloning.starter import STARTER

# The sources of copies: a copy inside them would become part of the next copy.
SOURCES = [STARTER, *(ROOT / name for name in (*FOLDERS, "openreg/tests"))]
SOURCES.append(ROOT / "openreg/third_party")
LIST = ".copied.json"
# The vendor's own: what is there is left alone.
ROOMS = ("third_party/", "csrc/kernels/")
NEW = ".new"  # the suffix of our new text for a file that was edited


@dataclass
class Copy:
    """What a copy is of; `files` has a hash of each file as it was written."""

    name: str
    driver: str
    stage: int
    files: dict[str, str] = field(default_factory=dict)


@dataclass
class Changes:
    """What a copy needs, and what was left as the vendor has it."""

    write: dict[str, str] = field(default_factory=dict)
    delete: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)


def check_target(target: Path) -> Copy | None:
    """Return what is in this folder, if it is a copy.

    Raises:
        ValueError: a copy cannot be in this folder.
    """
    for path in (target, *target.parents):
        if os.path.lexists(path) and not path.is_dir():
            raise ValueError(f"{path} is not a folder. Choose another path.")
    for folder in SOURCES:
        if target.resolve().is_relative_to(folder):
            raise ValueError(
                f"{target} is in {folder}, whose files are copied. Choose a folder "
                "outside of it."
            )
    if (target / LIST).is_file():
        return Copy(**json.loads((target / LIST).read_text(encoding="utf-8")))
    if target.is_dir() and any(target.iterdir()):
        raise ValueError(
            f"{target} exists, is not empty, and has no {LIST} of a copy. Choose "
            "another folder."
        )
    return None


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def changes(target: Path, texts: dict[str, str], before: Copy | None) -> Changes:
    """Compare what is in the folder with what should be.

    Args:
        texts: of the files of the copy, by their paths.
        before: what was written the last time.
    """
    written = before.files if before else {}
    found = Changes()
    for path, text in texts.items():
        there = _read(target / path)
        if path.startswith(ROOMS):
            if there is None and path not in written:
                found.write[path] = text
        elif there is None or digest(there) == written.get(path):
            if there != text:
                found.write[path] = text
        elif there != text:
            found.edited.append(path)
            if digest(text) != written.get(path):
                found.write[path + NEW] = text
    for path, old in written.items():
        there = None if path in texts else _read(target / path)
        if there is not None and not path.startswith(ROOMS):
            (found.delete if digest(there) == old else found.edited).append(path)
    return found


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write files into a folder: their paths and texts."""
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def apply(target: Path, what: Changes, copy: Copy) -> None:
    """Write, and delete. Everything is written beside the copy first: a full disk
    leaves the copy as it was.

    Raises:
        OSError: a file cannot be written.
    """
    there = target.is_dir()
    place = target if there else target.parent
    place.mkdir(parents=True, exist_ok=True)
    work = place / f".new-{os.getpid()}"
    listed = json.dumps(asdict(copy), indent=1, sort_keys=True) + "\n"
    try:
        write(work, {**what.write, LIST: listed})
        if there:
            for path in (*what.write, LIST):
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (work / path).replace(target / path)
            for path in what.delete:
                (target / path).unlink()
                _without_empty_folders((target / path).parent, target)
        else:
            work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _without_empty_folders(folder: Path, top: Path) -> None:
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
