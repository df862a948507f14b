# torch.accelerator and at::accelerator work; see docs/frontend/accelerator-api.md.
import re
import subprocess

import pytest
import torch
from contract import DOCS, Trace, code, members, table
from patience import PATIENCE


@pytest.mark.smoke
def test_every_function_of_the_cpp_interface(compile_cpp):
    process = subprocess.run(
        [compile_cpp("accelerator")], capture_output=True, text=True, timeout=PATIENCE
    )
    assert process.returncode == 0, process.stderr
    wrong = [line for line in process.stdout.splitlines() if not line.startswith("ok ")]
    assert wrong == []
    assert process.stdout.endswith("setDeviceIndex(99) throws\n")


# -- the table of the guide --

ROWS = table("frontend/accelerator-api.md", "Name")
PAGE = (DOCS / "frontend/accelerator-api.md").read_text()


@pytest.mark.smoke
def test_the_table_has_each_name_of_torch_accelerator():
    names = {code(row[0])[0] for row in ROWS}
    # The last one is private, but has the place of a public function.
    public = {*torch.accelerator.__all__, *torch.accelerator.memory.__all__}
    assert names == public | {"memory._snapshot"}


def test_each_name_is_run_by_an_example_of_the_page():
    examples = re.findall(r"^(?:>>>|\.\.\.) (.*)$", PAGE, re.MULTILINE)
    gaps = (DOCS / "ship/known-gaps-eager.md").read_text()
    missing = [
        name
        for name in (code(row[0])[0] for row in ROWS)
        if not any(f"torch.accelerator.{name}(" in line for line in examples)
        and f"torch.accelerator.{name}(" not in gaps
    ]
    assert missing == []


LINES = {
    "set_device_index": "torch.accelerator.set_device_index(0)",
    "set_device_idx": "torch.accelerator.set_device_idx(0)",
    "device_index": "with device_index: pass",
    "current_accelerator": "torch.accelerator.current_accelerator(True)",
    "set_stream": "torch.accelerator.set_stream(stream)",
}
NOT_TRACED = {
    "Graph",
    "memory._snapshot",
}  # they raise, see docs/ship/known-gaps-eager.md


@pytest.mark.filterwarnings("ignore:Use .*:FutureWarning")
def test_the_table_says_which_members_a_call_reaches(compile_cpp):
    trace = Trace(compile_cpp("trace"))
    torch.ones(1, device="openreg")
    for row in ROWS:
        (name,) = code(row[0])
        if name in NOT_TRACED:
            continue
        torch.accelerator.get_device_capability.cache_clear()
        prepared = {
            "device_index": torch.accelerator.device_index(1),
            "stream": torch.Stream("openreg:1"),
        }
        calls = trace(LINES.get(name, f"torch.accelerator.{name}()"), prepared)
        told = [text for text in code(row[1]) if text.startswith(("Guard.", "Hooks."))]
        assert told == members(calls), name


# -- what the table does not say --


def test_none_and_names_without_an_index_mean_the_current_device():
    torch.openreg.set_device(1)
    x = torch.ones(1000, device="openreg")
    for device in (None, "openreg", torch.device("openreg"), 1, "openreg:1"):
        allocated = torch.accelerator.memory_allocated(device)
        assert allocated == torch.accelerator.memory_allocated(1) >= 4000
        assert torch.accelerator.current_stream(device).device_index == 1
    del x


TAKE_A_DEVICE = (
    torch.accelerator.set_device_index,
    torch.accelerator.current_stream,
    torch.accelerator.synchronize,
    torch.accelerator.memory_stats,
    torch.accelerator.get_memory_info,
    torch.accelerator.get_device_capability,
)


@pytest.mark.parametrize("device", ["cpu", torch.device("cuda:0")])
def test_another_device_is_refused(device):
    for call in TAKE_A_DEVICE:
        with pytest.raises(ValueError, match="doesn't match the current accelerator"):
            call(device)


def test_a_device_that_does_not_exist_is_refused():
    torch.ones(1, device="openreg")
    for call in TAKE_A_DEVICE:
        with pytest.raises(torch.AcceleratorError, match=r"openreg: .*device.*99"):
            call(99)


def test_set_stream_switches_the_device_too():
    stream = torch.Stream("openreg:1")
    before = torch.accelerator.current_stream(1)
    torch.accelerator.set_stream(stream)
    assert torch.accelerator.current_device_index() == 1
    assert torch.accelerator.current_stream() == stream
    torch.accelerator.set_stream(before)


@pytest.mark.smoke
@pytest.mark.parametrize("count", ["2", "0"])
def test_the_device_is_the_accelerator_whatever_torch_was_built_with(run_forked, count):
    program = """
        import torch
        print(torch.accelerator.current_accelerator())
        print(torch.accelerator.is_available(), torch.backends.cuda.is_built())
    """
    process = run_forked(program, OPENREG_DEVICE_COUNT=count)
    cuda = torch.version.cuda is not None
    assert process.stdout == f"openreg\n{count == '2'} {cuda}\n", process.stderr
    program = "import torch; print(torch.accelerator.current_accelerator())"
    process = run_forked(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert process.stdout == f"{'cuda' if cuda else None}\n", process.stderr
