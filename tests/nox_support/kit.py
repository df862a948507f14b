# Installs the conformance kit where tests and pages run; see docs/ship/conformance.md.
"""The kit is a separate package: a change of it does not rebuild the backend."""

import shutil
from pathlib import Path

import nox

from nox_support.environments import ROOT, fingerprint, is_current, run, step

KIT = "openreg/conformance"
KIT_SOURCES = [f"{KIT}/pyproject.toml", f"{KIT}/torch_conformance"]


def install_kit(session: nox.Session, tools: Path) -> None:
    """Install the kit into an environment, unless it has these sources."""
    install_package(session, tools, "conformance kit", KIT_SOURCES)


def install_package(
    session: nox.Session, tools: Path, what: str, sources: list[str]
) -> None:
    """Install a package of Python alone, unless the environment has these sources.

    Args:
        what: the package, in the messages of the session.
        sources: its pyproject.toml, and its other files.
    """
    folder = Path(sources[0]).parent
    key, installed = fingerprint(sources), tools.parent / f".{folder.name}-key"
    if is_current(installed, key):
        return
    with step(session, f"installing the {what}"):
        shutil.rmtree(
            ROOT / folder / "build", ignore_errors=True
        )  # setuptools packs it
        flags = ["--no-build-isolation", "--no-deps", "--force-reinstall", "--quiet"]
        run(session, tools, "pip", "install", *flags, f"./{folder}")
    installed.write_text(key)
