# The library torchao on the device; see docs/modules/torchao.md.
import re
import sys
from importlib.metadata import version

import pytest
import torch
import torchao_table
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.testing import assert_close
from torchao.kernel import safe_int_mm
from torchao.quantization import (
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    PerGroup,
    quantize_,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
    X86InductorQuantizer,
    get_default_x86_inductor_quantization_config,
)
from torchao.quantization.qat import QATConfig

PINS = torchao_table.PAGE.parents[2] / "requirements/clients.txt"


def model(features=64):
    torch.manual_seed(0)
    layers = [nn.Linear(features, 64), nn.GELU(), nn.Linear(64, 32)]
    return nn.Sequential(*layers)


def batch(features=64):
    torch.manual_seed(1)
    return torch.randn(16, features)


def test_the_table_is_what_the_tool_writes():
    hint = "write it again: python openreg/tests/tools/torchao_table.py"
    page = torchao_table.page()
    if sys.version_info < (3, 11, 4):  # as the page says
        page, refused = re.subn("`UnpicklingError: [^|]*`", "yes", page)
        assert refused == 2
    assert torchao_table.PAGE.read_text() == page, hint
    assert f"torchao=={version('torchao')}" in PINS.read_text().splitlines()


# LITERALINCLUDE START: TORCHAO_EAGER
def quantized(device):
    net = model().to(device)
    quantize_(net, Int8DynamicActivationInt8WeightConfig())
    with torch.no_grad():
        return net(batch().to(device)).cpu()
        # LITERALINCLUDE END: TORCHAO_EAGER


def test_a_quantized_model_computes_as_on_the_cpu():
    with torch.openreg.fallbacks() as counts:
        assert_close(quantized("openreg"), quantized("cpu"))
    assert not counts


def test_a_model_that_was_quantized_on_the_cpu_can_be_moved():
    net, x = model(), batch()
    quantize_(net, Int8DynamicActivationInt8WeightConfig())
    with torch.no_grad():
        expected = net(x)
        assert_close(net.to("openreg:1")(x.to("openreg:1")).cpu(), expected)


def test_inductor_compiles_it():
    """Where the largest number of a row is negative, it is -127.5 scales: a tie."""
    net, x = model().to("openreg"), batch().to("openreg")
    quantize_(net, Int8DynamicActivationInt8WeightConfig())
    with torch.no_grad():
        expected = net(x)
        difference = torch.compile(net, fullgraph=True)(x) - expected
    assert difference.norm() < 0.01 * expected.norm()


# LITERALINCLUDE START: TORCHAO_QAT
def train_aware(device):
    """Train with fake quantization; return the losses, and the quantized model."""
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(32)
    )
    net, x = model().to(device), batch().to(device)
    quantize_(net, QATConfig(config, step="prepare"))  # (1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    quantize_(net, QATConfig(config, step="convert"))  # (2)
    return losses, net
    # LITERALINCLUDE END: TORCHAO_QAT


def test_training_aware_of_quantization():
    with torch.openreg.fallbacks() as counts:
        losses, net = train_aware("openreg")
    assert not counts and losses[-1] < losses[0]
    expected, on_cpu = train_aware("cpu")
    assert_close(torch.tensor(losses), torch.tensor(expected))
    with torch.no_grad():
        result = net(batch().to("openreg")).cpu()
        assert_close(result, on_cpu(batch()), rtol=1e-3, atol=1e-3)


# LITERALINCLUDE START: TORCHAO_PT2E
def quantized_graph(device):
    net, x = model().to(device).eval(), batch().to(device)
    graph = torch.export.export(net, (x,)).module()
    quantizer = X86InductorQuantizer()
    quantizer.set_global(get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(graph, quantizer)  # (1)
    prepared(x)  # (2)
    return convert_pt2e(prepared), x  # (3)
    # LITERALINCLUDE END: TORCHAO_PT2E


def test_a_graph_is_quantized():
    with torch.openreg.fallbacks() as counts:
        graph, x = quantized_graph("openreg")
        result = graph(x)
    assert not counts
    on_cpu, given = quantized_graph("cpu")
    assert_close(result.cpu(), on_cpu(given), rtol=1e-3, atol=1e-3)


def ones(device, features):
    made = torch.ones(features, features, dtype=torch.int8, device=device)
    return made, made


def test_a_gap_the_product_of_integers_is_not_int_mm():
    """Torch's out_dtype calls it for CUDA and XPU only."""
    with profile(activities=[ProfilerActivity.PrivateUse1]) as prof:
        safe_int_mm(*ones("openreg", 16))
        torch.openreg.synchronize()
    names = {event.name for event in prof.events()}
    assert "mm" in names and "_int_mm" not in names


def test_a_gap_sizes_that_are_no_multiple_of_8_are_computed_on_the_cpu():
    with profile(activities=[ProfilerActivity.PrivateUse1]) as prof:
        result = safe_int_mm(*ones("openreg", 20))
    assert not {event.name for event in prof.events()} & {"mm", "_int_mm"}
    assert (result == 20).all() and result.device.index == 0


def test_a_gap_such_a_product_loses_the_index_of_the_device():
    assert safe_int_mm(*ones("openreg:1", 16)).device.index == 1
    assert safe_int_mm(*ones("openreg:1", 20)).device.index == 0
    net = model(20).to("openreg:1")
    quantize_(net, Int8DynamicActivationInt8WeightConfig())
    with torch.no_grad(), pytest.raises(RuntimeError, match="on the same device"):
        net(batch(20).to("openreg:1"))
