# The starter backend builds, trains, and stays small; see docs/start/first-backend.md.
import re
import subprocess
import textwrap

import pytest
from starter_build import (
    MARKER,
    STARTER,
    TRAIN,
    code_lines,
    install_starter,
    run_on_starter,
    sources,
)

OPENREG = STARTER.parent
START = OPENREG.parent / "docs/start"
PAGE = START / "first-backend.md"
LARGEST = 800  # lines
CODE = {".c", ".cpp", ".h", ".py"}


@pytest.fixture(scope="module")
def site():
    return install_starter()


@pytest.fixture
def run(site):
    def run_program(program, **env):
        return run_on_starter(site, program, **env)

    return run_program


@pytest.fixture
def run_quickly(site, run_forked):
    """Run a program where torch is imported already."""

    def run_program(program):
        start = f"import sys; sys.path.insert(0, {str(site)!r})\nimport torch_starter\n"
        return run_forked(start + program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")

    return run_program


# -- the sources --


def test_it_is_small_and_the_page_tells_how_small():
    files = [path for path in sources() if path.suffix in CODE]
    lines = sum(code_lines(path) for path in files)
    assert lines < LARGEST
    assert (
        f"{len(files)} files with {lines} lines of C++ and Python" in PAGE.read_text()
    )


def test_it_shares_no_code_with_the_large_backend():
    for path in sources():
        text = path.read_text()
        assert "torch_openreg" not in text, path
        included = re.findall(r'#include "([^"]+)"', text)
        assert all((STARTER / name).is_file() for name in included), path


def test_every_line_is_shown_on_its_pages():
    page = "".join(path.read_text() for path in START.glob("first-*.md"))
    for path in sources():
        if path.suffix not in CODE:
            continue
        inside = None
        for line in path.read_text().splitlines():
            if match := MARKER.match(line):
                inside = match[2] if match[1] == "START" else None
                assert inside is None or f"START: {inside}\n" in page, inside
            elif inside is None:
                assert is_frame(line), f"{path}: no snippet shows {line!r}"


def is_frame(line):
    """Whether a line is a comment, an include, or the frame of what is shown."""
    begins = ("#", "//", '"""', "import ", "from ", "}  // namespace")
    return line in ("", "namespace starter {", "namespace {") or line.startswith(begins)


def test_the_page_lists_the_functions_of_the_driver_that_it_calls():
    header = (OPENREG / "third_party/openreg/include/openreg.h").read_text()
    declared = set(re.findall(r"OPENREG_API .*?\b(or\w+)\(", header))
    code = "".join(p.read_text() for p in sources() if p.suffix in (".cpp", ".h"))
    called = declared & set(re.findall(r"\b(or\w+)\(", code))
    _, _, table = PAGE.read_text().partition("| driver | in CUDA's runtime |")
    rows = table.partition("\n\n")[0].splitlines()[2:]
    listed = [n for row in rows for n in re.findall(r"`(or\w+)`", row.split("|")[1])]
    assert len(called) > 10 and sorted(listed) == sorted(called)


# -- what it does --


def test_the_four_objects_link_only_the_next(site):
    package = site / "torch_starter"
    names = ["libstarter_bindings.so", "libtorch_starter.so", "libopenreg.so"]
    files = [next(package.glob("_C.*.so")), *(package / "lib" / name for name in names)]
    for file, following in zip(files, [*names, None], strict=True):
        command = ["readelf", "--dynamic", "--wide", str(file)]
        output = subprocess.run(command, capture_output=True, text=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output))
        assert needed & set(names) == ({following} if following else set()), file


def test_the_program_of_the_page_trains_bit_equal_to_the_cpu(run):
    process = run(TRAIN)
    assert process.stderr == ""
    assert re.fullmatch(
        r"loss: 1\.\d{4} to 0\.\d{4}, on starter:0\nbit-equal to the CPU: True\n",
        process.stdout,
    )


CASES = {
    "create, view, print": """
        x = torch.arange(6.0, device="starter").view(2, 3)
        shown = "tensor([[1., 4.],\\n        [2., 5.]], device='starter:0')"
        assert str(x.t()[1:]) == shown
        real = torch.view_as_real
        assert torch.equal(real(x + 1j).cpu(), real(x.cpu() + 1j))
    """,
    "copies between layouts and dtypes": """
        host = torch.arange(24.0).view(2, 3, 4)
        x = host.to("starter")
        assert torch.equal(x.transpose(0, 2).cpu(), host.transpose(0, 2))
        assert torch.equal(x.to(torch.float16).cpu(), host.half())
        x[:, ::2].copy_(-host[:, ::2])  # leaves what lies between
        host[:, ::2] *= -1
        assert torch.equal(x.cpu(), host)
        x.copy_(torch.arange(4))  # broadcasts, converts
        assert torch.equal(x.cpu(), torch.arange(4.0).expand(2, 3, 4))
    """,
    "operators in place and with out=, on views with gaps": """
        host = torch.arange(6.0).view(2, 3)
        x = host.to("starter")
        for tensor in (host, x):
            tensor[:, ::2].fill_(7)
            tensor.t()[1].mul_(3)
            torch.add(tensor[:, 0], 1, out=tensor[:, 1])
            tensor.t().resize_(3, 2)
        assert torch.equal(x.cpu(), host)
    """,
    "conjugated and negated views": """
        host = torch.tensor([1 + 2j, 3 - 1j])
        x = host.to("starter")
        assert torch.equal(x.conj().cpu(), host.conj())
        assert torch.equal(x.conj().imag.cpu(), host.conj().imag)
        x.conj().copy_(host)
        assert torch.equal(x.cpu(), host.conj().resolve_conj())
    """,
    "two devices": """
        x = torch.ones(3, device="starter:1", requires_grad=True)
        y = (x.to("starter:0") * torch.arange(3.0, device="starter:0")).sum()
        y.backward()
        assert x.grad.device.index == 1 and x.grad.tolist() == [0.0, 1.0, 2.0]
        assert torch.accelerator.current_device_index() == 0
    """,
    "results stay on the device": """
        x = torch.arange(1.0, 4.0, device="starter")
        assert (2 // x).device == x.device and (2 // x).tolist() == [2.0, 1.0, 0.0]
        values, indices = x.sort(descending=True)
        assert (values.device, indices.device) == (x.device, x.device)
    """,
    "files": """
        import copy, io
        x = torch.arange(4.0, device="starter:1")
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        again = torch.load(file)
        assert again.device == x.device and torch.equal(again.cpu(), x.cpu())
        assert copy.deepcopy(x).data_ptr() != x.data_ptr()
    """,
    "parameters stay the objects that they are": """
        linear = torch.nn.Linear(2, 2)
        weight = linear.weight
        assert linear.to("starter").weight is weight and weight.is_starter
    """,
    "convolutions": """
        for transposed in (False, True):
            kind = torch.nn.ConvTranspose2d if transposed else torch.nn.Conv2d
            torch.manual_seed(0)
            mine, theirs = (kind(4, 6, 3, groups=2) for _ in range(2))
            mine.to("starter")
            theirs.load_state_dict(mine.state_dict())
            x = torch.randn(2, 4, 5, 5)
            mine(x.to("starter")).square().sum().backward()
            theirs(x).square().sum().backward()
            for a, b in zip(mine.parameters(), theirs.parameters()):
                assert torch.equal(a.grad.cpu(), b.grad)
    """,
    "events and the accelerator API": """
        assert torch.accelerator.current_accelerator().type == "starter"
        start, end = (torch.Event("starter", enable_timing=True) for _ in range(2))
        start.record()
        torch.ones(1000, device="starter").sum()
        end.record()
        torch.accelerator.synchronize()
        assert end.query() and start.elapsed_time(end) >= 0
    """,
    "errors of the driver": """
        for size, place, kind, text in (
            (1, "starter:9", torch.AcceleratorError, "no device 9"),
            (1 << 44, "starter", torch.OutOfMemoryError, "orMalloc"),
        ):
            try:
                torch.empty(size, device=place)
            except kind as error:
                assert str(error).startswith("starter: ") and text in str(error), error
            else:
                raise AssertionError(text)
    """,
    "a tensor whose storage is gone": """
        x = torch.ones(4, device="starter")
        x.untyped_storage().resize_(0)
        for use in (x.cpu, lambda: x.copy_(torch.ones(4))):
            try:
                use()
            except RuntimeError as error:
                assert "this tensor needs 16 bytes, but its storage has 0" in str(error)
            else:
                raise AssertionError("used memory that it does not have")
    """,
    "a forked child": """
        import os, warnings
        warnings.simplefilter("ignore")
        x = torch.ones(2, device="starter")
        if (child := os.fork()) == 0:
            told = 0
            for use in (lambda: torch.ones(1, device="starter"), lambda: x + 1):
                try:
                    use()
                except RuntimeError as error:
                    told += "fork" in str(error)
            os._exit(told)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    """,
}


@pytest.mark.parametrize("case", CASES)
def test_it_does_what_the_cpu_does(case, run_quickly):
    process = run_quickly(
        "import torch\n" + textwrap.dedent(CASES[case]) + "print('ok')\n"
    )
    assert (process.stdout, process.stderr, process.returncode) == ("ok\n", "", 0)


def test_import_starts_no_device_and_either_order_works(run):
    for first in ("torch", "torch_starter"):
        process = run(
            f"""
            import {first}, torch, threading
            assert torch.starter.is_available() and torch.starter.device_count() == 2
            print(torch.starter._C._is_initialized())
            """
        )
        assert (process.stdout, process.stderr) == ("False\n", "")


# A pass keeps the context of its caller, and so the token, until a thread of autograd
# has let go of the pass. A Python object that is let go of too late aborts the process.
KEPT = """
import contextvars, torch, weakref

class Token: pass

variable = contextvars.ContextVar("token")
x = torch.ones(4, device="starter:1", requires_grad=True)
ones = torch.ones(4, device="starter:1")

def backward():
    token = Token()
    variable.set(token)
    torch.autograd.backward(x.view(4), ones)
    return weakref.ref(token)

def still_kept(drain):
    token = contextvars.copy_context().run(backward)
    if drain:
        torch.starter._let_threads_finish()
    return token() is not None

print(any(still_kept({drain}) for _ in range({times})))
"""


@pytest.mark.parametrize(("drain", "times"), [(True, 200), (False, 20_000)])
def test_the_draining_waits_until_autograd_holds_no_python_object(
    run_quickly, drain, times
):
    program = KEPT.replace("{drain}", str(drain)).replace("{times}", str(times))
    process = run_quickly(program)
    assert process.stdout == f"{not drain}\n", process.stderr


def test_a_process_may_end_right_after_backward(run):
    process = run(
        """
        import torch
        x = torch.ones(4, device="starter", requires_grad=True)
        torch.autograd.backward(x.view(4), torch.ones(4, device="starter"))
        """
    )
    assert (process.returncode, process.stderr) == (0, "")
