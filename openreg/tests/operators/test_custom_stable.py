# A custom operator on torch's stable ABI; see docs/operators/custom-stable.md.
import re
import subprocess
from pathlib import Path

import pytest
import torch
from custom_build import COMPILER, STABLE, compile_stable
from torch.library import opcheck
from torch.testing import assert_close


def oracle(x, bias, cap):
    return cap * torch.tanh((x + bias) / cap)


@pytest.fixture(scope="session")
def library():
    path = compile_stable()
    torch.ops.load_library(path)
    return path


@pytest.fixture
def op(library):
    return torch.ops.softcap_stable.softcap.default


def pair(*shape, device="openreg"):
    return torch.randn(shape, device=device), torch.randn(shape[-1], device=device)


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 4), (5, 1)])
def test_values(op, shape):
    x, bias = pair(*shape)
    assert_close(op(x, bias, 2.0).cpu(), oracle(x.cpu(), bias.cpu(), 2.0))
    if x.dim() == 3:
        y = op(x.permute(2, 0, 1), bias[:3], 2.0)
        assert_close(y.cpu(), oracle(x.cpu().permute(2, 0, 1), bias[:3].cpu(), 2.0))
        negative = op(torch._neg_view(x), bias, 2.0)
        assert_close(negative.cpu(), oracle(-x.cpu(), bias.cpu(), 2.0))


def test_it_runs_on_the_current_stream_of_the_device_of_its_tensors(op):
    x, bias = pair(3, 4, device="openreg:1")
    torch.accelerator.synchronize(1)
    stream = torch.Stream("openreg:1")
    torch.openreg.set_stream(stream)
    torch.openreg.set_device(0)
    with torch.openreg.simulator.hold(stream):
        y = op(x, bias, 2.0)
        assert not stream.query()
    stream.synchronize()
    assert torch.openreg.current_device() == 0
    assert_close(y.cpu(), oracle(x.cpu(), bias.cpu(), 2.0))


def test_opcheck(op):
    opcheck(op, (*pair(2, 3), 2.0))


def test_between_fused_kernels(op, inductor):
    x, bias = pair(3, 4)
    compiled = torch.compile(
        lambda x, bias: op(x.sin() * 2, bias, 2.0).exp() + 1, fullgraph=True
    )
    expected = oracle(x.cpu().sin() * 2, bias.cpu(), 2.0).exp() + 1
    assert_close(compiled(x, bias).cpu(), expected)


def test_bad_arguments(op):
    x, bias = pair(3, 4)
    calls = {
        "two devices": (x, bias.cpu(), 2.0),
        "float32 only": (x.half(), bias.half(), 2.0),
        "one number for each feature": (x, bias[:3], 2.0),
        "cap must be positive, but is -2": (x, bias, -2.0),
    }
    for message, arguments in calls.items():
        with pytest.raises(RuntimeError, match=message):
            op(*arguments)
    with pytest.raises(NotImplementedError, match="with arguments from the 'CPU'"):
        op(x.cpu(), bias.cpu(), 2.0)


def test_a_refused_launch_says_why(library, run_forked):
    program = f"""
        import torch
        torch.ops.load_library({str(library)!r})
        x = torch.ones(3, 4, device="openreg")
        torch.openreg.simulator.fail_kernel("softcap")
        torch.ops.softcap_stable.softcap(x, x[0], 2.0)  # found out later, as always
        wait = torch.openreg.synchronize
        for call in (wait, lambda: torch.ops.softcap_stable.softcap(x, x[0], 2.0)):
            try:
                call()
            except RuntimeError as error:
                print(type(error).__name__, str(error).splitlines()[0])
    """
    process = run_forked(program)
    accelerator, plain = process.stdout.splitlines()
    assert accelerator.startswith("AcceleratorError openreg: orDeviceSynchronize()")
    assert plain.startswith("RuntimeError softcap, ")  # the stable ABI has no other
    assert "softcap: orLaunchKernel(): device 0 stopped" in plain


def test_torch_compiles_it_with_the_paths_of_the_package(run_forked, tmp_path):
    program = f"""
        import torch, torch_openreg.utils as utils
        from torch.utils.cpp_extension import load
        folders = ["-L" + path for path in utils.library_paths()]
        load(
            "softcap_stable",
            {str(STABLE)!r},
            extra_cflags=["-DTORCH_TARGET_VERSION=0x020d000000000000"],
            extra_include_paths=utils.include_paths(),
            extra_ldflags=[*folders, "-lopenreg"],
            is_python_module=False,
            build_directory={str(tmp_path)!r},
        )
        x = torch.ones(2, 3, device="openreg")
        print(torch.ops.softcap_stable.softcap(x, x[0] - 1, 1.0).tolist()[0])
    """
    process = run_forked(program)
    assert process.stdout == f"{torch.ones(3).tanh().tolist()}\n", process.stderr


def test_out_of_memory_is_a_plain_error(library, run_forked):
    program = f"""
        import torch
        torch.ops.load_library({str(library)!r})
        x = torch.ones(3000, 3000, device="openreg")
        try:
            torch.ops.softcap_stable.softcap(x, x[0], 2.0)
        except RuntimeError as error:
            print(type(error).__name__, error)
    """
    process = run_forked(program, OPENREG_DEVICE_MEMORY="64M")
    assert process.stdout.startswith("RuntimeError openreg: out of memory on openreg:0")
    assert "Exception across libtorch C API boundary" in process.stderr


@pytest.mark.parametrize("asks_for_a_size", [False, True])
def test_a_meta_kernel_that_asks_for_a_size(asks_for_a_size, run_forked, tmp_path):
    path = compile_stable()
    if asks_for_a_size:
        source = tmp_path / "softcap_stable.cpp"
        before = "Tensor softcap_meta(Tensor x, Tensor, double) {"
        text = STABLE.read_text()
        assert before in text
        source.write_text(text.replace(before, before + "\nx.size(0);"))
        path = compile_stable(source)
    program = f"""
        import torch
        torch.ops.load_library({str(path)!r})
        x = torch.ones(3, 4, device="openreg")
        torch._dynamo.mark_dynamic(x, 0)
        op = torch.ops.softcap_stable.softcap
        torch.compile(lambda x: op(x, x[0], 2.0), backend="aot_eager")(x)
    """
    process = run_forked(program)
    if asks_for_a_size:
        assert "your code specialized it to be a constant (3)" in process.stderr
    else:
        assert process.returncode == 0, process.stderr


def test_it_needs_c_functions_only(library):
    process = subprocess.run(["nm", "-D", library], capture_output=True, text=True)
    needed = re.findall(r" U (\w+)(?!@)$", process.stdout, re.M)
    assert {"torch_library_impl", "torch_stream_native_handle"} < set(needed)
    assert [
        name for name in needed if not name.startswith(("aoti_", "torch_", "or"))
    ] == []


def test_the_stable_headers_refuse_the_others(tmp_path):
    source = tmp_path / "mixed.cpp"
    source.write_text("#include <ATen/core/Tensor.h>\n")
    include = Path(torch.__file__).parent / "include"
    command = [*COMPILER, "-std=c++20", "-fsyntax-only", f"-I{include}"]
    command += ["-DTORCH_TARGET_VERSION=0x020d000000000000"]
    process = subprocess.run([*command, source], capture_output=True, text=True)
    assert process.returncode != 0
    assert "This file should not be included when either" in process.stderr
