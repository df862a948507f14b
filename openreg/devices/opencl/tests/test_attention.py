"""Fused attention and its gradients, compared with their definition on the CPU."""

import itertools

import pytest
import torch
from samples import natively
from support import DEVICE
from test_random import words
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

TOLERANCE = {
    torch.float32: 1e-5,
    torch.float64: 1e-10,
    torch.float16: 4e-3,
    torch.bfloat16: 4e-2,
}


def tensors(dtype, sizes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(size, generator=generator).to(dtype) for size in sizes]


def by_definition(query, key, value, bias=None, causal=False, mask=None, p=0.0):
    groups = query.size(1) // key.size(1)
    key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    scores = query @ key.mT / query.size(-1) ** 0.5
    if bias is not None:
        scores = scores + bias
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, float("-inf"))
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask / (1 - p)
    return weights @ value


def check(
    dtype, sizes, bias=None, causal=False, p=0.0, mask=None, transform=lambda x: x
):
    *inputs, grad = tensors(dtype, [*sizes, (*sizes[0][:3], sizes[2][3])])
    if bias is not None:
        inputs.append(bias.to(dtype))
    wide = [x.double().requires_grad_() for x in inputs]
    expected = by_definition(*wide, causal=causal, mask=mask, p=p)
    expected.backward(grad.double())
    moved = [transform(x.to(DEVICE)).detach().requires_grad_() for x in inputs]
    attn_mask = moved[3] if bias is not None else None
    with natively(), sdpa_kernel(SDPBackend.OVERRIDEABLE):
        out = scaled_dot_product_attention(
            *moved[:3], attn_mask, p, causal, enable_gqa=sizes[0][1] != sizes[1][1]
        )
        out.backward(grad.to(DEVICE))
    pairs = [
        (out, expected),
        *((x.grad, y.grad) for x, y in zip(moved, wide, strict=True)),
    ]
    for result, reference in pairs:
        torch.testing.assert_close(
            result.detach().cpu().double(),
            reference.detach(),
            rtol=TOLERANCE[dtype],
            atol=TOLERANCE[dtype] * max(1, reference.detach().abs().max().item()),
        )


def like(batch=2, heads=4, kv_heads=4, length=9, keys=11, size=16, values=16):
    return (
        (batch, heads, length, size),
        (batch, kv_heads, keys, size),
        (batch, kv_heads, keys, values),
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("causal", [False, True])
def test_dtypes(dtype, causal):
    check(dtype, like(), causal=causal)


@pytest.mark.parametrize("size", [(8, 4), (6, 2), (5, 3), (64, 64)])
def test_sizes_of_heads(size):
    check(torch.float32, like(size=size[0], values=size[1]))
    check(torch.float16, like(size=size[0], values=size[1], length=3))


def test_groups_of_heads():
    check(torch.float32, like(heads=6, kv_heads=2), causal=True)


@pytest.mark.parametrize(
    "shape", list(itertools.product((1, 2), (1, 4), (1, 9), (1, 11)))
)
def test_bias(shape):
    check(
        torch.float32,
        like(),
        bias=torch.randn(shape, generator=torch.Generator().manual_seed(1)),
    )


def test_strides():
    check(
        torch.float32,
        like(keys=9),
        transform=lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    )
    check(torch.float32, like(keys=9), transform=lambda x: x.mT.contiguous().mT)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dropout(dtype):
    p, sizes = 0.25, like(batch=1, heads=2, kv_heads=2, length=5, keys=6)
    torch.manual_seed(4)
    kept = torch.tensor([word >= int(p * 2**32) for word in words(4, 60)]).view(
        1, 2, 5, 6
    )
    check(dtype, sizes, p=p, mask=kept)


def test_a_row_without_keys_gives_zeros():
    query, key, value = (x.to(DEVICE) for x in tensors(torch.float32, like(keys=9)))
    bias = torch.zeros(9, 9)
    bias[3] = float("-inf")
    query.requires_grad_()
    with natively(), sdpa_kernel(SDPBackend.OVERRIDEABLE):
        out = scaled_dot_product_attention(query, key, value, bias.to(DEVICE))
        out.backward(torch.ones(out.shape).to(DEVICE))
    assert not out[:, :, 3].any() and not query.grad[:, :, 3].any()
    assert out.isfinite().all() and query.grad.isfinite().all()
