# Passes and lowerings of a backend; see docs/modules/compile-inductor.md.
import pytest
import torch
import torch._inductor.config as inductor_config
from torch._inductor.codegen.common import register_backend_for_device
from torch._inductor.custom_graph_pass import CustomGraphModulePass, CustomGraphPass
from torch._inductor.lowering import lowerings, register_lowering
from torch._inductor.utils import run_and_get_code
from torch_openreg import _inductor as backend
from torch_openreg._inductor.kernels import OpenRegScheduling

pytestmark = pytest.mark.usefixtures("inductor")
aten = torch.ops.aten


def replace(graph, old, new):
    for node in graph.find_nodes(op="call_function", target=old):
        node.target = new


class CosineForSine(CustomGraphPass):
    """Rewrites graphs of every device."""

    def __call__(self, graph):
        replace(graph, aten.sin.default, aten.cos.default)

    def uuid(self):
        return "cosine for sine"


class NegativeForExp(CustomGraphModulePass):
    """Rewrites graphs of one device."""

    def __call__(self, gm):
        replace(gm.graph, aten.exp.default, aten.neg.default)

    def uuid(self):
        return "negative for exp"


@pytest.fixture
def triple():
    """A custom operator that fuses, because Inductor has its loop."""

    @torch.library.custom_op("openreg_test::triple", mutates_args=())
    def triple(x: torch.Tensor) -> torch.Tensor:
        raise AssertionError("the kernel must not be called")

    triple.register_fake(torch.empty_like)
    op = torch.ops.openreg_test.triple.default

    @register_lowering(op)
    def lower(x):
        return lowerings[aten.mul.Tensor](x, 3)

    yield triple
    del lowerings[op]


@pytest.fixture
def device_pass():
    """The registration of the backend, with its own pass."""
    backend.register()  # torch's first compilation would do it, and drop the pass
    register_backend_for_device(
        "openreg",
        OpenRegScheduling,
        backend.OpenRegWrapper,
        device_custom_pass=NegativeForExp(),
        device_custom_config=backend.SETTINGS,
    )
    yield
    backend.register()


@pytest.mark.usefixtures("device_pass")
def test_passes_and_a_lowering_change_what_is_compiled(triple):
    with inductor_config.patch(post_grad_custom_post_pass=CosineForSine()):
        call = torch.compile(lambda x: triple(x.sin()) + x.exp(), fullgraph=True)
        x = torch.randn(5, device="openreg")
        y, (source,) = run_and_get_code(call, x)
    torch.testing.assert_close(y, x.cos() * 3 - x)
    assert source.count("openreg::cpu::launch_on(") == 1  # all is in one kernel
