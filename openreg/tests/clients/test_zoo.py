# Common architectures train on the device without a fallback; see
# docs/frontend/libraries.md.
import re
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close
from zoo import MODELS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "frontend" / "libraries.md"
STEPS = 6


def build(name):
    torch.manual_seed(0)
    return MODELS[name]()


# LITERALINCLUDE START: TRAIN_ZOO
def train(name, device, compiled=False):
    """Return the losses of six steps, on the CPU."""
    model, batch = build(name)
    model.to(device).train()
    if compiled:
        model.compile()
    batch = {
        key: value.to(device) if isinstance(value, torch.Tensor) else value
        for key, value in batch.items()
    }
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    assert loss.device.type == torch.device(device).type
    return torch.stack(losses).cpu()
    # LITERALINCLUDE END: TRAIN_ZOO


# LITERALINCLUDE START: ZOO_TEST
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_zoo_trains_as_on_the_cpu(name):
    device = torch.accelerator.current_accelerator()
    with torch.openreg.fallbacks() as counts:
        losses = train(name, device)
    assert losses[-1] < losses[0]
    assert_close(losses, train(name, "cpu"), rtol=0, atol=1e-6)
    assert not counts
    # LITERALINCLUDE END: ZOO_TEST


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "vit", "resnet"])
def test_a_compiled_model_of_the_zoo_trains_as_on_the_cpu(name, inductor):
    losses = train(name, "openreg", compiled=True)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] > 0
    assert_close(losses, train(name, "cpu"), rtol=0, atol=1e-5)


def test_the_page_lists_the_models_of_the_zoo():
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)
    assert rows == [(name, type(build(name)[0]).__name__) for name in MODELS]
