# Processes that the tests of sharding share; see docs/modules/sharding.md.
import types

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks

collect_ignore = ["compiler"]  # takes an hour: nox -s compiler


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """A group of four for the tests of one file.

    The processes end with the file: each group of Gloo that a test has made looks for
    messages a hundred times a second, for as long as its process lives.
    """
    group = Ranks(4, tmp_path_factory.mktemp("four"), "cpu:gloo,openreg:occl")
    yield group
    group.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A group of two for the tests of one file, which may leave state behind."""
    group = Ranks(2, tmp_path_factory.mktemp("two"), "occl")
    yield group
    group.close()


@pytest.fixture
def ranks(tmp_path):
    """A group of four, which a test may break."""
    group = Ranks(4, tmp_path, "cpu:gloo,openreg:occl")
    yield group
    group.close()


@pytest.fixture
def traces(tmp_path):
    """A folder for what the flight recorders of ranks write."""
    folder = tmp_path / "traces"
    folder.mkdir()
    return folder


@pytest.fixture
def alone():
    """A group whose only rank is the test itself."""
    import torch.distributed.tensor._random as tensor_random

    dist.init_process_group("occl", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()
    tensor_random._rng_tracker = None


@pytest.fixture
def take_away(monkeypatch):
    """Return what takes one attribute away from the device module."""
    module, remembered = torch.openreg, torch._utils._get_device_module

    def take(name):
        without = types.ModuleType(module.__name__)
        vars(without).update(vars(module))
        delattr(without, name)
        monkeypatch.setattr(torch, "openreg", without)
        remembered.cache_clear()
        return f"AttributeError: module {module.__name__!r} has no attribute {name!r}"

    yield take
    remembered.cache_clear()
