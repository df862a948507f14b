# How accelerate, and what is built on it, gets the device; see
# docs/frontend/libraries.md.
import pytest
import torch
from accelerate.state import AcceleratorState, GradientState


@pytest.fixture
def use_accelerator(monkeypatch):
    """Make accelerate use the device; a call with False makes it use its default."""

    def forget():  # accelerate keeps the device in classes
        AcceleratorState._reset_state(reset_partial_state=True)
        GradientState._reset_state()

    def use(device):
        forget()
        if device:
            # LITERALINCLUDE START: ACCELERATE_DEVICE
            device = torch.accelerator.current_accelerator()
            monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", str(device))
            # LITERALINCLUDE END: ACCELERATE_DEVICE
        else:
            monkeypatch.delenv("ACCELERATE_TORCH_DEVICE", raising=False)

    use(True)
    yield use
    forget()
