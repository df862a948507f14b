# Errors have the right type, words and no abort; see docs/runtime/errors.md.
import gc
import re
import textwrap
import threading
from pathlib import Path

import pytest
import torch

OPENREG = Path(__file__).resolve().parents[2]
simulator = torch.openreg.simulator


@pytest.fixture(autouse=True)
def _reset():
    yield
    simulator.reset()


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.accelerator.current_stream(2),
        lambda: torch.accelerator.memory_stats(2),
        lambda: torch.Generator("openreg:2"),
        lambda: torch.openreg.get_rng_state(2),
    ],
    ids=["current stream", "allocator", "generator", "default generator"],
)
def test_a_device_that_does_not_exist_is_refused_in_one_wording(call):
    with pytest.raises(torch.AcceleratorError) as error:
        call()
    assert str(error.value).startswith(
        "openreg: device index 2 is out of range: this process sees 2 device(s)"
    )


STICKY = r"device 0 stopped: kernel 'add' on stream 0 failed with orErrorLaunchFailure"


def fail_add(device="openreg"):
    """Launch an `add` that fails; return its arguments and result."""
    x = torch.ones(4, device=device)
    torch.openreg.synchronize(x.device)
    simulator.fail_kernel("add")
    return x, x + 1


def test_the_message_names_call_device_kernel_code_and_chapter():
    fail_add()
    with pytest.raises(torch.AcceleratorError) as error:
        torch.openreg.synchronize()
    assert str(error.value) == (
        "openreg: orDeviceSynchronize(): device 0 stopped: kernel 'add' on stream 0 "
        "failed with orErrorLaunchFailure: requested by orSimFailKernel(). Tasks "
        "behind it were dropped; orDeviceReset(), simulator.reset() in Python, makes "
        "the device usable again "
        '(orErrorLaunchFailure; start a new process; see "Errors" in the guide)'
    )
    assert error.value.error_code == 719


def test_a_refused_launch_names_the_kernel_that_was_to_run():
    x, _ = fail_add()
    with pytest.raises(torch.AcceleratorError, match=STICKY):
        torch.openreg.synchronize()
    with pytest.raises(
        torch.AcceleratorError, match="cannot launch 'fill_' on openreg:0"
    ):
        x.fill_(2)


def test_the_chapters_that_messages_name_exist():
    text = (OPENREG / "csrc/runtime/errors/OpenRegException.cpp").read_text()
    named = re.search(r'capture \? "(.+?)" : "(.+?)"', text).groups()
    pages = [page.read_text() for page in (OPENREG.parent / "docs").glob("*/*.md")]
    titles = {title for page in pages for title in re.findall("^##? (.+)$", page, re.M)}
    assert set(named) <= titles


def test_the_page_tells_the_exception_of_each_code():
    source = (OPENREG / "csrc/runtime/errors/OpenRegException.cpp").read_text()
    switch = source.partition("switch (error) {")[2]
    cases = re.findall(r"((?:\s*(?:case \w+|default):)+)\s*throw (c10::\w+)", switch)
    found = [(re.findall(r"or[A-Z]\w+", labels), thrown) for labels, thrown in cases]
    page = (OPENREG.parent / "docs/runtime/errors.md").read_text()
    table = page.partition("\n| code | C++ | Python |\n")[2].partition("\n\n")[0]
    rows = [re.findall(r"`([^`]+)`", row) for row in table.splitlines()[1:]]
    assert len(rows) == 3
    told = [
        ([q for q in row if q.startswith("or")], next(q for q in row if "::" in q))
        for row in rows
    ]
    assert found == told


# -- which exception --


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: torch.empty(1 << 50, device="openreg"),
            torch.OutOfMemoryError,
            "openreg:0",
        ),
        (
            lambda: torch.ones(1, device="openreg:9"),
            torch.AcceleratorError,
            "no device 9",
        ),
        (lambda: torch.openreg.set_device("cpu"), ValueError, "got: cpu"),
        (lambda: torch.ones(2, device="openreg")[3], IndexError, "index 3 is out of"),
        (
            lambda: torch.ones(2, device="openreg").to(torch.bits8),
            NotImplementedError,
            "Bits8",
        ),
        (lambda: torch.ones(2, device="openreg").view(3), RuntimeError, "invalid for"),
    ],
)
def test_bad_arguments_give_the_exception_of_their_kind(call, error, words):
    with pytest.raises(error, match=re.escape(words)):
        call()
    assert (torch.ones(1, device="openreg") + 1).item() == 2


# -- faults --


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.openreg.synchronize(),
        lambda x: torch.accelerator.synchronize(),
        lambda x: torch.accelerator.current_stream().synchronize(),
        lambda x: x.item(),
        lambda x: x.cpu(),
        lambda x: x.tolist(),
        lambda x: print(x),
        lambda x: bool((x == x).all()),
        lambda x: torch.Event("openreg").record(),
        lambda x: x.copy_(torch.ones(1)),
        lambda x: x.to("openreg:1"),
        lambda x: x + 1,
        lambda x: torch.empty(64 << 20, device="openreg"),
    ],
)
def test_a_fault_stays_and_every_use_of_the_device_reports_it(call):
    x = torch.ones(1, device="openreg")
    torch.accelerator.empty_cache()
    fail_add()
    for synchronize in (torch.openreg.synchronize, lambda: call(x), lambda: call(x)):
        with pytest.raises(torch.AcceleratorError, match=STICKY) as error:
            synchronize()
        assert error.value.error_code == 719


def test_a_fault_leaves_cleaning_up_and_the_other_device_alone():
    gc.collect()
    before = torch.accelerator.memory_allocated(0)
    event = torch.Event("openreg")
    event.record()
    x, y = fail_add()
    x.record_stream(torch.Stream("openreg"))
    with pytest.raises(torch.AcceleratorError):
        torch.openreg.synchronize()
    assert (torch.ones(2, device="openreg:1") + 1).tolist() == [2, 2]
    assert event.query() and torch.accelerator.current_stream().query()
    del x, y, event
    gc.collect()
    assert torch.accelerator.memory_allocated(0) == before
    torch.accelerator.empty_cache()


def test_after_a_reset_tensors_have_their_values():
    x, y = fail_add()
    with pytest.raises(torch.AcceleratorError):
        y.cpu()
    simulator.reset()
    assert x.tolist() == [1, 1, 1, 1]
    assert (x + 1).tolist() == [2, 2, 2, 2]


def test_a_fault_in_backward_reaches_the_caller():
    x = torch.ones(4, device="openreg", requires_grad=True)
    for _ in range(2):
        y = (x + x).sum()
        torch.openreg.synchronize()
        simulator.fail_kernel("add")
        with pytest.raises(torch.AcceleratorError, match=STICKY) as error:
            y.backward()
            x.grad.cpu()
        assert error.value.error_code == 719
        simulator.reset()
    x.grad = None
    (x + x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("steal", ["0", "1"])
def test_an_exception_in_a_kernel_is_a_fault(steal, run_forked, compile_cpp):
    program = f"""
        import torch
        torch.ops.load_library({str(compile_cpp("throwing"))!r})
        operators = torch.ops.openreg_throwing
        for name in ("torch", "standard", "number"):
            getattr(operators, name)()
            try:
                torch.openreg.synchronize()
            except torch.AcceleratorError as error:
                print(error.error_code, str(error).partition("kernel ")[2])
            torch.openreg.simulator.reset()
    """
    process = run_forked(program, OPENREG_STEAL=steal)
    assert process.returncode == 0, process.stderr
    words = ["thrown by torch", "thrown by the library", "unknown C++ exception"]
    for line, name, word in zip(
        process.stdout.splitlines(), ["torch", "standard", "number"], words, strict=True
    ):
        assert line.startswith(
            f"719 'throw_{name}' on stream 0 failed with orErrorLaunchFailure: {word}"
        )


def test_a_fault_in_one_thread_is_an_exception_in_each():
    fail_add()
    errors = []

    def use():
        try:
            torch.ones(8, device="openreg").sum().item()
        except torch.AcceleratorError as error:
            errors.append(error.error_code)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [719] * 8


# -- memory --


def test_no_memory_leaves_everything_as_it_was():
    x = torch.ones(4, device="openreg")
    torch.accelerator.empty_cache()
    allocated = torch.accelerator.memory_allocated()
    simulator.fail_allocation(1000)
    calls = [
        lambda: torch.empty(32 << 20, device="openreg"),
        lambda: x.expand(8 << 20, 4) + 1,
        lambda: x.resize_(32 << 20),
        lambda: x.untyped_storage().resize_(128 << 20),
        lambda: torch.ones(32 << 20).to("openreg"),
    ]
    for call in calls:
        with pytest.raises(torch.OutOfMemoryError):
            call()
    simulator.reset()
    assert torch.accelerator.memory_allocated() == allocated
    assert x.tolist() == [1, 1, 1, 1]


# -- warnings --


@pytest.mark.parametrize("steal", ["0", "1"])
def test_a_kernel_warns_on_the_thread_that_waits(steal, run_forked):
    program = """
        import torch, warnings
        torch.set_warn_always(True)
        x = torch.ones(4, dtype=torch.complex64, device="openreg")
        y = torch.empty(4, device="openreg")
        waits = [torch.openreg.synchronize, y.cpu, y.tolist,
                 torch.accelerator.current_stream().synchronize]
        for wait in waits:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with torch.openreg.simulator.hold():
                    torch.linalg.vector_norm(x[0], ord=0)
                assert not caught
                wait()
            print([str(warning.message)[:22] for warning in caught])
        warnings.simplefilter("error")
        torch.linalg.vector_norm(x[0], ord=0)
        try:
            torch.openreg.synchronize()
        except UserWarning:
            print("an error, if asked for")
    """
    process = run_forked(program, OPENREG_STEAL=steal)
    assert process.stdout == (
        "['Casting complex values']\n" * 4 + "an error, if asked for\n"
    ), process.stderr
    assert process.stderr == ""


# -- no abort, no hang --

ALIVE = {
    "a fault that no call reports": """
        x = torch.ones(4, device="openreg")
        torch.openreg.simulator.fail_kernel("add")
        y = x + 1
    """,
    "tensors that die after a fault, at exit": """
        x = torch.ones(4, device="openreg", requires_grad=True)
        stream = torch.Stream("openreg")
        event = torch.Event("openreg")
        event.record(stream)
        x.detach().record_stream(stream)
        torch.openreg.simulator.fail_kernel("add")
        y = x + 1
        try:
            y.sum().item()
        except torch.AcceleratorError:
            pass
    """,
    "work held back at exit": """
        x = torch.ones(4, device="openreg")
        context = torch.openreg.simulator.hold()
        context.__enter__()
        torch.openreg.simulator.fail_kernel("add")
        y = x + 1
    """,
    "a fault in a thread that goes on at exit": """
        import threading
        x = torch.ones(4, device="openreg")
        torch.openreg.simulator.fail_kernel("add", after=500)
        def work():
            try:
                while True:
                    x + 1
            except torch.AcceleratorError:
                pass
        threading.Thread(target=work).start()  # Python waits for it, then exits
    """,
    "a fault in backward that a thread does not catch": """
        import threading
        threading.excepthook = lambda arguments: print(arguments.exc_type.__name__)
        x = torch.ones(4, device="openreg", requires_grad=True)
        y = (x + x).sum()
        torch.openreg.synchronize()
        torch.openreg.simulator.fail_kernel()
        def work():
            y.backward()
            x.grad.cpu()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        import time
        time.sleep(1)  # exiting too early aborts: see docs/ship/known-crashes.md
    """,
    "a data loader that is interrupted by a fault": """
        from torch.utils.data import DataLoader, TensorDataset
        data = TensorDataset(torch.arange(64.0))
        torch.openreg.simulator.fail_kernel("add", after=3)
        try:
            for batch, in DataLoader(data, batch_size=4, num_workers=2):
                (batch.to("openreg") + 1).cpu()
        except torch.AcceleratorError as error:
            print(error.error_code)
    """,
    "an uncaught fault in a with-block of streams": """
        import sys
        sys.excepthook = lambda kind, *_: print(kind.__name__, flush=True)
        import atexit, os
        atexit.register(os._exit, 0)
        with torch.Stream("openreg"), torch.device("openreg"):
            x = torch.ones(4)
            torch.openreg.simulator.fail_kernel("add")
            (x + 1).cpu()
    """,
}
PRINTED = {
    "a fault in backward that a thread does not catch": "AcceleratorError\n",
    "a data loader that is interrupted by a fault": "719\n",
    "an uncaught fault in a with-block of streams": "AcceleratorError\n",
}


@pytest.mark.parametrize("steal", ["0", "1"])
@pytest.mark.parametrize("name", ALIVE)
def test_no_process_aborts(name, steal, run_forked):
    program = "import torch" + textwrap.dedent(ALIVE[name])
    process = run_forked(program, OPENREG_STEAL=steal)
    assert process.returncode == 0, process.stderr
    assert process.stdout == PRINTED.get(name, "")
    assert process.stderr == ""


WITHOUT_DEVICE = """
    import torch
    print(torch.openreg.is_available(), torch.accelerator.device_count())
    x = torch.ones(2)
    torch.manual_seed(0)
    for call in (
        lambda: torch.ones(1, device="openreg"),
        lambda: x.to("openreg"),
        lambda: torch.openreg.synchronize(),
        lambda: torch.openreg.set_device(0),
        lambda: torch.openreg.current_device(),
        lambda: torch.Stream("openreg"),
        lambda: torch.Event("openreg").record(),
        lambda: torch.Generator("openreg"),
        lambda: torch.openreg.get_rng_state(),
        lambda: torch.openreg.get_device_properties(),
        lambda: torch.accelerator.memory_allocated(),
        lambda: torch.openreg.simulator.hold().__enter__(),
        lambda: torch.openreg.simulator.fail_kernel(),
    ):
        try:
            call()
            print("no error")
        except Exception as error:
            print(type(error).__name__, str(error).split(" (")[0])
"""


def test_without_devices_everything_else_works(run_forked):
    process = run_forked(WITHOUT_DEVICE, OPENREG_DEVICE_COUNT="0")
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert lines[0] == "False 0"
    assert len(lines) == 14


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENREG_DEVICE_COUNT", "many"),
        ("OPENREG_DEVICE_MEMORY", "8GB"),
        ("OPENREG_STEAL", "2"),
        ("OPENREG_LAUNCH_BLOCKING", "yes"),
        ("OPENREG_SIM_DELAY", "soon"),
    ],
)
def test_a_bad_value_in_the_environment_is_an_exception(name, value, run_forked):
    process = run_forked(WITHOUT_DEVICE, **{name: value})
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert lines[0] == "False 0"
    assert len(lines) == 14
    assert f"{name}='{value}' is not" in lines[1]
