# What the tests of the tools share; see CONTRIBUTING.md.
import pytest
from recording import load


@pytest.fixture(scope="session")
def noxfile():
    """Loaded once: nox warns where a session is registered twice."""
    return load("noxfile.py")
