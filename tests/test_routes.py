# The front page's routes and its plan of days; see docs/index.md.
"""A reader with a deadline comes early to what matters, by route and by Next."""

import re

from test_page_order import DOCS, LINKED_ONLY, order

FRONT = (DOCS / "index.md").read_text()
ROUTES = re.findall(
    r"^:::\{grid-item-card\} (.+)\n((?:(?!:::).*\n)*1\. (?:(?!:::).*\n)*)", FRONT, re.M
)
PAGE = re.compile(r"^\d\. \[.+\]\((.+)\.md\) \{minutes\}`(.+)`$", re.MULTILINE)


def test_there_are_three_routes_of_six_to_eight_pages_with_times():
    assert len(ROUTES) == 3
    for title, text in ROUTES:
        pages = PAGE.findall(text)
        assert 6 <= len(pages) <= 8, title
        assert all(link == measured for link, measured in pages), title
        total = " ".join(link for link, _ in pages)
        assert f"in {{minutes}}`{total}`" in " ".join(text.split()), title


def test_the_route_of_a_deadline_has_what_a_vendor_needs():
    pages = {link for link, _ in PAGE.findall(dict(ROUTES)["A driver and a deadline"])}
    needed = {"ship/make-it-yours", "ship/driver-map", "start/first-kernel"}
    needed |= {"start/ladder", "ship/conformance", "ship/debugging"}
    assert needed <= pages


def test_next_leads_early_to_make_it_yours():
    assert order().index("ship/make-it-yours") < 4


def test_the_plan_has_the_days_of_the_ladder():
    table = re.findall(
        r"^\| \[\d\. .+?\| ([\d/]+) \| `", (DOCS / "start/ladder.md").read_text(), re.M
    )
    days = [0.5 if cell == "1/2" else float(cell) for cell in table]
    assert len(days) == 10
    assert f"{sum(days)} days in total" in FRONT
    assert sum(days[:2]) <= 2 and sum(days[:4]) <= 5
    assert re.findall(r"^\| day (\d+) \|", FRONT, re.M)[:4] == ["1", "2", "5", "10"]


def test_the_sidebar_is_short():
    assert len(order()) <= 133
    assert not set(order()) & LINKED_ONLY
