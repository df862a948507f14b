# A wheel with each of the faults that users would meet; see docs/ship/check-wheels.md.
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
import torch
import torch_openreg
from packed import empty_wheel

sys.path.append(str(Path(__file__).resolve().parents[2]))
import check_wheel

OWN = ["[Oo]pen[Rr]eg", "^or[A-Z]", "^occl[A-Z]", "^acme_"]
PACKAGE = Path(torch_openreg.__file__).parent


def compiled(folder, name, code, *options):
    """Compile C into a shared object."""
    source = folder / "source.c"
    source.write_text(code)
    target = folder / name
    command = ["cc", "-shared", "-fPIC", "-o", str(target), str(source), *options]
    subprocess.run(command, check=True)
    return target


def wheel_of(folder, *files, name="torch_acme-1.0-cp311-cp311-linux_x86_64.whl"):
    wheel = folder / name
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in files:
            archive.write(file, f"torch_acme/lib/{file.name}")
    return wheel


def found(wheel):
    return check_wheel.check(wheel, OWN)[1]


def test_the_objects_of_this_backend_have_no_problem(tmp_path):
    objects = sorted(PACKAGE.rglob("*.so"))
    assert len(objects) == 4
    told, problems = check_wheel.check(wheel_of(tmp_path, *objects), OWN)
    assert not problems
    assert any(line.startswith("it needs GLIBC 2.") for line in told)
    assert sum(line.startswith("  torch_acme/lib/") for line in told) == 4


def test_a_wheel_without_faults(tmp_path):
    library = compiled(
        tmp_path, "libacme.so", "int acme_one(void) { return 1; }", "-Wl,-rpath,$ORIGIN"
    )
    assert found(wheel_of(tmp_path, library)) == []


def test_what_an_arm_system_adds_is_no_problem(tmp_path):
    """Names that the linker for Arm defines, and the name of the loader there."""
    names = ["__bss_end__", "__bss_start__", "__end__", "_bss_end__"]
    code = "".join(f"int {name} = 1;" for name in names)
    loader = compiled(tmp_path, "loader.so", "", "-Wl,-soname,ld-linux-aarch64.so.1")
    options = ["-Wl,--no-as-needed", str(loader), "-Wl,-rpath,$ORIGIN"]
    library = compiled(tmp_path, "libacme.so", code, *options)
    assert "ld-linux-aarch64.so.1" in check_wheel.read(library).needed
    assert found(wheel_of(tmp_path, library)) == []


@pytest.mark.parametrize(
    ("name", "code", "options", "expected"),
    [
        (
            "libacme.so",
            "int helper(void) { return 1; }",
            [],
            "libacme.so exports helper and 0 more such names",
        ),
        (
            "libacme.so",
            "int acme_one(void) { return 1; }",
            ["-Wl,-rpath,/build/lib"],
            "libacme.so searches /build/lib, a folder of the machine that built it",
        ),
        (
            "libacme.so",
            "int away(void); int acme_one(void) { return away(); }",
            [],
            "libacme.so takes away from no library (1)",
        ),
        (
            "libc10.so",
            "int acme_one(void) { return 1; }",
            [],
            "libc10.so is a library of torch: a process would have two of it",
        ),
    ],
    ids=["exported", "runpath", "undefined", "of torch"],
)
def test_a_fault_is_found(tmp_path, name, code, options, expected):
    library = compiled(tmp_path, name, code, *options)
    assert found(wheel_of(tmp_path, library)) == [expected]


def test_a_library_of_the_builder_is_found(tmp_path):
    vendor = compiled(tmp_path, "libvendor.so", "int acme_two(void) { return 2; }")
    code = "int acme_two(void); int acme_one(void) { return acme_two(); }"
    library = compiled(
        tmp_path, "libacme.so", code, f"-L{tmp_path}", "-lvendor", "-Wl,-rpath,$ORIGIN"
    )
    assert found(wheel_of(tmp_path, library, vendor)) == []
    assert found(wheel_of(tmp_path, library)) == [
        "libacme.so needs libvendor.so, which neither torch nor every Linux has",
        "libacme.so takes acme_two from no library (1)",
    ]


def test_symbols_of_torch_are_found_in_it(tmp_path):
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", Path(torch.__file__).parent / "lib/libc10.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    real = next(
        line.split()[-1]
        for line in lines.splitlines()
        if " T _ZN3c10" in line and "@" not in line
    )
    code = f"void {real}(void); void acme_one(void) {{ {real}(); }}"
    assert found(wheel_of(tmp_path, compiled(tmp_path, "libacme.so", code))) == []


def test_a_wheel_for_every_platform_is_none(tmp_path):
    library = compiled(tmp_path, "libacme.so", "int acme_one(void) { return 1; }")
    wheel = wheel_of(tmp_path, library, name="torch_acme-1.0-py3-none-any.whl")
    assert found(wheel) == [f"{wheel.name} says that it fits every platform"]


@pytest.mark.parametrize(
    ("requires", "problems"),
    [
        ("torch==2.13.0+cpu", ["torch==2.13.0+cpu"]),
        ("torch (===2.13.0+cu130)", ["torch (===2.13.0+cu130)"]),
        ("torch>=2.13,==2.13.0+cpu; python_version>'3'", ["torch>=2.13,==2.13.0+cpu"]),
        ("torch==2.13.0; python_version=='3.11+x'", []),
        ("torch<2.14,>=2.13", []),
    ],
)
def test_a_pin_of_one_build_is_found(tmp_path, requires, problems):
    wheel = empty_wheel(tmp_path, requires)
    assert found(wheel) == [
        f"it requires {one}: pip refuses each other build of that release"
        for one in problems
    ]


def test_this_backend_takes_every_build_of_its_release():
    metadata = distribution("torch_openreg").read_text("METADATA")
    assert "Requires-Dist: torch" in metadata
    assert not list(check_wheel.pins(metadata))


def test_the_command(tmp_path, capsys, monkeypatch):
    library = compiled(tmp_path, "libacme.so", "int helper(void) { return 1; }")
    wheel = wheel_of(tmp_path, library)
    monkeypatch.setattr("sys.argv", ["check_wheel.py", str(wheel), "--own", "^acme_"])
    assert check_wheel.main() == 1
    assert capsys.readouterr().out.endswith(
        "problem: libacme.so exports helper and 0 more such names\n1 problems\n"
    )
    monkeypatch.setattr("sys.argv", ["check_wheel.py", str(wheel), "--own", "helper"])
    assert check_wheel.main() == 0
