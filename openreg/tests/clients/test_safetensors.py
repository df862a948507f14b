# Files of the library safetensors; see docs/frontend/serialization.md.
"""Needs safetensors, so the default run leaves this folder out."""

import pytest
import safetensors
import torch
from safetensors.torch import load, load_file, load_model, save, save_file, save_model
from torch.testing import assert_close


def values() -> torch.Tensor:
    return torch.arange(6.0).view(2, 3)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file({"x": values().to("openreg:1")}, path)
    return path


def test_a_file_names_no_device(file):
    assert_close(load_file(file), {"x": values()}, rtol=0, atol=0)
    assert_close(load(save({"x": values().to("openreg")})), {"x": values()})


@pytest.mark.parametrize("index", [0, 1])
def test_a_number_is_a_device(file, index):
    for backend in ("mmap", "pread"):
        x = load_file(file, device=index, backend=backend)["x"]
        assert x.device == torch.device("openreg", index)
        assert_close(x.cpu(), values(), rtol=0, atol=0)
    with safetensors.safe_open(file, framework="pt", device=index) as opened:
        part = opened.get_slice("x")[:, 1:]
        assert part.device == torch.device("openreg", index)
        assert_close(part.cpu(), values()[:, 1:], rtol=0, atol=0)


@pytest.mark.parametrize("device", ["openreg", "openreg:1"])
def test_the_name_of_the_device_is_refused(file, device):
    for read in (
        lambda: load_file(file, device=device),
        lambda: torch.load(file, map_location=device),  # hands it on
    ):
        with pytest.raises(
            safetensors.SafetensorError, match=f"device {device} is invalid"
        ):
            read()


def test_a_device_that_does_not_exist(file):
    with pytest.raises(torch.AcceleratorError, match="there is no device 7, the dev"):
        load_file(file, device=7)


def test_saving_waits_for_the_stream(tmp_path):
    x = torch.zeros(1000, device="openreg")
    with torch.openreg.simulator.delay(50_000):
        x.add_(1)
        save_file({"x": x}, tmp_path / "x.safetensors")
    assert_close(load_file(tmp_path / "x.safetensors")["x"], torch.ones(1000))


def test_tensors_that_share_memory_are_refused_on_the_device_too(tmp_path):
    x = values().to("openreg")
    with pytest.raises(RuntimeError, match="Some tensors share memory"):
        save_file({"a": x, "b": x[1]}, tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="non contiguous tensor: `a`"):
        save_file({"a": x.t()}, tmp_path / "x.safetensors")


def test_a_model_with_shared_weights(tmp_path):
    def build():
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
        model[1].weight = model[0].weight
        return model.to("openreg")

    model, again = build(), build()
    save_model(model, tmp_path / "m.safetensors")
    load_model(again, tmp_path / "m.safetensors")
    x = values().to("openreg")
    assert_close(again(x).cpu(), model(x).cpu(), rtol=0, atol=0)
    assert again[1].weight is again[0].weight
