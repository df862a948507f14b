# The hooks: their table in the guide, and what each does; see docs/runtime/hooks.md.
import re
from pathlib import Path

import pytest
import torch
from contract import CSRC, code, table, virtuals, wrong_needs
from torch_release import has_changed

ACCELERATOR = virtuals(
    "ATen/detail/AcceleratorHooksInterface.h",
    "struct TORCH_API AcceleratorHooksInterface {",
)
PRIVATEUSE1 = virtuals(
    "ATen/detail/PrivateUse1HooksInterface.h",
    "struct TORCH_API PrivateUse1HooksInterface :",
)
MEMBERS = list(dict.fromkeys([*ACCELERATOR, *PRIVATEUSE1]))
ROWS = table("runtime/hooks.md", "Member")


@pytest.fixture(scope="module")
def calls(compile_cpp):
    torch.ops.load_library(compile_cpp("calls"))
    return torch.ops.openreg_calls


# -- the table --


def test_the_table_has_each_member_with_both_kinds():
    told = {code(row[0])[0]: (row[1], row[2]) for row in ROWS}
    assert told == {
        name: (ACCELERATOR.get(name, "-"), PRIVATEUSE1.get(name, "inherits"))
        for name in MEMBERS
    }


@pytest.mark.smoke
def test_our_hooks_override_each_member():
    text = (CSRC / "runtime/interface/OpenRegHooks.h").read_text()
    ours = re.findall(r"(\w+)\([^()]*\) const override", text)
    assert sorted(ours) == sorted(MEMBERS)


def test_the_table_says_when_a_backend_needs_a_member():
    assert wrong_needs(ROWS, 3, "StarterHooks.cpp") == []


# In a separate process: init() is called once in the life of a process.
MEASURE = """
    import sys, torch
    sys.path.insert(0, {tests!r})
    from contract import Trace, action
    torch.ops.load_library({calls!r})
    trace = Trace({trace!r})
    lines = [
        "x.pin_memory()",
        "x.is_pinned()",
        "torch.get_device_module()",
        "torch.Generator('openreg')",
        "storage.resize_(64)",
        "on_device.resize_(64)",
        "backward(y, gradient)",
        "for_blob(address, 4)",
        "defaultGenerator(0)",
    ]
    for name in dir(torch._C):
        if name.startswith("_accelerator_hooks_"):
            arguments = "" if "count" in name or "get" in name else "0"
            lines.append(f"torch._C.{{name}}({{arguments}})")
    def prepare():
        x = torch.ones(4, device="openreg")
        weight = torch.ones(4, device="openreg", requires_grad=True)
        return {{
            "x": torch.ones(4),
            "on_device": torch.ones(4, device="openreg"),
            "storage": torch.ones(4, device="openreg").untyped_storage(),
            "y": weight.view(4),
            "gradient": x,
            "address": x.data_ptr(),
            "backward": torch.autograd.backward,
            "for_blob": torch.ops.openreg_calls.from_blob,
            "defaultGenerator": torch.ops.openreg_calls.default_seed,
        }}
    for line in lines:
        names = prepare()
        for member, lock, thread in trace(line, names):
            if member.startswith("Hooks."):
                print(action(line), member, lock, thread)
        torch.openreg.synchronize()
"""
# What the table calls a line, where that is not the function of the line.
NAMES = {
    "on_device.resize_": "x.resize_",
    "for_blob": "at::for_blob",
    "defaultGenerator": "Context::defaultGenerator",
}


def test_the_table_says_who_calls_a_member_and_how(compile_cpp, run_forked):
    program = MEASURE.format(
        tests=str(Path(__file__).parents[1] / "support"),
        calls=str(compile_cpp("calls")),
        trace=str(compile_cpp("trace")),
    )
    process = run_forked(program)
    assert process.returncode == 0, process.stderr
    measured = {name: (set(), set(), set()) for name in MEMBERS}
    for line in process.stdout.splitlines():
        label, member, lock, thread = line.split(" ", 3)
        callers, locks, threads = measured[member.removeprefix("Hooks.")]
        callers.add(NAMES.get(label, label.removeprefix("torch._C.")))
        locks.add({"gil": "yes", "-": "no"}[lock])
        threads.add("engine" if thread.startswith("pt_autograd") else "caller")
    told = {
        code(row[0])[0]: (set(code(row[3])), set(row[4].split(", ")) - {"-"},
                          set(row[5].split(", ")) - {"-"})
        for row in ROWS
    }  # fmt: skip
    if has_changed("get_device_module asks no hooks"):
        told["isAvailable"] = (set(), set(), set())
    assert told == measured


# -- what each member does --


@pytest.mark.parametrize("index", [0, 1])
def test_the_device_of_an_address_is_found(calls, index):
    x = torch.arange(6.0).to(f"openreg:{index}")
    blob = calls.from_blob(x[2:].data_ptr(), 3)  # also inside of an allocation
    assert blob.device == x.device
    assert blob.tolist() == [2.0, 3.0, 4.0]
    blob.fill_(7)
    assert x.tolist() == [0.0, 1.0, 7.0, 7.0, 7.0, 5.0]


def test_an_address_of_the_host_has_no_device(calls):
    with pytest.raises(RuntimeError, match="not an address of device memory"):
        calls.from_blob(torch.ones(4).data_ptr(), 4)


def test_the_default_generator_is_the_one_of_python(calls):
    torch.openreg.set_device(1)
    torch.openreg.manual_seed(1234)
    assert calls.default_seed(1) == calls.default_seed(-1) == 1234  # -1: the current
    with pytest.raises(torch.AcceleratorError, match="device"):
        calls.default_seed(9)


@pytest.mark.smoke
def test_is_built(calls):
    assert calls.is_built() is True


def test_device_functions_of_the_hooks_agree_with_the_guard():
    c = torch._C
    assert c._accelerator_hooks_device_count() == torch.accelerator.device_count() == 2
    c._accelerator_hooks_set_current_device(1)
    assert torch.accelerator.current_device_index() == 1
    assert c._accelerator_hooks_get_current_device() == 1
    assert c._accelerator_hooks_exchange_device(0) == 1
    assert c._accelerator_hooks_maybe_exchange_device(1) == 0
    assert c._accelerator_hooks_get_current_device() == 1
    for name in ("set_current_device", "exchange_device"):
        with pytest.raises(torch.AcceleratorError, match="device"):
            getattr(c, f"_accelerator_hooks_{name}")(9)
    assert c._accelerator_hooks_get_current_device() == 1


def test_generators_are_made_for_the_device_that_is_asked_for():
    torch.openreg.set_device(1)
    assert torch.Generator("openreg").device == torch.device("openreg:1")
    assert torch.Generator("openreg:0").device == torch.device("openreg:0")
    with pytest.raises(torch.AcceleratorError, match="9"):
        torch.Generator("openreg:9")


@pytest.mark.parametrize("size", [0, 4, 16, 4096])
def test_a_storage_keeps_what_fits(size):
    x = torch.tensor([1.0, 2.0, 3.0, 4.0]).to("openreg")
    storage = x.untyped_storage()
    storage.resize_(size)
    assert storage.nbytes() == size
    count = min(size // 4, 4)
    kept = torch.empty(0, device="openreg").set_(storage, 0, (count,), (1,))
    assert kept.tolist() == [1.0, 2.0, 3.0, 4.0][:count]
    storage.resize_(16)
    assert x.tolist()[:count] == [1.0, 2.0, 3.0, 4.0][:count]
