# Copies a backend under your own name; explained in docs/ship/make-it-yours.md.
"""python openreg/new_backend.py acme --into ../torch_acme

That copies the starter, which is stage 3 of the ladder. ``--stage 5`` copies as much of
the large backend as stage 5 needs. In the folder of a copy, the command brings a later
stage, or the files of a new release: the folders third_party and csrc/kernels stay as
they are, and so does every file that was edited. ``--build`` builds the copy, and runs
its tests.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from cloning.build import build_and_test
from cloning.contents import texts_of
from cloning.names import check_device, check_driver
from cloning.spelling import SIMULATED, Spelling
from cloning.stages import FIRST, LAST
from cloning.target import (
    NEW,
    ROOMS,
    Changes,
    Copy,
    apply,
    changes,
    check_target,
    digest,
)


def new_backend(
    name: str, target: Path, stage: int | None = None, driver: str | None = None
) -> tuple[Copy, Changes]:
    """Write a backend for the device `name`, or bring an older copy to a stage.

    Args:
        target: its folder.
        stage: of the ladder; by default that of the copy, or the starter's.
        driver: the name of the vendor's driver; by default the simulated one is copied.

    Raises:
        ValueError: there cannot be a backend of this name, or in this folder.
        OSError: a file cannot be written. Nothing is changed then.
    """
    if driver is not None:
        check_driver(driver)
    if stage is not None and not FIRST - 1 <= stage <= LAST:
        raise ValueError(
            f"--stage is {stage}: use {FIRST - 1} (the starter) to {LAST}."
        )
    check_device(name)
    before = check_target(target)
    if before is not None:
        stage = before.stage if stage is None else stage
        driver = driver or before.driver
        if (before.name, before.driver) != (name, driver):
            raise ValueError(
                f"{target} is a backend of the device {before.name!r} with the driver "
                f"{before.driver!r}. Choose another folder."
            )
        if stage < before.stage:
            raise ValueError(
                f"{target} is at stage {before.stage} already: pass a later --stage."
            )
    copy = Copy(name, driver or SIMULATED, FIRST - 1 if stage is None else stage)
    texts = texts_of(Spelling(name, copy.driver), copy.stage)
    what = changes(target, texts, before)
    written = before.files if before else {}  # a kernel that was deleted stays known
    copy.files = {path: old for path, old in written.items() if path.startswith(ROOMS)}
    copy.files |= {path: digest(text) for path, text in texts.items()}
    apply(target, what, copy)
    return copy, what


def report(target: Path, copy: Copy, what: Changes) -> str:
    """What was done, and what is left to the vendor."""
    lines = [f"{target}: {len(copy.files)} files of the package torch_{copy.name}"]
    for path in what.edited:
        new = f"; see {path}{NEW}" if path + NEW in what.write else ""
        lines.append(f"left as you edited it: {path}{new}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Copy a backend under a new name.")
    parser.add_argument("name", help="name of the device, as in torch.device(name)")
    parser.add_argument(
        "--into",
        type=Path,
        required=True,
        help="folder to create, or a copy to bring to the next stage or release",
    )
    parser.add_argument(
        "--stage",
        type=int,
        help=f"stage of the ladder, {FIRST - 1} (the starter) to {LAST}; default: the "
        "stage of the copy, or the starter",
    )
    parser.add_argument(
        "--driver", help="name of your driver, whose functions you then write"
    )
    parser.add_argument(
        "--build",
        action="store_true",
        help="build the copy in its folder, and run its tests",
    )
    given = parser.parse_args()
    try:
        copy, what = new_backend(given.name, given.into, given.stage, given.driver)
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        reason = error.strerror or error
        parser.error(f"cannot write {given.into}: {reason}. Choose another folder.")
    print(report(given.into, copy, what))
    if given.build:
        try:
            print(build_and_test(given.into))
        except (OSError, RuntimeError) as error:
            parser.exit(1, f"{parser.prog}: error: {error}\n")


if __name__ == "__main__":
    main()
