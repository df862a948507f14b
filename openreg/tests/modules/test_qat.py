# Quantization-aware training; see docs/modules/quantization.md.
import pytest
import torch
from torch import nn
from torch.ao import quantization as ao
from torch.testing import assert_close

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore:Please use quant_min"
)
CONFIGURATIONS = {
    "fused": ao.get_default_qat_qconfig("fbgemm"),
    "version 0": ao.get_default_qat_qconfig("fbgemm", version=0),
}


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(4 * 16, 5),
    )


def train(device, configuration):
    """Return the losses of three steps, and what the observers and layers keep."""
    net = network().train()
    net.qconfig = CONFIGURATIONS[configuration]
    net = ao.prepare_qat(net).to(device)
    optimizer, losses = torch.optim.SGD(net.parameters(), lr=0.05), []
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):
        x = torch.randn(8, 3, 6, 6, generator=generator).to(device)
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.cpu() for name, value in net.state_dict().items()}


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_training_aware_of_quantization(no_fallback, configuration):
    losses, state = train("openreg", configuration)
    expected_losses, expected = train("cpu", configuration)
    assert_close(losses, expected_losses, rtol=1e-4, atol=1e-5)
    assert state.keys() == expected.keys()
    assert any(name.endswith("fake_quant_enabled") for name in state)
    for name, value in state.items():
        tolerance = 1 if name.endswith("zero_point") else 1e-4
        assert_close(value, expected[name], rtol=1e-4, atol=tolerance)
    assert losses[-1] < losses[0]
