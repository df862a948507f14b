"""Tests of lint_repository.py: one planted fault for each of its rules."""

import subprocess
import sys
from pathlib import Path

import pytest
from lint_repository import problems

SCRIPT = Path(__file__).with_name("lint_repository.py")
HEADER = "// Says what this file is for.\n"


def lint(root, name, content):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return problems(root, name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.cpp", HEADER + "int a;\n"),
        ("a.py", '"""Says what this is for."""\n'),
        ("CMakeLists.txt", "# Builds all of this.\n"),
        (".ci/run", "#!/usr/bin/env bash\n# Runs what a change must pass.\n"),
        ("page.md", "# Title\n"),
        ("page.md", "Title\n" + "=" * 8 + "\n"),
        ("openreg/csrc/aten/page.md", "`aten/page.{md,md}`, `csrc/aten`, `aten/p*`\n"),
        ("picture.png", b"\x89PNG\0"),
        ("a.cpp", HEADER + "int a;\n" * 449),
        ("a.py", "# This is about paths.\nroot = f'{base}/home/x' + 'docs/tmp/x'\n"),
    ],
)
def test_good_file(tmp_path, name, content):
    assert lint(tmp_path, name, content) == []


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.cpp", "int a;\n", "a.cpp:1: the first line must be a comment"),
        ("a.h", "#pragma once\n", "a.h:1: the first line must be a comment"),
        ("a.h", "//\n// Says what this is for.\n", "a.h:1: the first line"),
        ("a.py", "import os\n", "a.py:1: the first line must be a comment"),
        ("a.py", "", "a.py:1: the first line must be a comment"),
        ("CMakeLists.txt", "project(x)\n", "CMakeLists.txt:1: the first line"),
        (".ci/run", "#!/bin/bash\nset -e\n", ".ci/run:1: the first line"),
        ("a.cpp", HEADER + "int a;\n" * 450, "a.cpp: 451 lines, more than 450"),
        ("page.md", "text\n" * 451, "page.md: 451 lines, more than 450"),
        ("data.bin", b"\0" * 1_000_001, "data.bin: 1000001 bytes"),
        ("lib/a.so", b"\x7fELF\0", "lib/a.so: a generated file"),
        ("build/x.txt", "x\n", "build/x.txt: a generated file"),
        ("x/__pycache__/a.txt", "x\n", "x/__pycache__/a.txt: a generated file"),
        ("a.md", "see /" + "home/me/x\n", "a.md:1: a path of one machine: /ho"),
        ("a.md", "in '/" + "tmp/x'\n", "a.md:1: a path of one machine: /tm"),
        ("a.md", "https://py" + "pi.org/simple\n", "a.md:1: the address of a package"),
        ("a.md", "in `aten/Gone.*`\n", "a.md:1: names a missing file: aten/Gone.*"),
        (
            "a.cpp",
            "// What it does; explained in\n// docs/ship/nowhere.md.\n",
            "a.cpp:2: names a missing page: docs/ship/nowhere.md",
        ),
        (
            "a.toml",
            "# What it sets; see CONTRIBUTING.md.\n",
            "a.toml:1: names a missing page: CONTRIBUTING.md",
        ),
        ("a.cpp", HEADER + "// TO" + "DO: all\n", "a.cpp:2: unfinished work: TO"),
        (
            "a.py",
            "# Tests what this is for.\nfrom conf" + "test import X\n",
            "a.py:2: an import that the conftest.py of another folder may answer",
        ),
        (
            "a.py",
            "# A test of something.\n@pytest.mark." + "skipif(x)\n",
            "a.py:2: a test that does not run: mark" + ".skip",
        ),
        (
            "a.cpp",
            HEADER + "GTEST" + "_SKIP();\n",
            "a.cpp:2: a test that does not run: GTEST",
        ),
        ("a.md", "<" * 7 + " HEAD\n", "a.md:1: a conflict of a merge: <<<"),
        ("a.md", "=" * 7 + "\n", "a.md:1: a conflict of a merge: ==="),
        ("a.md", ">" * 7 + " 1cad5ec (x)\n", "a.md:1: a conflict of a merge: >>>"),
    ],
)
def test_planted_fault(tmp_path, name, content, expected):
    found = lint(tmp_path, name, content)
    assert len(found) == 1, found
    assert found[0].startswith(expected)


def test_a_page_that_exists_may_be_named(tmp_path):
    (tmp_path / "docs" / "ship").mkdir(parents=True)
    (tmp_path / "docs" / "ship" / "testing.md").write_text("# Testing\n")
    content = "// What it does; explained in docs/ship/testing.md.\n"
    assert lint(tmp_path, "a.cpp", content) == []


def run(*names):
    command = [sys.executable, SCRIPT, *names]
    return subprocess.run(command, capture_output=True, text=True)


def test_command_counts_what_it_read():
    result = run("LICENSE", "noxfile.py")
    assert (result.returncode, result.stdout) == (
        0,
        "repository: 2 files, 0 problems\n",
    )


def test_command_without_files():
    result = run()
    assert result.returncode == 2
    assert result.stderr.startswith("usage:")
