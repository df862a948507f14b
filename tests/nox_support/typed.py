# Which programs mypy checks, for `nox -s lint`; see CONTRIBUTING.md.
"""What is typed, by the environment that has what it imports."""

import nox

from nox_support.environments import environment, run
from nox_support.kit import KIT_SOURCES

TOOLS = [
    "noxfile.py",
    "openreg/check_wheel.py",
    "openreg/cloning",
    "openreg/merge_wheels.py",
    "openreg/new_backend.py",
    "openreg/try_wheel.py",
    "tests/lint_language.py",
    "tests/lint_repository.py",
    "tests/lint_workflows.py",
    "tests/nox_support",
]
PACKAGES = [
    KIT_SOURCES[1],
    "openreg/triton_openreg/triton_openreg",
    "openreg/vllm_openreg/vllm_openreg",
]
TYPED_USER = "openreg/tests/examples/typed_user.py"


def check_types(session: nox.Session, packages: list[str]) -> None:
    """Run mypy on the packages of the backend and on all other typed programs."""
    tools = environment(session, "lint")
    sources = {  # torch is in the one environment, Sphinx in the other
        "tests": [*packages, *PACKAGES, *TOOLS, TYPED_USER],
        "docs": ["docs/_ext"],
    }
    for name, chosen in sources.items():
        python = str(environment(session, name) / "python")
        run(session, tools, "mypy", "--python-executable", python, *chosen)
