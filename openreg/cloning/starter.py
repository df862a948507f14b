# Copies the starter under another name; see docs/ship/make-it-yours.md.
"""What the copy contains: the starter, and the tests that need no later stage."""

from __future__ import annotations

import re
from pathlib import Path

from cloning.full import CONFTEST, ROOT, closure, edited, inside
from cloning.spelling import SIMULATED, Spelling, without_guide
from cloning.stages import FIRST, cut

STARTER = ROOT / "openreg/starter"
LEFT_OUT = {"build", "__pycache__"}
STAGE = FIRST - 1  # of the ladder: the last one that the starter reaches
TESTS = ["operators/test_minimal.py"]
# Fixtures of the large backend, in the configuration of the tests.
LARGE = re.compile(r"^if backend\.STAGE >= backend\.LARGE:\n(?: .*\n)+", re.MULTILINE)
PYTEST = """
[tool.pytest.ini_options]
minversion = "8.0"
testpaths = ["tests"]
pythonpath = ["tests/support"]
addopts = ["-ra", "--strict-markers", "--strict-config"]
filterwarnings = ["error"]
"""


def renamed(text: str, name: str) -> str:
    """The text with the new name in each of the three spellings."""
    text = text.replace("starter", name).replace("STARTER", name.upper())
    return text.replace("Starter", name.capitalize())


def sources() -> list[Path]:
    """The files of the starter, relative to its folder, without what a build left."""
    every = (path.relative_to(STARTER) for path in sorted(STARTER.rglob("*")))
    files = [path for path in every if not LEFT_OUT & set(path.parts)]
    return [path for path in files if (STARTER / path).is_file()]


def test_text(path: Path) -> str:
    """A test, or what it imports, without what later stages need."""
    text = edited(path)
    if path.name == CONFTEST:
        text, count = LARGE.subn("", text)
        if count != 1:
            raise ValueError(
                f"{path}: expected one block of the large backend, found {count}"
            )
    return cut(str(path), text, {}, STAGE).replace("openreg/tests/", "tests/")


def starter_texts(spelling: Spelling) -> dict[str, str]:
    """The files of the starter and its tests: their paths and texts."""
    texts = {}
    for path in sources():
        text = (STARTER / path).read_text(encoding="utf-8")
        text = renamed(without_guide(text), spelling.name)
        if path.name == "pyproject.toml":
            text += PYTEST
        if path.name == "CMakeLists.txt":
            text = text.replace("../third_party/", "third_party/")
        if spelling.driver != SIMULATED:
            text = spelling.renamed(text, str(path))
        texts[renamed(str(path), spelling.name)] = text
    for path in closure([CONFTEST, *TESTS], test_text):
        text = spelling.renamed(test_text(path), str(path))
        texts[inside(path)] = text
    return texts
