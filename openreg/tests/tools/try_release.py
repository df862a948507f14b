# Tries the backend on the installed release of torch; see docs/ship/upgrading.md.
"""For `nox -s versions`, which builds for each release and then runs this there.

    python openreg/tests/tools/try_release.py --part tests --part operators
    python openreg/tests/tools/try_release.py --table

Each part replaces its counts in openreg/tests/tools/releases/last_run.json. The exit
status is 1 if something failed.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from releases.last_run import read, record, table
from releases.parts import PARTS, Choice
from sweep.last_run import current_commit

ASK = "from torch import version; print(version.__version__)"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--table", action="store_true", help="only show what is recorded"
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part")
    parser.add_argument("--wheel", type=Path, help="the wheel that was built")
    parser.add_argument("--docs-python", type=Path, help="a Python that runs pages")
    parser.add_argument("--tests", action="append", default=[], help="only these tests")
    parser.add_argument("--pages", action="append", default=[], help="only these pages")
    options = parser.parse_args(arguments)
    failed = False
    if not options.table:
        chosen = Choice(
            options.wheel, options.docs_python, options.tests, options.pages
        )
        release, commit = installed_torch(), current_commit()
        for part in options.part or PARTS:
            counts = PARTS[part](chosen)
            if counts is not None:
                record(release, part, counts, commit)
                failed |= bool(counts.get("failed"))
    print(table(read()))
    return int(failed)


def installed_torch() -> str:
    """Return the version of torch that this Python imports."""
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
