# Arguments that must be one of a few values; see docs/operators/structured.md.
import re

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

aten = torch.ops.aten
image = (1, 1, 4, 4)

# Torch's words for an unknown text, or number, at the host.
BAD = {
    "gelu": lambda x, i: F.gelu(x, approximate="bad"),
    "gelu_": lambda x, i: aten.gelu_(x, approximate="bad"),
    "gelu, out": lambda x, i: aten.gelu.out(x, approximate="bad", out=x.clone()),
    "gelu, empty": lambda x, i: F.gelu(x[:0], approximate="bad"),
    "gelu_backward": lambda x, i: aten.gelu_backward(x, x, approximate="bad"),
    "div": lambda x, i: x.div(2.0, rounding_mode="bad"),
    "div of integers": lambda x, i: i.div(i, rounding_mode="bad"),
    "div_": lambda x, i: x.div_(x, rounding_mode="bad"),
    "scatter": lambda x, i: x.scatter(0, i, x, reduce="bad"),
    "scatter, number": lambda x, i: x.scatter(0, i, 2.0, reduce="bad"),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i, x, "bad"),
    "scatter_reduce_": lambda x, i: x.scatter_reduce_(0, i, x, "bad"),
    "index_reduce": lambda x, i: x.index_reduce(0, i[:, 0], x, "bad"),
    "index_reduce_": lambda x, i: x.index_reduce_(0, i[:, 0], x, "sum"),
    "segment_reduce": lambda x, i: torch.segment_reduce(
        x, "bad", lengths=torch.tensor([2, 2], device=x.device)
    ),
    "searchsorted": lambda x, i: torch.searchsorted(x, x, side="bad"),
    "searchsorted, both": lambda x, i: torch.searchsorted(
        x, x, side="left", right=True
    ),
    "qr": lambda x, i: torch.linalg.qr(x, mode="bad"),
    "norm": lambda x, i: torch.linalg.norm(x, ord="bad"),
    "matrix_norm": lambda x, i: torch.linalg.matrix_norm(x, ord="bad"),
    "cond": lambda x, i: torch.linalg.cond(x, "bad"),
    "eigh": lambda x, i: torch.linalg.eigh(x, UPLO="X"),
    "lstsq": lambda x, i: torch.linalg.lstsq(x, x, driver="bad"),
    "svd": lambda x, i: torch.linalg.svd(x, driver="gesvd"),
    "fft": lambda x, i: torch.fft.fft(x, norm="bad"),
    "stft": lambda x, i: torch.stft(
        x.flatten(), 4, pad_mode="bad", return_complex=True
    ),
    "quantile": lambda x, i: torch.quantile(x, 0.5, interpolation="bad"),
    "meshgrid": lambda x, i: torch.meshgrid(x[0], x[0], indexing="bad"),
    "pad": lambda x, i: F.pad(x, (1, 1), "bad"),
    "conv2d": lambda x, i: F.conv2d(x.view(image), x.view(image), padding="bad"),
    "interpolate": lambda x, i: F.interpolate(x.view(image), 8, mode="bad"),
    "grid_sample": lambda x, i: F.grid_sample(
        x.view(image), x.view(1, 2, 4, 2), mode="bad"
    ),
    "embedding_bag": lambda x, i: F.embedding_bag(i, x, mode="bad"),
    "cdist": lambda x, i: torch.cdist(x, x, compute_mode="bad"),
    "mse_loss": lambda x, i: F.mse_loss(x, x, reduction="bad"),
    "cross_entropy": lambda x, i: F.cross_entropy(x, i[:, 0], reduction="bad"),
    "multi_margin_loss": lambda x, i: F.multi_margin_loss(x, i[:, 0], p=3),
}


def refusal(call, device):
    x = torch.arange(16.0).view(4, 4).to(device)
    index = torch.arange(4).repeat(4, 1).to(device)
    with pytest.raises(Exception) as caught:
        call(x, index)
    return type(caught.value), str(caught.value)


def check_that_the_device_works():
    torch.openreg.synchronize()
    assert torch.ones(2, device="openreg").exp().tolist() == pytest.approx(
        [2.71828] * 2
    )


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_among_the_choices_is_refused_as_on_the_cpu(name):
    assert refusal(BAD[name], "openreg") == refusal(BAD[name], "cpu")
    check_that_the_device_works()


def test_a_good_choice_stays_good_after_a_bad_one():
    x = torch.linspace(-2, 2, 9)
    for approximate in ("tanh", "bad", "none", "bad", "tanh"):
        if approximate == "bad":
            with pytest.raises(RuntimeError, match="must be either none or tanh"):
                F.gelu(x.to("openreg"), approximate="bad")
            continue
        actual = F.gelu(x.to("openreg"), approximate=approximate)
        assert_close(actual.cpu(), F.gelu(x, approximate=approximate))


@pytest.mark.parametrize(
    "name", ["mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy"]
)
@pytest.mark.parametrize("reduction", [-1, 3])
def test_a_loss_names_the_reductions_that_it_knows(name, reduction):
    """F.mse_loss takes names; a program that calls the operator may have a number."""
    loss, x = getattr(aten, name), torch.full((2,), 0.5, device="openreg")
    message = (
        f"{name}: reduction must be 0 (none), 1 (mean) or 2 (sum), not {reduction}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        loss(x, x, reduction=reduction)
    with pytest.raises(ValueError, match=re.escape(message)):
        loss(x, x, reduction=reduction, out=torch.empty(2, device="openreg"))
    check_that_the_device_works()
