# Sequences that processes share, and the attention that this needs; see
# docs/modules/sharding-attention.md.
import pytest
import torch
import torch.nn.functional as F
from against_cpu import check_against_cpu
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import (
    context_parallel_unshard,
    set_rotate_method,
)
from torch.nn.attention import SDPBackend, sdpa_kernel

EFFICIENT = SDPBackend.EFFICIENT_ATTENTION
FORWARD = torch.ops.aten._scaled_dot_product_efficient_attention.default
BACKWARD = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default


def attention(q, *rest, **options):
    """On openreg with the operator under test; the CPU has no such operator."""
    backend = [EFFICIENT] if q.device.type == "openreg" else [SDPBackend.MATH]
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, *rest, **options)


def heads(length, size=8, like="heads first"):
    """Query, key or value: 2 sequences, 3 heads."""
    if like == "heads first":
        return torch.randn(2, 3, length, size)
    return torch.randn(2, length, 3, size).transpose(1, 2)


# -- the operators --


def test_the_choice_is_the_users():
    q = heads(4).to("openreg")
    assert torch._fused_sdp_choice(q, q, q) == EFFICIENT.value
    keys = q[:, :1]  # which three heads share: only the other operator takes them
    with sdpa_kernel(EFFICIENT):
        assert torch._fused_sdp_choice(q, q, q) == EFFICIENT.value
        with pytest.raises(RuntimeError, match="No viable backend"):
            torch._fused_sdp_choice(q, keys, keys, enable_gqa=True)
    with sdpa_kernel([SDPBackend.OVERRIDEABLE, EFFICIENT]):
        assert torch._fused_sdp_choice(q, q, q) == EFFICIENT.value
    with sdpa_kernel([SDPBackend.MATH, EFFICIENT], set_priority=True):
        assert torch._fused_sdp_choice(q, q, q) == SDPBackend.MATH.value


@pytest.mark.parametrize("like", ["heads first", "positions first"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_values_and_gradients_are_those_of_the_cpu(like, dtype):
    q, k, v = heads(5, like=like), heads(9, like=like), heads(9, 6, like=like)
    tensors = [each.to(dtype) for each in (q, k, v)]
    check_against_cpu(attention, *tensors)
    q, k, v = tensors = [each.to(dtype) for each in (q, k[:, :, :5], v[:, :, :5])]
    check_against_cpu(lambda *t: attention(*t, is_causal=True, scale=0.3), *tensors)


@pytest.mark.parametrize("shape", [(5, 9), (2, 1, 5, 9), (3, 1, 1)])
def test_a_mask_is_added_and_differentiated(shape):
    q, k, v, mask = heads(5), heads(9), heads(9), torch.randn(shape)
    check_against_cpu(attention, q, k, v, mask.expand(*shape[:-2], 5, 9).contiguous())


def test_dropout_drops_what_the_other_operator_drops():
    def run(backend):
        torch.manual_seed(4)
        q = heads(40).to("openreg").requires_grad_()
        torch.manual_seed(4)
        with sdpa_kernel(backend):
            out = F.scaled_dot_product_attention(q, q, q, dropout_p=0.4)
        out.sum().backward()
        return out.detach().cpu(), q.grad.cpu()

    torch.testing.assert_close(run(EFFICIENT), run(SDPBackend.OVERRIDEABLE))


def forward(device, q, k, v, bias=None, keep=True):
    q, k, v = (each.to(device) for each in (q, k, v))
    bias = None if bias is None else bias.to(device)
    return FORWARD(q, k, v, bias, keep, 0.1, False)


def backward(device, q, k, v, bias, mask=(True,) * 4):
    out, lse, seed, offset = forward(device, q, k, v, bias)
    arguments = [each.to(device) for each in (q, k, v)]
    bias = None if bias is None else bias.to(device)
    saved = (bias, out, lse, seed, offset)
    return BACKWARD(torch.ones_like(out), *arguments, *saved, 0.1, mask)


@pytest.mark.parametrize("like", ["heads first", "positions first"])
@pytest.mark.parametrize("length", [1, 5, 32, 33])
@pytest.mark.parametrize("call", [forward, backward])
def test_sizes_and_strides_are_those_that_the_compiler_expects(call, length, like):
    q, k, v = heads(length, like=like), heads(9, like=like), heads(9, 6, like=like)
    for bias in (None, torch.randn(2, 3, length, 9)):
        results, expected = (
            call(device, q, k, v, bias) for device in ("openreg", "meta")
        )
        for result, meta in zip(results, expected, strict=True):
            assert (result is None) == (meta is None)
            if meta is not None and meta.dim():  # on meta, seed and offset have none
                assert result.shape == meta.shape
                sizes = zip(meta.shape, result.stride(), meta.stride(), strict=True)
                assert all(one == two for size, one, two in sizes if size > 1)


def test_the_logsumexp_is_left_out_where_nobody_asks():
    q = heads(5)
    assert forward("openreg", q, q, q, keep=False)[1].shape == (2, 3, 0)
    scores = (q.double() @ q.double().mT / 8**0.5).logsumexp(-1)
    filled = forward("openreg", q, q, q)[1].cpu()
    torch.testing.assert_close(filled[..., :5].double(), scores, rtol=1e-5, atol=1e-5)
    assert filled[..., 5:].isposinf().all() and filled.shape[-1] == 32


def test_gradients_are_left_out_where_nobody_asks():
    q = heads(5)
    found = backward("openreg", q, q, q, None, (False, True, False, False))
    assert [each is not None for each in found] == [False, True, False, False]


def test_it_compiles():
    def step(q, k, v, mask):
        out = attention(q.sin(), k, v, mask)
        return out.cos().sum() + attention(q, q, q, is_causal=True).square().sum()

    def run(function):
        torch.manual_seed(0)
        q, k, v, mask = (heads(5), heads(9), heads(9), torch.randn(2, 3, 5, 9))
        leaves = [each.to("openreg").requires_grad_() for each in (q, k, v, mask)]
        loss = function(*leaves)
        loss.backward()
        return [loss.detach(), *(leaf.grad for leaf in leaves)]

    compiled = run(torch.compile(step, fullgraph=True))
    torch.testing.assert_close(compiled, run(step), rtol=1e-4, atol=1e-5)


# -- sequences that processes share --


def whole(length):
    generator = torch.Generator().manual_seed(1)
    shapes = [(2, 3, length, 8)] * 4
    return [torch.randn(s, generator=generator) for s in shapes]


def attend(q, k, v, grad):
    leaves = [each.requires_grad_() for each in (q, k, v)]
    out = F.scaled_dot_product_attention(*leaves, is_causal=True)
    out.backward(grad)
    return [out.detach(), *(leaf.grad for leaf in leaves)]


def attend_together(state, ranks, length, method):
    """Return the output and the gradients, put together again."""
    mesh = init_device_mesh("openreg", (ranks,))
    set_rotate_method(method)
    tensors = [each.to("openreg") for each in whole(length)]
    with context_parallel(mesh, buffers=tensors, buffer_seq_dims=[2] * 4):
        sizes = [each.shape[2] for each in tensors]
        found = attend(*(each.detach().clone() for each in tensors))
        found = context_parallel_unshard(mesh, found, [2] * 4)
    return sizes, [each.cpu() for each in found]


@pytest.mark.parametrize("method", ["allgather", "alltoall"])
@pytest.mark.parametrize("length", [256, 512])
def test_four_processes_compute_what_one_does(four, method, length):
    expected = attend(*whole(length))
    for result in four.run(attend_together, 4, length, method):
        assert not isinstance(result, str), result
        sizes, found = result
        assert sizes == [length // 4] * 4  # each process had a quarter
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
