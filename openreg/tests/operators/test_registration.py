# Native operators, values and errors; see docs/operators/registration.md.
import threading

import pytest
import torch
from torch.testing import assert_close, make_tensor

DTYPES = [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16]
DTYPES += [torch.float32, torch.float64, torch.complex64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other_dtype", DTYPES)
def test_add_promotes_types_as_the_cpu_does(dtype, other_dtype):
    a = make_tensor(3, 4, dtype=dtype, device="cpu")
    b = make_tensor(3, 4, dtype=other_dtype, device="cpu")
    result = a.to("openreg") + b.to("openreg")
    expected = a + b
    assert result.dtype == expected.dtype
    assert_close(result.cpu(), expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 2)), ((0, 3), (3,)), ((2, 3), (2, 3))],
)
def test_add_broadcasts(left, right):
    a, b = torch.randn(left), torch.randn(right)
    result = torch.add(a.to("openreg"), b.to("openreg"), alpha=2)
    assert_close(result.cpu(), torch.add(a, b, alpha=2))


@pytest.mark.parametrize("number", [2, 2.5, True, 1 + 1j])
@pytest.mark.parametrize("dtype", [torch.int32, torch.float32, torch.complex64])
def test_add_takes_python_numbers_on_both_sides(number, dtype):
    a = make_tensor(3, dtype=dtype, device="cpu")
    x = a.to("openreg")
    for result, expected in ((x + number, a + number), (number + x, number + a)):
        assert result.dtype == expected.dtype
        assert result.device == x.device
        assert_close(result.cpu(), expected)


def test_add_keeps_strides_of_its_inputs():
    a = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    result = a.to("openreg") + a.to("openreg")
    assert result.stride() == (a + a).stride()
    a = torch.randn(4, 3).t()
    assert (a.to("openreg") + 1).stride() == (a + 1).stride()


def test_add_in_place_and_out():
    a, b = torch.randn(3), torch.randn(3)
    x = a.to("openreg")
    same = x.add_(b.to("openreg"), alpha=3)
    assert same is x
    assert_close(x.cpu(), torch.add(a, b, alpha=3))

    out = torch.empty(0, device="openreg")
    torch.add(a.to("openreg"), b.to("openreg"), out=out)
    assert_close(out.cpu(), a + b)

    wide = torch.randn(2, 3)
    out = torch.empty(0, device="openreg")
    torch.add(wide.to("openreg").t(), wide.to("openreg").t(), out=out)
    assert_close(out.cpu(), (wide + wide).t())
    expected = torch.add(wide.t(), wide.t(), out=torch.empty(0))
    assert out.stride() == expected.stride()

    strided = torch.zeros(3, 2, device="openreg")
    torch.add(a.to("openreg"), b.to("openreg"), out=strided[:, 1])
    assert_close(strided.cpu(), torch.stack([torch.zeros(3), a + b], 1))

    double = torch.empty(3, dtype=torch.float64, device="openreg")
    torch.add(a.to("openreg"), b.to("openreg"), out=double)
    assert_close(double.cpu(), (a + b).double())


def test_bad_arguments_are_refused_before_anything_runs():
    x = torch.ones(3, device="openreg")
    with pytest.raises(RuntimeError, match="must match the size"):
        x + torch.ones(4, device="openreg")
    with pytest.raises(RuntimeError, match=r"same device.*openreg:0 and cpu"):
        x + torch.ones(3)
    with pytest.raises(RuntimeError, match=r"same device.*openreg:0 and openreg:1"):
        x + torch.ones(3, device="openreg:1")
    with pytest.raises(RuntimeError, match=r"same device|too many CPU scalars"):
        torch.add(torch.ones(3), torch.ones(3), out=x)
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(3, dtype=torch.int32, device="openreg").add_(x)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(torch.ones(2, 3, device="openreg"))
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.ones(1, device="openreg").expand(3).add_(x)
    assert_close(x.cpu(), torch.ones(3))


def test_autograd_works_through_a_native_operator():
    x = torch.ones(3, device="openreg", requires_grad=True)
    (x + x + 1).backward(torch.arange(3.0, device="openreg"))
    assert_close(x.grad.cpu(), 2 * torch.arange(3.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: x.to(torch.uint8).fill_(1000),
            "cannot be converted to type uint8_t",
        ),
        (lambda x: x.fill_(1j), "cannot be converted to type float"),
        (lambda x: x.half().fill_(1e6), "cannot be converted to type c10::Half"),
        (
            lambda x: torch.add(x.half(), x.half(), alpha=1e6),
            "cannot be converted to type c10::Half",
        ),
        (
            lambda x: torch.add(x.to(torch.int8), x.to(torch.int8), alpha=1000),
            "cannot be converted to type int8_t",
        ),
    ],
)
def test_numbers_that_do_not_fit_are_refused_on_the_host(call, message):
    x = torch.ones(2, device="openreg")
    for tensor in (torch.ones(2), x):  # the CPU says the same
        with pytest.raises(RuntimeError, match=message) as error:
            call(tensor)
        assert not isinstance(error.value, torch.AcceleratorError)
    torch.openreg.synchronize()
    assert (x + 1).tolist() == [2.0, 2.0]  # the device goes on


@pytest.mark.usefixtures("no_fallback")
@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint64, torch.float8_e4m3fn])
def test_dtypes_without_addition_are_refused_on_the_host(dtype):
    for device in ("cpu", "openreg"):
        with pytest.raises(NotImplementedError, match=r'"add(_stub)?" not implemented'):
            torch.zeros(4, dtype=dtype, device=device) + 1
    assert torch.ones(1, device="openreg").item() == 1.0


def test_a_storage_that_is_too_small_is_refused():
    x = torch.ones(4000, device="openreg")
    x.untyped_storage().resize_(16)
    for call in (lambda: x.fill_(7), lambda: x + 1, lambda: x.add_(1), x.cpu):
        with pytest.raises(
            RuntimeError, match="needs 16000 bytes, but its storage has"
        ):
            call()
    assert torch.ones(1, device="openreg").item() == 1.0


def test_memory_shared_until_it_is_written_stays_on_its_device():
    x = torch.arange(8.0, device="openreg:1")
    y = x._lazy_clone()
    y.add_(1)
    assert y.untyped_storage().device == torch.device("openreg:1")
    assert_close(x.cpu(), torch.arange(8.0))
    assert_close(y.cpu(), torch.arange(8.0) + 1)


@pytest.mark.needs(capability="kernels of the host")
def test_a_kernel_that_fails_stops_the_device_and_says_why(run_forked):
    program = """
        import ctypes, pathlib, torch, torch_openreg
        x = torch.ones(2, device="openreg")
        package = pathlib.Path(torch_openreg.__file__).parent
        driver = ctypes.CDLL(package / "lib/libopenreg.so")

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        def kernel(args):
            driver.orKernelFault(b"the cooling failed")
            return 719  # orErrorLaunchFailure

        assert driver.orLaunchKernel(b"frost", kernel, None, None, None) == 0
        for call in (torch.openreg.synchronize, lambda: x + 1, x.cpu):
            try:
                call()
                print("no error")
            except torch.AcceleratorError as error:
                print(error)
        print(torch.ones(2, device="openreg:1").tolist())
    """
    process = run_forked(program)
    lines = process.stdout.splitlines()
    assert len(lines) == 4, process.stderr
    for line in lines[:3]:
        assert "frost" in line
        assert "the cooling failed" in line
        assert "orErrorLaunchFailure" in line
    assert lines[3] == "[1.0, 1.0]"  # the other device has no fault


def test_every_registration_names_an_operator():
    assert torch._C._dispatch_find_dangling_impls() == []


@pytest.mark.parametrize("dtype", DTYPES)
def test_fill_and_zero(dtype):
    x = torch.empty(3, 4, dtype=dtype, device="openreg")
    assert_close(x.fill_(1).cpu(), torch.ones(3, 4, dtype=dtype))
    assert_close(x.zero_().cpu(), torch.zeros(3, 4, dtype=dtype))
    x[:, ::2].fill_(1)
    expected = torch.zeros(3, 4, dtype=dtype)
    expected[:, ::2] = 1
    assert_close(x.cpu(), expected)


def test_fill_takes_a_tensor_of_either_device():
    x = torch.empty(3, device="openreg")
    assert x.fill_(torch.tensor(2.0)).tolist() == [2.0, 2.0, 2.0]
    assert x.fill_(torch.tensor(3.0, device="openreg")).tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(RuntimeError, match=r"0-dimension value tensor .* 1 dimensions"):
        x.fill_(torch.ones(3, device="openreg"))


def test_a_host_scalar_may_change_after_the_launch():
    number = torch.tensor(1.0)
    x = torch.zeros(1 << 20, device="openreg")
    for _ in range(20):
        x = x + number
        number.fill_(1.0)
    number.fill_(100.0)
    assert_close(x[:1].cpu(), torch.tensor([20.0]))


def test_a_lazy_clone_shares_its_memory_until_a_kernel_writes_it():
    x = torch.ones(3, device="openreg")
    y = torch._lazy_clone(x)
    z = y + y
    assert torch._C._is_cow_tensor(y)
    y.add_(y, alpha=2)
    assert not torch._C._is_cow_tensor(y)
    assert_close([t.tolist() for t in (x, y, z)], [[1.0] * 3, [3.0] * 3, [2.0] * 3])


def test_a_number_of_each_dtype_reaches_the_kernel():
    x = torch.ones(2, dtype=torch.complex128, device="openreg")
    for dtype in (torch.bool, torch.int8, torch.bfloat16, torch.float64):
        number = torch.ones((), dtype=dtype)
        assert_close((x + number).cpu(), x.cpu() + number)
    for number in (torch.tensor(3 + 4j), torch.tensor(3 + 4j).conj()):
        assert_close((x + number).cpu(), x.cpu() + number)
    empty = torch.tensor(1.0)
    empty.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="4 bytes, but its storage has 0"):
        x + empty


def test_the_operator_behind_item_takes_one_element():
    with pytest.raises(
        RuntimeError, match="of 2 elements cannot be converted to a number"
    ):
        torch.ops.aten._local_scalar_dense(torch.ones(2, device="openreg"))


def test_kernels_run_on_the_current_stream_and_in_order():
    stream = torch.Stream("openreg")
    with stream:
        x = torch.zeros(1000, device="openreg")
        for _ in range(500):
            x.add_(1)
        assert_close(x.cpu(), torch.full((1000,), 500.0))
        event = torch.Event("openreg")
        event.record()
    event.synchronize()
    assert event.query()
    assert stream.query()


def test_a_python_mode_of_the_waiting_thread_does_not_see_the_kernel():
    # The thread that waits may run the kernel itself: its modes must stay outside.
    from torch.utils._python_dispatch import TorchDispatchMode

    class Log(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(3, device="openreg")
    with Log() as log:
        y = x + 1
        torch.openreg.synchronize()
    assert log.seen == ["aten.add.Tensor"]
    assert_close(y.cpu(), torch.full((3,), 2.0))


def test_threads_have_their_own_current_device_and_compute_correctly():
    failures = []

    def work(index: int) -> None:
        try:
            torch.openreg.set_device(index % 2)
            x = torch.full((512,), float(index), device="openreg")
            for _ in range(200):
                x = x + 1
            assert x.device.index == index % 2
            assert_close(x.cpu(), torch.full((512,), index + 200.0))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert torch.openreg.current_device() == 0
