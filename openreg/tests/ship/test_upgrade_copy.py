# Brings a copy to a later stage; see docs/ship/make-it-yours.md.
import subprocess
import sys
from pathlib import Path

import pytest

OPENREG = Path(__file__).resolve().parents[2]
sys.path.append(str(OPENREG))  # the last: it also has sources of torch_openreg
import new_backend as tool  # noqa: E402
from cloning import target  # noqa: E402

KERNEL = "csrc/kernels/Mine.cpp"
DRIVER = "third_party/openreg/csrc/copy.cpp"
LOADER = "torch_acme/__init__.py"  # of every stage, and another one at stage 4


def written(folder):
    """The files of a copy, and what they say."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != target.LIST
    }


def at(stage, folder, **options):
    return tool.new_backend("acme", folder, stage, **options)[1]


@pytest.fixture(autouse=True)
def _autoload(monkeypatch):
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")  # the tool sets it


def test_each_stage_comes_to_a_copy_as_to_an_empty_folder(tmp_path):
    for stage in (3, 4, 5, 9):
        changed = at(stage, tmp_path / "one")
        assert changed.edited == []
        at(stage, tmp_path / f"new-{stage}")
        assert written(tmp_path / "one") == written(tmp_path / f"new-{stage}")
    assert (tmp_path / "one/csrc/distributed").is_dir()
    assert not (tmp_path / "one/examples").exists()  # of the starter only


def test_the_rooms_of_the_vendor_and_his_edits_stay(tmp_path):
    at(3, tmp_path)
    mine = {KERNEL: "// mine\n", DRIVER: "// also mine\n", LOADER: "# edited\n"}
    (tmp_path / "csrc/kernels").mkdir()
    for path, text in mine.items():
        (tmp_path / path).write_text(text)
    for stage, news in ((4, [f"{LOADER}.new"]), (5, []), (9, [])):
        changed = at(stage, tmp_path)
        assert changed.edited == [LOADER]
        assert [path for path in changed.write if path.endswith(".new")] == news
        for path, text in mine.items():
            assert (tmp_path / path).read_text() == text
    new = (tmp_path / f"{LOADER}.new").read_text()
    (tmp_path / LOADER).write_text(new)  # he takes it
    assert at(9, tmp_path) == target.Changes()


def test_a_kernel_that_was_deleted_does_not_come_back(tmp_path):
    at(5, tmp_path)
    (tmp_path / "csrc/kernels/Unary.cpp").unlink()
    for stage in (5, 9, 9):
        at(stage, tmp_path)
        assert not (tmp_path / "csrc/kernels/Unary.cpp").exists()
    assert (tmp_path / "csrc/kernels/OneShotAllReduce.cpp").is_file()


def test_a_new_release_comes_the_same_way(tmp_path, monkeypatch):
    at(3, tmp_path)
    texts = tool.texts_of(tool.Spelling("acme"), 3)
    (tmp_path / "setup.py").write_text("# edited\n")
    new = {path: text + "// 2\n" for path, text in texts.items()}
    del new["CMakeLists.txt"], new["setup.py"], new["csrc/Export.h"]
    monkeypatch.setattr(tool, "texts_of", lambda *_: new)
    (tmp_path / "CMakeLists.txt").write_text("# edited\n")
    changed = at(None, tmp_path)
    assert changed.delete == ["csrc/Export.h"]
    assert sorted(changed.edited) == ["CMakeLists.txt", "setup.py"]  # both stay
    now = written(tmp_path)
    assert now["setup.py"] == now["CMakeLists.txt"] == "# edited\n"
    for path in new:
        driver = path.startswith("third_party/")
        assert now[path] == (texts if driver else new)[path], path
    assert at(None, tmp_path) == target.Changes()


def test_a_step_back_and_another_name_are_refused(tmp_path):
    at(4, tmp_path)
    before = written(tmp_path)
    with pytest.raises(ValueError, match="is at stage 4 already"):
        at(3, tmp_path)
    for name, driver in (("nova", None), ("acme", "acmert")):
        with pytest.raises(ValueError, match="device 'acme' with the driver 'openreg'"):
            tool.new_backend(name, tmp_path, driver=driver)
    assert written(tmp_path) == before


def test_a_full_disk_leaves_a_copy_as_it_was(tmp_path, monkeypatch):
    at(3, tmp_path)
    before, write = written(tmp_path), Path.write_text

    def fail(path, text, **options):
        if path.name == "AcmeProfiler.cpp":
            raise OSError(28, "No space left on device")
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match="No space left"):
        at(9, tmp_path)
    assert written(tmp_path) == before


def test_the_command_reports_what_was_edited(tmp_path, monkeypatch, capsys):
    at(3, tmp_path)
    (tmp_path / LOADER).write_text("# edited\n")
    command = ["new_backend.py", "acme", "--into", str(tmp_path), "--stage", "4"]
    monkeypatch.setattr(sys, "argv", command)
    tool.main()
    first, *edited = capsys.readouterr().out.splitlines()
    assert first.endswith("files of the package torch_acme")
    assert edited == [f"left as you edited it: {LOADER}; see {LOADER}.new"]


# -- a driver of one's own --


def stubs(folder):
    return {path.name for path in (folder / "third_party/acmert").glob("*.cpp")}


def test_the_skeleton_of_a_driver_grows_with_the_stages(tmp_path):
    at(3, tmp_path, driver="acmert")
    assert stubs(tmp_path) == {"stubs_3.cpp"}
    first = tmp_path / "third_party/acmert/stubs_3.cpp"
    assert "orError_t orMalloc(void** ptr, size_t size) {" in first.read_text()
    first.unlink()  # all of it is written
    at(9, tmp_path)
    assert stubs(tmp_path) == {"stubs_4.cpp", "stubs_8.cpp", "stubs_9.cpp"}
    kernels = sorted((tmp_path / "csrc/kernels").iterdir())
    assert kernels and all(path.suffix == ".h" for path in kernels)


def test_the_skeleton_compiles_and_has_what_the_backend_calls(tmp_path):
    at(9, tmp_path, driver="acmert")
    folder, build = tmp_path / "third_party/acmert", tmp_path / "build"
    (tmp_path / "alone").mkdir()
    project = "cmake_minimum_required(VERSION 3.25)\nproject(alone LANGUAGES CXX)\n"
    project += (
        f"add_compile_options(-Wall -Wextra -Werror)\nadd_subdirectory({folder} d)"
    )
    (tmp_path / "alone/CMakeLists.txt").write_text(project)
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(tmp_path / "alone"), "-B", str(build)],
        ["cmake", "--build", str(build)],
    ):
        process = subprocess.run(command, capture_output=True, text=True)
        assert process.returncode == 0, process.stdout + process.stderr
    library = str(build / "d/libacmert.so")
    symbols = subprocess.run(
        ["nm", "--dynamic", "--defined-only", library], capture_output=True, text=True
    ).stdout
    defined = {line.split()[-1] for line in symbols.splitlines()}
    assert defined >= {"orMalloc", "orLaunchHostFunc", "occlAllReduce"}
