# Installs the conformance kit where tests and pages run; see docs/ship/conformance.md.
"""The kit is a separate package: a change of the kit does not rebuild the backend."""

import shutil
from pathlib import Path

import nox

from nox_support.environments import ROOT, fingerprint, is_current, run, step

KIT = "openreg/conformance"
KIT_SOURCES = [f"{KIT}/pyproject.toml", f"{KIT}/torch_conformance"]


def install_kit(session: nox.Session, tools: Path) -> None:
    """Install the kit into an environment, unless it has these sources."""
    key, installed = fingerprint(KIT_SOURCES), tools.parent / ".kit-key"
    if is_current(installed, key):
        return
    with step(session, "installing the conformance kit"):
        shutil.rmtree(ROOT / KIT / "build", ignore_errors=True)  # setuptools packs it
        flags = ["--no-build-isolation", "--no-deps", "--force-reinstall", "--quiet"]
        run(session, tools, "pip", "install", *flags, f"./{KIT}")
    installed.write_text(key)
