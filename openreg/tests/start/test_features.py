# The features of a backend, with their tests and chapters; see docs/start/features.md.
import re
from pathlib import Path

import pytest
import torch
from contract import table
from feature_list import FEATURES, LATER
from feature_pages import DOCS, FEATURES_PAGE, features_page, since
from ladder_stages import OPENREG, STAGES, TESTS

HINT = "write it again: python openreg/tests/tools/feature_pages.py"


def test_the_page_is_that_of_the_data():
    assert FEATURES_PAGE.read_text() == features_page(), HINT


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_the_test_and_the_chapter_are_there(feature):
    assert (TESTS / feature.test).is_file()
    assert (DOCS / f"{feature.page}.md").is_file()


def test_what_is_required_is_what_the_starter_has():
    for feature in FEATURES:
        assert feature.needed == STAGES[feature.stage].in_starter, feature.name


OF_NO_FEATURE = [
    "headers need C++20",
    "pybind11 3.1 inside torch, with other internals",
    "headers moved, or are gone",
    "a Python class can derive from `Backend` of c10d",
    "`Backend` has new names of collectives, such as `all_gather_single`",
    "one more collective, `gather_single`",
    "defaults of `Backend`, such as `getError`, do not raise",
    "`Backend::Options::clone`",
    "`Backend` has windows, reconfiguration and hooks",
    "`process_events` of the host allocator has one more parameter",
    "the host allocator can record its history",
    "`GeneratorImpl::philox_state`",
    "`torch.accelerator.random`, and `_lazy_call` of the device module",
    "RPC calls `init` of the device module",
    "dtype `torch.bcomplex32`",
    "operators `cholesky` and `qr` are gone",
    "new operators, such as `linalg_polar`",
    "a parameter of `_cdist_backward` is now `grad_output`",
    "a kind of activity, `XPU_SYNC`",
    "Inductor's `PythonWrapperCodegen` has other functions",
    "`test_exclusions` of test classes takes dtypes",
    "Python 3.11 or newer",
    "five more methods of `DeviceInterface`, such as `exposes_streams`",
    "`DeviceOpOverrides` has `aten_device_type`",
    "Inductor's wrapper and `BaseScheduling` have other functions",
    "test classes declare capabilities, in `_capabilities`",
    "`Backend` has completion hooks and time estimates",
    "entry point `torch.distributed.transports`",
    "symmetric memory asks the device module for `MemPool` and `use_mem_pool`",
    "a kind of activity, `HARDWARE_COUNTERS`",
    "new operators, such as `_scaled_addmm`",
    "kernels of the CPU take more dtypes, such as unsigned ones in `clamp`",
    "a checkpoint of a compiled function saves the state of seeds, which Inductor "
    "does for two devices",
]


def test_the_later_extension_points_are_those_of_the_page_on_releases():
    """A new row there is an extension point of a feature, or belongs to none."""
    rows = {row[1]: row[0] for row in table("ship/upgrading-changes.md", "since")}
    for what in OF_NO_FEATURE:
        del rows[what]
    assert {one.point: since(one.gap) for one in LATER} == rows


@pytest.mark.parametrize("later", LATER, ids=lambda later: later.feature)
def test_the_backend_has_the_later_extension_points(later):
    (feature,) = [one for one in FEATURES if one.name == later.feature]
    own = (OPENREG.parent / "setup.py").read_text()
    own += (OPENREG / "torch_openreg/openreg/__init__.py").read_text()
    (quoted,) = re.findall("`(.+)`", later.point)
    assert quoted.removeprefix("torch.<name>.") in own
    assert not STAGES[feature.stage].in_starter


def texts(*folders):
    """The sources below some folders, as one text."""
    found = [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".c", ".cpp", ".h", ".py")
    ]
    return "".join(path.read_text(errors="replace") for path in found)


def test_the_pieces_exist():
    """Each name in the third column is one of torch, or of the sources."""
    headers = Path(torch.__file__).parent / "include"
    known = (OPENREG.parent / "setup.py").read_text()
    known += texts(*(OPENREG / name for name in ("csrc", "torch_openreg", "starter")))
    of_torch = ("c10", "ATen/accelerator", "ATen/detail")
    known += texts(*(headers / name for name in of_torch))
    for feature in FEATURES:
        for quoted in re.findall(r"`([^`]+)`", feature.pieces):
            word = quoted.split("::")[-1].rstrip("*")
            assert word in known, (feature.name, quoted)
