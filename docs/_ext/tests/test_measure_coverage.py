"""What the measurement of coverage installs, and that gcov's reports can be read.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import measure_coverage
import pytest
import region_coverage
from measure_coverage import compile_dump, copy_python, cpp_reports

SOURCE = """int main(int argc, char**) {
  if (argc > 9) {
    return 1;
  }
}
"""


def test_reports_of_gcov_tell_which_lines_ran(tmp_path: Path) -> None:
    for folder in ("a", "b"):  # of the same name: both must get a report
        source = tmp_path / folder / "x.cpp"
        source.parent.mkdir()
        source.write_text(SOURCE)
        command = ["g++", "--coverage", "-O0", "-o", "x", str(source)]
        subprocess.run(command, check=True, cwd=source.parent)
        subprocess.run([source.parent / "x"], check=True)
    counts = region_coverage.read_cpp(cpp_reports(tmp_path, tmp_path / "gcov"))
    for folder in ("a", "b"):
        lines = counts[(tmp_path / folder / "x.cpp").resolve()]
        assert [number for number, count in lines.items() if count == 0] == [3]
        assert lines[1] and lines[2]


def declared_entry_points() -> set[tuple[str, str, str]]:
    """Group, name and object of the entry points that setup.py declares."""
    setup = ast.parse((measure_coverage.ROOT / "setup.py").read_text())
    (groups,) = (
        ast.literal_eval(node.value)
        for node in ast.walk(setup)
        if isinstance(node, ast.keyword) and node.arg == "entry_points"
    )
    lines = [(group, line) for group, hooks in groups.items() for line in hooks]
    return {(group, *line.split(" = ")) for group, line in lines}


def test_copied_package_is_found_by_its_entry_point(tmp_path: Path) -> None:
    package, site = tmp_path / "torch_openreg", tmp_path / "site"
    (package / "openreg").mkdir(parents=True)
    names = (
        "__init__.py",
        "openreg/__init__.py",
        "_build_info.py",
        "_C.pyi",
        "py.typed",
    )
    for name in names:
        (package / name).write_text("origin = 'source'\n")
    built = site / "torch_openreg" / "_build_info.py"
    built.parent.mkdir(parents=True)
    built.write_text("origin = 'build'\n")
    copy_python(package, site)
    (package / "openreg/__init__.py").write_text("origin = 'a newer source'\n")
    copy_python(package, site)  # as the second run does
    (distribution,) = metadata.distributions(path=[str(site)])
    assert distribution.name == "torch_openreg"
    found = {(hook.group, hook.name, hook.value) for hook in distribution.entry_points}
    assert found == declared_entry_points()
    module = site / "torch_openreg" / "openreg" / "__init__.py"
    assert module.read_text() == "origin = 'a newer source'\n"
    assert module.resolve() == module  # its libraries are looked for beside it
    assert built.read_text() == "origin = 'build'\n"
    copied = {path.name for path in (site / "torch_openreg").iterdir()}
    assert {"_C.pyi", "py.typed"} < copied


def test_a_process_that_ends_at_once_leaves_its_counts(tmp_path: Path) -> None:
    source = tmp_path / "f.cpp"
    source.write_text('extern "C" int f(int x) { return x + 1; }\n')
    counts = compile_dump(tmp_path / "dump_counts.o")
    command = ["g++", "--coverage", "-O0", "-fPIC", "-shared", "-o", "f.so"]
    command += [str(source), str(counts)]
    subprocess.run(command, check=True, cwd=tmp_path)
    program = "import ctypes, os; ctypes.CDLL('./f.so').f(1); os._exit(3)"
    preload = {"LD_PRELOAD": str(compile_dump(tmp_path / "dump_counts.so"))}
    for env, expected in (({}, False), (preload, True)):
        ended = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | env
        )
        assert ended.returncode == 3
        assert any(tmp_path.glob("*.gcda")) == expected
    lines = region_coverage.read_cpp(cpp_reports(tmp_path, tmp_path / "gcov"))
    assert lines[source.resolve()][1] == 2  # the line, and the function that it starts


def test_coverage_py_takes_a_copy_for_its_source() -> None:
    settings = tomllib.loads((measure_coverage.ROOT / "pyproject.toml").read_text())
    groups = settings["tool"]["coverage"]["paths"].values()
    for package in (measure_coverage.PACKAGE, *measure_coverage.TOOLS):
        source = str(package.relative_to(measure_coverage.ROOT))
        assert [source, f"*/site-packages/{package.name}"] in groups


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ({"openreg/tests": 1}, "the tests failed, see above\n"),
        (
            {"openreg/tests": 1, "run_pages": 1},
            "the tests and the pages failed, see above\n",
        ),
        ({}, ""),
    ],
)
def test_reports_also_where_a_test_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    codes: dict[str, int],
    said: str,
) -> None:
    judged: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        text = " ".join(map(str, command))
        code = max((c for name, c in codes.items() if name in text), default=0)
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr(measure_coverage.subprocess, "run", run)
    monkeypatch.setattr(
        measure_coverage.sysconfig, "get_path", lambda name: str(tmp_path)
    )
    monkeypatch.setattr(measure_coverage, "BUILD", tmp_path / "coverage")
    monkeypatch.setattr(
        region_coverage, "main", lambda arguments: judged.append(arguments) or 0
    )
    monkeypatch.setattr("sys.argv", ["measure_coverage.py"])
    assert measure_coverage.main() == (1 if codes else 0)
    assert len(judged) == 1
    assert capsys.readouterr().err == said


def test_refuses_an_environment_that_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "torch").mkdir()
    monkeypatch.setattr(
        measure_coverage.sysconfig, "get_path", lambda name: str(tmp_path)
    )
    monkeypatch.setattr("sys.argv", ["measure_coverage.py"])
    with pytest.raises(SystemExit) as ended:
        measure_coverage.main()
    assert ended.value.code == 2
    assert "would replace your torch_openreg" in capsys.readouterr().err
