# Kernels that are replaced at run time; see docs/operators/overrides.md.
import importlib.util
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch._native import registry
from torch.nn import attention

EXAMPLE = Path(__file__).parents[1] / "examples" / "attention_provider.py"
pytestmark = pytest.mark.filterwarnings("ignore:Warning only once for all operators")


@pytest.fixture
def provider():
    spec = importlib.util.spec_from_file_location("attention_provider", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    attention.register_flash_attention_impl("openreg", register_fn=module.register)
    yield module
    attention.restore_flash_attention_impl(_raise_warn=False)
    attention._registry._FLASH_ATTENTION_IMPLS.pop("openreg")


@pytest.fixture
def override():
    names = []

    def install(name, fits, kernel):
        names.append(name)
        registry.register_op_override(
            name, "aten", "mul.Tensor", "PrivateUse1", fits, kernel
        )
        registry.reenable_op_overrides(enable_dsl_names=name)

    yield install
    registry.deregister_op_overrides(disable_dsl_names=names)


def inputs():
    host = [torch.rand(2, 3, 4, 8, requires_grad=True) for _ in range(3)]
    return host, [x.detach().to("openreg").requires_grad_() for x in host]


def test_an_attention_provider_computes_values_and_gradients(provider):
    host, device = inputs()
    attention.activate_flash_attention_impl("openreg")
    assert attention.current_flash_attention_impl() == "openreg"
    on_host = F.scaled_dot_product_attention(*host, is_causal=True)
    on_device = F.scaled_dot_product_attention(*device, is_causal=True)
    assert provider.calls == 1
    torch.testing.assert_close(on_device.cpu(), on_host)
    on_host.square().sum().backward()
    on_device.square().sum().backward()
    for x, y in zip(device, host, strict=True):
        torch.testing.assert_close(x.grad.cpu(), y.grad)


def test_the_kernel_of_before_comes_back(provider):
    _, device = inputs()
    attention.activate_flash_attention_impl("openreg")
    attention.restore_flash_attention_impl()
    F.scaled_dot_product_attention(*device)
    assert provider.calls == 0


def test_activating_twice_calls_the_kernel_once(provider):
    _, device = inputs()
    attention.activate_flash_attention_impl("openreg")
    attention.activate_flash_attention_impl("openreg")
    F.scaled_dot_product_attention(*device)
    assert provider.calls == 1


def test_a_condition_chooses_the_kernel(override):
    shapes = []

    def kernel(input, other):
        shapes.append(tuple(input.shape))
        return input / other.reciprocal()

    override("by_division", lambda input, other: input.numel() > 2, kernel)
    x = torch.tensor([2.0, 3.0, 4.0], device="openreg", requires_grad=True)
    y = torch.tensor([5.0, 6.0, 8.0], device="openreg")
    product = x * y
    torch.testing.assert_close(product.cpu(), torch.tensor([10.0, 18.0, 32.0]))
    torch.testing.assert_close((x[:2] * y[:2]).cpu(), torch.tensor([10.0, 18.0]))
    assert shapes == [(3,)]
    product.sum().backward()
    torch.testing.assert_close(x.grad.cpu(), y.cpu())


def test_conditions_are_asked_in_order(override):
    asked = []

    def condition(name, holds):
        return lambda *_: bool(asked.append(name)) or holds

    override("first", condition("first", False), lambda *_: pytest.fail("no"))
    override("second", condition("second", True), lambda x, y: x + y)
    x = torch.full((2,), 3.0, device="openreg")
    assert (x * x).tolist() == [6.0, 6.0]
    assert asked == ["first", "second"]
    assert x.cpu().mul(x.cpu()).tolist() == [9.0, 9.0]  # CPU tensors: untouched


def test_a_condition_that_raises_is_not_swallowed(override):
    def broken(*_):
        raise LookupError("no such kernel")

    override("broken", broken, lambda x, y: x)
    with pytest.raises(LookupError, match="no such kernel"):
        torch.ones(2, device="openreg") * torch.ones(2, device="openreg")


def test_overrides_leave_no_trace():
    x = torch.full((2,), 3.0, device="openreg")
    assert (x * 2).tolist() == [6.0, 6.0]
