# Lightning trains on the device with a strategy; see
# docs/frontend/training-libraries.md.
import lightning_device
import pytest
import torch
from libraries.training import fit


# LITERALINCLUDE START: LIGHTNING_SILENT
class Careless(lightning_device.DeviceAccelerator):
    def setup_device(self, device):
        assert device == torch.device("cpu")


@pytest.mark.parametrize("accelerator", ["auto", Careless()])
def test_a_trainer_without_a_strategy_trains_on_the_cpu(accelerator):
    module, _ = fit(accelerator=accelerator, devices=1)
    assert module.trained_on.type == "cpu"
    # LITERALINCLUDE END: LIGHTNING_SILENT


def test_the_accelerator_says_what_to_pass():
    words = r"would train on cpu: pass Trainer\(strategy=single_device\(\)\)"
    with pytest.raises(ValueError, match=words):
        fit(accelerator=lightning_device.DeviceAccelerator(), devices=1)


@pytest.mark.parametrize("index", [0, 1])
def test_a_strategy_trains_on_the_device(index):
    with torch.openreg.fallbacks() as counts:
        module, losses = fit(strategy=lightning_device.single_device(index))
    assert module.trained_on == torch.device("openreg", index)
    assert not counts
    torch.testing.assert_close(losses, fit(accelerator="cpu")[1])


def test_devices_of_the_accelerator():
    accelerator = lightning_device.DeviceAccelerator()
    assert accelerator.is_available()
    count = accelerator.auto_device_count()
    devices = accelerator.get_parallel_devices(accelerator.parse_devices(count))
    assert devices == [torch.device("openreg", index) for index in range(count)]
    assert accelerator.get_device_stats(devices[0])["allocated_bytes.all.current"] >= 0
