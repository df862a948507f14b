# Names, orders of registration, methods and logs; see docs/frontend/naming.md.
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from contract import code, table
from patience import PATIENCE

PAGE = "frontend/naming.md"
WORKER = Path(__file__).parents[1] / "support/naming_worker.py"


def run_each(programs: list[str]) -> list[str]:
    """What each program printed, in a torch where nothing is registered."""
    process = subprocess.run(
        [sys.executable, WORKER],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


TRY_NAME = """
import types
for call in (
    lambda: torch.utils.rename_privateuse1_backend({name!r}),
    lambda: torch.device({name!r} + ":1"),
    lambda: torch._register_device_module({name!r}, types.ModuleType("m")),
):
    try:
        call()
    except RuntimeError as error:
        print(error)
    else:
        print("yes")
"""


def test_the_table_says_which_names_work():
    rows = table(PAGE, "name")
    names = [code(row[0])[0] for row in rows]
    told = run_each([TRY_NAME.format(name=name) for name in names])
    for row, answer in zip(rows, told, strict=True):
        lines = answer.splitlines()
        assert len(lines) == 3, answer
        for cell, line in zip(row[1:], lines, strict=True):
            if cell == "yes":
                assert line == "yes", row
            else:
                assert code(cell)[0] in line, row


STEPS = {
    "load": "torch.ops.load_library(LIBRARY)",
    "rename": "torch.utils.rename_privateuse1_backend('foo')",
    "module": "import types\nmodule = types.ModuleType('foo')\n"
    "module._lazy_init = lambda: None\nmodule.current_device = lambda: 1\n"
    "torch._register_device_module('foo', module)",
    "methods": "torch.utils.generate_methods_for_privateuse1_backend()",
    "tensor": "print(torch.empty(1, device='foo').device)",
    "old name": "torch.empty(1, device='privateuseone')",
    "method": "print(torch.empty(1).foo().device)",
    "has method": "print(hasattr(torch.Tensor, 'foo'))",
    "accelerator": "print(torch.accelerator.is_available())",
}


def test_the_table_says_what_each_order_gives():
    rows = table(PAGE, "you do")
    used = [code(row[0]) for row in rows]
    assert {step for steps in used for step in steps} == set(STEPS)
    told = run_each(["\n".join(map(STEPS.get, steps)) for steps in used])
    for row, answer in zip(rows, told, strict=True):
        expected = code(row[1])[0]
        if "Error" in answer:
            assert expected in answer, row
        else:
            assert answer == expected, row


def test_a_name_in_capitals_is_two_names():
    (told,) = run_each(
        [
            "torch.utils.rename_privateuse1_backend('MyDev')\n"
            "print(torch._C._get_privateuse1_backend_name())\n"
            "print(torch.utils.backend_registration._privateuse1_backend_name)\n"
            "print(torch.device('mydev'))\n"
            "torch.utils.rename_privateuse1_backend('mydev')"
        ]
    )
    assert told.splitlines()[:3] == ["mydev", "MyDev", "mydev"]
    assert "has already been set! Current backend: MyDev" in told


def test_the_name_of_another_device_means_both():
    told = run_each(
        [
            f"torch.utils.rename_privateuse1_backend('{name}')\n"
            f"print(torch.device('privateuseone') == torch.device('{name}'))"
            for name in ("xla", "meta")
        ]
    )
    # The name of your device is that of the other one from now on.
    assert told == ["True", "True"]


def test_the_name_given_in_cpp_does_not_reach_python():
    asks = (
        "print(hasattr(torch.profiler.ProfilerActivity, 'FOO'))\n"
        "print(torch.utils.backend_registration._privateuse1_backend_name)\n"
    )
    (told,) = run_each(
        [
            # What c10::register_privateuse1_backend does, and no more.
            "torch._C._rename_privateuse1_backend('foo')\n"
            f"print(torch.device('foo'))\n{asks}"
            f"torch.utils.rename_privateuse1_backend('foo')\n{asks}"
        ]
    )
    assert told.split() == ["foo", "False", "privateuseone", "True", "foo"]


def test_storage_methods_are_made_on_request_and_module_methods_need_those_of_tensors():
    rename, make = (
        STEPS["rename"],
        "torch.utils.generate_methods_for_privateuse1_backend",
    )
    ask = "print(hasattr(torch.UntypedStorage, 'foo'), hasattr(torch.nn.Module, 'foo'))"
    told = run_each(
        [
            f"{rename}\n{make}()\n{ask}",
            f"{rename}\n{make}(for_storage=True)\n{ask}",
            f"{rename}\n{make}(for_tensor=False)",
        ]
    )
    assert told[:2] == ["False True", "True True"]
    assert "Can not automatically generate foo() method for torch.nn.Module" in told[2]


def test_generated_methods_take_devices_and_move_values():
    torch.openreg.set_device(1)
    x = torch.arange(3.0)
    for device, index in ((None, 1), (0, 0), ("openreg:0", 0), ("openreg", 1)):
        moved = x.openreg(device)
        assert moved.device.index == index and moved.tolist() == [0, 1, 2]
        assert moved.is_openreg and not x.is_openreg
    assert torch.nn.Linear(2, 2).openreg(0).bias.device.index == 0
    storage = x.untyped_storage().openreg(1)
    assert (
        storage.device.index == 1 and storage.tolist() == x.untyped_storage().tolist()
    )


def test_a_subclass_sees_the_generated_methods():
    seen = []

    class Watching(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            seen.append(function)
            return super().__torch_function__(function, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Watching)
    assert not x.is_openreg
    x.openreg()
    assert torch.Tensor.openreg in seen
    assert torch.Tensor.is_openreg.__get__ in seen


LOGS = "import {first}; import torch; torch.ones(1, device='openreg')"


@pytest.mark.parametrize("first", ["torch", "torch_openreg"])
@pytest.mark.parametrize(("setting", "lines"), [("openreg", 1), ("+openreg", 3)])
def test_the_log_has_a_name_whatever_is_imported_first(
    run_python, first, setting, lines
):
    process = run_python(LOGS.format(first=first), TORCH_LOGS=setting)
    assert process.returncode == 0, process.stderr
    assert process.stderr.count("openreg: ") == lines, process.stderr
    assert "openreg: started, devices: 2, fallback mode: allow" in process.stderr


def test_without_the_setting_nothing_is_logged(run_python):
    process = run_python(LOGS.format(first="torch"))
    assert (process.returncode, process.stderr) == (0, "")


def test_the_log_name_is_unknown_without_autoload(run_python):
    # Not in this folder: it has a folder `openreg`, which Python can import.
    env = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONSAFEPATH": "1"}
    process = run_python("import torch", TORCH_LOGS="openreg", **env)
    assert "Invalid log settings: openreg" in process.stderr
    program = LOGS.format(first="torch_openreg")
    process = run_python(program, TORCH_LOGS="+torch_openreg", **env)
    assert process.returncode == 0 and process.stderr.count("openreg: ") == 3
