"""Operators made from ATen's meta functions; see docs/operators/structured.md."""

import pytest
import torch
from against_cpu import same_error
from sweep.launch_ways import held
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import BinaryUfuncInfo
from torch_release import has_changed

pytestmark = pytest.mark.usefixtures("no_fallback")


def check(call, *tensors):
    """Call on both devices; compare values, dtypes and strides."""
    expected = call(*(tensor.clone() for tensor in tensors))
    actual = call(*(tensor.to("openreg") for tensor in tensors))
    if isinstance(expected, torch.Tensor):
        expected, actual = (expected,), (actual,)
    for one, other in zip(actual, expected, strict=True):
        assert one.device.type == "openreg"
        assert one.stride() == other.stride()
        assert_close(one.cpu(), other)


A = torch.arange(12.0).view(3, 4) - 5
INDEX = torch.tensor([[1, 0, 2, 1]])


@pytest.mark.parametrize(
    "call",
    [
        lambda a, i: a * i,
        lambda a, i: i / 2,
        lambda a, i: 2 / (i + 1),
        lambda a, i: 1 - a,
        lambda a, i: a.t() - a.t() * 2,
        lambda a, i: a[:, ::2].exp(),
        lambda a, i: a[:0] * i,
        lambda a, i: a[0, 0] ** 2,
        lambda a, i: a.to(torch.complex64).conj() * a,
        lambda a, i: a.half() + a.bfloat16(),
        lambda a, i: (a > 0) & (i > 0),
        lambda a, i: a.clamp(-1, 1),
        lambda a, i: a.sum(),
        lambda a, i: a[:, :0].sum(1),
        lambda a, i: i.sum(dtype=torch.float64),
        lambda a, i: a.mean((0, 1), keepdim=True),
        lambda a, i: a.max(1),
        lambda a, i: a.amax((0, 1)),
        lambda a, i: a.sort(1, descending=True),
        lambda a, i: a.topk(2),
        lambda a, i: a.cumsum(0),
        lambda a, i: a.softmax(1),
        lambda a, i: a @ a.t(),
        lambda a, i: torch.addmm(a[:, :3], a, a.t(), beta=2, alpha=0.5),
        lambda a, i: torch.cat([a, i]),
        lambda a, i: torch.stack([a, a.t().contiguous().view(3, 4)]),
        lambda a, i: a.gather(1, i.expand(3, 4)),
        lambda a, i: a.scatter_add(1, i.expand(3, 4), a),
        lambda a, i: a.tril(),
        lambda a, i: torch.nn.functional.max_pool2d(a.view(1, 3, 4), 2),
        lambda a, i: torch.nn.functional.interpolate(a[None], scale_factor=2),
        lambda a, i: torch.nn.functional.gelu(a),
        lambda a, i: a.max(),
        lambda a, i: a // 2,
        lambda a, i: 7 // (i + 1),
        lambda a, i: a.clone().floor_divide_(-2.0),
        lambda a, i: torch.floor_divide(a, 3, out=a.new_empty(4, 3).t()),
        lambda a, i: torch.rsub(i, a, alpha=2),
        lambda a, i: (a / a).isnan(),
        lambda a, i: a.t().take(i),
        lambda a, i: a.masked_select(a > 0),
        lambda a, i: a.masked_select(i > 0),
        lambda a, i: a[0, 0].masked_select(a[0] < 0),
        lambda a, i: a[0, 0].masked_select(a[0, 0] < 0),
        lambda a, i: torch.masked_select(a, a > 0, out=a.new_empty(0)),
        lambda a, i: a.kthvalue(2, 0),
        lambda a, i: a.t().kthvalue(1, -1, keepdim=True),
        lambda a, i: a[0, 0].kthvalue(1),
        lambda a, i: a.std(1),
        lambda a, i: torch.nn.functional.layer_norm(a, (4,)),
        lambda a, i: torch.nn.functional.mse_loss(a, a * 2, reduction="none"),
        lambda a, i: torch.nn.functional.hardtanh(a),
    ],
)
def test_results_are_those_of_the_cpu(call):
    check(call, A, INDEX)


def test_equal_answers_on_the_host():
    x = A.to("openreg")
    assert torch.equal(x, A.to("openreg"))
    assert torch.equal(x, x.double())
    assert not torch.equal(x, x + 1)
    assert not torch.equal(x, x[:2])
    assert not torch.equal(x / 0, x / 0)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same"):
        torch.equal(x, A)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: a.take(a), "Expected a long tensor for index"),
        (lambda a: a[:0].take(a.long()), "tried to take from an empty tensor"),
        (lambda a: a.masked_select(a), "expected BoolTensor for mask"),
        (lambda a: a.masked_select(a[:2] > 0), "must match the size"),
        (lambda a: torch.masked_select(a, a > 0, out=a), "overlap|single memory"),
        (lambda a: a.kthvalue(9), "selected number k out of range for dimension 1"),
        (lambda a: a[:, :0].kthvalue(1), "Expected reduction dim 1 to have non-zero"),
    ],
)
def test_bad_arguments_are_refused_as_on_the_cpu(call, message):
    for device in ("cpu", "openreg"):
        with pytest.raises((RuntimeError, IndexError), match=message):
            call(A.to(device))


def test_group_norm_takes_any_strides():
    """As the CPU does from torch 2.14 on; before, it takes contiguous memory only."""
    x = A[None, :2, :2]
    expected = torch.native_group_norm(x.contiguous(), None, None, 1, 2, 2, 1, 0)
    view = A.to("openreg")[None, :2, :2]
    assert not view.is_contiguous()
    result = torch.native_group_norm(view, None, None, 1, 2, 2, 1, 0)
    assert_close([part.cpu() for part in result], [*expected])


def test_in_place_and_out_write_to_the_given_tensor():
    x = A.to("openreg")
    before = x.data_ptr()
    assert x.mul_(2) is x
    assert x.data_ptr() == before
    assert_close(x.cpu(), A * 2)
    out = torch.empty(4, 3, device="openreg").t()
    assert torch.mul(x, 2, out=out) is out
    assert_close(out.cpu(), A * 4)
    assert out.stride() == (1, 3)
    with pytest.warns(UserWarning, match="An output with one or more elements"):
        torch.mul(x, 2, out=torch.empty(7, device="openreg"))
    values = torch.empty(0, device="openreg")
    indices = torch.empty(0, dtype=torch.int64, device="openreg")
    torch.max(x, 1, out=(values, indices))
    assert_close(values.cpu(), (A * 2).max(1).values)


REFUSED = {
    "shapes": lambda d: torch.ones(3, device=d) * torch.ones(2, device=d),
    "shapes of mm": lambda d: torch.ones(2, 3, device=d) @ torch.ones(2, 3, device=d),
    "in-place shape": lambda d: torch.ones(1, device=d).mul_(torch.ones(2, device=d)),
    "in-place dtype": lambda d: torch.ones(1, device=d, dtype=torch.int64).mul_(0.5),
    "overlap": lambda d: torch.ones(1, device=d).expand(3).mul_(2),
    "out dtype": lambda d: torch.mm(
        torch.ones(2, 2, device=d),
        torch.ones(2, 2, device=d),
        out=torch.ones(2, 2, device=d, dtype=torch.float64),
    ),
    "dtypes of mm": lambda d: (
        torch.ones(2, 2, device=d) @ torch.ones(2, 2).half().to(d)
    ),
    "dtypes of mv": lambda d: torch.ones(2, 2, device=d) @ torch.ones(2).half().to(d),
    "dtypes of dot": lambda d: torch.ones(2, device=d) @ torch.ones(2).double().to(d),
    "dtypes of bmm": lambda d: torch.bmm(
        torch.ones(2, 2, 2, device=d), torch.ones(2, 2, 2).bfloat16().to(d)
    ),
    "dtypes of addmm": lambda d: torch.addmm(
        torch.ones(2).half().to(d),
        torch.ones(2, 2, device=d),
        torch.ones(2, 2).double().to(d),
    ),
    "dtypes of linear": lambda d: torch.nn.functional.linear(
        torch.ones(2, 2, device=d), torch.ones(2, 2).half().to(d)
    ),
    "dtypes of layer_norm": lambda d: torch.nn.functional.layer_norm(
        torch.ones(2, 2, device=d), (2,), torch.ones(2).double().to(d)
    ),
    "dtypes of nll_loss": lambda d: torch.nn.functional.nll_loss(
        torch.ones(2, 2, device=d), torch.zeros(2, device=d)
    ),
    "dtypes of index_add": lambda d: torch.ones(2, device=d).index_add(
        0, torch.zeros(2, dtype=torch.int64).to(d), torch.ones(2).double().to(d)
    ),
    "dim": lambda d: torch.ones(2, device=d).sum(1),
    "index dtype": lambda d: torch.ones(2, device=d).gather(0, torch.ones(1, device=d)),
    "missing dtype": lambda d: torch.nn.functional.gelu(torch.arange(3, device=d)),
    "power": lambda d: torch.ones(2, dtype=torch.int64, device=d) ** -1,
    "mask": lambda d: torch.ones(2, device=d).masked_fill(torch.ones(2, device=d), 1),
    "number in a tensor": lambda d: torch.ones(
        2, dtype=torch.int8, device=d
    ).masked_fill_(
        torch.ones(2, dtype=torch.bool, device=d), torch.tensor(1000, device=d)
    ),
    "values": lambda d: torch.ones(3, 3, device=d).index_put_(
        (torch.tensor([0, 1], device=d),), torch.ones(2, device=d)
    ),
    "bias of linear": lambda d: torch.nn.functional.linear(
        torch.ones(1, 2, device=d), torch.ones(4, 2, device=d), torch.ones(0, device=d)
    ),
    "dim of renorm": lambda d: torch.ones(2, 2, device=d).renorm(1, 8, 1),
    "out dtype of std": lambda d: torch.std(
        torch.ones(2, 2, device=d), 0, out=torch.ones(0, dtype=torch.cfloat, device=d)
    ),
    "out dtype of nansum": lambda d: torch.nansum(
        torch.ones(2, device=d), 0, out=torch.ones(0, dtype=torch.cfloat, device=d)
    ),
    "out dtype of nan_to_num": lambda d: torch.nan_to_num(
        torch.ones(2, device=d), out=torch.ones(2, dtype=torch.float64, device=d)
    ),
    "overlap in mode": lambda d: torch.mode(
        torch.ones(2, 3, device=d),
        out=(
            torch.ones(1, device=d).expand(2),
            torch.ones(1, dtype=torch.int64, device=d).expand(2),
        ),
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_mistakes_raise_the_errors_of_the_cpu_at_once(mistake):
    same_error(REFUSED[mistake], (RuntimeError, IndexError))


def test_a_number_beyond_the_dtype():
    if has_changed("clamp takes numbers beyond the dtype"):
        check(lambda a, i: a.clamp(max=1000), A.to(torch.int8), INDEX)
    else:
        same_error(
            lambda d: torch.ones(2, dtype=torch.int8, device=d).clamp(max=1000),
            RuntimeError,
        )


def test_tensors_of_two_devices_are_refused():
    here, there = (
        torch.ones(2, 2, device="openreg"),
        torch.ones(2, 2, device="openreg:1"),
    )
    for call in (
        lambda: here * there,
        lambda: here @ there,
        lambda: torch.cat([here, there]),
        lambda: here @ torch.ones(2, 2),
    ):
        with pytest.raises(RuntimeError, match="to be on the same device"):
            call()


def test_a_kernel_owns_its_arguments():
    x, index = A.to("openreg"), torch.tensor([2, 0], device="openreg")
    torch.accelerator.synchronize()
    with torch.openreg.simulator.hold():
        sizes = [0, 1]
        reduced, picked = x.sum(sizes), x.index_select(0, index)
        sizes.clear()
        del index
    assert_close(reduced.cpu(), A.sum())
    assert_close(picked.cpu(), A[[2, 0]])


def test_the_host_does_not_wait_for_a_kernel():
    x = A.to("openreg")
    torch.accelerator.synchronize()
    with torch.openreg.simulator.hold():
        result = (x * 2).relu().sum(0).softmax(0)
        assert not torch.accelerator.current_stream().query()
    assert_close(result.cpu(), (A * 2).relu().sum(0).softmax(0))


def test_a_kernel_computes_in_the_default_dtype_of_its_launch():
    numbers, wrong = torch.tensor([2, 3, 1000, 70000]), []
    for op in (op for op in op_db if isinstance(op, BinaryUfuncInfo)):
        try:
            expected = op(numbers, 1.5)
        except (RuntimeError, TypeError, AssertionError):
            continue  # not for these arguments, or not for the CPU
        try:
            with held():  # some wait for a value
                found = op(numbers.to("openreg"), 1.5)
                torch.set_default_dtype(torch.float16)
            torch.accelerator.synchronize()
        finally:
            torch.set_default_dtype(torch.float32)
        if not torch.equal(found.cpu(), expected):
            wrong.append(op.name)
    assert wrong == []
    torch.openreg.reset_fallback_counts()  # the database has more operators than we


OVERLAPPING = {
    "tril_": lambda x: x.tril_(),
    "triu_": lambda x: x.triu_(),
    "baddbmm_": lambda x: x.baddbmm_(
        torch.ones(3, 3, 2, device=x.device), torch.ones(3, 2, 3, device=x.device)
    ),
    "addmv_": lambda x: x.addmv_(
        torch.ones(3, 2, device=x.device), torch.ones(2, device=x.device)
    ),
    "nan_to_num_": lambda x: x.nan_to_num_(),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_what_changes_a_tensor_that_overlaps_itself(name):
    """As on the CPU and on CUDA: the elements in common get one of the values."""
    shape = {"baddbmm_": (3, 3, 3), "addmv_": (3,)}.get(name, (3, 3))
    dtype = torch.int64 if name == "nan_to_num_" else torch.float32
    results = []
    for device in ("cpu", "openreg"):
        memory = torch.ones(1, dtype=dtype, device=device)
        results.append(OVERLAPPING[name](memory.expand(shape)).cpu())
    assert_close(results[1], results[0])


def test_an_index_of_index_fill_comes_from_the_device():
    """As on CUDA, also where it has no dimension: its iterator gives it some."""
    x = torch.zeros(3, device="openreg")
    for index in (torch.tensor(1), torch.tensor([1])):
        with pytest.raises(RuntimeError, match="on the same device"):
            x.index_fill_(0, index, 1.0)
    assert x.index_fill(0, torch.tensor(1, device="openreg"), 1.0).tolist() == [0, 1, 0]


def test_indices_may_come_from_the_cpu():
    x = A.to("openreg")
    assert_close(x[torch.tensor([2, 0])].cpu(), A[[2, 0]])
    assert_close(x[x > 0].cpu(), A[A > 0])
    assert_close(x[:, torch.tensor([True, False, True, False])].cpu(), A[:, [0, 2]])
    x[torch.tensor([0])] = -1.0
    x[x > 4] = torch.tensor(0.0, device="openreg")
    expected = A.clone()
    expected[torch.tensor([0])] = -1.0
    expected[expected > 4] = 0.0
    assert_close(x.cpu(), expected)


def test_batch_norm_updates_its_statistics():
    torch.manual_seed(0)
    inputs = torch.randn(5, 3, 4)
    layers = [torch.nn.BatchNorm1d(3) for _ in range(2)]
    layers[1].to("openreg")
    check_both = [layers[0](inputs), layers[1](inputs.to("openreg")).cpu()]
    assert_close(check_both[1], check_both[0])
    assert_close(layers[1].running_mean.cpu(), layers[0].running_mean)
    assert_close(layers[1].running_var.cpu(), layers[0].running_var)


def test_an_index_out_of_range_stops_the_device_as_on_cuda():
    x = A.to("openreg")
    x.gather(1, torch.full((2, 1), 9, device="openreg"))
    with pytest.raises(torch.AcceleratorError, match=r"kernel 'gather'.*out of bounds"):
        torch.accelerator.synchronize()
    torch.openreg.simulator.reset()
