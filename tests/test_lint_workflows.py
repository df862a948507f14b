# The linters of the workflows must find something; see docs/ship/check-wheels.md.
import os

import pytest
from recording import load


@pytest.fixture
def lint(monkeypatch, tmp_path):
    """The program, with stand-ins for the linters."""

    def given(status, output=""):
        for name in ("check-jsonschema", "zizmor"):
            program = tmp_path / name
            program.write_text(f"#!/bin/sh\necho '{output}'\nexit {status}\n")
            program.chmod(0o755)
        return load("tests/lint_workflows.py")

    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return given


def test_a_linter_that_passes_everything_is_found(lint, capsys):
    program = lint(0)
    assert program.main() == 1
    printed = capsys.readouterr().out
    for fault in program.FAULTS:
        assert f"{fault.linter} does not find {fault.instead!r}" in printed
    count = len(program.FAULTS)
    assert printed.endswith(f"{count} planted faults, {count} problems\n")


def test_a_linter_that_fails_for_another_reason_is_found(lint, capsys):
    program = lint(3, "no such option")
    assert program.main() == 1
    assert f"{len(program.FAULTS) + 2} problems" in capsys.readouterr().out


def test_a_fault_that_cannot_be_planted_is_found(lint):
    program = lint(3, "word")
    fault = program.Fault("no such text", "", program.SCHEMA, "word")
    assert program.planted([fault]) == ["wheels.yml has no 'no such text' to replace"]
