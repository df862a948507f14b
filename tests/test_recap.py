# Each page ends with a recap of three lines and the next page; see CONTRIBUTING.md.
"""A page without a recap, or one of another form, fails."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from test_page_order import DOCS, PAGES

RECAP = re.compile(
    r"^## Recap\n\n((?:\* .+\n(?:  .+\n)*){3})\n(Next: (?:.+\n)+)\Z", re.MULTILINE
)
LINK = re.compile(r"\]\(([^)#]+\.md)\)")


def recap(text):
    """The two parts of the recap at the end of a page, or None."""
    found = RECAP.search(text)
    return found and found.groups()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_ends_with_a_recap_and_the_next_page(name):
    path = DOCS / f"{name}.md"
    parts = recap(path.read_text())
    assert parts, "end with '## Recap', three lines, and 'Next: [...](...)'"
    links = LINK.findall(parts[1])
    assert links and all((path.parent / link).is_file() for link in links)


@pytest.mark.parametrize(("name", "following"), list(pairwise(PAGES)))
def test_the_link_leads_to_the_page_that_follows(name, following):
    path = DOCS / f"{name}.md"
    links = LINK.findall(recap(path.read_text())[1])
    assert DOCS / f"{following}.md" in [
        (path.parent / link).resolve() for link in links
    ]


@pytest.mark.parametrize(
    "end",
    [
        "* a\n* b\n\nNext: [c](c.md).\n",
        "* a\n* b\n* c\n* d\n\nNext: [c](c.md).\n",
        "* a\n* b\n* c\n",
        "* a\n* b\n* c\n\nNext: [c](c.md).\n\n## More\n",
    ],
)
def test_another_end_is_found(end):
    assert recap("# Page\n\n## Recap\n\n" + end) is None


def test_the_form():
    text = "## Recap\n\n* a\n* b,\n  b\n* c\n\nNext: [d](d.md).\n"
    assert recap(text) == ("* a\n* b,\n  b\n* c\n", "Next: [d](d.md).\n")
    assert Path(LINK.findall(recap(text)[1])[0]) == Path("d.md")
