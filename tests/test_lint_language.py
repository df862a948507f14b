"""Tests of lint_language.py: one planted fault for each of its rules."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from lint_language import LOWER_NAMES, NAMES, PHRASES, heading_faults, is_read, problems

ROOT = Path(__file__).resolve().parent.parent
FAULTS = [
    "It waits for ever.",
    "The other way round, it is safe.",
    "A way round is to pin it.",
    "Without the way back, memory would be in pieces.",
    "The way of one operator call.",
    "Yours gets the way of the CPU.",
    "Wrong calls are refused in words:",
    "Who waits, sleeps.",
    "Whoever calls it, must wait.",
    "It does so in a thread.",
    "Each station can be looked at.",
    "A block that was given back.",
    "The kernel of before.",
    "A stream that gets on.",
    "It fails now and then.",
    "Training runs on the CPU, without a word.",
    "There is nobody left to tell.",
    "The block is kept until the tensor dies.",
    "The allocator knows its size.",
    "The flag tells the hook.",
    "Programs that never heard of the backend.",
    "Attention takes the math way.",
    "Bear being looked over.",
    "Measure before you like it.",
    "It runs in a thread of its own.",
    "The kernel is right, too.",
    "A process has room for one backend.",
    "The error has the words of the driver.",
]


@pytest.mark.parametrize("text", FAULTS)
def test_planted_fault(text):
    (found,) = problems("a.md", f"Good.\n{text}\n")
    assert found.startswith("a.md:2: '")


def test_each_phrase_has_a_planted_fault():
    assert len(FAULTS) == len(PHRASES)
    found = [problem for text in FAULTS for problem in problems("a.md", text)]
    assert {problem.split("; write: ")[1] for problem in found} == set(PHRASES.values())


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("It does\nso in a thread.", "a:1: 'does so'"),
        ("// It waits for\n// ever.", "a:1: 'for // ever'"),
        ("x = 1\n# LOOK AT it.", "a:2: 'LOOK AT'"),
    ],
)
def test_a_phrase_may_be_broken_over_two_lines(text, place):
    (found,) = problems("a", text)
    assert found.startswith(place)


@pytest.mark.parametrize(
    "text",
    [
        "[word for word in words]",
        "forever",
        "a workaround",
        "It looks ahead.",
        "do some",
    ],
)
def test_good_text(text):
    assert not list(problems("a.md", text))


@pytest.mark.parametrize(
    ("heading", "fault"),
    [
        ("The device guard.", "no punctuation"),
        ("What goes wrong:", "no punctuation"),
        ("What goes wrong?", "no question"),
        ("Stop! A guard", "no exclamation"),
        ("the device guard", "a capital letter"),
        ("2. the device guard", "a capital letter"),
        ("The Device guard", "begin 'Device' with a small letter"),
        ("Errors of (Device) guards", "begin 'Device' with a small letter"),
        ("The device's Guard-like member", "begin 'Guard-like' with a small letter"),
        (" ".join(["Words"] + 12 * ["follow"]), "at most 12 words"),
    ],
)
def test_a_planted_fault_of_a_heading(heading, fault):
    (found,) = problems("a.md", f"# Good\n\n```text\n# a Block.\n```\n\n## {heading}\n")
    assert found.startswith(f"a.md:7: heading '{heading}'; ") and fault in found
    assert not list(problems("a.py", f"# {heading}"))


@pytest.mark.parametrize(
    "heading",
    [
        "The device guard",
        "1. Device and guard",
        "Compiling with Inductor",
        "CUDA, ABI and DTensor's FSDP2",
        "torch.accelerator.empty_cache keeps the GIL",
        "vLLM",
        "`Some Error. Why?` on import",
        " ".join(["Words"] + 11 * ["follow"]),
    ],
)
def test_a_good_heading(heading):
    assert not list(heading_faults(re.sub("`.*`", "X", heading)))
    assert not list(problems("a.md", f"# {heading}\n"))


def test_each_name_is_in_a_heading():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*/*.md")]
    lines = [line for page in pages for line in page.read_text().splitlines()]
    words = {w for line in lines if line.startswith("#") for w in line.split()}
    assert {word.rstrip(",:") for word in words} >= NAMES | LOWER_NAMES


def test_the_list_itself_and_pictures_are_not_read():
    assert is_read("docs/index.md") and is_read("openreg/csrc/runtime/a.cpp")
    assert not is_read("docs/a.svg") and not is_read("tests/lint_language.py")


def test_command(tmp_path):
    script = ROOT / "tests/lint_language.py"
    command = [sys.executable, str(script), "LICENSE", "noxfile.py"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "language: 1 files, 0 problems\n")
    fault = tmp_path / "a.md"
    fault.write_text("Look at it.\n")
    result = subprocess.run([*command[:2], fault], capture_output=True, text=True)
    assert result.returncode == 1 and "'Look at'" in result.stdout
    assert subprocess.run(command[:2], capture_output=True).returncode == 2
