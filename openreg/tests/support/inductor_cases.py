# What both code generators of Inductor must get right; see
# docs/modules/compile-inductor.md and triton-inductor.md.
import torch
from torch.testing import assert_close


def streams_in_the_graph():
    """A graph that uses its own stream waits for it, and is enqueued."""
    side = torch.openreg.Stream()

    def call(x):
        here = torch.openreg.current_stream()
        side.wait_stream(here)
        with torch.openreg.stream(side):
            y = x.sin() * 2
        here.wait_stream(side)
        return y + x

    x = torch.ones(5, device="openreg")
    compiled = torch.compile(call, fullgraph=True)
    assert_close(compiled(x), call(x))
    with torch.openreg.simulator.hold(side):
        y = compiled(x)
        assert not side.query() and not torch.openreg.current_stream().query()
    assert_close(y, call(x))


def two_devices_and_the_cpu_in_one_graph():
    """Each kernel runs on the device of its tensors."""

    def call(x, y, z):
        return (x + 1).to("openreg:1") * y, z.cos() + 1

    x, y = torch.ones(3, device="openreg"), torch.ones(3, device="openreg:1")
    left, right = torch.compile(call, fullgraph=True)(x, y, torch.ones(3))
    assert left.device.index == 1 and right.device.type == "cpu"
    assert_close(left.tolist(), [2.0, 2.0, 2.0])
    assert_close(right, torch.ones(3).cos() + 1)
