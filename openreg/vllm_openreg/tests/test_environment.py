# What is installed fits what vLLM requires; see docs/frontend/serving.md.
import importlib.metadata
import inspect
from pathlib import Path

import pytest
import vllm
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/frontend/serving.md"


def test_requirements():
    """The lock was made from a list of ours: it must be that of the package."""
    wanted = map(Requirement, importlib.metadata.requires("vllm"))
    here = [r for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})]
    assert len(here) > 40
    for requirement in here:
        version = importlib.metadata.version(requirement.name)
        assert requirement.specifier.contains(version, prereleases=True), requirement
    listed = (ROOT / "requirements/serving.in").read_text().splitlines()
    names = {
        Requirement(line).name.lower().replace("_", "-")
        for line in listed
        if line and not line.startswith(("#", "-"))
    }
    assert {r.name.lower().replace("_", "-") for r in here} <= names


def rows():
    """The table of the page: a file of vLLM, a line, and what stands there."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        name, _, number = cells[0].strip("`").partition(".py:")
        if number:
            yield f"{name}.py", int(number), cells[1].strip("`")


@pytest.mark.parametrize(("name", "number", "text"), list(rows()))
def test_places_of_the_page(name, number, text):
    lines = (Path(inspect.getfile(vllm)).parent / name).read_text().splitlines()
    assert text in lines[number - 1]


def test_the_page_has_places():
    assert len(list(rows())) >= 12
