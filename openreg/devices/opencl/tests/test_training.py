"""Networks train on the device as on the CPU, without a fallback."""

import os
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from data_parallel import train_together
from train import NETWORKS, OPTIMIZERS, Perceptron, train


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_learns_as_on_the_cpu_without_a_fallback(network, optimizer):
    expected = train(network, "cpu", optimizer)
    torch.ocl.reset_fallback_counts()
    losses = train(network, "ocl", optimizer)
    assert torch.ocl.fallback_counts() == {}
    torch.testing.assert_close(losses, expected, rtol=1e-5, atol=1e-5)


def test_two_processes_learn_as_one(tmp_path, monkeypatch):
    monkeypatch.setenv("OCLRT_SUB_DEVICES", "1")
    examples = str(Path(__file__).parent.parent / "examples")
    paths = [examples, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    losses = train_together(2, tmp_path / "meeting")
    torch.testing.assert_close(
        torch.tensor(losses), train(Perceptron, "cpu"), rtol=1e-5, atol=1e-5
    )
