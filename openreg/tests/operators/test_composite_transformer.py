# The fast paths of Transformer layers; see docs/operators/fused-layers.md.
import pytest
import torch
from against_cpu import losses_of_training
from torch.testing import assert_close

PADDING = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]).bool()
LATER = torch.ones(5, 5).triu(1).bool()


def infer(module, device, data, names=(), **masks):
    """Run ``module`` in inference mode; check that it called one of ``names``."""
    module.eval().to(device)
    data = data.to(device)
    masks = {k: m.to(device) if torch.is_tensor(m) else m for k, m in masks.items()}
    self_attention = isinstance(module, torch.nn.MultiheadAttention)
    inputs = [data] * 3 if self_attention else [data]
    with torch.inference_mode(), torch.autograd.profiler.profile() as profile:
        result = module(*inputs, **masks)
    called = {event.name for event in profile.function_events}
    assert set(names) <= called, called
    results = result if isinstance(result, tuple) else (result,)
    return [r if r is None else r.cpu() for r in results]


@pytest.mark.parametrize(
    "masks",
    [
        {},
        {"key_padding_mask": PADDING},
        {"attn_mask": LATER},
        {"key_padding_mask": PADDING, "attn_mask": LATER},
        {"attn_mask": LATER.expand(2 * 2, 5, 5)},
        {"need_weights": False},
        {"average_attn_weights": False},
    ],
    ids=lambda masks: " ".join(masks) or "plain",
)
def test_multi_head_attention_in_one_operator(masks):
    module = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    data = torch.randn(2, 5, 8)
    torch.openreg.set_fallback_mode("error" if not masks else "allow")
    name = ["aten::_native_multi_head_attention"]
    try:
        actual = infer(module, "openreg", data, name, **masks)
    finally:
        torch.openreg.set_fallback_mode("allow")
    assert_close(actual, infer(module, "cpu", data, **masks))


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize(
    "masks", [{}, {"src_key_padding_mask": PADDING}, {"src_mask": LATER}], ids=str
)
def test_an_encoder_layer_in_one_operator(activation, norm_first, masks):
    module = torch.nn.TransformerEncoderLayer(
        8, 2, 16, batch_first=True, activation=activation, norm_first=norm_first
    )
    data = torch.randn(2, 5, 8)
    name = ["aten::_transformer_encoder_layer_fwd"]
    actual = infer(module, "openreg", data, name, **masks)
    assert_close(actual, infer(module, "cpu", data, **masks))
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        assert_close(actual, infer(module, "openreg", data, **masks))
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_an_encoder_keeps_its_batch_padded():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    module = torch.nn.TransformerEncoder(layer, 2)
    data = torch.randn(2, 5, 8)
    (actual,) = infer(module, "openreg", data, src_key_padding_mask=PADDING)
    (expected,) = infer(module, "cpu", data, src_key_padding_mask=PADDING)
    assert_close(actual[~PADDING], expected[~PADDING])
    assert not expected[PADDING].any()  # a nested tensor does not have these places


def test_an_encoder_learns_as_on_the_cpu():
    def train(device):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(
            8, 2, 16, batch_first=True, dropout=0.0
        )
        module = torch.nn.TransformerEncoder(layer, 2)
        data = torch.randn(2, 5, 8).to(device)

        def loss_of(module):
            out = module(data, src_key_padding_mask=PADDING.to(device))
            return (out - data).square().mean()

        return losses_of_training(module, loss_of, device)

    losses = train("openreg")
    assert losses[-1] < losses[0]
    assert_close(losses, train("cpu"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({0: torch.ones(2, 5, 7)}, r"expected an input \[B, L, 8\]"),
        ({1: torch.ones(2, 4, 8)}, r"parameter of size \[2, 5, 8\]"),
        ({4: 3}, "8 features cannot be divided by 3 heads"),
        ({5: torch.ones(8, 8)}, r"parameter of size \[24, 8\]"),
        ({6: torch.ones(24).double()}, "dtype Float"),
        ({0: torch.ones(2, 5, 8).long()}, "not implemented for 'Long'"),
        ({9: PADDING, 12: None}, "needs a mask_type"),
        ({9: PADDING, 12: 0}, r"a mask of type 0.*size \[2, 5\]"),
    ],
)
def test_multi_head_attention_by_name_is_checked(change, message):
    data = torch.ones(2, 5, 8)
    weights = torch.ones(24, 8), torch.ones(24), torch.ones(8, 8), torch.ones(8)
    arguments = [data, data, data, 8, 2, *weights, None, True, True, None]
    for index, value in change.items():
        arguments[index] = value
    arguments = [a.to("openreg") if torch.is_tensor(a) else a for a in arguments]
    with pytest.raises(RuntimeError, match=message) as error:
        torch._native_multi_head_attention(*arguments)
    assert not isinstance(error.value, torch.AcceleratorError)
    torch.openreg.synchronize()
