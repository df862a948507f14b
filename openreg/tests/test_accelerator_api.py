# torch.accelerator and at::accelerator work; see docs/frontend/accelerator-api.md.
import subprocess


def test_every_function_of_the_cpp_interface(compile_cpp):
    process = subprocess.run(
        [compile_cpp("accelerator")], capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    wrong = [line for line in process.stdout.splitlines() if not line.startswith("ok ")]
    assert wrong == []
    assert process.stdout.endswith("setDeviceIndex(99) throws\n")
