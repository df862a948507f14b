"""The source files that a page may show, and the marked snippets in them.

Explained in CONTRIBUTING.md, "Writing a chapter". Needs only the standard library, so
that `region_coverage.py` can use it too.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from snippet_contract.markers import Snippet, find_snippets

OUTPUT_FOLDERS = {"build", "dist", "node_modules", "__pycache__"}
LARGEST_SOURCE = 1_000_000


class SourceIndex:
    """Source files of the repository, outside of `docs` but for its browser tests."""

    def __init__(self, root: Path, docs: Path, output: Path) -> None:
        self.root = root.resolve()
        self.docs = docs.resolve()
        self.output = output.resolve()
        self.snippets: dict[str, dict[str, Snippet]] = {}
        self.problems: list[tuple[str, str]] = []
        places: dict[str, str] = {}
        for path in source_files(self.root):
            if not self.may_be_shown(path):
                continue
            text = read_source(path)
            if text is None:
                continue
            name = path.relative_to(self.root).as_posix()
            found, faults = find_snippets(text)
            self.snippets[name] = found
            self.problems += [(f"{name}:{line}", text) for line, text in faults]
            for snippet in found.values():
                place = f"{name}:{snippet.start}"
                first = places.setdefault(snippet.name, place)
                if first != place:
                    text = (
                        f"snippet name {snippet.name} is already used at {first}."
                        " A name is used once in the repository."
                    )
                    self.problems.append((place, text))

    def may_be_shown(self, path: Path) -> bool:
        if path.is_relative_to(self.output):
            return False
        if not path.is_relative_to(self.docs):
            return True
        return path.relative_to(self.docs).parts[0] == "_tests"


def source_files(root: Path) -> list[Path]:
    """Source files of the repository: tracked or new, but never ignored ones."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)
        if done.returncode == 0:
            names = os.fsdecode(done.stdout).split("\0")
            return sorted(root / name for name in names if name)
    files: list[Path] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [
            name for name in folders if name[0] != "." and name not in OUTPUT_FOLDERS
        ]
        files += [Path(folder, name) for name in names]
    return sorted(files)


def read_source(path: Path) -> str | None:
    """Text of a source file; None for Markdown, binary, huge or vanished files."""
    try:
        if path.suffix == ".md" or path.stat().st_size > LARGEST_SOURCE:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
