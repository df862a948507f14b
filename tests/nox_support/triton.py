# Runs what needs Triton, in its own environment; see CONTRIBUTING.md.
"""Triton's wheel is larger than torch's for CPUs: no other session takes it."""

from __future__ import annotations

from pathlib import Path

import nox

from nox_support.environments import commit_to_record, run, step
from nox_support.kit import install_package
from nox_support.site import run_pages_with, with_packages_of

PACKAGE = "openreg/triton_openreg"
SOURCES = [f"{PACKAGE}/pyproject.toml", f"{PACKAGE}/triton_openreg"]
TESTS = f"{PACKAGE}/tests"
TRITON_PAGES = "docs/modules/triton"
# Each of its models compiles a hundred kernels.
ZOO = f"{TESTS}/test_models.py::test_a_model_of_the_zoo"


def try_triton(
    session: nox.Session, tools: Path, docs_tools: Path, parallel: list[str]
) -> None:
    """Run the tests and pages of the Triton backend, or record what pages show.

    Args:
        tools: of the environment that has Triton, and borrows the backend.
        docs_tools: of the environment that runs pages.
        parallel: arguments for pytest.
    """
    arguments = session.posargs
    commit = commit_to_record(session)
    if arguments not in ([], ["short"]) and commit is None:
        session.error(
            f"triton takes no argument, or short, or --record COMMIT, not {arguments}"
        )
    install_package(session, tools, "Triton backend", SOURCES)
    if commit is not None:
        record(session, tools, commit)
        return
    fewer = ["--deselect", ZOO] if arguments else []
    with step(session, "tests of the Triton backend"):
        pytest = ["python", "-m", "pytest", *parallel, *fewer, TESTS]
        run(session, tools, *pytest, env={"HF_HUB_OFFLINE": "1"})
    run_pages_with(session, docs_tools, TRITON_PAGES, with_packages_of(tools))


def record(session: nox.Session, tools: Path, commit: str) -> None:
    """Keep what the guide shows: the times, and what each member is needed for."""
    with step(session, "speed"):
        run(session, tools, "python", "openreg/benchmarks/triton_speed.py", commit)
    with step(session, "the plug-in without each of its members"):
        run(session, tools, "python", "openreg/tests/tools/triton_knockouts.py", commit)
