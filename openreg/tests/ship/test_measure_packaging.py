# Sizes and build times of the strategies of packaging; see docs/ship/packaging.md.
import json
import subprocess
import sys
import tarfile

import measure_packaging
import pytest


def test_the_archive_has_what_a_build_reads(tmp_path):
    archive = measure_packaging.pack(tmp_path)
    with tarfile.open(archive) as file:
        names = file.getnames()
    for name in ("setup.py", "openreg/csrc/CMakeLists.txt", "openreg/third_party"):
        assert f"torch_openreg/{name}" in names
    assert not [name for name in names if "/tests/autoload" in name]


def test_size_and_times_are_those_of_the_strategy(tmp_path):
    def strategy(folder):
        busy = "sum(range(30_000_000))"
        subprocess.run([sys.executable, "-c", busy], check=True)
        made = folder / "made"
        made.write_bytes(bytes(3_000_000))
        return made

    row = measure_packaging.measure(strategy)
    assert row["MB"] == 3.0
    assert row["seconds"] > 0 and row["cpu"] > 0


def test_a_row_replaces_its_own(tmp_path):
    file = tmp_path / "packaging.json"
    for name, megabytes in (("sources", 1.0), ("one release", 2.0), ("sources", 3.0)):
        measure_packaging.record(name, {"MB": megabytes}, "abc", file)
    found = json.loads(file.read_text())
    assert list(found) == ["one release", "sources"]  # in the order of the page
    assert [row["MB"] for row in found.values()] == [2.0, 3.0]
    assert found["sources"]["commit"] == "abc"


def test_without_an_environment_of_another_release_it_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(measure_packaging, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match=r"nox -s tests-on -- 2\.14\.1 smoke"):
        measure_packaging.several_releases(tmp_path)


def test_the_guide_has_a_row_for_each_strategy():
    found = json.loads(measure_packaging.RECORD.read_text())
    assert set(found) <= set(measure_packaging.STRATEGIES)
