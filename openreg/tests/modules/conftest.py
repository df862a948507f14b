# Processes that the tests of sharding share; see docs/modules/sharding.md.
import pytest
from ranks import Ranks


@pytest.fixture(scope="session")
def four(tmp_path_factory):
    """A group of four: its processes import DTensor once, which takes seconds."""
    group = Ranks(4, tmp_path_factory.mktemp("four"), "cpu:gloo,openreg:occl")
    yield group
    group.close()
