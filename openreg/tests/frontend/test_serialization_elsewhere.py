# Files on machines with fewer devices or without the backend, and archives of programs;
# see docs/frontend/serialization.md.
import pytest
import torch
from torch.export.passes import move_to_device_pass
from torch.package import PackageExporter, PackageImporter
from torch.testing import assert_close

# Prints a line for each file and each location.
READ = """
    import sys, torch
    for path in {paths}:
        for location in {locations}:
            try:
                x = torch.load(path, map_location=location)
                print(x.device, x.tolist())
            except Exception as error:
                print(type(error).__name__, error, sep=": ")
    print("torch_openreg" in sys.modules)
"""


def values() -> torch.Tensor:
    return torch.arange(6.0).view(2, 3)


READ_WELL = f" {values().tolist()}"


@pytest.fixture
def read(run_forked, tmp_path):
    """Read a tensor of device 1 with tags, in both formats, on another machine."""
    x = values().to("openreg:1")
    torch.openreg.set_tensor_tags(x, {"packed": True})
    paths = [str(tmp_path / "zip.pt"), str(tmp_path / "legacy.pt")]
    torch.save(x, paths[0])
    torch.save(x, paths[1], _use_new_zipfile_serialization=False)

    def read(locations: list, **machine: str) -> dict:
        program = READ.format(paths=paths, locations=locations)
        process = run_forked(program, **machine)
        assert process.returncode == 0, process.stderr
        *lines, loaded = process.stdout.splitlines()
        assert loaded == str("TORCH_DEVICE_BACKEND_AUTOLOAD" not in machine)
        half = len(lines) // 2
        assert lines[:half] == lines[half:]  # both formats
        return dict(zip(map(str, locations), lines[:half], strict=True))

    return read


def test_a_machine_with_one_device(read):
    locations = ["cpu", "openreg", {"openreg:1": "openreg:0"}, None]
    assert read(locations, OPENREG_DEVICE_COUNT="1") == {
        "cpu": "cpu" + READ_WELL,
        "openreg": "openreg:0" + READ_WELL,
        "{'openreg:1': 'openreg:0'}": "openreg:0" + READ_WELL,
        "None": "RuntimeError: Attempting to deserialize object on OPENREG device 1 "
        "but torch.openreg.device_count() is 1. Please use torch.load with "
        "map_location to map your storages to an existing device.",
    }


def test_a_machine_without_a_device(read):
    refused = (
        "RuntimeError: Attempting to deserialize object on a OPENREG device but "
        "torch.openreg.is_available() is False. If you are running on a CPU-only "
        "machine, please use torch.load with map_location=torch.device('cpu') to map "
        "your storages to the CPU."
    )
    locations = ["cpu", "openreg", "openreg:0", None]
    assert read(locations, OPENREG_DEVICE_COUNT="0") == {
        "cpu": "cpu" + READ_WELL,
        **dict.fromkeys(["openreg", "openreg:0", "None"], refused),
    }


def test_a_machine_without_the_backend(read):
    assert read(["cpu", None], TORCH_DEVICE_BACKEND_AUTOLOAD="0") == {
        "cpu": "cpu" + READ_WELL,
        "None": "RuntimeError: don't know how to restore data location of "
        "torch.storage.UntypedStorage (tagged with openreg:1)",
    }


# -- archives of programs --


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + torch.ones(2, device=x.device)


def model_and_result() -> tuple[Model, torch.Tensor]:
    """A model on device 1, and what it makes of ``values()`` on the CPU."""
    model = Model()
    expected = model(values()).detach()
    return model.to("openreg:1"), expected


@pytest.mark.filterwarnings("ignore:.torch.jit.* is deprecated")
@pytest.mark.parametrize(
    ("location", "expected_device"),
    [(None, "openreg:1"), ("cpu", "cpu"), (torch.device("openreg"), "openreg:0")],
)
def test_torchscript(tmp_path, location, expected_device):
    model, expected = model_and_result()
    program = torch.jit.script(model.linear)
    torch.jit.save(program, tmp_path / "m.pt")
    again = torch.jit.load(tmp_path / "m.pt", map_location=location)
    assert again.weight.device == torch.device(expected_device)
    result = again(values().to(again.weight.device))
    assert_close(result.cpu().detach() + 1, expected)


@pytest.mark.filterwarnings("ignore:.torch.jit.* is deprecated")
def test_torchscript_refuses_devices_in_words(tmp_path):
    torch.jit.save(torch.jit.script(Model().linear), tmp_path / "m.pt")
    with pytest.raises(RuntimeError, match="there is no device 9, the devices are"):
        torch.jit.load(tmp_path / "m.pt", map_location="openreg:9")
    with pytest.raises(ValueError, match="map_location should be either None, string"):
        torch.jit.load(tmp_path / "m.pt", map_location={"openreg:1": "cpu"})


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize(
    ("location", "expected"),
    [(None, "openreg:1"), ("cpu", "cpu"), ({"openreg:1": "openreg:0"}, "openreg:0")],
)
def test_torch_package(tmp_path, location, expected):
    x = values().to("openreg:1")
    with PackageExporter(tmp_path / "p.zip") as exporter:
        exporter.save_pickle("tensors", "x.pkl", [x, x[1]])
    importer = PackageImporter(tmp_path / "p.zip")
    a, b = importer.load_pickle("tensors", "x.pkl", map_location=location)
    assert a.device == torch.device(expected)
    assert_close(a.cpu(), values(), rtol=0, atol=0)
    a.fill_(9)
    assert b.tolist() == [9, 9, 9]  # they share memory


@pytest.mark.parametrize("device", [None, "cpu", "openreg:0"])
def test_torch_export(tmp_path, device):
    model, expected = model_and_result()
    program = torch.export.export(model, (values().to("openreg:1"),))
    torch.export.save(program, tmp_path / "m.pt2")
    program = torch.export.load(tmp_path / "m.pt2")
    if device is not None:
        program = move_to_device_pass(program, device)
    device = device or "openreg:1"
    assert {p.device for p in program.parameters()} == {torch.device(device)}
    assert_close(program.module()(values().to(device)).detach().cpu(), expected)
