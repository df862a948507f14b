# What users write about devices and streams, traced; see
# docs/modules/compile-dynamo.md.
import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close


def traced(function):
    """Without a graph break."""
    return torch.compile(function, backend="aot_eager", fullgraph=True)


def ones():
    return torch.ones(4, device="openreg")


def test_a_stream_of_the_user():
    stream = torch.openreg.Stream()

    def call(x):
        here = torch.openreg.current_stream()
        stream.wait_stream(here)
        with torch.openreg.stream(stream):
            y = x + 1
        here.wait_stream(stream)
        return y * 2

    assert traced(call)(ones()).tolist() == [4] * 4
    streams = []

    def keep(module, _):
        for node in module.graph.nodes:
            streams.append(node.meta.get("custom", {}).get("stream"))
        return module

    compiled = torch.compile(call, backend=keep, fullgraph=True)
    assert compiled(ones()).tolist() == [4] * 4
    assert any(streams)  # a note for Inductor, which alone makes it current


def test_no_stream():
    def call(x):
        with torch.openreg.stream(None):
            return x + 1

    assert traced(call)(ones()).tolist() == [2] * 4


def test_the_current_stream_of_a_device():
    def call(x):
        event = torch.openreg.current_stream(x.device).record_event()
        event.synchronize()
        return x + 1

    assert traced(call)(ones()).tolist() == [2] * 4


def test_synchronize():
    def call(x):
        torch.openreg.synchronize()
        torch.openreg.synchronize(x.device)
        return x + 1

    assert traced(call)(ones()).tolist() == [2] * 4
    graphs = []

    def keep(module, _):
        graphs.extend(str(node.target) for node in module.graph.nodes)
        return module

    torch.compile(call, backend=keep, fullgraph=True)(ones())
    assert sum("synchronize_device" in target for target in graphs) == 2


def test_the_current_device_is_a_guard():
    def call(x):
        return x + torch.openreg.current_device() if torch.openreg.is_available() else x

    compiled = traced(call)
    assert compiled(ones()).tolist() == [1] * 4
    with torch.openreg.device(1):
        assert compiled(torch.ones(4, device="openreg:0")).tolist() == [2] * 4


def test_the_device_of_a_block():
    """`torch.openreg.device` breaks the graph, see docs/ship/known-gaps-compiler.md."""

    def call(x):
        with torch.accelerator.device_index(1):
            return x + 1, torch.ones(2, device="openreg")

    compiled = torch.compile(call, backend="eager", fullgraph=True)
    y, there = compiled(ones())
    assert y.device.index == 0 and there.device.index == 1
    assert torch.openreg.current_device() == 0


def test_set_device_breaks_the_graph_and_switches():
    def call(x):
        torch.openreg.set_device(1)
        return torch.ones_like(x, device="openreg")

    assert torch.compile(call, backend="aot_eager")(ones()).device.index == 1
    assert torch.openreg.current_device() == 1
    torch.openreg.set_device(0)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_attention_of_any_batch(dropout):
    def call(q, k):
        return F.scaled_dot_product_attention(q, k, k, dropout_p=dropout)

    compiled = torch.compile(call, backend="aot_eager", dynamic=True, fullgraph=True)
    for batch in (2, 3, 5):
        q, k = torch.randn(batch, 4, 5, 8), torch.randn(batch, 4, 6, 8)
        results = []
        for function in (call, compiled):
            torch.openreg.manual_seed(3)
            leaves = [x.to("openreg").requires_grad_() for x in (q, k)]
            out = function(*leaves)
            out.square().sum().backward()
            results.append([out, *(x.grad for x in leaves)])
        assert_close(*results)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] >= 1


def test_attention_takes_the_fused_kernel_for_sizes_that_are_symbols():
    from torch._dynamo.backends.common import aot_autograd

    operators, sizes = [], []

    def keep(module, _):
        operators.extend(str(node.target) for node in module.graph.nodes)
        sizes.extend(node.meta.get("val") for node in module.graph.nodes)
        return module

    def call(q):
        return F.scaled_dot_product_attention(q, q, q)

    backend = aot_autograd(fw_compiler=keep)
    compiled = torch.compile(call, backend=backend, dynamic=True)
    compiled(torch.randn(3, 4, 5, 8, device="openreg"))
    assert any("efficient_attention" in name for name in operators)
    assert any(isinstance(size, torch.SymInt) for size in sizes)


def test_tags_of_a_tensor_do_not_reach_its_fake_tensor():
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = ones()
    torch.openreg.set_tensor_tags(x, {"packed": True})
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
    assert fake.device == x.device and fake.shape == x.shape
    assert torch.openreg.get_tensor_tags(fake) == {}
    assert torch.openreg.get_tensor_tags(x) == {"packed": True}
