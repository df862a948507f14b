# Errors have the right type, words and no abort; see docs/runtime/errors.md.
import pytest
import torch

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
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(
        "openreg: device index 2 is out of range: this process sees 2 device(s)"
    )
