# Copies a backend under a name of your own; explained in docs/ship/make-it-yours.md.
"""python openreg/new_backend.py acme --into ../torch_acme

That copies the starter, and ``--from full`` the large backend; ``--stage 5`` as much of
it as stage 5 of the ladder needs. ``--build`` builds the copy and runs its tests.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from cloning.build import build_and_test, cmake_arguments
from cloning.full import write_full
from cloning.names import check_device, check_driver
from cloning.spelling import SIMULATED, Spelling
from cloning.stages import FIRST, LAST
from cloning.starter import write_starter
from cloning.target import check_target, whole


def new_backend(
    name: str,
    target: Path,
    source: str = "starter",
    driver: str | None = None,
    stage: int | None = None,
) -> list[Path]:
    """Write a backend for the device `name`; return its files.

    Raises:
        ValueError: there cannot be a backend of this name, or in this folder.
        OSError: a file cannot be written. Nothing of the copy is left then.
    """
    if driver is not None:
        check_driver(driver)
        if source != "full":
            raise ValueError("--driver renames the driver of --from full only.")
    if stage is not None and (source != "full" or not FIRST <= stage <= LAST):
        raise ValueError(
            f"--stage takes {FIRST} to {LAST}, with --from full: the stages before are "
            "the starter."
        )
    check_device(name)
    check_target(target)
    with whole(target) as work:
        if source == "full":
            made = write_full(Spelling(name, driver or SIMULATED), work, stage or LAST)
        else:
            made = write_starter(name, work)
    return [target / path.relative_to(work) for path in made]


def main() -> None:
    parser = argparse.ArgumentParser(description="Copy a backend under a new name.")
    parser.add_argument("name", help="of the device, as in torch.device(name)")
    parser.add_argument("--into", type=Path, required=True, help="a new folder")
    parser.add_argument(
        "--from", choices=["starter", "full"], default="starter", dest="source"
    )
    parser.add_argument(
        "--driver", help="the name of your driver's header and library, with full"
    )
    parser.add_argument(
        "--stage", type=int, help=f"of the ladder, {FIRST} to {LAST}, with full"
    )
    parser.add_argument(
        "--build", action="store_true", help="the copy below it, and run its tests"
    )
    given = parser.parse_args()
    try:
        arguments = cmake_arguments(given.source) if given.build else ""
        made = new_backend(
            given.name, given.into, given.source, given.driver, given.stage
        )
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        reason = error.strerror or error
        parser.error(f"cannot write {given.into}: {reason}. Choose another folder.")
    print(f"{given.into}: {len(made)} files of the package torch_{given.name}")
    if given.build:
        try:
            print(build_and_test(given.into, arguments))
        except (OSError, RuntimeError) as error:
            parser.exit(1, f"{parser.prog}: error: {error}\n")


if __name__ == "__main__":
    main()
