# Deterministic mode on this device; see docs/operators/deterministic.md.
import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close
from torch_release import has_changed

INDEX = torch.tensor([0, 2, 2, 0, 1, 2])  # repeats places
X = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def _restore():
    torch.openreg.synchronize()
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True


def rows(index, x):
    return index.view(6, 1).expand(6, 4).to(x.device)


def zeros(x):
    return x.new_zeros(3, 4)


# What the documentation of torch.use_deterministic_algorithms lists for CUDA.
CALLS = {
    "scatter_add_": lambda x, i: zeros(x).scatter_add_(0, rows(i, x), x),
    "scatter_reduce": lambda x, i: zeros(x).scatter_reduce(0, rows(i, x), x, "prod"),
    "scatter": lambda x, i: zeros(x).scatter(0, rows(i, x) + 0, x.sign().abs()),
    "index_add": lambda x, i: zeros(x).index_add(0, i, x),
    "index_put": lambda x, i: zeros(x).index_put((i,), x, accumulate=True),
    "index_copy": lambda x, i: x.index_copy(0, i.unique(), x[:3]),
    "gather": lambda x, i: x.gather(0, rows(i, x)),
    "index_select": lambda x, i: x.index_select(0, i),
    "getitem": lambda x, i: x[i],
    "repeat_interleave": lambda x, i: x.repeat_interleave(2, 0),
    "put_ accumulate": lambda x, i: zeros(x).put_(i, x[:, 0], accumulate=True),
    "embedding_bag": lambda x, i: F.embedding_bag(i.view(2, 3), x, mode="max"),
    "embedding": lambda x, i: F.embedding(i, x),
    "cumsum": lambda x, i: x.cumsum(0),
    "histc": lambda x, i: torch.histc(x, 5, -1, 1) + x.sum() * 0,
    "bincount": lambda x, i: torch.bincount(i, x[:, 0].detach()) + x.sum() * 0,
    "median": lambda x, i: x.median(0)[0],
    "kthvalue": lambda x, i: x.kthvalue(2, 0)[0],
    "nll_loss": lambda x, i: F.cross_entropy(x, i),
    "interpolate": lambda x, i: F.interpolate(
        x.view(1, 1, 4, 6), scale_factor=2.5, mode="bicubic"
    ),
    "reflection_pad": lambda x, i: F.pad(x.view(1, 1, 4, 6), (2, 2, 2, 2), "reflect"),
    "replication_pad": lambda x, i: F.pad(
        x.view(1, 1, 4, 6), (1, 1, 1, 1), "replicate"
    ),
    "adaptive_avg_pool2d": lambda x, i: F.adaptive_avg_pool2d(x.view(1, 1, 4, 6), 3),
    "adaptive_max_pool2d": lambda x, i: F.adaptive_max_pool2d(x.view(1, 1, 4, 6), 3),
    "avg_pool3d": lambda x, i: F.avg_pool3d(x.view(1, 1, 4, 2, 3), 2, 1),
    "max_pool3d": lambda x, i: F.max_pool3d(x.view(1, 1, 4, 2, 3), 2, 1),
    "grid_sample": lambda x, i: F.grid_sample(
        x.view(1, 1, 4, 6), x[:, :2].tanh().view(1, 2, 3, 2), align_corners=False
    ),
    "conv2d": lambda x, i: F.conv2d(
        x.view(1, 1, 4, 6), x[:2, :2].view(1, 1, 2, 2), padding=1
    ),
}


def value_and_gradient(name, device):
    x = X.clone().to(device).requires_grad_()
    result = CALLS[name](x, INDEX.to(device))
    weight = torch.linspace(1, 2, result.numel()).view(result.shape).to(device)
    (result * weight).sum().backward()
    return result.detach().cpu(), x.grad.cpu()


@pytest.mark.parametrize("name", CALLS)
def test_what_has_no_fixed_order_on_other_devices_has_one_here(name):
    torch.use_deterministic_algorithms(True)
    first = value_and_gradient(name, "openreg")
    assert_close(first, value_and_gradient(name, "cpu"))
    for _ in range(3):
        again = value_and_gradient(name, "openreg")
        assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


REFUSED = {
    "put_": lambda x, i: zeros(x).put_(i, x[:, 0]),
    "MaxUnpool2d": lambda x, i: F.max_unpool2d(
        *F.max_pool2d(x.view(1, 1, 4, 6), 2, return_indices=True), 2
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_torch_refuses_on_every_device_is_refused_on_the_host(name):
    torch.use_deterministic_algorithms(True)
    for device in ("cpu", "openreg"):
        with pytest.raises(
            RuntimeError, match="does not have a deterministic"
        ) as error:
            REFUSED[name](X.to(device), INDEX.to(device))
        assert not isinstance(error.value, torch.AcceleratorError)
    torch.openreg.synchronize()
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match="does not have a deterministic"):
        result = REFUSED[name](X.to("openreg"), INDEX.to("openreg"))
    torch.use_deterministic_algorithms(False)
    assert_close(result.cpu(), REFUSED[name](X, INDEX))


ALERT = "does not have a deterministic implementation, but you set"


def test_an_operator_with_an_alert(compile_cpp, capfd):
    torch.ops.load_library(compile_cpp("alert"))
    x, atomic_sum = torch.ones(3, device="openreg"), torch.ops.openreg_alert.atomic_sum
    assert atomic_sum(x).item() == 3
    torch.use_deterministic_algorithms(True)
    with pytest.raises(RuntimeError, match=f"atomic_sum {ALERT}"):
        atomic_sum(x)
    torch.use_deterministic_algorithms(True, warn_only=True)
    if has_changed("warnings of operators reach Python"):
        with pytest.warns(UserWarning, match=f"atomic_sum {ALERT}"):
            assert atomic_sum(x).item() == 3
    else:
        assert atomic_sum(x).item() == 3
        assert f"Warning: atomic_sum {ALERT}" in capfd.readouterr().err


def test_an_alert_in_a_kernel_stops_the_device(compile_cpp):
    torch.ops.load_library(compile_cpp("alert"))
    x = torch.ones(3, device="openreg")
    torch.use_deterministic_algorithms(True)
    torch.ops.openreg_alert.alert_in_kernel(x)
    try:
        with pytest.raises(torch.AcceleratorError, match=f"alert_in_kernel {ALERT}"):
            torch.openreg.synchronize()
    finally:
        torch.openreg.simulator.reset()


# -- new memory --

FILL = {
    torch.float32: float("nan"),
    torch.bfloat16: float("nan"),
    torch.complex64: complex("nan"),
    torch.int64: 2**63 - 1,
    torch.uint8: 255,
    torch.bool: True,
}
MAKERS = {
    "empty": lambda x: torch.empty(100, dtype=x.dtype, device="openreg"),
    "empty_strided": lambda x: torch.empty_strided(
        (10, 10), (1, 10), dtype=x.dtype, device="openreg"
    ),
    "empty_permuted": lambda x: torch.empty_permuted(
        (10, 10), (1, 0), dtype=x.dtype, device="openreg"
    ),
    "empty_like": lambda x: torch.empty_like(x.expand(100)),
    "new_empty": lambda x: x.new_empty(100),
    "new_empty_strided": lambda x: x.new_empty_strided((10, 10), (10, 1)),
    "resize_": lambda x: x.new_empty(0).resize_(100),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("dtype", FILL, ids=str)
def test_new_memory_is_filled_unless_that_is_switched_off(name, dtype):
    one = torch.ones(1, dtype=dtype, device="openreg")

    def bits():
        """What is in new memory that held something else before."""
        torch.zeros(100, dtype=dtype, device="openreg")
        return MAKERS[name](one).cpu().flatten().view(torch.uint8).unique().tolist()

    filled = torch.full((100,), FILL[dtype], dtype=dtype).view(torch.uint8).unique()
    assert bits() == [0]
    torch.use_deterministic_algorithms(True)
    assert bits() == filled.tolist()
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert bits() == filled.tolist()
    torch.utils.deterministic.fill_uninitialized_memory = False
    assert bits() == [0]


def test_resize_fills_only_what_is_new():
    torch.use_deterministic_algorithms(True)
    for device in ("cpu", "openreg"):
        x = torch.ones(3, device=device).resize_(5)
        assert x[:3].tolist() == [1, 1, 1]
        assert x[3:].isnan().all()
        assert x.resize_(2).tolist() == [1, 1]
        y = torch.ones(4, device=device)[2:]
        assert y.resize_(3)[:2].tolist() == [1, 1]
        assert y[2:].isnan().all()


def test_a_result_that_nobody_resized_is_not_filled():
    """The fill comes before the kernel, in the order of the stream."""
    torch.use_deterministic_algorithms(True)
    x = X.to("openreg")
    out = torch.empty(0, device="openreg")
    assert_close(torch.exp(x, out=out).cpu(), X.exp())
    assert_close(x.sinc().cpu(), X.sinc())  # falls back


def test_training_twice_gives_the_same_bits():
    def train():
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Dropout(0.3)
        ).to("openreg")
        step = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for _ in range(4):
            step.zero_grad()
            model(torch.rand(2, 1, 6, 6, device="openreg")).square().mean().backward()
            step.step()
        return [parameter.detach().cpu() for parameter in model.parameters()]

    torch.use_deterministic_algorithms(True)
    for one, other in zip(train(), train(), strict=True):
        assert torch.equal(one, other)
