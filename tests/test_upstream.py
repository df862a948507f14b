# Each known gap says which thread of PyTorch is about it; see docs/ship/known-gaps.md.
"""A section that names the cause of a gap has a line "Upstream", with its threads."""

import re

import pytest
from test_page_order import DOCS

SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)
CAUSE = re.compile(r"^\* \*\*Cause", re.MULTILINE)
LINE = re.compile(r"^\* \*\*Upstream:\*\* (.+(?:\n  .+)*)$", re.MULTILINE)
THREAD = re.compile(
    r"\[#(\d+)[^\]]*\]\(https://github\.com/[\w./-]+/(?:issues|pull)/\1\)"
)
NONE = "no thread found."  # somebody searched


def gaps(text):
    """The sections of a page that describe a gap, with what each says about threads."""
    return {
        title: LINE.findall(body)
        for title, body in SECTION.findall(text)
        if CAUSE.search(body)
    }


def complete(lines):
    """Whether there is a line, and each one has a thread or says that there is none."""
    return bool(lines) and all(line == NONE or THREAD.search(line) for line in lines)


GAPS = [
    pytest.param(lines, id=f"{page.stem}: {title}")
    for page in sorted(DOCS.glob("ship/known-*.md"))
    for title, lines in gaps(page.read_text()).items()
]


@pytest.mark.parametrize("lines", GAPS)
def test_a_gap_names_its_threads(lines):
    assert complete(lines), f"add '* **Upstream:** [#1](address)', or '{NONE}'"


def test_the_gaps_are_found():
    assert len(GAPS) > 50


ADDRESS = "https://github.com/pytorch/pytorch/pull/1"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "* **Upstream:** somebody asked.\n",
        f"* **Upstream:** [#2]({ADDRESS}) is another number.\n",
        f"* **Upstream:** [#1]({ADDRESS}).\n* **Upstream:** perhaps.\n",
    ],
)
def test_another_form_is_found(body):
    page = f"# Gaps\n\n## A gap\n\n* **Cause:** a file.\n{body}\n## Recap\n\n* a\n"
    assert list(map(complete, gaps(page).values())) == [False]


def test_the_form():
    page = (
        "## A\n\n* **Cause:** a file.\n"
        f"* **Upstream:** an RFC about\n  this, [#1]({ADDRESS}).\n\n"
        f"## B\n\n* **Cause of the error:** a file.\n* **Upstream:** {NONE}\n\n"
        "## C\n\nNo gap.\n"
    )
    assert list(map(complete, gaps(page).values())) == [True, True]
