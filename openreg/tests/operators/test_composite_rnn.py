# Recurrent layers on fused cells; see docs/operators/fused-layers.md.
import pytest
import torch
from against_cpu import leaf, values_and_grads
from torch.testing import assert_close

FLOATS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]

LAYERS = {
    "plain": {},
    "two layers, both ways": {"num_layers": 2, "bidirectional": True},
    "no bias": {"bias": False},
    "batch first": {"batch_first": True},
    "projection": {"proj_size": 2},
}


def run_layer(kind, options, device, dtype=torch.float32, call=None):
    """Run a layer forward and backward; return all results and gradients."""
    torch.manual_seed(0)
    layer = kind(3, 4, **options).to(dtype)
    data = torch.randn(5, 2, 3, dtype=dtype)
    parameters = [p.detach().clone() for p in layer.parameters()]
    names = [name for name, _ in layer.named_parameters()]
    layer.to(device)

    def run(data, *parameters):
        replaced = dict(zip(names, parameters, strict=True))
        y, state = torch.func.functional_call(layer, replaced, (data,))
        return (y, *state) if isinstance(state, tuple) else (y, state)

    return values_and_grads(call or run, (data, *parameters), device)


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
@pytest.mark.parametrize("options", LAYERS, ids=str)
@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_recurrent_layers_and_their_gradients_are_those_of_the_cpu(kind, options):
    if kind is not torch.nn.LSTM and options == "projection":
        with pytest.raises(ValueError, match="proj_size"):
            kind(3, 4, proj_size=2)
        return
    actual = run_layer(kind, LAYERS[options], "openreg")
    assert_close(actual, run_layer(kind, LAYERS[options], "cpu"))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU])
def test_cells_take_every_floating_dtype(kind, dtype):
    # They compute in float32 and round once, so float32 is what to compare with; the
    # CPU rounds after each step.
    actual = run_layer(kind, {}, "openreg", dtype)
    exact = torch.float64 if dtype == torch.float64 else torch.float32
    torch.manual_seed(0)
    layer = kind(3, 4).to(dtype).to(exact)
    data = torch.randn(5, 2, 3, dtype=dtype).to(exact)
    expected = layer(data)[0]
    loose = {torch.bfloat16: 2e-2, torch.float16: 3e-3}.get(dtype)
    assert_close(actual[0].to(exact), expected, atol=loose, rtol=loose and 0.0)


@pytest.mark.parametrize(
    "kind", [torch.nn.LSTMCell, torch.nn.GRUCell, torch.nn.RNNCell]
)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch", [2, 0, None])
def test_single_cells(kind, bias, batch):
    torch.manual_seed(0)
    cell = kind(3, 4, bias=bias)
    data = torch.randn(3) if batch is None else torch.randn(batch, 3)
    results = {}
    for device in ("cpu", "openreg"):
        cell.to(device)
        cell.zero_grad()
        x = leaf(data, device)
        state = cell(x, cell(x))
        out = torch.stack(state) if isinstance(state, tuple) else state
        out.square().sum().backward()
        grads = [x.grad, *(p.grad for p in cell.parameters())]
        results[device] = [t.detach().cpu() for t in (out, *grads)]
    assert_close(results["openreg"], results["cpu"])


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU])
def test_packed_sequences(kind):
    torch.manual_seed(0)
    layer = kind(3, 4, bidirectional=True)
    data = torch.randn(5, 3, 3)
    results = {}
    for device in ("cpu", "openreg"):
        layer.to(device)
        x = leaf(data, device)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            x, torch.tensor([5, 1, 3]), enforce_sorted=False
        )
        y, lengths = torch.nn.utils.rnn.pad_packed_sequence(layer(packed)[0])
        y.square().sum().backward()
        assert lengths.tolist() == [5, 1, 3]
        results[device] = [y.detach().cpu(), x.grad.cpu()]
    assert_close(results["openreg"], results["cpu"])


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU])
def test_dropout_between_layers(kind):
    torch.manual_seed(0)
    layer = kind(3, 4, num_layers=2, dropout=1.0).to("openreg")
    data = torch.randn(5, 2, 3, device="openreg")
    y = layer(data)[0]
    layer.get_parameter("weight_ih_l1").data.normal_()  # reads nothing but zeros
    assert_close(layer(data)[0].cpu(), y.cpu())
    assert not torch.equal(layer.eval()(data)[0].cpu(), y.cpu())


@pytest.mark.parametrize("kind", [torch.nn.LSTMCell, torch.nn.GRUCell])
def test_first_and_second_derivatives_of_cells(kind):
    cell = kind(2, 2, dtype=torch.float64).to("openreg")
    x = torch.randn(2, 2, dtype=torch.float64).to("openreg").requires_grad_()
    state = torch.randn(2, 2, dtype=torch.float64).to("openreg").requires_grad_()

    def call(x, state):
        return cell(x, (state, state) if kind is torch.nn.LSTMCell else state)

    assert torch.autograd.gradcheck(call, (x, state))
    assert torch.autograd.gradgradcheck(call, (x, state))


def test_gradients_of_one_output_of_a_cell_alone():
    for which in (0, 1):
        results = {}
        cell = torch.nn.LSTMCell(3, 4)
        x, h, c = torch.randn(2, 3), torch.randn(2, 4), torch.randn(2, 4)
        for device in ("cpu", "openreg"):
            cell.to(device)
            leaves = [leaf(t, device) for t in (x, h, c)]
            cell(leaves[0], (leaves[1], leaves[2]))[which].sum().backward()
            results[device] = [t.grad.cpu() for t in leaves]
        assert_close(results["openreg"], results["cpu"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda lstm, gru, x, s: lstm(x, x, s[:1]),
            r"both gates must be \[1, 12\], but they are \[2, 12\]",
        ),
        (lambda lstm, gru, x, s: lstm(x, x, x), r"must be \[2, 48\]"),
        (lambda lstm, gru, x, s: lstm(x, x, s[0]), r"must be \[B, H\], but is \[3\]"),
        (lambda lstm, gru, x, s: lstm(x, x.half(), s), "all arguments must be Float"),
        (lambda lstm, gru, x, s: lstm(x, x, s, x[0]), "both biases or neither"),
        (lambda lstm, gru, x, s: lstm(x, x, s, x[0], s[0]), "of 12 elements"),
        (lambda lstm, gru, x, s: lstm(*[t.int() for t in (x, x, s)]), "for 'Int'"),
        (lambda lstm, gru, x, s: lstm(x, x, s.cpu()), "same device"),
        (lambda lstm, gru, x, s: gru(x, x, s.to("openreg:1")), "same device"),
        (lambda lstm, gru, x, s: gru(x, x, s), r"both gates must be \[2, 9\]"),
    ],
)
def test_cells_refuse_what_they_cannot_compute(call, message):
    x, state = torch.ones(2, 12, device="openreg"), torch.ones(2, 3, device="openreg")
    lstm = torch.ops.aten._thnn_fused_lstm_cell
    gru = torch.ops.aten._thnn_fused_gru_cell
    with pytest.raises((RuntimeError, NotImplementedError), match=message) as error:
        call(lstm, gru, x, state)
    assert not isinstance(error.value, torch.AcceleratorError)
    backward = torch.ops.aten._thnn_fused_lstm_cell_backward_impl
    with pytest.raises(RuntimeError, match=r"of size \[2, 3\]"):
        backward(x, None, state, state, x, True)
    backward = torch.ops.aten._thnn_fused_gru_cell_backward
    with pytest.raises(RuntimeError, match=r"must be \[B, 5 H\]"):
        backward(state, x, True)
    torch.openreg.synchronize()
