# What the starter does without a piece; see docs/reference/starter-knockouts.md.
import re
from pathlib import Path

import pytest
import starter_knockouts
import starter_variants
import torch
from error_index import anchor, sections, tables
from starter_build import install_starter
from starter_knockouts import PAGE, SECTIONS, SHOWN_ELSEWHERE, pieces, row
from starter_programs import PROGRAMS

INCLUDE = Path(torch.__file__).parent / "include"
UNBUILT = ["entry point", "module"]  # sections whose pieces are left out in Python
ELSEWHERE = "Pieces that the starter lacks"
BLOCK = re.compile(r"^```\{(?:doctest|transcript)\}\n(.*?)^```$", re.M | re.S)
HEADERS = {"The guard": "c10/core/impl/DeviceGuardImplInterface.h"}


@pytest.fixture(scope="module")
def measured():
    """What the unchanged starter shows with all pieces, and without each of some."""
    names = [name for section in UNBUILT for name in pieces()[section]]
    return starter_knockouts.measure(install_starter(), names)


def rows():
    """The cells of the page, by section and by what is missing."""
    return {
        (title, line[0].strip("`")): line
        for title, body in sections(PAGE.read_text())
        for _, _, *lines in tables(body)
        for line in lines
    }


def test_with_all_pieces_every_program_passes(measured):
    assert measured[""] == [""] * len(PROGRAMS)


@pytest.mark.parametrize("section", UNBUILT)
def test_the_rows_without_a_build_are_what_the_tool_sees(section, measured):
    hint = "write it again: nox -s ladder -- knockouts"
    found = [row(name, measured[name]) for name in pieces()[section]]
    body = dict(sections(PAGE.read_text()))[SECTIONS[section][0]]
    assert body.strip().splitlines()[-len(found) :] == found, hint


def test_the_page_lists_each_piece():
    listed = [
        (title, row(name, ["ABSTRACT"]).split("|")[1].strip(" `"))
        for section, names in pieces().items()
        for title in [SECTIONS[section][0]]
        for name in names
    ]
    assert list(rows()) == [*listed, *((ELSEWHERE, name) for name in SHOWN_ELSEWHERE)]


@pytest.mark.parametrize("piece", SHOWN_ELSEWHERE)
def test_an_example_of_the_linked_section_raises_the_error(piece):
    link, error = SHOWN_ELSEWHERE[piece]
    assert rows()[ELSEWHERE, piece][1:] == [link, f"`{error}`"]
    name, _, fragment = re.search(r"\((.+)\)", link)[1].partition("#")
    parts = re.split(r"^##+ ", (PAGE.parent / name).read_text(), flags=re.M)[1:]
    titles = dict(part.split("\n", 1) for part in parts)
    [body] = [text for title, text in titles.items() if anchor(title) == fragment]
    lines = "".join(BLOCK.findall(body)).replace("`", "'").splitlines()
    assert error in lines


@pytest.mark.parametrize(("title", "header"), HEADERS.items())
def test_the_members_that_do_not_compile_are_the_pure_ones(title, header):
    text = (INCLUDE / header).read_text()
    pure = re.findall(r"virtual [^;{]*?(\w+)\([^;{]*\)[^;{]*= 0;", text)
    abstract = {
        name
        for (section, name), line in rows().items()
        if section == title and line[1] == "does not compile"
    }
    assert abstract == set(pure)


@pytest.mark.parametrize("piece", starter_variants.CLASSES)
def test_the_members_that_can_be_left_out_are_all(piece):
    """The tool reads the class; ``override`` counts its members another way."""
    file = starter_variants.CLASSES[piece][0]
    text = (starter_variants.STARTER / file).read_text()
    assert len(starter_variants.class_members(piece)) == text.count(" override {")
    rewritten = starter_variants.rewritten_class(piece)
    assert rewritten.count("struct Without_") == text.count(" override {")
