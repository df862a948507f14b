# One wheel for several releases of torch: what runs, what is refused; see
# docs/ship/packaging.md.
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from packed import PACKAGE, wheel_for
from torch_openreg import _glue

sys.path.append(str(Path(__file__).resolve().parents[2]))
from merge_wheels import merge

THIS = ".".join(torch.__version__.split(".")[:2])


@pytest.fixture(scope="module")
def merged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    wheels = [wheel_for(folder / release, release) for release in (THIS, "2.99")]
    return merge(wheels, folder / "dist")


def test_the_driver_is_there_once_and_the_glue_for_each_release(merged):
    names = zipfile.ZipFile(merged).namelist()
    objects = sorted(name for name in names if name.endswith(".so"))
    extension = next(PACKAGE.glob("_C*.so")).name
    glue = [extension, "lib/libtorch_bindings.so", "lib/libtorch_openreg.so"]
    expected = [
        f"torch_openreg/glue/{r}/{name}" for r in (THIS, "2.99") for name in glue
    ]
    assert objects == sorted([*expected, "torch_openreg/lib/libopenreg.so"])
    assert "torch_openreg/_build_info.py" not in names


def test_the_wheel_can_be_unpacked_and_says_which_releases_it_fits(merged, tmp_path):
    command = [
        sys.executable,
        "-m",
        "wheel",
        "unpack",
        str(merged),
        "-d",
        str(tmp_path),
    ]
    subprocess.run(command, check=True, capture_output=True)  # compares all hashes
    metadata = next(tmp_path.rglob("METADATA")).read_text()
    assert metadata.endswith(f"Requires-Dist: torch>={THIS},<2.100\n")


def test_it_runs_with_the_objects_for_this_torch(merged, tmp_path):
    with zipfile.ZipFile(merged) as archive:
        archive.extractall(tmp_path)
    program = """if True:
        import torch, torch_openreg
        print((torch.ones(2, device="openreg") + 1).tolist())
        maps = open("/proc/self/maps").read().splitlines()
        print(*{line.split()[-1] for line in maps if "openreg" in line})
    """
    env = {"PYTHONPATH": str(tmp_path), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    printed = process.stdout.splitlines()
    assert printed[:1] == ["[2.0, 2.0]"], process.stderr
    package = tmp_path / "torch_openreg"
    loaded = {name for name in printed[1].split() if name.endswith(".so")}
    assert loaded == {
        str(path)
        for path in [*package.glob("lib/*.so"), *package.glob(f"glue/{THIS}/**/*.so")]
    }


def test_the_glue_of_this_torch_comes_first_on_the_path(tmp_path):
    (tmp_path / "glue" / THIS).mkdir(parents=True)
    path = [str(tmp_path)]
    _glue.choose(torch.__version__, path)
    assert path == [str(tmp_path / "glue" / THIS), str(tmp_path)]
    _glue.choose(torch.__version__, path)  # a second time changes nothing
    assert len(path) == 2


def test_another_torch_is_refused_in_words(merged, tmp_path):
    with zipfile.ZipFile(merged) as archive:
        archive.extractall(tmp_path)
    path = [str(tmp_path / "torch_openreg")]
    words = rf"this wheel is for torch {THIS}, 2.99, but torch 2.12.1\+cpu is imported"
    with pytest.raises(ImportError, match=words):
        _glue.choose("2.12.1+cpu", path)
    assert len(path) == 1


def test_a_wheel_for_one_release_has_no_glue():
    path = [str(PACKAGE)]
    _glue.choose("2.12.1", path)
    assert path == [str(PACKAGE)]


def test_what_custom_operators_are_built_with_is_left_out(tmp_path):
    one = wheel_for(tmp_path / "one", THIS)
    package = "torch_openreg/share/cmake/torch_openreg/torch_openreg-config.cmake"
    other = wheel_for(tmp_path / "other", "2.99", changed=package)  # it names the torch
    assert package in zipfile.ZipFile(one).namelist()
    names = zipfile.ZipFile(merge([one, other], tmp_path / "dist")).namelist()
    assert not [name for name in names if "/share/" in name or "/include/" in name]


def test_wheels_that_do_not_belong_together_are_refused(tmp_path):
    one = wheel_for(tmp_path / "one", THIS)
    again = wheel_for(tmp_path / "again", THIS)
    with pytest.raises(ValueError, match=f"Two of the wheels are for torch {THIS}"):
        merge([one, again], tmp_path / "dist")
    other = wheel_for(tmp_path / "other", "2.99", changed="torch_openreg/utils.py")
    with pytest.raises(ValueError, match=r"torch_openreg/utils.py differs between"):
        merge([one, other], tmp_path / "dist")
    renamed = other.rename(other.with_name("torch_openreg-0.2.0-py3-none-any.whl"))
    with pytest.raises(ValueError, match="The wheels have different names"):
        merge([one, renamed], tmp_path / "dist")
    assert not (tmp_path / "dist").exists()
