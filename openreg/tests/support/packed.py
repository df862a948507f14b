# Packs the installed backend as a wheel, for tests; see docs/ship/check-wheels.md.
import sys
import sysconfig
import zipfile
from pathlib import Path

import torch_openreg

PACKAGE = Path(torch_openreg.__file__).parent
PYTHON = f"cp3{sys.version_info.minor}"
TAG = f"{PYTHON}-{PYTHON}-{sysconfig.get_platform().replace('-', '_')}"
NAME = f"torch_openreg-0.1.0-{TAG}.whl"
INFO = "torch_openreg-0.1.0.dist-info"
WHEEL = f"""Wheel-Version: 1.0
Generator: test
Root-Is-Purelib: false
Tag: {TAG}
"""
METADATA = "Metadata-Version: 2.4\nName: torch_openreg\nVersion: 0.1.0\n"
ENTRY_POINTS = "[torch.backends]\ntorch_openreg = torch_openreg:_autoload\n"


def wheel_for(
    folder: Path, release: str, requires: str | None = None, changed: str | None = None
) -> Path:
    """Write a wheel of the installed backend, which says that it is for another torch.

    Args:
        requires: the requirement of torch; by default, this release or a newer one.
        changed: a file that differs from the installed one.
    """
    folder.mkdir()
    wheel = folder / NAME
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in PACKAGE.rglob("*.*"):
            if file.suffix == ".pyc":
                continue
            inside = f"torch_openreg/{file.relative_to(PACKAGE)}"
            data = file.read_bytes()
            if file.name == "_build_info.py":
                data = f'TORCH_VERSION = "{release}"\n'.encode()
            archive.writestr(inside, data + b"#" * (inside == changed))
        _add_metadata(archive, requires or f"torch>={release}")
    return wheel


def empty_wheel(folder: Path, requires: str) -> Path:
    """Write a wheel that has metadata and no files."""
    wheel = folder / NAME
    with zipfile.ZipFile(wheel, "w") as archive:
        _add_metadata(archive, requires)
    return wheel


def _add_metadata(archive: zipfile.ZipFile, requires: str) -> None:
    archive.writestr(f"{INFO}/METADATA", f"{METADATA}Requires-Dist: {requires}\n")
    archive.writestr(f"{INFO}/WHEEL", WHEEL)
    archive.writestr(f"{INFO}/entry_points.txt", ENTRY_POINTS)
    archive.writestr(f"{INFO}/RECORD", "")
