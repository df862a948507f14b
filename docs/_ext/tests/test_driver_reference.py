# docs/_ext/driver_reference.py: every function of the headers is described.
from __future__ import annotations

import re
from pathlib import Path

import pytest
from driver_reference import INCLUDE, Entry, markdown_of, read_header
from site_build import build

ROOT = Path(__file__).resolve().parents[3]
HEADERS = sorted((ROOT / INCLUDE).glob("*.h"))
PAGE = (ROOT / "docs/reference/driver.md").read_text()
SETTINGS = """
extensions += ["driver_reference"]
driver_headers = {folder!r}
nitpick_ignore = [("c:identifier", "orError_t"), ("c:identifier", "orQueue")]
"""
HEADER = """\
/* A driver. See docs/other/page.md.
 *
 *   OPENREG_NAME   what it is
 *                  called
 */
#ifndef DRIVER_H
#define OPENREG_API

/* ------------ queues --- */

/* A queue. */
typedef struct orQueue* orQueue_t;

/* States. */
typedef enum orState {
  orIdle = 0, /* nothing; to do */
} orState;

/* Makes a queue in *queue, see orQueueFree(). */
OPENREG_API orError_t orQueueMake(orQueue_t* queue,
                                  int size);
/* Frees a queue; `orState` stays. */
OPENREG_API orError_t orQueueFree(orQueue_t queue);
OPENREG_API orError_t orQueueDrop(orQueue_t queue);

/* A note on all. */
"""


def test_the_page_has_each_header() -> None:
    included = re.findall(r"^```\{c-header\} (\S+)$", PAGE, re.MULTILINE)
    assert sorted(included) == [header.name for header in HEADERS]


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_each_function_is_found_and_has_a_comment(header: Path) -> None:
    entries = [e for e in read_header(header) if e.kind == "function"]
    declared = re.findall(
        r"^OPENREG_API\s[^;]*?(\w+)\(", header.read_text(), re.MULTILINE
    )
    assert sorted(declared) == sorted(name for e in entries for name in e.names)
    assert not [entry.names for entry in entries if len(entry.comment) < 20]


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_functions_share_a_comment_only_if_it_is_about_both(header: Path) -> None:
    """A function without a comment would get that of the one above it."""
    shared = [e for e in read_header(header) if e.kind == "function" and e.names[1:]]
    about = re.compile(r"\b[Bb]oth\b|\btwo\b|[Mm]essages|\b(?:and|which) the rank\b")
    for entry in shared:
        named = [name for name in entry.names if name in entry.comment]
        assert named or about.search(entry.comment), entry.names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "driver.h").write_text(HEADER)
    return tmp_path


def test_the_entries_of_a_header(folder: Path) -> None:
    first, section, queue, state, make, free, note = read_header(folder / "driver.h")
    assert first.comment.startswith("A driver. See")
    assert section == Entry("section", "queues")
    assert (queue.names, state.names) == (["orQueue_t"], ["orState"])
    assert make.declarations == ("orError_t orQueueMake(orQueue_t* queue, int size)",)
    assert free.names == ["orQueueFree", "orQueueDrop"]
    assert (note.kind, note.comment) == ("text", "A note on all.")


def test_a_comment_as_markdown() -> None:
    text = markdown_of(
        "In *x, orA() or `orA`; orB [0, 1). OPENREG_C=1.", {"orA"}, {"orB"}
    )
    assert text == (
        "In `*x`, {c:func}`orA` or `orA`; {c:type}`orB` \\[0, 1). `OPENREG_C`=1."
    )


def test_a_page(folder: Path) -> None:
    text = "# Driver\n\n## driver.h\n\n```{c-header} driver.h\n```\n"
    pages = {"reference/driver.md": text, "other/page.md": "# Other page\n"}
    pages["index.md"] = "# Front\n\n```{toctree}\nreference/driver\nother/page\n```\n"
    built = build(folder, pages, settings=SETTINGS.format(folder=str(folder)))
    assert built.code == 0, built.messages
    page = built.text("reference/driver.html")
    for name in ("orQueueMake", "orQueueFree", "orQueueDrop", "orQueue_t", "orState"):
        assert f'id="c.{name}"' in page
    assert '<section id="queues">' in page
    assert 'href="../other/page.html"' in page  # in the comment of the file
    assert "OPENREG_NAME" in page and "what it is called" in page
    assert 'href="#c.orQueueFree"' in page  # in the comment of orQueueMake


def test_a_type_without_a_declaration_stops_the_build(folder: Path) -> None:
    header = HEADER.replace("typedef struct orQueue* orQueue_t;", "")
    (folder / "driver.h").write_text(header)
    pages = {"reference/driver.md": "# Driver\n\n```{c-header} driver.h\n```\n"}
    pages["other/page.md"] = "# Other page\n"
    pages["index.md"] = "# Front\n\n```{toctree}\nreference/driver\nother/page\n```\n"
    built = build(folder, pages, settings=SETTINGS.format(folder=str(folder)))
    assert built.code != 0
    assert "reference target not found: orQueue_t" in built.messages
