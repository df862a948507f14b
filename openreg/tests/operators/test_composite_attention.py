# Attention: the choice and the fused operator; see
# docs/operators/attention.md.
import itertools

import pytest
import torch
import torch.nn.functional as F
from against_cpu import check_against_cpu, leaf
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils._pytree import tree_map

B, H, L, S, E = 2, 4, 5, 6, 8
MATH, FUSED = SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION
GROUPED = SDPBackend.OVERRIDEABLE  # the one that takes groups of heads


def qkv(dtype=torch.float32, heads=H, kv_heads=H, value_size=E):
    query = torch.randn(B, heads, L, E).to(dtype)
    key = torch.randn(B, kv_heads, S, E).to(dtype)
    return query, key, torch.randn(B, kv_heads, S, value_size).to(dtype)


def chosen(*args, **kwargs):
    return SDPBackend(torch._fused_sdp_choice(*args, **kwargs))


MASKS = {
    "none": None,
    "float": torch.randn(B, H, L, S),
    "float, broadcast": torch.randn(L, S),
    "a column": torch.randn(B, 1, L, 1),
    "bool": torch.rand(B, 1, L, S) > 0.4,
    "bool, one row is empty": torch.arange(L)[:, None].expand(L, S) > 0,
    "minus infinity": torch.zeros(L, S).masked_fill(torch.rand(L, S) > 0.6, -torch.inf),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("backend", [FUSED, GROUPED, MATH])
def test_masks_and_scales(mask, scale, backend):
    def call(q, k, v):
        given = None if MASKS[mask] is None else MASKS[mask].to(q.device)
        return F.scaled_dot_product_attention(q, k, v, given, scale=scale)

    def on_one_backend(q, k, v):
        with sdpa_kernel(backend if q.device.type == "openreg" else MATH):
            return call(q, k, v)

    check_against_cpu(call, *qkv())
    check_against_cpu(on_one_backend, *qkv())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_dtypes(dtype):
    def call(q, k, v):
        assert q.device.type == "cpu" or chosen(q, k, v) == FUSED
        return F.scaled_dot_product_attention(q, k, v)

    check_against_cpu(call, *qkv(dtype))


@pytest.mark.parametrize("lengths", [(5, 6), (6, 6), (6, 5)])
def test_causal(lengths):
    query, key, value = qkv()
    query = torch.randn(B, H, lengths[0], E)
    key, value = (torch.randn(B, H, lengths[1], E) for _ in range(2))

    def call(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    check_against_cpu(call, query, key, value)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_grouped_heads(kv_heads, causal):
    def call(q, k, v):
        return F.scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=True
        )

    query, key, value = qkv(kv_heads=kv_heads)
    check_against_cpu(call, query, key, value)
    on_device = [t.to("openreg") for t in (query, key, value)]
    assert chosen(*on_device, enable_gqa=True) == GROUPED


@pytest.mark.parametrize("size", [3, 16])
def test_values_of_another_size_than_keys(size):
    check_against_cpu(F.scaled_dot_product_attention, *qkv(value_size=size))
    assert chosen(*(t.to("openreg") for t in qkv(value_size=size))) == FUSED


def test_views_of_one_projection():
    def call(projection):
        q, k, v = projection.view(B, L, 3, H, E).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)

    check_against_cpu(call, torch.randn(B, L, 3 * H * E))


@pytest.mark.parametrize("mask", [m for m in MASKS if "bool" not in m and m != "none"])
def test_the_gradient_of_the_mask(mask):
    def call(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, mask)

    if mask == "minus infinity":  # the CPU's gradient is what it is, ours is finite
        leaves = [leaf(t, "openreg") for t in (*qkv(), MASKS[mask])]
        call(*leaves).sum().backward()
        assert all(t.grad.isfinite().all() for t in leaves)
    else:
        check_against_cpu(call, *qkv(), MASKS[mask])


def test_first_derivatives():
    leaves = [leaf(t, "openreg") for t in qkv(torch.float64, heads=2, kv_heads=1)]
    mask = leaf(torch.randn(1, 1, L, S, dtype=torch.float64), "openreg")

    def call(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)

    assert torch.autograd.gradcheck(call, (*leaves, mask))

    def dropped(q, k, v, mask):
        torch.openreg.manual_seed(3)
        return F.scaled_dot_product_attention(
            q, k, v, mask, dropout_p=0.4, enable_gqa=True
        )

    assert torch.autograd.gradcheck(dropped, (*leaves, mask))


def test_second_derivatives_need_the_math_implementation():
    leaves = [leaf(t, "openreg") for t in qkv(torch.float64, heads=1, kv_heads=1)]
    (grad,) = torch.autograd.grad(
        F.scaled_dot_product_attention(*leaves).sum(), leaves[0], create_graph=True
    )
    with pytest.raises(RuntimeError, match="attention_backward is not implemented"):
        grad.sum().backward()
    with sdpa_kernel(MATH):
        assert torch.autograd.gradgradcheck(F.scaled_dot_product_attention, leaves)


# -- dropout --


def attention_matrix(dropout_p, size=64):
    """Return the probabilities after the dropout: the values are the unit matrix."""
    query = torch.randn(1, 1, size, E)
    value = torch.eye(size).view(1, 1, size, size)
    return F.scaled_dot_product_attention(
        *(t.to("openreg") for t in (query, query, value)), dropout_p=dropout_p
    ).cpu()


def test_dropout_drops_the_right_share_and_scales_the_rest():
    plain = attention_matrix(0.0)
    torch.manual_seed(0)
    dropped = attention_matrix(0.25)
    kept = dropped != 0
    assert abs(kept.float().mean().item() - 0.75) < 0.03
    assert_close(dropped[kept], plain[kept] / 0.75)
    torch.manual_seed(0)
    assert_close(attention_matrix(1.0), torch.zeros(1, 1, 64, 64))


def test_the_generator_of_the_device_decides_on_the_dropout():
    cpu_state = torch.get_rng_state()
    torch.openreg.manual_seed(5)
    first, second = (
        [attention_pattern() for _ in range(2)] for _ in range(1)
    ).__next__()
    torch.openreg.manual_seed(5)
    assert torch.equal(attention_pattern(), first)
    assert not torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), cpu_state)
    state = torch.openreg.get_rng_state()
    third = attention_pattern()
    torch.openreg.set_rng_state(state)
    assert torch.equal(attention_pattern(), third)


def attention_pattern():
    one = torch.ones(1, 1, 16, 16, device="openreg")
    eye = torch.eye(16).view(1, 1, 16, 16).to("openreg")
    return F.scaled_dot_product_attention(one, one, eye, dropout_p=0.5).cpu() != 0


def test_the_backward_drops_what_the_forward_dropped():
    one = torch.ones(1, 1, 16, 16, device="openreg")
    value = torch.eye(16).view(1, 1, 16, 16).to("openreg").requires_grad_()
    out = F.scaled_dot_product_attention(one, one, value, dropout_p=0.5)
    out.backward(torch.eye(16, device="openreg").view(1, 1, 16, 16))
    # d value = weights^T, and here out = weights
    assert_close(value.grad.transpose(-2, -1).cpu(), out.detach().cpu())


# -- the choice --


def test_the_user_chooses():
    arguments = [t.to("openreg") for t in qkv()]
    assert chosen(*arguments) == FUSED
    for backends, expected in (
        ([MATH], MATH),
        ([FUSED], FUSED),
        ([MATH, FUSED], FUSED),
        ([GROUPED], GROUPED),
        ([GROUPED, FUSED], FUSED),
        ([MATH, GROUPED], GROUPED),
        ([FUSED, SDPBackend.FLASH_ATTENTION], FUSED),
        ([MATH, SDPBackend.FLASH_ATTENTION], MATH),
    ):
        with sdpa_kernel(backends):
            assert chosen(*arguments) == expected
    for order in itertools.permutations([MATH, FUSED, GROUPED]):
        with sdpa_kernel(list(order), set_priority=True):
            assert chosen(*arguments) == order[0]
    with (
        sdpa_kernel(SDPBackend.FLASH_ATTENTION),
        pytest.raises(RuntimeError, match="No viable backend"),
    ):
        F.scaled_dot_product_attention(*arguments)
    assert chosen(*arguments) == FUSED


@pytest.mark.parametrize(
    "shapes",
    [
        [(L, E), (S, E), (S, E)],
        [(B, L, E), (B, S, E), (B, S, E)],
        [(B, H, L, E), (1, H, S, E), (1, H, S, E)],
        [(B, H, L, E), (B, 1, S, E), (B, 1, S, E)],
        [(1, B, H, L, E), (1, B, H, S, E), (1, B, H, S, E)],
        [(0, H, L, E), (0, H, S, E), (0, H, S, E)],
        [(B, H, 0, E), (B, H, S, E), (B, H, S, E)],
    ],
)
def test_what_the_fused_kernel_does_not_take_goes_the_math_way(shapes):
    tensors = [torch.randn(shape) for shape in shapes]
    assert chosen(*(t.to("openreg") for t in tensors)) == MATH
    check_against_cpu(F.scaled_dot_product_attention, *tensors)


def by_name(*args, **kwargs):
    operator = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
    return operator(*args, **kwargs)[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q, k, v: by_name(q[0], k[0], v[0]), "with 4 dimensions"),
        (lambda q, k, v: by_name(q, k.half(), v), "same floating point dtype"),
        (lambda q, k, v: by_name(q, k[:, :3], v[:, :3]), "the same number of heads"),
        (lambda q, k, v: by_name(q, k[:, :, 1:], v), "do not match"),
        (
            lambda q, k, v: by_name(q, k, v, q),
            "mask must broadcast .* float32 or boolean",
        ),
        (lambda q, k, v: by_name(q, k, v, q.new_ones(1).bool()), "cannot be boolean"),
        (lambda q, k, v: by_name(q, k, v, dropout_p=2), "between 0 and 1"),
        (lambda q, k, v: by_name(q, k.cpu(), v), "same device"),
        (lambda q, k, v: by_name(q, k, v, return_debug_mask=True), "a debug mask"),
        (lambda q, k, v: by_name(q[:0], k[:0], v[:0]), "must not be empty"),
    ],
)
def test_calls_by_name_are_checked(call, message):
    with pytest.raises(RuntimeError, match=message) as error:
        call(*(t.to("openreg") for t in qkv()))
    assert not isinstance(error.value, torch.AcceleratorError)
    torch.openreg.synchronize()


def test_a_forward_and_a_backward_do_not_fall_back():
    torch.openreg.set_fallback_mode("error")
    try:
        leaves = [leaf(t, "openreg") for t in qkv()]
        out = F.scaled_dot_product_attention(*leaves, is_causal=True, dropout_p=0.1)
        out.backward(leaves[0].detach())
    finally:
        torch.openreg.set_fallback_mode("allow")
    assert all(t.grad.cpu().isfinite().all() for t in leaves)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_a_transform_takes_the_attention_made_of_operators():
    """torch.vmap has no rule for a backend's own."""
    leaves = [torch.randn(3, 1, 2, 4, 5) for _ in range(3)]

    def gradients(*each):
        def loss(q, k, v):
            return F.scaled_dot_product_attention(q, k, v).square().sum()

        return torch.func.grad(loss, argnums=(0, 1, 2))(*each)

    for call in (F.scaled_dot_product_attention, gradients):
        actual = torch.vmap(call)(*(t.to("openreg") for t in leaves))
        expected = torch.vmap(call)(*leaves)
        assert_close(tree_map(torch.Tensor.cpu, actual), expected)
