# The first examples, and the device module; see docs/start/quickstart.md.
import threading

import pytest
import torch

pytestmark = pytest.mark.smoke  # forks, versions and names: see pyproject.toml

USAGE = """
import torch

if not torch.openreg.is_available():
    print("OpenReg backend is not available in this build.")
    exit()

print("OpenReg backend is available!")

device = torch.device("openreg")

x = torch.tensor([[1., 2.], [3., 4.]], device=device)
y = x + 2
print("Result y:\\n", y)
print(f"Device of y: {y.device}")

z = y.cpu()
print("Result z:\\n", z)
print(f"Device of z: {z.device}")
"""

USAGE_OUTPUT = """OpenReg backend is available!
Result y:
 tensor([[3., 4.],
        [5., 6.]], device='openreg:0')
Device of y: openreg:0
Result z:
 tensor([[3., 4.],
        [5., 6.]])
Device of z: cpu
"""


def test_usage_example(run_python):
    process = run_python(USAGE)
    assert (process.stdout, process.stderr) == (USAGE_OUTPUT, "")


def test_autoload_example(run_python):
    program = """
        import torch

        # No need to import torch_openreg manually!
        x = torch.tensor([1, 2, 3], device="openreg")
        print(x)
    """
    assert run_python(program).stdout == "tensor([1, 2, 3], device='openreg:0')\n"


def test_devices():
    assert torch.openreg.is_available()
    assert torch.openreg.device_count() == 2
    assert torch.accelerator.device_count() == 2
    assert torch.accelerator.current_accelerator() == torch.device("openreg")
    properties = torch.openreg.get_device_properties("openreg:1")
    assert properties.name == torch.openreg.get_device_name(1)
    assert properties.total_memory == torch.accelerator.get_memory_info(1)[1]


@pytest.mark.parametrize("spelling", [1, "openreg:1", torch.device("openreg:1")])
def test_a_device_can_be_spelled_in_three_ways(spelling):
    torch.openreg.set_device(spelling)
    assert torch.openreg.current_device() == 1
    assert torch.accelerator.current_device_index() == 1
    torch.openreg.set_device(0)
    with torch.openreg.device(spelling):
        assert torch.openreg.current_device() == 1
        assert torch.ones(1, device="openreg").device.index == 1
    assert torch.openreg.current_device() == 0
    torch.openreg.synchronize(spelling)


def test_device_context_restores_after_an_error_and_accepts_none():
    with pytest.raises(KeyError), torch.openreg.device(1):
        raise KeyError
    assert torch.openreg.current_device() == 0
    with torch.openreg.device(None):
        assert torch.openreg.current_device() == 0
    torch.openreg.set_device(-1)
    assert torch.openreg.current_device() == 0


def test_the_current_device_belongs_to_the_thread():
    seen = []
    torch.openreg.set_device(1)
    current_device = torch.openreg.current_device
    thread = threading.Thread(target=lambda: seen.append(current_device()))
    thread.start()
    thread.join()
    assert seen == [0]


@pytest.mark.parametrize("call", ["set_device", "synchronize", "get_device_name"])
def test_bad_devices_are_named(call):
    function = getattr(torch.openreg, call)
    with pytest.raises(torch.AcceleratorError, match="device 9"):
        function(9)
    with pytest.raises(ValueError, match="Expected an openreg device, but got: cpu"):
        function("cpu")
    with pytest.raises(ValueError, match=r"Expected a torch.device.*2\.5"):
        function(2.5)
    assert torch.openreg.current_device() == 0


def test_bad_arguments_of_random_functions_change_nothing():
    states = torch.openreg.get_rng_state_all()
    with pytest.raises(ValueError, match="Expected an openreg device, but got: cpu"):
        torch.openreg.get_rng_state("cpu")
    with pytest.raises(torch.AcceleratorError, match="device index 9 is out"):
        torch.openreg.get_rng_state(9)
    with pytest.raises(IndexError, match="there is no device 2"):
        torch.openreg.default_generators[2]
    with pytest.raises(
        ValueError, match="one state for each of the 2 devices, but got 3"
    ):
        torch.openreg.set_rng_state_all([torch.zeros(16, dtype=torch.uint8)] * 3)
    for before, after in zip(states, torch.openreg.get_rng_state_all(), strict=True):
        assert torch.equal(before, after)


def test_a_file_is_loaded_to_the_device_it_names(tmp_path):
    torch.save(torch.ones(2, device="openreg:1"), tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt").device == torch.device("openreg:1")
    assert torch.load(tmp_path / "x.pt", map_location="cpu").device.type == "cpu"
    with pytest.raises(ValueError, match=r"a torch\.device with a specified index"):
        torch.openreg._utils._get_device_index("openreg", optional=False)


def test_every_public_name_exists_and_is_documented():
    for name in torch.openreg.__all__:
        attribute = getattr(torch.openreg, name)
        assert attribute.__doc__, name


def test_initialization_is_lazy(run_forked):
    program = """
        import torch
        print(torch.openreg.is_initialized(), torch.openreg.is_available())
        torch.openreg.device_count(), torch.openreg.current_device()
        print(torch.openreg.is_initialized())
        torch.ones(1, device="openreg")
        print(torch.openreg.is_initialized())
    """
    assert run_forked(program).stdout == "False True\nFalse\nTrue\n"


def test_number_and_memory_of_devices_come_from_the_environment(run_forked):
    program = """
        import torch
        print(torch.openreg.device_count(), torch.accelerator.get_memory_info()[1])
    """
    process = run_forked(
        program, OPENREG_DEVICE_COUNT="3", OPENREG_DEVICE_MEMORY=str(1 << 28)
    )
    assert process.stdout == f"3 {1 << 28}\n", process.stderr


def test_a_bad_environment_means_no_device_and_a_clear_error(run_forked):
    program = """
        import torch
        print(torch.openreg.is_available())
        try:
            torch.ones(1, device="openreg")
        except Exception as error:
            print(type(error).__name__, error)
    """
    process = run_forked(program, OPENREG_DEVICE_COUNT="many")
    assert process.stdout.startswith("False\n"), process.stderr
    assert "OPENREG_DEVICE_COUNT" in process.stdout


# -- fork --


def test_a_forked_child_gets_a_clear_error(run_forked):
    program = """
        import os, torch
        x = torch.ones(2, device="openreg")
        child = os.fork()
        if child == 0:
            for call in (lambda: torch.ones(1, device="openreg"), lambda: x + 1):
                try:
                    call()
                    print("no error", flush=True)
                except RuntimeError as error:
                    print("child:", error, flush=True)
            torch.manual_seed(0)  # leaves the device alone, and does not fail
            print(torch.openreg.is_initialized(), flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print("parent:", (x + 1).tolist())
    """
    process = run_forked(program)
    lines = process.stdout.splitlines()
    assert process.returncode == 0, process.stderr
    assert "'spawn' start method" in lines[0]
    assert lines[1].startswith("child: openreg: ")
    assert "spawn" in process.stdout.split("child:")[2]
    assert "False" in lines
    assert lines[-1] == "parent: [2.0, 2.0]"


def test_fork_before_first_use_is_fine(run_forked):
    program = """
        import os, torch
        torch.openreg.is_available(), torch.openreg.device_count()
        child = os.fork()
        if child == 0:
            print((torch.ones(2, device="openreg") + 1).tolist(), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print((torch.ones(2, device="openreg") + 2).tolist())
    """
    assert run_forked(program).stdout == "[2.0, 2.0]\n[3.0, 3.0]\n"


def test_spawned_processes_work(tmp_path, run_python):
    program = """
        import multiprocessing, torch
        def work(queue):
            queue.put((torch.ones(2, device="openreg") + 1).tolist())
        if __name__ == "__main__":
            torch.ones(1, device="openreg")
            context = multiprocessing.get_context("spawn")
            queue = context.Queue()
            process = context.Process(target=work, args=(queue,))
            process.start()
            print(queue.get(timeout=300))
            process.join()
    """
    import textwrap

    script = tmp_path / "spawn.py"
    script.write_text(textwrap.dedent(program))
    process = run_python(
        f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    assert process.stdout == "[2.0, 2.0]\n", process.stderr
