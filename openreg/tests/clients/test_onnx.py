# Models of the device as ONNX files; see docs/modules/export.md.
import warnings

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn


class Block(nn.Module):
    """A Transformer block with fused attention."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.project = nn.LayerNorm(16), nn.Linear(16, 48)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x):
        q, k, v = (
            t.unflatten(-1, (2, 8)).transpose(1, 2)
            for t in self.project(self.norm(x)).chunk(3, -1)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.mlp(x + y.transpose(1, 2).flatten(2))


def mlp():
    return nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 3))


def cnn():
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(2)
    )


MODELS = {"mlp": (mlp, (16,)), "cnn": (cnn, (3, 8, 8)), "block": (Block, (6, 16))}


# LITERALINCLUDE START: ONNX
@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_computes_the_same(name, tmp_path):
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model = make().to("openreg").eval()
    example = torch.randn(2, *shape, device="openreg")
    batch = ({0: torch.export.Dim("batch")},)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.onnx calls what torch deprecated
        program = torch.onnx.export(
            model, (example,), dynamo=True, dynamic_shapes=batch, verbose=False
        )
    program.save(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (given,) = session.get_inputs()
    for size in (2, 5):
        x = torch.randn(size, *shape)
        (actual,) = session.run(None, {given.name: x.numpy()})
        expected = model(x.to("openreg")).detach().cpu().numpy()
        assert np.abs(actual - expected).max() < 1e-5


# LITERALINCLUDE END: ONNX
