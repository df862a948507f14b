# The features, and the files to copy for each of them; see docs/start/features.md.
"""`nox -s ladder` compiles a source of each list."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from contract import table
from feature_files import (
    copy_files,
    copy_into,
    matches,
    needed_files,
    there_before,
    to_copy,
    to_replace,
)
from feature_files import stage_of as small_stage
from feature_list import FEATURES, LATER, MODULE, PACKAGE
from feature_pages import (
    DOCS,
    FEATURES_PAGE,
    LISTS_PAGE,
    features_page,
    lists_page,
    since,
)
from ladder_stages import OPENREG, STAGES, STARTER, TESTS, stage_of
from needed_by_tests import common, needed_with
from patience import PATIENCE
from starter_build import sources

INCLUDE = re.compile(r'#include "([^"]+)"')
HINT = "write it again: python openreg/tests/tools/feature_pages.py"
LARGE = [feature for feature in FEATURES if not STAGES[feature.stage].in_starter]
SMALL = [feature for feature in FEATURES if STAGES[feature.stage].in_starter]


def name(feature):
    return feature.name


def test_the_pages_are_those_of_the_sources():
    assert FEATURES_PAGE.read_text() == features_page(), HINT
    assert LISTS_PAGE.read_text() == lists_page(), HINT


@pytest.mark.parametrize("feature", FEATURES, ids=name)
def test_the_test_and_the_chapter_are_there(feature):
    assert (TESTS / feature.test).is_file()
    assert (DOCS / f"{feature.page}.md").is_file()


def collect(files, test, folder):
    """Let pytest collect a test in a folder that has these files and no others."""
    root = OPENREG.parent
    copy_files(files, root, folder)
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["pytest"]
    paths = " ".join(settings["ini_options"]["pythonpath"])
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {paths}\n")
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only"]
    command += ["-p", "no:cacheprovider", str(test.relative_to(root))]
    options = {"cwd": folder, "capture_output": True, "text": True}
    return subprocess.run(command, timeout=PATIENCE, **options)


@pytest.mark.parametrize(
    "test", ["modules/test_profiler.py", "modules/test_sharding_attention.py"]
)
def test_a_test_with_its_list_is_collected_in_an_empty_folder(test, tmp_path):
    """One compiles sources and runs examples, one trains a model in processes."""
    file = TESTS / test
    files = {file, *common(), *needed_with(file)}
    process = collect(files, file, tmp_path / "whole")
    assert process.returncode == 0, process.stdout
    fewer = {path for path in files if path.name not in ("profiles.py", "ranks.py")}
    process = collect(fewer, file, tmp_path / "partial")
    assert "ModuleNotFoundError" in process.stdout + process.stderr


def module_files(node, path, tree):
    """The files of the package that an import statement means."""
    if isinstance(node, ast.ImportFrom) and node.level == 1:
        names = [node.module] if node.module else [x.name for x in node.names]
        return [path.parent / f"{name}.py" for name in names]
    if isinstance(node, ast.ImportFrom) and node.module == "torch_openreg":
        return [tree / PACKAGE / f"{x.name}.py" for x in node.names]
    return []


@pytest.mark.parametrize("feature", FEATURES, ids=name)
def test_a_copied_list_includes_and_imports_only_what_is_there(feature, tmp_path):
    listed = copy_into(feature, tmp_path)
    assert listed
    for path in listed:
        text = path.read_text()
        if path.suffix in (".cpp", ".h", ".c"):
            for included in INCLUDE.findall(text):
                assert (tmp_path / included).is_file(), (path, included)
        elif path.suffix == ".py" and path.name != "__init__.py":
            for node in ast.walk(ast.parse(text)):
                for file in module_files(node, path, tmp_path):
                    original = OPENREG / file.relative_to(tmp_path)
                    assert file.is_file() or not original.is_file(), (path, file)


@pytest.mark.parametrize("feature", LARGE, ids=name)
def test_a_list_repeats_nothing_of_the_stages_before(feature):
    names = {str(path.relative_to(OPENREG)) for path in to_copy(feature)}
    assert not names & there_before(feature.stage)


@pytest.mark.parametrize("feature", FEATURES, ids=name)
def test_no_feature_needs_a_file_of_a_later_stage(feature):
    """Files of the large backend come with stage 4 at the earliest."""
    for path in to_copy(feature):
        of = small_stage if STARTER in path.parents else large_stage
        assert of(path) <= feature.stage, path
    for file in needed_files(feature):
        assert large_stage(OPENREG / file) <= max(feature.stage, LARGE[0].stage)


def large_stage(path):
    return stage_of(str(path.relative_to(OPENREG.parent)))


def test_the_small_lists_are_the_starter():
    files = [path for feature in SMALL for path in to_copy(feature)]
    assert sorted(files) == sources()
    assert all(STARTER in path.parents for path in files)


def test_what_is_required_is_what_the_starter_has():
    assert [f for f in FEATURES if f.needed] == SMALL
    assert all(to_replace(f) for f in SMALL if f.files)


def test_every_python_file_of_the_device_module_belongs_to_a_feature():
    listed = {path for f in FEATURES for path in (*to_copy(f), *to_replace(f))}
    rest = {p.name for p in (OPENREG / MODULE).glob("*.py") if p not in listed}
    assert rest == {"capabilities.py"}  # answers of the device module alone


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
    "five questions more in `DeviceInterface`, such as `exposes_streams`",
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
    own += (OPENREG / MODULE / "__init__.py").read_text()
    (quoted,) = re.findall("`(.+)`", later.point)
    assert quoted.removeprefix("torch.<name>.") in own
    assert feature.stage >= LARGE[0].stage


def test_the_pieces_exist():
    """Each name in the third column is one of torch, or of the sources."""
    headers = "".join(
        path.read_text(errors="replace")
        for folder in ("c10/core", "ATen/accelerator", "ATen/detail", "c10/util")
        for path in (Path(torch.__file__).parent / "include" / folder).glob("*.h")
    )
    for feature in FEATURES:
        paths = [*to_copy(feature), *matches(feature.files, OPENREG, feature)]
        own = "".join(path.read_text() for path in paths)
        own += (OPENREG.parent / "setup.py").read_text()
        for quoted in re.findall(r"`([^`]+)`", feature.pieces):
            word = re.split(r"::", quoted)[-1].rstrip("*")
            assert word in own or word in headers, (feature.name, quoted)
