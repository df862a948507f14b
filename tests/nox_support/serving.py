# Runs what needs vLLM, in its own environment; see CONTRIBUTING.md.
"""vLLM and what it requires take a gigabyte: no other session installs them."""

from __future__ import annotations

from pathlib import Path

import nox

from nox_support.environments import ROOT, is_current, run, step
from nox_support.kit import install_package
from nox_support.site import run_pages_with, with_packages_of

PACKAGE = "openreg/vllm_openreg"
SOURCES = [f"{PACKAGE}/pyproject.toml", f"{PACKAGE}/vllm_openreg"]
TESTS = f"{PACKAGE}/tests"
SERVING_PAGES = "docs/frontend/serving"
RELEASE = "0.32.0"  # the one for torch 2.13


def try_serving(session: nox.Session, tools: Path, docs_tools: Path) -> None:
    """Run the tests and the pages of the plug-in for vLLM.

    Args:
        tools: of the environment that has what vLLM requires, and borrows the backend.
        docs_tools: of the environment that runs pages.
    """
    install_vllm(session, tools)
    install_package(session, tools, "plug-in for vLLM", SOURCES)
    with step(session, "tests of the plug-in for vLLM"):
        quiet = ["-W", "ignore", "--no-header"]  # vLLM's warnings are not ours
        pytest = ["python", "-m", "pytest", *quiet]
        # A process for each file, because vLLM keeps much in global variables.
        files = sorted(map(str, (ROOT / TESTS).glob("test_*.py")))
        chosen = session.posargs
        for names in [[TESTS, *chosen]] if chosen else [[name] for name in files]:
            run(session, tools, *pytest, *names)
    if not session.posargs:
        run_pages_with(session, docs_tools, SERVING_PAGES, with_packages_of(tools))


# LITERALINCLUDE START: INSTALL_VLLM
def install_vllm(session: nox.Session, tools: Path) -> None:
    """Build vLLM from its source archive, without kernels, unless it is there."""
    stamp = tools.parent / ".vllm-key"
    if is_current(stamp, RELEASE):
        return
    settings = {
        "VLLM_TARGET_DEVICE": "empty",  # Python only: 30 seconds instead of an hour
        "VLLM_VERSION_OVERRIDE": RELEASE,  # otherwise 0.32.0+empty, which pip refuses
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    }
    with step(session, f"building vLLM {RELEASE}"):
        flags = ["--no-build-isolation", "--no-deps", "--no-binary", "vllm"]
        install = ["pip", "install", "--no-compile", *flags, f"vllm=={RELEASE}"]
        run(session, tools, *install, env=settings)
    stamp.write_text(RELEASE)


# LITERALINCLUDE END: INSTALL_VLLM
