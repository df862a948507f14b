# Models train as on the CPU when Inductor generates Triton; see
# docs/modules/triton-inductor.md.
"""The models are those of the clients' tests: random weights, and no dropout."""

import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

CLIENTS = Path(__file__).parents[2] / "tests/clients"


def small_models():
    """Name models of a few layers, with the shape of their input."""
    torch.manual_seed(0)
    mlp = [nn.Linear(20, 50), nn.GELU(), nn.LayerNorm(50), nn.Linear(50, 10)]
    convolution = [nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    attention = [nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True)]
    return {
        "mlp": (nn.Sequential(*mlp), (32, 20)),
        "convolution": (nn.Sequential(*convolution), (4, 3, 12, 12)),
        "attention": (nn.Sequential(*attention), (2, 16, 32)),
    }


@pytest.mark.parametrize("name", small_models())
def test_a_small_model(name, triton_inductor):
    def train(device, compiled):
        model, shape = small_models()[name]
        x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(device)
        model = model.to(device)
        forward = torch.compile(model, fullgraph=True) if compiled else model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            forward(x).square().mean().backward()
            optimizer.step()
        return [value.detach().cpu() for value in model.state_dict().values()]

    assert_close(train("openreg", True), train("cpu", False), rtol=1e-3, atol=1e-5)


def zoo():
    """Return the names of the models, and what trains one of them."""
    sys.path.append(str(CLIENTS))
    from test_zoo import MODELS, train

    return MODELS, train


MODELS, train = zoo()


# torch does not compile T5's padded bias; see docs/ship/known-gaps-compiler.md.
NO_FUSED_CAT = {"max_pointwise_cat_inputs": 0, "max_complex_pointwise_cat_inputs": 0}


@pytest.mark.filterwarnings("ignore")  # of transformers, as in nox -s clients
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_zoo(name, triton_inductor):
    with torch._inductor.config.patch(NO_FUSED_CAT if name == "t5" else {}):
        losses = train(name, "openreg", compiled=True)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] > 0
    assert losses[-1] < losses[0]
    assert_close(losses, train(name, "cpu"), rtol=0, atol=1e-5)
