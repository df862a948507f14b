"""One planted fault for everything that the coverage of shown lines must notice.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from region_coverage import lines_never_run, main
from small_guide import mark

ADD = mark("ADD", "int add(int a) {", "  return a + 1;", "}", comment="//")
SUB = mark("SUB", "int sub(int a) {", "  return a - 1;", "}", comment="//")
SOURCE = ADD + SUB
EXCEPTION = '[[reason]]\nsnippets = ["{}"]\ntext = "{}"\n'

SEVERAL_COUNTED = EXCEPTION.format('A", "B', "why") + "never_run = 1\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "x.cpp").write_text(SOURCE)
    (tmp_path / "x.py").write_text(mark("RUN", "a = 1", "b = 2"))
    return tmp_path.resolve()


def check(root: Path, *arguments: str, exceptions: str = "") -> int:
    file = root / "exceptions.toml"
    file.write_text(exceptions)
    return main(["--root", str(root), "--exceptions", str(file), *arguments])


def write_gcov(root: Path, **counts: int) -> str:
    lines = [{"line_number": int(n[1:]), "count": c} for n, c in counts.items()]
    report = {
        "current_working_directory": str(root),
        "files": [{"file": "x.cpp", "lines": lines}],
    }
    folder = root / "build"
    folder.mkdir(exist_ok=True)
    file = folder / f"{len(list(folder.iterdir()))}.gcov.json.gz"
    file.write_bytes(gzip.compress(json.dumps(report).encode()))
    return str(folder)


def write_coverage(root: Path, executed: list[int], missing: list[int]) -> str:
    file = root / "coverage.json"
    lines = {"executed_lines": executed, "missing_lines": missing}
    file.write_text(json.dumps({"files": {"x.py": lines}}))
    return str(file)


def test_a_function_that_was_entered_ran_its_first_line(root: Path) -> None:
    write_gcov(root, l2=0, l3=1, l7=1, l8=1)
    report = root / "build" / "0.gcov.json.gz"
    content = json.loads(gzip.decompress(report.read_bytes()))
    entered = {"start_line": 2, "execution_count": 5}
    content["files"][0]["functions"] = [entered]
    report.write_bytes(gzip.compress(json.dumps(content).encode()))
    assert check(root, "--cpp", str(root / "build")) == 0
    content["files"][0]["functions"] = [entered | {"execution_count": 0}]
    report.write_bytes(gzip.compress(json.dumps(content).encode()))
    assert check(root, "--cpp", str(root / "build")) == 1


def test_accepts_lines_that_ran_in_any_report(root: Path) -> None:
    write_gcov(root, l2=1, l3=1, l7=0, l8=0)
    folder = write_gcov(root, l2=0, l3=0, l7=1, l8=1)
    report = write_coverage(root, [2, 3], [])
    assert check(root, "--cpp", folder, "--python", report) == 0


def test_refuses_cpp_line_that_never_ran(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_gcov(root, l2=1, l3=1, l7=1, l8=0)
    assert check(root, "--cpp", folder) == 1
    assert "x.cpp:8: SUB is shown, but no test ran its lines 8." in (
        capsys.readouterr().out
    )
    assert check(root, "--cpp", folder, exceptions=EXCEPTION.format("SUB", "why")) == 0


def test_a_line_of_brackets_holds_no_statement(root: Path) -> None:
    folder = write_gcov(root, l2=1, l3=1, l4=0, l7=1, l8=1, l9=0, l99=0)
    assert check(root, "--cpp", folder) == 0


def test_refuses_python_line_that_never_ran(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(root, "--python", write_coverage(root, [2], [3])) == 1
    assert "x.py:3: RUN is shown, but no test ran its lines 3." in (
        capsys.readouterr().out
    )


def test_refuses_file_that_no_report_knows(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "y.cpp").write_text(mark("MUL", "int mul(int a);", comment="//"))
    folder = write_gcov(root, l2=1, l3=1, l7=1, l8=1)
    assert check(root, "--cpp", folder) == 1
    assert "y.cpp:1: MUL is shown, but no report has its file" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [("ADD", "ADD ran. Remove it"), ("GONE", "exception GONE: there is no such")],
)
def test_refuses_stale_exception(
    root: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_gcov(root, l2=1, l3=1, l7=1, l8=1)
    assert check(root, "--cpp", folder, exceptions=EXCEPTION.format(name, "why")) == 1
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(("number", "code"), [(1, 0), (2, 1), (0, 0)])
def test_refuses_wrong_number_of_lines(
    root: Path, number: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_gcov(root, l2=1, l3=1, l7=1, l8=0)
    exceptions = EXCEPTION.format("SUB", "why") + f"never_run = {number}\n"
    assert check(root, "--cpp", folder, exceptions=exceptions) == code
    assert lines_never_run(root / "exceptions.toml") == number
    text = "never_run is 2, but 1 lines did not run. x.cpp:8: SUB"
    assert (text in capsys.readouterr().out) == bool(code)


def test_front_page_shows_how_many_lines_never_run() -> None:
    page = (Path(__file__).parents[2] / "index.md").read_text()
    proof = page.partition("\n## How the guide is checked\n")[2].partition("\n## ")[0]
    assert "Nothing runs {{ lines_never_run }} of them" in proof
    assert lines_never_run() > 0  # else this sentence would be a riddle


def test_refuses_to_judge_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = write_coverage(tmp_path, [1], [])
    assert check(tmp_path, "--python", report) == 1
    assert "no snippet was checked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "exceptions", "text"),
    [
        ([], "", "give --python, --cpp, or both"),
        (["--python", "absent.json"], "", "cannot read absent.json"),
        (["--cpp", "absent"], "", "below absent"),
        (["--python", "{root}/list.json"], "", "is no coverage report"),
        (["--python", "{root}/empty.json"], "", "is no JSON report of coverage.py"),
        (["--python", "{report}"], EXCEPTION.format("ADD", " "), "needs a text and"),
        (["--python", "{report}"], EXCEPTION.format("A", "b") * 2, "A has two reasons"),
        (["--python", "{report}"], SEVERAL_COUNTED, "never_run counts one snippet"),
        (["--python", "{report}"], "[[snippet]]\n", "only [[reason]] is read"),
        (["--python", "{report}"], "[[snippet", "exceptions.toml: "),
    ],
)
def test_bad_input_is_told(
    root: Path,
    arguments: list[str],
    exceptions: str,
    text: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (root / "list.json").write_text("[]")
    (root / "empty.json").write_text("{}")
    report = write_coverage(root, [2, 3], [])
    arguments = [text.format(root=root, report=report) for text in arguments]
    with pytest.raises(SystemExit):
        check(root, *arguments, exceptions=exceptions)
    assert text in capsys.readouterr().err


def test_reads_what_gcov_writes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shutil.which("gcov"), "gcov comes with g++, which the build needs anyway"
    (root / "main.cpp").write_text(
        '#include "x.cpp"\nint main() { return add(1) == 2 ? 0 : 1; }\n'
    )
    for command in (
        "g++ --coverage -c main.cpp -o unit.o",
        "g++ --coverage unit.o -o main",
        "./main",
        "gcov --json-format unit.gcda",
    ):
        subprocess.run(command.split(), cwd=root, check=True, capture_output=True)
    assert check(root, "--cpp", str(root)) == 1
    out = capsys.readouterr().out
    assert "SUB is shown, but no test ran its lines 7, 8." in out
    assert "ADD" not in out
