# Lints the workflows of the guide with two programs; see docs/ship/check-wheels.md.
"""python tests/lint_workflows.py

`nox -s lint` runs it in the environment that has check-jsonschema and zizmor; neither
asks a server. Then it plants faults in a copy of a workflow, one after the other, and
fails if a linter passes one: a linter that checks nothing would pass all.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[1] / "openreg/tests/examples/packaging"
WORKFLOWS = ("wheels.yml", "relay.yml")
SCHEMA = "check-jsonschema"  # the keys of a workflow, and their values
SECURITY = "zizmor"  # what an attacker could use
COMMANDS = {
    SCHEMA: [SCHEMA, "--builtin-schema", "vendor.github-workflows"],
    SECURITY: [SECURITY, "--offline", "--no-progress", "--quiet"],
}
COMMANDS[SECURITY] += ["--config", str(FOLDER / "zizmor.yml")]


class Fault(NamedTuple):
    """A text of wheels.yml, what stands there instead, and who finds it by what."""

    text: str
    instead: str
    linter: str
    word: str


FAULTS = [
    Fault("needs: merge", "need: merge", SCHEMA, "'need' was unexpected"),
    Fault("    runs-on: ubuntu-22.04\n", "", SCHEMA, "is not valid under any"),
    Fault("contents: read", "contents: reads", SCHEMA, "'reads' is not one of"),
    Fault("  pull_request:", "  pull_request_target:", SECURITY, "dangerous-triggers"),
    Fault("  contents: read", "  contents: write", SECURITY, "excessive-permissions"),
    Fault("with: { persist-credentials: false }", "", SECURITY, "artipacked"),
    Fault("dist-*/*.whl", "${{ github.head_ref }}", SECURITY, "template-injection"),
    Fault("uses: actions/checkout@v4", "uses: a/b@v4", SECURITY, "unpinned-uses"),
]


def lint(linter: str, *files: Path) -> tuple[bool, str]:
    """Return whether a linter passes files, and what it printed."""
    command = [*COMMANDS[linter], *map(str, files)]
    process = subprocess.run(command, capture_output=True, text=True)
    return process.returncode == 0, process.stdout + process.stderr


def planted(faults: list[Fault]) -> list[str]:
    """Return the problems of the linters themselves."""
    original, problems = (FOLDER / WORKFLOWS[0]).read_text(), []
    for fault in faults:
        if fault.text not in original:
            problems.append(f"{WORKFLOWS[0]} has no {fault.text!r} to replace")
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, WORKFLOWS[0])
            file.write_text(original.replace(fault.text, fault.instead))
            passed, output = lint(fault.linter, file)
        if passed or fault.word not in output:
            problems.append(f"{fault.linter} does not find {fault.instead!r}: {output}")
    return problems


def main() -> int:
    files = [FOLDER / name for name in WORKFLOWS]
    results = [lint(linter, *files) for linter in COMMANDS]
    problems = [output for passed, output in results if not passed]
    problems += planted(FAULTS)
    print(*problems, sep="\n", end="\n" if problems else "")
    count = (
        f"{len(files)} files, {len(FAULTS)} planted faults, {len(problems)} problems"
    )
    print(f"workflows: {count}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
