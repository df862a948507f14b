# Makes the backend of the device ocl from its two rooms; see docs/opencl/cost.md.
"""python openreg/devices/opencl/make_backend.py FOLDER [STAGE]

Copies the backend of the guide as for any vendor, and puts the driver and the kernels
into the two folders that the copy leaves to the vendor. Nothing else is written.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOMS = Path(__file__).resolve().parent
NEW_BACKEND = ROOMS.parents[1] / "new_backend.py"
NOT_COPIED = shutil.ignore_patterns("tests", "drop_in", "__pycache__")


# LITERALINCLUDE START: MAKE
def make_backend(folder: Path, stage: int = 8) -> None:
    """Write the backend into a new folder.

    Args:
        stage: of the ladder; the driver has no collectives, which stage 9 needs. Below
            stage 5 the copy gets the driver alone: the CPU computes.
    """
    shutil.rmtree(folder, ignore_errors=True)
    options = ["--into", str(folder), "--stage", str(stage), "--driver", "oclrt"]
    subprocess.run([sys.executable, NEW_BACKEND, "ocl", *options], check=True)
    driver = folder / "third_party/oclrt"
    for stub in driver.glob("stubs_*.cpp"):  # functions of the driver, to be written
        stub.unlink()
    shutil.copytree(ROOMS / "driver", driver, ignore=NOT_COPIED, dirs_exist_ok=True)
    if stage >= 5:
        kernels = folder / "csrc/kernels"
        shutil.copytree(ROOMS / "kernels", kernels, dirs_exist_ok=True)


# LITERALINCLUDE END: MAKE


if __name__ == "__main__":
    make_backend(Path(sys.argv[1]), *map(int, sys.argv[2:]))
