# Conjugate, zero, quantized and nested tensors; see docs/operators/layouts.md.
import copy
import re
import warnings
from pathlib import Path

import pytest
import torch
import torch.autograd.forward_ad as forward_ad
import torch.nn.functional as F
import torchgen
from against_cpu import check_against_cpu
from layouts_support import IGNORED, check, holes, random, same, through_a_file
from torch._subclasses.fake_tensor import (
    FakeTensorDeviceMismatchError,
    FakeTensorMode,
)
from torch.testing import assert_close

pytestmark = pytest.mark.filterwarnings(*IGNORED)


# -- which kernels are borrowed --

KEYS = ["Sparse", "SparseCsr", "Quantized", "NestedTensor"]
# Even the CPU's kernel is made of operators, although CUDA has another one.
GENERIC = {"is_pinned", "_pin_memory", "bmm", "_fused_sdp_choice"}


def dispatch_lines():
    """Yield each operator of torch with the keys and kernel of one dispatch line."""
    file = "packaged/ATen/native/native_functions.yaml"
    operator = ""
    for line in (Path(torchgen.__file__).parent / file).read_text().splitlines():
        if match := re.match(r"- func: ([\w.]+)\(", line):
            operator = match[1]
        elif match := re.match(r"    ([\w, ]+): \w+$", line):
            yield operator, set(match[1].replace(" ", "").split(","))


def native(source, key):
    """Return the operators that have a kernel of the backend."""
    block = re.search(
        rf"TORCH_LIBRARY_IMPL\(aten, {key}PrivateUse1, m\) {{(.*?)^}}",
        source,
        re.S | re.M,
    )[1]
    structs = re.findall(r"sparse_operator<op::(\w+)>", block)
    names = set(re.findall(r'm\.impl\("([\w.]+)"', block))
    for name in torch._C._dispatch_get_all_op_names():
        if name.removeprefix("aten::").replace(".", "_") in structs:
            names.add(name.removeprefix("aten::"))
    return names - {"_copy_from", "_copy_from_and_resize"}


def falling_back(key):
    """Return the operators that the registration does not borrow."""
    source = Path(__file__).parents[2] / "csrc/aten/RegisterLayouts.cpp"
    block = source.read_text().split(f"register_layout_ops<DispatchKey::{key}CPU>")[1]
    block = block.split("}));")[0]
    names = set(re.findall(r'"([^"]+)"', block))
    names |= native(source.read_text(), key) if "all_but" in block else set()
    cpu = {name for name, keys in dispatch_lines() if f"{key}CPU" in keys}
    assert names <= cpu
    return names if "all_but" in block else cpu - names


@pytest.mark.parametrize("key", KEYS)
def test_only_what_the_cpu_shares_with_cuda_is_borrowed(key):
    own = {
        name
        for name, keys in dispatch_lines()
        if f"{key}CPU" in keys and f"{key}CUDA" not in keys
    }
    assert own
    assert own - GENERIC <= falling_back(key)


@pytest.mark.parametrize("key", KEYS)
def test_every_operator_of_the_cpu_is_served(key):
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    names = [n for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::")]
    served = [name for name in names if has(name, f"{key}CPU")]
    assert len(served) > 90
    assert all(has(name, f"{key}PrivateUse1") for name in served)


def test_a_fallback_is_counted_and_can_be_refused():
    x = holes(3, 3).to("openreg").to_sparse()
    torch.openreg.reset_fallback_counts()
    x.coalesce()
    assert "aten::_coalesce" not in torch.openreg.fallback_counts()  # already is
    x = torch.stack([x, x])
    torch.bmm(x, x.to_dense())
    assert torch.openreg.fallback_counts()["aten::bmm"] == 1
    torch.openreg.set_fallback_mode("error")
    try:
        with pytest.raises(NotImplementedError, match="aten::bmm has no kernel"):
            torch.bmm(x, x.to_dense())
    finally:
        torch.openreg.set_fallback_mode("allow")


# -- bits that are pending --


@pytest.mark.parametrize(
    "call",
    [
        lambda z: z.conj() * z,
        lambda z: z.conj().imag,
        lambda z: -z.conj().imag,
        lambda z: z.conj().t().resolve_conj(),
        lambda z: z.conj() @ z.t(),
        lambda z: z.mH @ z,
        lambda z: z.clone().conj().add_(1j),
        lambda z: torch.view_as_real(z.conj().resolve_conj()),
        lambda z: z.conj().imag.abs(),
    ],
)
def test_conjugates_and_negatives(call):
    check(call, torch.complex(random(2, 3), random(3, 2).t()))


def test_a_conjugate_is_a_view_with_a_bit():
    z = torch.tensor([1 + 2j]).to("openreg")
    conj = z.conj()
    assert (conj.is_conj(), conj.imag.is_neg()) == (True, True)
    assert conj.data_ptr() == z.data_ptr()
    assert conj.tolist() == [1 - 2j]
    conj.mul_(2)
    assert z.tolist() == [2 + 4j]


def zero_tensor(*sizes, **options):
    return torch._efficientzerotensor(sizes, device="openreg", **options)


def test_a_zero_tensor_has_no_memory():
    before = torch.openreg.memory_allocated()
    zero = zero_tensor(1000, 1000, dtype=torch.float64)
    assert torch.openreg.memory_allocated() == before
    assert zero._is_zerotensor()
    assert (zero.dtype, zero.shape, zero.data_ptr()) == (torch.float64, (1000, 1000), 0)
    assert zero_tensor(2).device == torch.device("openreg:0")
    with torch.openreg.device(1):
        assert zero_tensor(2).device == torch.device("openreg:1")
    assert torch._efficientzerotensor((2,), device="openreg:1").device.index == 1


def test_what_becomes_of_a_zero_tensor():
    zero, x = zero_tensor(3), random(3).to("openreg")
    for result, stays in (
        (zero * x, True),
        (zero / x, True),
        (zero + zero, True),
        (zero + x, False),
        (x - zero, False),
        (zero.clone(), False),
        (zero.exp(), False),
    ):
        assert result._is_zerotensor() == stays
    same(zero.exp(), torch.ones(3))
    same(x - zero, random(3))
    assert zero.cpu().tolist() == zero.tolist() == [0, 0, 0]
    x.copy_(zero)
    assert x.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="ZeroTensors are immutable"):
        zero.add_(1)


def test_forward_mode_makes_zero_tensors():
    with forward_ad.dual_level():
        x = torch.ones(2, device="openreg")
        dual = forward_ad.make_dual(x, x)
        tangent = forward_ad.unpack_dual(torch.stack([dual, x])).tangent
        assert tangent.tolist() == [[1, 1], [0, 0]]


# -- quantized --


def quantized(x, dtype=torch.qint8):
    return torch.quantize_per_tensor(x, 0.1, 2, dtype)


QUANTIZED = [
    lambda q: q,
    lambda q: q.dequantize(),
    lambda q: q.int_repr(),
    lambda q: q.t().contiguous(),
    lambda q: q.view(2, 6)[1:, ::2],
    lambda q: q.unsqueeze(0).squeeze(),
    lambda q: torch.cat([q, q]),
    lambda q: q.relu(),
    lambda q: q.mean(1),
    lambda q: q.max().dequantize(),
    lambda q: q == q,
    lambda q: q.clone().fill_(0.5),
    lambda q: q.clone().copy_(q.dequantize() * 2),
    lambda q: torch.empty_like(q).copy_(q),
    lambda q: F.avg_pool2d(q.view(1, 1, 3, 4), 2),
    lambda q: copy.deepcopy(q),
    lambda q: through_a_file(q),
]


@pytest.mark.parametrize("dtype", [torch.qint8, torch.quint8, torch.qint32], ids=str)
@pytest.mark.parametrize("number", range(len(QUANTIZED)))
def test_quantized_tensors(number, dtype):
    call, q = QUANTIZED[number], quantized(random(3, 4), dtype)
    try:
        call(q)
    except RuntimeError as error:  # not every dtype has every operator
        assert "avg_pool2d" in str(error)
        return
    check(call, q)


def test_quantized_tensors_are_made():
    check(quantized, random(3, 4))
    q = quantized(random(3, 4).to("openreg"))
    assert (q.q_scale(), q.q_zero_point(), q.qscheme()) == (
        *(0.1, 2),
        torch.per_tensor_affine,
    )
    assert "quantization_scheme=torch.per_tensor_affine" in repr(q)
    scales, zeros = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2])

    def per_channel(x):
        s, z = scales.to(x.device), zeros.to(x.device)
        return torch.quantize_per_channel(x, s, z, 0, torch.qint8)

    check(per_channel, random(3, 4))
    check(lambda q: q.dequantize(), per_channel(random(3, 4)))


def test_operators_of_the_quantized_namespace():
    q = quantized(random(3, 4), torch.quint8)
    check(lambda q: torch.ops.quantized.add(q, q, 0.2, 1), q)
    check(lambda q: torch.ops.quantized.cat([q, q], 0, 0.1, 2), q)
    linear = torch.ao.nn.quantized.Linear(4, 2)
    linear.set_weight_bias(quantized(random(2, 4)), random(2))
    check(linear, q)  # the weights are packed for the CPU, and stay there


def test_fake_quantization_has_gradients():
    check_against_cpu(
        lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 2, -128, 127),
        random(3, 4) * 10,
    )


# -- nested --


def nested(width=3, offset=0):
    parts = [random(2, width) + offset, random(4, width) + offset]
    return torch.nested.nested_tensor(parts)


NESTED = [
    lambda n, m: n,
    lambda n, m: n.double(),
    lambda n, m: n.unbind()[1],
    lambda n, m: n.to_padded_tensor(7.0),
    lambda n, m: n + m,
    lambda n, m: n * 2,
    lambda n, m: F.gelu(n).tanh(),
    lambda n, m: n.softmax(-1),
    lambda n, m: n.sum(-1, keepdim=True),
    lambda n, m: F.linear(n, torch.ones(5, 3, device=n.device)),
    lambda n, m: torch.bmm(n, m.transpose(1, 2)),
    lambda n, m: F.scaled_dot_product_attention(*(x.unsqueeze(1) for x in (n, m, m))),
    lambda n, m: n.transpose(1, 2).contiguous(),
    lambda n, m: n.select(0, 1),
    lambda n, m: torch.cat([n, m]),
    lambda n, m: n.clone().mul_(m),
    lambda n, m: n.clone().copy_(m),
    lambda n, m: torch.zeros_like(n),
    lambda n, m: through_a_file(n),
]


@pytest.mark.parametrize("number", range(len(NESTED)))
def test_nested_tensors(number):
    check(NESTED[number], nested(), nested(offset=1))


def test_nested_tensors_are_made():
    x = random(5, 3)
    check(lambda x: torch.nested.nested_tensor([x, x[:2]]), x)
    check(lambda x: torch.nested.as_nested_tensor([x, x[:2]]), x)
    n = nested().to("openreg")
    assert (n.size(0), n.size(2), n.is_nested) == (2, 3, True)
    assert "device='openreg:0'" in repr(n)
    assert n.unbind()[0].untyped_storage().data_ptr() == n.values().data_ptr()


def test_nested_tensors_have_gradients():
    def gradients(device):
        parts = [random(2, 3).to(device).requires_grad_(), random(4, 3).to(device)]
        weight = random(5, 3).to(device).requires_grad_()
        n = torch.nested.as_nested_tensor(parts)
        n = F.gelu(F.linear(n, weight))
        n.to_padded_tensor(0.0).square().sum().backward()
        return parts[0].grad, weight.grad

    for actual, expected in zip(gradients("openreg"), gradients("cpu"), strict=True):
        same(actual, expected)


def test_jagged_tensors_compute_and_have_gradients():
    """They are made of dense ones in Python, and need no key of their own."""

    def run(device):
        values = random(6, 8).to(device).requires_grad_()
        weight = random(8, 8).to(device).requires_grad_()
        offsets = torch.tensor([0, 2, 6]).to(device)
        n = torch.nested.nested_tensor_from_jagged(values, offsets)
        heads = F.linear(n, weight).relu() + n
        heads = F.layer_norm(heads, (8,)).unflatten(-1, [2, 4]).transpose(1, 2)
        out = F.scaled_dot_product_attention(heads, heads, heads)
        padded = torch.nested.to_padded_tensor(out.transpose(1, 2).flatten(-2), 0.0)
        padded.square().sum().backward()
        return padded, n.sum(1), n.softmax(-1).values(), values.grad, weight.grad

    for actual, expected in zip(run("openreg"), run("cpu"), strict=True):
        assert_close(actual.cpu(), expected, rtol=1e-4, atol=1e-4)
    n = torch.nested.nested_tensor([random(2), random(3)], layout=torch.jagged)
    assert n.to("openreg").unbind()[1].tolist() == random(3).tolist()


# -- gaps --


def test_an_operator_that_not_even_the_cpu_has():
    for device in ("cpu", "openreg"):
        q = quantized(random(3).to(device))
        with pytest.raises(NotImplementedError, match=r"'Quantized\w+' ba"):
            q.zero_()


def test_mkldnn_tensors_belong_to_the_cpu():
    with pytest.raises(NotImplementedError, match="Unsupported device type for mkldnn"):
        random(3).to("openreg").to_mkldnn()


def test_a_nested_tensor_that_is_not_contiguous_cannot_be_copied():
    for device in ("cpu", "openreg"):
        n = nested().to(device).transpose(1, 2)
        with pytest.raises(RuntimeError, match="must be contiguous to get buffer"):
            n.double()
        n.contiguous().double()


def test_quantized_tensors_are_deprecated():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.set_warn_always(True)
        try:
            quantized(random(2))
        finally:
            torch.set_warn_always(False)
    assert any("will be removed in a future PyTorch" in str(w.message) for w in caught)


# -- fake tensors --


@pytest.mark.parametrize("index", [0, 1])
def test_fake_tensors_run_without_memory(index):
    device = torch.device("openreg", index)
    before = torch.accelerator.memory_allocated(index)
    with FakeTensorMode():
        layer = torch.nn.Linear(1 << 20, 1 << 20, device=device)
        y = layer(torch.ones(2, 1 << 20, device=device))
        y.sum().backward()
    assert layer.weight.grad.device == y.device == device
    assert y.shape == (2, 1 << 20)
    assert torch.accelerator.memory_allocated(index) == before


def test_fake_tensors_tell_devices_apart():
    with FakeTensorMode(), pytest.raises(FakeTensorDeviceMismatchError):
        torch.ones(2, device="openreg:0") + torch.ones(2, device="openreg:1")
