# What each change of torch means for a backend; see docs/ship/upgrading-changes.md.
"""`decisions.toml` names a row of the page for each change, or why it has none."""

import json
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

FOLDER = Path(__file__).parent
DECISIONS = FOLDER / "decisions.toml"
RECORDED = FOLDER / "recorded"
MARKS = {"new": "+", "gone": "-", "changed": "~"}
# By release, `rows` or `no_row`, and the text of the row or the reason: patterns.
Decisions = dict[str, dict[str, dict[str, list[str]]]]
Names = dict[str, dict[str, Iterable[str]]]


def read(file: Path = DECISIONS) -> Decisions:
    """Return the decisions by minor release, such as `2.15`."""
    return tomllib.loads(file.read_text())


def minor_of(version: str) -> str:
    """Return `2.15` for `2.15.0`."""
    return ".".join(version.split(".")[:2])


def items(difference: Names) -> list[str]:
    """Return each change as one line: its mark, its kind and its name."""
    return [
        f"{MARKS[word]} {kind}: {name}"
        for kind, changes in difference.items()
        for word, names in changes.items()
        for name in names
    ]


def undecided(found: list[str], release: str, decisions: Decisions) -> list[str]:
    """Return the changes that no pattern of this release covers."""
    parts = decisions.get(release, {}).values()
    patterns = [text for part in parts for texts in part.values() for text in texts]
    return [it for it in found if not any(fnmatchcase(it, text) for text in patterns)]


def record(difference: Names, release: str, folder: Path = RECORDED) -> None:
    """Keep the names, so that a test can ask another torch for them."""
    names = {
        kind: {word: sorted(found) for word, found in changes.items()}
        for kind, changes in difference.items()
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{release}.json").write_text(json.dumps(names, indent=1) + "\n")


def recorded(folder: Path = RECORDED) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Return the recorded names by minor release."""
    return {file.stem: json.loads(file.read_text()) for file in folder.glob("*.json")}
