"""Networks that learn without one fallback; see docs/operators/structured.md."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close


class Perceptron(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Linear(12, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 5)
        )

    def batch(self):
        return torch.randn(16, 12), torch.randint(5, (16,))


class Convolutional(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 8, 3, padding=1, bias=False),  # which BatchNorm takes away
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1),
            nn.GroupNorm(2, 8),
            nn.GELU(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(8 * 4, 5),
        )

    def batch(self):
        return torch.randn(4, 3, 8, 8), torch.randint(5, (4,))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(16, 5)

    def forward(self, tokens):
        return self.head(self.encoder(self.words(tokens)).mean(1))

    def batch(self):
        return torch.randint(20, (4, 6)), torch.randint(5, (4,))


OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=1e-3),
    "SGD foreach": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, foreach=True),
    "SGD fused": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, fused=True),
    "Adam": lambda p: torch.optim.Adam(p, 0.01),
    "Adam foreach": lambda p: torch.optim.Adam(p, 0.01, amsgrad=True, foreach=True),
    "Adam fused": lambda p: torch.optim.Adam(p, 0.01, amsgrad=True, fused=True),
    "AdamW fused": lambda p: torch.optim.AdamW(p, 0.01, fused=True),
    "Adagrad fused": lambda p: torch.optim.Adagrad(p, 0.01, fused=True),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.01),
}


def train(network, optimizer, device, steps=5):
    """The losses of some steps and the parameters after them, on the CPU."""
    torch.manual_seed(7)
    model = network()
    batches = [model.batch() for _ in range(steps)]
    model.to(device)
    optimizer = OPTIMIZERS[optimizer](model.parameters())
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs.to(device)), targets.to(device))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu(), {
        name: determined(name, value.cpu())
        for name, value in model.state_dict().items()
    }


def determined(name, value):
    """The part of a parameter whose gradient is more than rounding.

    A softmax stays the same if all scores move, as they do with the bias of the keys:
    its gradient is 0 but for rounding, which Adam makes as large as any other.
    """
    if name.endswith("in_proj_bias"):
        query, _, values = value.chunk(3)
        return torch.cat([query, values])
    return value


@pytest.mark.smoke
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("network", [Perceptron, Convolutional, Encoder])
def test_a_network_learns_as_on_the_cpu_without_a_fallback(network, optimizer):
    expected_losses, expected = train(network, optimizer, "cpu")
    torch.openreg.reset_fallback_counts()
    losses, parameters = train(network, optimizer, "openreg")
    assert torch.openreg.fallback_counts() == {}
    assert_close(losses, expected_losses, rtol=1e-4, atol=1e-5)
    assert_close(parameters, expected, rtol=1e-3, atol=1e-4)


def test_grad_scaler_skips_a_step_with_infinite_gradients():
    weight = torch.ones(3, device="openreg", requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    scaler = torch.amp.GradScaler("openreg", init_scale=4.0)
    torch.openreg.reset_fallback_counts()
    scaler.scale((weight * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert_close(weight.detach().cpu(), torch.ones(3))
    assert scaler.get_scale() == 2.0
    optimizer.zero_grad()
    scaler.scale((weight * 2).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert_close(weight.detach().cpu(), torch.full((3,), 0.8))
    assert torch.openreg.fallback_counts() == {}
