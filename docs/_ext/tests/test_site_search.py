# docs/_ext/site_search.py: records of a small site, and how the index holds them.
from __future__ import annotations

import json
from pathlib import Path

from site_build import Built, build
from site_search import base36, differences, shorten, words_of

PAGES = {
    "index.md": (
        "# Front\n\nWelcome to `torch.load` here.\n\n## Below it\n\nDeeper words.\n\n"
        "```{toctree}\n:caption: Part\nreference/glossary\n```\n"
    ),
    "reference/glossary.md": (
        "# Glossary\n\n```{glossary}\nkernel\n  What a device runs.\n```\n"
    ),
    "search.toml": 'synonyms = [["hang", "deadlock"]]\nstop = "to the"\n',
}
SETTINGS = 'extensions += ["site_search"]\n'


def index_of(built: Built) -> dict:
    text = built.text("_static/search/index.js")
    prefix = "window.siteSearchIndex = "
    assert text.startswith(prefix)
    return json.loads(text.removeprefix(prefix).rstrip().removesuffix(";"))


def test_words_are_told_once_without_punctuation() -> None:
    text = "The map_location, `torch.load`: map_location. X and " + "x" * 50
    assert words_of(text) == ["the", "map_location", "torch.load", "and"]


def test_a_long_text_is_cut_between_words() -> None:
    assert shorten("one\n two") == "one two"
    assert shorten("word " * 99).endswith("word ...")


def test_numbers_are_those_of_javascript() -> None:
    assert [base36(number) for number in (0, 35, 36, 1295)] == ["0", "z", "10", "zz"]
    assert differences(["c", "a"], {"a": 1, "b": 2, "c": 3}) == "1 2"
    assert differences([], {}) == ""


def test_build_writes_the_index_and_replaces_the_search(tmp_path: Path) -> None:
    built = build(tmp_path, PAGES, settings=SETTINGS)
    assert built.code == 0, built.messages
    index = index_of(built)
    assert index["pages"][0] == ["index", "index.html", "Front", "Start"]
    assert index["synonyms"] == [["hang", "deadlock"]]
    found = {
        (index["kinds"][kind], anchor, heading, name): steps
        for kind, _, anchor, heading, name, _, steps in index["records"]
    }
    assert set(found) == {
        ("page", "", "Front", ""),
        ("section", "below-it", "Below it", ""),
        ("page", "", "Glossary", ""),
        ("term", "term-kernel", "", "kernel"),
    }
    words, place = index["words"].split(), 0
    told = []
    for step in found["page", "", "Front", ""].split():
        place += int(step, 36)
        told.append(words[place])
    assert set(told) == {"welcome", "torch.load", "here"}
    assert '<div id="search-results">' in built.text("search.html")
    assert not (built.out / "searchindex.js").exists()
