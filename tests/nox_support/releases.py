# The sessions that go through several releases of torch; see CONTRIBUTING.md.
"""One environment, and one build of the backend, for each release."""

from collections.abc import Callable
from pathlib import Path

import nox

from nox_support.environments import (
    HERE,
    LOCKS,
    Target,
    environment,
    fetch_wheel,
    run,
    step,
)
from nox_support.machine import THIS

# The newest patch release of each minor release.
RELEASES = ("2.13.0", "2.14.1", "2.15.0")
TRY = "openreg/tests/tools/try_release.py"
COMPARE = "openreg/tests/tools/compare_surface.py"


def try_releases(
    session: nox.Session,
    install_backend: Callable[[nox.Session, Target], Path],
    wheels: Path,
) -> None:
    """Build and try each release, record what was found, and show the table."""
    releases = session.posargs or [*RELEASES]
    if unknown := [name for name in releases if name not in RELEASES]:
        session.error(f"versions takes some of {', '.join(RELEASES)}, not {unknown}")
    pinned = (LOCKS / "torch.txt").read_text()
    for release in releases:
        target = HERE if f"=={release}\n" in pinned else Target(THIS, torch=release)
        tools = install_backend(session, target)
        docs_python = environment(session, "docs", target) / "python"
        wheel = next(wheels.with_name(target.named(wheels.name)).glob("*.whl"))
        options = ["--wheel", str(wheel), "--docs-python", str(docs_python)]
        with step(session, f"torch {release}"):
            command = ["python", TRY, *options]
            run(session, tools, *command, success_codes=[0, 1])
    run(session, tools, "python", TRY, "--table")


def compare_releases(session: nox.Session) -> None:
    """Download two releases without their dependencies, and compare them."""
    wanted = [word for word in session.posargs if word[:1].isdigit()]
    if len(wanted) != 2:
        session.error("surface takes two releases of torch, such as 2.14.1 2.15.0")
    tools = environment(session, "tests")
    wheels = [str(fetch_wheel(session, tools, release)) for release in wanted]
    rest = [word for word in session.posargs if word not in wanted]
    run(session, tools, "python", COMPARE, *wheels, *rest)
