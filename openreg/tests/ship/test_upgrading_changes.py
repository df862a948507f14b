# Each change of a release is decided, and the diffs hold; see
# docs/ship/upgrading-changes.md.
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import torch
from compare_surface import compare, main
from contract import table
from surface import collect, decisions
from torch_release import TORCH

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/ship/upgrading-changes.md"
RECORDED = decisions.recorded()
# Rows about what a function does inside, which no comparison of interfaces can see.
INSIDE = {
    "kernels of the CPU take more dtypes, such as unsigned ones in `clamp`",
    "a checkpoint of a compiled function saves the state of seeds, which Inductor does "
    "for two devices",
}
DIFF = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def installed():
    return collect(Path(torch.__file__).parent)


def test_each_row_has_its_changes():
    decided = decisions.read()
    rows = {(row[0], row[1]) for row in table("ship/upgrading-changes.md", "since")}
    told = {(release, row) for release in decided for row in decided[release]["rows"]}
    assert told == {row for row in rows if row[1] not in INSIDE}
    assert {row[1] for row in rows} > INSIDE


@pytest.mark.parametrize("release", RECORDED)
def test_each_change_is_decided_and_each_pattern_matches(release):
    decided = decisions.read()
    found = decisions.items(RECORDED[release])
    assert decisions.undecided(found, release, decided) == []
    for part in decided[release].values():
        for row, patterns in part.items():
            for pattern in patterns:
                matching = [it for it in found if fnmatchcase(it, pattern)]
                assert matching, (row, pattern)


def test_the_page_has_the_numbers_of_changes():
    counts = [len(decisions.items(RECORDED[name])) for name in ("2.14", "2.15")]
    text = " ".join(PAGE.read_text().split())
    assert "found {} changes from 2.13.0 to 2.14.1, and {} from".format(*counts) in text


@pytest.mark.parametrize("release", RECORDED)
def test_the_installed_torch_has_what_is_new_since_its_release(release, installed):
    """Names that a later release of the list removes again are left out."""
    there = tuple(map(int, release.split("."))) <= TORCH
    for kind, changes in RECORDED[release].items():
        names = {
            word: set(changes[word])
            - {
                name
                for other in RECORDED
                if other != release
                for found in RECORDED[other][kind].values()
                for name in found
            }
            for word in ("new", "gone")
        }
        present, absent = ("new", "gone") if there else ("gone", "new")
        assert names[present] <= installed[kind].keys(), kind
        assert not names[absent] & installed[kind].keys(), kind


def test_the_installed_torch_has_what_the_backend_uses(installed):
    """An interface whose header or spelling changed must not vanish silently."""
    for name in (
        "DeviceGuardImplInterface::exchangeStream(Stream)",
        "PrivateUse1HooksInterface::isBuilt()",
        "AcceleratorHooksInterface::deviceCount()",
        "DeviceAllocator::emptyCache(MempoolId_t)",
        "HostAllocator::empty_cache()",
        "GeneratorImpl::seed()",
        "GraphImplInterface::replay()",
        "Backend::getBackendName()",
        "IActivityProfiler::name()",
        "Allocator::allocate(size_t)",
    ):
        assert name in installed["virtual functions"], name
    assert "C10_FORALL_BACKEND_COMPONENTS::PrivateUse1" in installed["enumerators"]
    assert "DeviceType::PrivateUse1" in installed["enumerators"]
    assert "BFloat16" in installed["dtypes"]
    assert "C10_REGISTER_GUARD_IMPL" in installed["C++ macros"]
    registers = installed["C++ functions that register"]
    assert "RegisterPrivateUse1HooksInterface" in registers
    assert installed["operators"]["empty_strided"].endswith("[needs your kernel]")
    groups = {"torch.backends", "torch_dynamo_backends"}
    assert groups <= installed["entry points"].keys()
    assert "DeviceInterface.synchronize" in installed["Python classes"]
    assert "torch.accelerator.synchronize" in installed["torch.accelerator"]
    assert "is_available" in installed["lookups in the device module"]
    assert installed["requirements"].keys() == {"C++", "pybind11", "Python"}
    assert "c10/core/Device.h" in installed["headers"]


def test_a_change_without_a_decision_is_listed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(decisions, "RECORDED", tmp_path)
    for name, text in (("old", "7.1"), ("new", "7.2")):
        folder = tmp_path / name / "torch/accelerator"
        folder.mkdir(parents=True)
        (folder.parent / "version.py").write_text(f"__version__ = '{text}.0'\n")
        (folder / "__init__.py").write_text(f"def of_{name}(): ...\n")
    main([*map(str, (tmp_path / "old", tmp_path / "new")), "--undecided"])
    assert capsys.readouterr().out.splitlines() == [
        "+ torch.accelerator: torch.accelerator.of_new",
        "- torch.accelerator: torch.accelerator.of_old",
        "2 of 2 changes are undecided",
    ]


def test_recorded_names_are_read_again(tmp_path):
    found = compare({"dtypes": {"A": "1", "B": "2"}}, {"dtypes": {"A": "3", "C": ""}})
    decisions.record(found, "7.2", tmp_path / "new")
    again = decisions.recorded(tmp_path / "new")
    assert again == {"7.2": {"dtypes": {"new": ["C"], "gone": ["B"], "changed": ["A"]}}}
    lines = decisions.items(again["7.2"])
    assert lines == ["+ dtypes: C", "- dtypes: B", "~ dtypes: A"]
    decided = {"7.2": {"rows": {"x": ["? dtypes: [BC]"]}}}
    assert decisions.undecided(lines, "7.2", decided) == ["~ dtypes: A"]


def diff_lines():
    """Each line of the page's diffs: the file, the mark and the text."""
    for block in DIFF.findall(PAGE.read_text()):
        name = None
        for line in block.splitlines():
            if line.startswith("+++ b/"):
                name = line.removeprefix("+++ b/")
            elif not line.startswith("--- a/"):
                yield name, line[0], line[1:]


def test_the_diffs_are_those_of_the_files():
    found = list(diff_lines())
    assert len({name for name, _, _ in found}) == 6
    for name, mark, text in found:
        assert mark in " +-" and text.strip(), (name, text)
        lines = (ROOT / name).read_text().splitlines()
        assert (text in lines) == (mark != "-"), (name, mark, text)


def test_the_diffs_are_short():
    blocks = DIFF.findall(PAGE.read_text())
    assert len(blocks) >= 6
    assert all(len(block.splitlines()) <= 12 for block in blocks)
