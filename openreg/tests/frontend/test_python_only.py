# The device npy, written in Python only; see docs/frontend/python-only.md.
import json
import os
import signal
from pathlib import Path

import pytest
from contract import code, table

TESTS = Path(__file__).parents[1]
PACKAGES = TESTS / "python_only"
PAGE = "frontend/python-only.md"


@pytest.fixture
def run(run_forked):
    """Run a program with the backend, where openreg is not loaded."""
    find = f"import sys\nsys.path.insert(0, {str(PACKAGES)!r})"

    def run_npy(program: str):
        return run_forked(
            f"{find}\nimport torch, numpy_backend\n{program}",
            TORCH_DEVICE_BACKEND_AUTOLOAD="0",
        )

    return run_npy


def succeed(process) -> str:
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


COMPARE = """
torch.manual_seed(0)
x, y = torch.randn(3, 4), torch.randn(4)
i = torch.tensor([2, 0])
def changed(x):
    x = x.clone()
    x[1].add_(5)
    x.t()[0].mul_(2)
    x[:, 1:3] = 7
    return x
calls = {
    "factories": lambda d: torch.cat(
        [torch.ones(2, device=d), torch.zeros(2, device=d), torch.full((2,), 3.0).to(d)]
    ),
    "arange": lambda d: torch.arange(3, device=d),
    "add": lambda d: torch.add(x.to(d), y.to(d), alpha=2),
    "add number": lambda d: x.to(d) + 1,
    "add of dtypes": lambda d: i.to(d) + torch.ones(2, device=d),
    "mm": lambda d: x.to(d) @ x.to(d).t(),
    "mv": lambda d: x.to(d) @ y.to(d),
    "views": lambda d: x.to(d).reshape(2, 6)[1].view(3, 2).permute(1, 0)[:, 1:],
    "expand": lambda d: y.to(d).expand(2, -1).sum(0),
    "unsqueeze": lambda d: y.to(d).unsqueeze(1).squeeze(1)[..., None].transpose(0, 1),
    "strided": lambda d: x.to(d).as_strided((2, 2), (4, 1), 1),
    "in place through views": lambda d: changed(x.to(d)),
    "index": lambda d: x.to(d)[i.to(d)],
    "mask": lambda d: x.to(d)[x.to(d) > 0],
    "topk": lambda d: x.to(d).topk(2).values,
    "out": lambda d: torch.exp(x.to(d), out=torch.empty(0, device=d)),
    "half": lambda d: x.to(d).half().double().to(torch.int32),
    "softmax": lambda d: x.to(d).softmax(1).log(),
    "bool": lambda d: (x.to(d) > 0).any(),
    "a device among the arguments": lambda d: torch.tril_indices(3, 3, device=d),
}
for name, call in calls.items():
    here, there = call("npy"), call("cpu")
    assert here.device.type == "npy", name
    torch.testing.assert_close(here.cpu(), there, msg=lambda text: name + text)
    assert repr(here).startswith(repr(there)[:-1].rstrip(")")[:20]), name
"""


def test_operators_give_what_the_cpu_gives(run):
    succeed(run(COMPARE))


def test_a_result_that_is_no_tensor(run):
    program = """
x = torch.arange(3.0).npy()
assert torch.equal(x, x.clone()) and not torch.equal(x, x + 1)
"""
    succeed(run(program))


def test_views_share_memory_and_copies_do_not(run):
    succeed(
        run(
            """
import numpy as np
from numpy_backend.kernels import unwrap
x = torch.arange(6.0).npy().view(2, 3)
views = [x.t(), x[0], x[:, 1:], x.view(6), x.detach(), x.unsqueeze(0), x.expand(2, 3)]
for view in views:
    assert np.shares_memory(unwrap(view), unwrap(x))
for copy in (x.clone(), x + 0, x.cpu().npy()):
    assert not np.shares_memory(unwrap(copy), unwrap(x))
"""
        )
    )


GRADIENTS = """
torch.manual_seed(0)
a, b = torch.randn(3, 3), torch.randn(3, 3)
def gradients(device):
    x, y = (t.to(device).requires_grad_() for t in (a, b))
    # exp, tanh, sigmoid and relu save their result, the others their arguments
    z = (x @ y + x).tanh() * y.sigmoid() + (x * y).relu() + x.exp().softmax(0)
    z.mean().backward()
    return [t.grad.cpu() for t in (x, y)]
for here, there in zip(gradients("npy"), gradients("cpu"), strict=True):
    torch.testing.assert_close(here, there)
"""


def test_gradients_are_those_of_the_cpu_and_the_process_ends_well(run):
    process = run(GRADIENTS)
    succeed(process)
    assert process.stderr == ""


def test_seeds_reach_the_device(run):
    program = """
torch.manual_seed(3)
here = torch.rand(4, device="npy").tolist()
torch.manual_seed(3)
assert here == torch.rand(4).tolist()
"""
    succeed(run(program))


def test_torch_accelerator_sees_one_device(run):
    program = """
assert torch.accelerator.current_accelerator().type == "npy"
assert torch.accelerator.is_available() and torch.accelerator.device_count() == 1
assert torch.accelerator.current_device_index() == 0
assert torch.get_device_module() is torch.npy
assert torch.npy.is_initialized()
stream = torch.accelerator.current_stream()
stream.synchronize()
assert stream.query()
x = torch.nn.Linear(2, 2).npy()
assert x.weight.is_npy and x.weight.device == torch.device("npy:0")
state = {name: value.cpu() for name, value in x.state_dict().items()}
torch.save(state, file := __import__("io").BytesIO())
file.seek(0)
y = torch.nn.Linear(2, 2).npy()
y.load_state_dict(torch.load(file))
assert torch.equal(x.weight.cpu(), y.weight.cpu())
"""
    succeed(run(program))


def test_each_limit_is_as_the_table_says(run):
    rows = table(PAGE, "you write")
    program = f"""
import json, os, tempfile
os.chdir(tempfile.mkdtemp())
x = torch.ones(2, 2, device="npy")
told = []
for expression in {[code(row[0])[0] for row in rows]!r}:
    try:
        told.append(repr(eval(expression)))
    except Exception as error:
        told.append(f"{{type(error).__name__}}: {{error}}")
print(json.dumps(told))
"""
    told = json.loads(succeed(run(program)))
    for row, answer in zip(rows, told, strict=True):
        expected = row[1].partition(": every")[0].strip("` ").split("`:")[0]
        if "Error" in answer:
            assert expected in answer, row
        else:
            assert answer == expected, row


def test_deepcopy_ends_the_process(run):
    program = 'import copy; copy.deepcopy(torch.ones(2, device="npy"))'
    assert run(program).returncode == -signal.SIGSEGV


def test_the_guard_and_the_hooks_of_python_have_no_more_members(run):
    program = """
def members(found):
    return {name for name in vars(found) if not name.startswith("_")}
assert members(torch._C._acc.DeviceGuard) == {"type_"}
hooks = {"is_available", "is_built", "has_primary_context"}
assert members(torch._C._acc.PrivateUse1Hooks) == hooks
"""
    succeed(run(program))


def test_autoload_finds_the_package(run_python):
    path = os.pathsep.join(map(str, (PACKAGES, TESTS / "autoload/without_openreg")))
    program = "import torch; print(torch.ones(1, device='npy'))"
    assert (
        succeed(run_python(program, PYTHONPATH=path))
        == "tensor([1.], device='npy:0')\n"
    )
