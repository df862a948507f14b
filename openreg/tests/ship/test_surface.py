# The comparison of two torch releases finds what changed; see docs/ship/upgrading.md.
import json
import textwrap
import zipfile
from pathlib import Path

import pytest
from compare_surface import main
from surface import cpp, operators

GUARD = "include/c10/core/impl/DeviceGuardImplInterface.h"
HOOKS = "include/ATen/detail/PrivateUse1HooksInterface.h"
YAML = "../torchgen/packaged/ATen/native/native_functions.yaml"
OLD = {
    "version.py": "__version__ = '7.1.0+cpu'\n",
    GUARD: """
        // virtual void inComment();
        struct C10_API DeviceGuardImplInterface {
          virtual Device getDevice() const = 0;
          virtual void block(void* event, const Stream& stream) const {
            (void)event;
            TORCH_CHECK(false, "no } events");
          }
          virtual void renamed(int device = 0) const;
          virtual void gone(const std::function<void(int, int)>& call) {}
          void plain();
         protected:
          virtual ~DeviceGuardImplInterface() = default;
        };
        class Other { virtual void ours_not(); };
    """,
    HOOKS: """
        #define C10_REGISTER_GUARD_IMPL(DevType, Impl) some { thing
        struct TORCH_API PrivateUse1HooksInterface : AcceleratorHooksInterface {
          bool isBuilt() const override { return false; }
        };
        enum class DispatchKey : uint16_t { Undefined = 0, PrivateUse1, };
        TORCH_API void RegisterPrivateUse1HooksInterface(
            at::PrivateUse1HooksInterface* hook_);
    """,
    YAML: """
- func: sin(Tensor self) -> Tensor
  structured_delegate: sin.out

- func: sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: sin_out

- func: twice(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: twice
""",
    "__init__.py": """
        def _import_device_backends(group="torch.backends"):
            group_name = "torch.backends"
            return entry_points(group=group_name)
        def register_thing(name: str, thing=None): ...
    """,
    "uses.py": """
        def f(device_type):
            module = getattr(torch, device_type)
            return module.set_device(1)
    """,
    "dynamo.py": """
        class DeviceInterface:
            def stream(stream): ...
            class Worker:
                def set_device(device: int): ...
    """,
    "accelerator/__init__.py": "def synchronize(device=None): ...\n",
}
NEW = {
    "version.py": "__version__ = '7.2.0'\n",
    GUARD: OLD[GUARD]
    .replace("int device = 0", "int index = 0")
    .replace("virtual void gone(", "virtual int added(")
    .replace("getDevice() const = 0", "getDevice() const noexcept = 0")
    .replace("(void)event;", ""),
    HOOKS: OLD[HOOKS].replace("PrivateUse1, }", "PrivateUse1, Late, }"),
    YAML: OLD[YAML].replace("CompositeExplicitAutograd: twice", "CPU: twice"),
    "__init__.py": OLD["__init__.py"].replace(
        "thing=None): ...",
        "thing=None, *, late=entry_points(group='more')): ...",
    ),
    "uses.py": OLD["uses.py"].replace("set_device(1)", "current_stream()"),
    "dynamo.py": OLD["dynamo.py"].replace("device: int", "device: str, late=1"),
    "accelerator/__init__.py": "def synchronize(device=None): ...\ndef late(): ...\n",
}
ATEN = "include/ATen/ATen.h"
PYBIND = "include/pybind11/detail/common.h"
METADATA = "../torch-7.dist-info/METADATA"
OLD |= {
    ATEN: "#if !defined(_MSC_VER) && __cplusplus < 201703L\n#error\n#endif\n",
    PYBIND: "#define PYBIND11_VERSION_MAJOR 3\n# define PYBIND11_VERSION_MINOR 0\n",
    METADATA: "Name: torch\nRequires-Python: >=3.10\n",
    "include/c10/util/Array.h": "",
    "include/other/Library.h": "",
}
NEW |= {
    ATEN: OLD[ATEN].replace("201703", "202002"),
    PYBIND: OLD[PYBIND],
    METADATA: OLD[METADATA].replace("3.10", "3.11"),
    "include/c10/util/More.h": "",
}
EXPECTED = {
    "requirements": ([], [], ["C++", "Python"]),
    "headers": (["c10/util/More.h"], ["c10/util/Array.h"], []),
    "virtual functions": (
        ["DeviceGuardImplInterface::added(const std::function<void(int, int)>&)"],
        ["DeviceGuardImplInterface::gone(const std::function<void(int, int)>&)"],
        ["DeviceGuardImplInterface::getDevice()"],
    ),
    "enumerators": (["DispatchKey::Late"], [], []),
    "dtypes": ([], [], []),
    "C++ macros": ([], [], []),
    "C++ functions that register": ([], [], []),
    "operators": ([], [], ["twice"]),
    "entry points": (["more"], [], []),
    "Python functions that register": ([], [], ["torch.register_thing"]),
    "Python classes": ([], [], ["DeviceInterface.Worker.set_device"]),
    "torch.accelerator": (["torch.accelerator.late"], [], []),
    "lookups in the device module": (["current_stream"], ["set_device"], []),
}


def plant(folder, files):
    for name, text in files.items():
        path = (folder / "torch" / name).resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


@pytest.fixture
def trees(tmp_path):
    for folder, files in (("old", OLD), ("new", NEW)):
        (tmp_path / folder / "torch").mkdir(parents=True)
        plant(tmp_path / folder, files)
    return tmp_path / "old", tmp_path / "new"


def test_new_gone_and_changed_are_told_apart(trees, tmp_path, capsys):
    main([*map(str, trees), "--json", str(tmp_path / "out.json")])
    found = json.loads((tmp_path / "out.json").read_text())
    kinds = {kind: tuple(map(list, it.values())) for kind, it in found.items()}
    assert kinds == EXPECTED
    report = capsys.readouterr().out.splitlines()
    assert report[0] == "Extension points of torch 7.1.0 and 7.2.0"
    assert "== virtual functions: 1 new, 1 gone, 1 changed" in report
    assert "    7.2.0: virtual Device getDevice() const noexcept = 0" in report
    before, after = (line for line in report if "[" in line)  # of `twice`
    assert before.endswith("[composite]") and after.endswith("[needs your kernel]")


def test_a_release_has_no_difference_to_itself(trees, capsys):
    main([str(trees[0]), str(trees[0] / "torch")])
    counts = [line for line in capsys.readouterr().out.splitlines() if "==" in line]
    assert len(counts) == len(EXPECTED)
    assert all(line.endswith(": 0 new, 0 gone, 0 changed") for line in counts)


def test_a_wheel_is_read_without_its_dependencies(trees, tmp_path, capsys):
    wheel = tmp_path / "torch-7.2.0.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for path in filter(Path.is_file, trees[1].rglob("*")):
            packed.write(path, path.relative_to(trees[1]))
    for kind in ("requirements", "operators"):
        main([str(trees[1]), str(wheel), "--only", kind])
        lines = capsys.readouterr().out.splitlines()
        assert lines[2:] == [f"== {kind}: 0 new, 0 gone, 0 changed"]


def test_what_is_not_there_is_refused(trees, capsys):
    for arguments, expected in (
        (
            ["/nowhere", str(trees[1])],
            "/nowhere is neither a torch, an environment nor",
        ),
        (
            [*map(str, trees), "--only", "x"],
            "there is no 'x', but: requirements, headers, ",
        ),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert expected in capsys.readouterr().err


def test_defaults_and_nested_classes_are_read():
    text = OLD[GUARD].replace("void plain();", "struct In { virtual void x() {} };")
    found = cpp.virtuals(text, {"DeviceGuardImplInterface"})
    assert "DeviceGuardImplInterface::In::x()" in found
    block = found["DeviceGuardImplInterface::block(void*, const Stream&)"]
    assert block.endswith('const { TORCH_CHECK(false, "no } events"); }')


@pytest.mark.parametrize(
    ("name", "route"),
    [("sin", "calls its out form"), ("sin.out", "needs your"), ("twice", "composite")],
)
def test_who_has_the_kernel(name, route):
    assert f"[{route}" in operators.operators(OLD[YAML])[name]
