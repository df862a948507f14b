# Each chapter of Runtime and Operators has an exercise; see CONTRIBUTING.md.
"""An exercise stands before the recap, with a folded solution that the build runs."""

import re

import pytest
from test_page_order import DOCS, PAGES

EXERCISE = re.compile(
    r"^## Exercise\n\n(?P<task>.+?)\n\n"
    r"(?P<colons>:{3,})\{dropdown\} Solution\n(?P<solution>.+?)\n(?P=colons)\n\n"
    r"## Recap\n",
    re.MULTILINE | re.DOTALL,
)
RUN = re.compile(r"^```\{(?:doctest|transcript)\}\n(?:>>>|\$) ", re.MULTILINE)
PARTS = ("runtime", "operators")


def exercise(text):
    """The task and the solution of a page, or None."""
    found = EXERCISE.search(text)
    if not found or "\n## " in found["task"] or not RUN.search(found["solution"]):
        return None
    return found["task"], found["solution"]


@pytest.mark.parametrize("name", [p for p in PAGES if p.partition("/")[0] in PARTS])
def test_a_chapter_has_an_exercise(name):
    there = exercise((DOCS / f"{name}.md").read_text())
    assert there, "add '## Exercise' before the recap, and a dropdown 'Solution'"


SOLUTION = ":::{dropdown} Solution\n\n```{doctest}\n>>> 1\n1\n```\n:::\n\n"


@pytest.mark.parametrize(
    "page",
    [
        f"## Exercise\n\n{SOLUTION}## Recap\n",  # no task
        f"## Exercise\n\nDo it.\n\n{SOLUTION}## More\n\n## Recap\n",
        f"## Exercise\n\nDo it.\n\n## More\n\n{SOLUTION}## Recap\n",
        f"## Exercise\n\nDo it.\n\n{SOLUTION}## Recap\n".replace("doctest", "code"),
        f"## Exercise\n\nDo it.\n\n{SOLUTION}## Recap\n".replace("Solution", "More"),
    ],
)
def test_another_form_is_found(page):
    assert exercise(page) is None


def test_the_form():
    page = f"## Exercise\n\nDo it.\n\n{SOLUTION}## Recap\n"
    assert exercise(page) == ("Do it.", "\n```{doctest}\n>>> 1\n1\n```")
