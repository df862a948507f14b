# Mistakes that the host finds before a launch; see docs/operators/unstructured.md.
import pytest
import torch
import torch.nn.functional as F

openreg = torch.openreg


def error_of(call, device):
    with pytest.raises(RuntimeError) as caught:
        call(device)
        openreg.synchronize()
    return str(caught.value).splitlines()[0]


def empty_batch(device):
    ones = torch.ones(5, device=device)
    x = torch.empty(0, 5, 5, device=device)
    torch.native_batch_norm(x, ones, ones, ones, ones, True, 0.1, 1e-5)


def weight_of_a_loss(device):
    x = torch.full((5, 5), 0.5, device=device)
    weight = torch.ones(1, 5, 5, device=device)
    F.binary_cross_entropy(x, x, weight, reduction="none")


def overlapping_output(device):
    x = torch.ones(3, 4, dtype=torch.complex64, device=device)
    torch.var(x, 1, out=torch.ones(1, device=device).expand(3))


@pytest.mark.parametrize("call", [empty_batch, weight_of_a_loss, overlapping_output])
def test_the_words_are_those_of_the_cpu(call):
    assert error_of(call, "openreg") == error_of(call, "cpu")
    assert torch.ones(1, device="openreg").item() == 1  # the device is not stopped


@pytest.mark.parametrize("device", ["cpu", "openreg"])
@pytest.mark.parametrize(
    ("sizes", "error"), [((0,), IndexError), ((0, 5), RuntimeError)]
)
def test_an_index_into_nothing(sizes, error, device):
    x, index = torch.zeros(sizes, device=device), torch.tensor([0], device=device)
    with pytest.raises(error, match=r"index out of range|should be positive") as caught:
        x.index_select(0, index)
    assert caught.type is error


def test_evaluation_of_an_empty_batch():
    layer = torch.nn.BatchNorm1d(5).to("openreg").eval()
    assert layer(torch.empty(0, 5, 5, device="openreg")).shape == (0, 5, 5)


@pytest.mark.parametrize("dtype", [torch.uint16, torch.bool, torch.float32])
def test_without_elements_any_dtype_will_do(dtype):
    x = torch.ones(0, 2).to(dtype).to("openreg")
    y = torch.ones(2, 3).to(dtype).to("openreg")
    assert x.mm(y[:, :0]).shape == (0, 0)
    assert x.long().softmax(0, torch.float32).shape == (0, 2)
    if dtype != torch.float32:
        with pytest.raises(NotImplementedError, match=r"not implemented for '(UI|Bo)"):
            y.mm(y.mT)


def test_logit_of_integers_computes_in_the_default_dtype_of_its_launch():
    x = torch.zeros(4, dtype=torch.long, device="openreg")
    stream = openreg.current_stream()
    with openreg.simulator.hold(stream):
        torch.set_default_dtype(torch.float64)
        try:
            y = torch.logit(x, 1e-10)
        finally:
            torch.set_default_dtype(torch.float32)
    expected = torch.logit(torch.zeros(4, dtype=torch.float64), 1e-10)
    torch.testing.assert_close(y.cpu(), expected)
