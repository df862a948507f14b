# What `nox -s build` checks in the wheel that it built; see docs/ship/check-wheels.md.
"""Its shared objects, the systems that it fits, and a tensor where only torch is."""

from pathlib import Path

import nox

from nox_support.environments import environment, run, step

OWN = ("[Oo]pen[Rr]eg", "^or[A-Z]", "^occl[A-Z]")  # names that the wheel may export
FIRST_TENSOR = """
import torch
total = (torch.ones(2, device="openreg") + 1).sum()
assert total.item() == 4 and total.device.type == "openreg"
"""


def check_wheel(session: nox.Session, tools: Path, wheel: Path) -> None:
    """Ends the session if the wheel would fail on another machine."""
    own = [f"--own={pattern}" for pattern in OWN]
    with step(session, "shared objects of the wheel"):
        run(session, tools, "python", "openreg/check_wheel.py", *own, str(wheel))
    auditwheel = environment(session, "wheel")
    with step(session, "systems that the wheel fits"):
        run(session, auditwheel, "auditwheel", "show", str(wheel))
    with step(session, "a tensor where only torch and the wheel are"):
        command = ["python", "openreg/try_wheel.py", str(wheel), FIRST_TENSOR]
        run(session, tools, *command)
