# Tensors can be created, copied, viewed and resized; see docs/operators/minimal.md.
import pytest
import torch
from torch.testing import assert_close

DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
]


def sample(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.testing.make_tensor(shape, dtype=dtype, device="cpu")


# -- create --


@pytest.mark.parametrize("dtype", DTYPES)
def test_empty_has_what_was_asked_for(dtype):
    x = torch.empty(2, 3, dtype=dtype, device="openreg")
    assert (x.shape, x.dtype, x.device.type) == ((2, 3), dtype, "openreg")
    assert x.stride() == (3, 1)
    assert x.device.index == 0


def test_empty_honours_index_strides_and_memory_format():
    assert torch.empty(1, device="openreg:1").device.index == 1
    assert torch.empty_strided((2, 3), (1, 2), device="openreg").stride() == (1, 2)
    x = torch.empty(2, 3, 4, 5, device="openreg", memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)


def test_empty_uses_the_current_device():
    with torch.openreg.device(1):
        assert torch.empty(1, device="openreg").device.index == 1
    assert torch.empty(1, device="openreg").device.index == 0


def test_empty_does_not_change_the_current_device():
    torch.empty(1, device="openreg:1")
    assert torch.openreg.current_device() == 0


def test_bad_arguments_of_factories_are_named():
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be"):
        torch.empty(1, device="openreg", pin_memory=True)
    with pytest.raises(torch.AcceleratorError, match="no device 7, the devices"):
        torch.empty(1, device="openreg:7")
    with pytest.raises(RuntimeError, match="negative dimension"):
        torch.empty(-1, device="openreg")
    with pytest.raises(torch.OutOfMemoryError, match=r"tried to allocate 16.00 TiB"):
        torch.empty(1 << 44, dtype=torch.uint8, device="openreg")
    assert_close(torch.ones(1, device="openreg").cpu(), torch.ones(1))  # still usable


def test_host_code_cannot_touch_device_memory(run_forked):
    program = """
        import ctypes, torch
        x = torch.ones(4, device="openreg")
        torch.openreg.synchronize()
        print("before", flush=True)
        print(ctypes.c_float.from_address(x.data_ptr()).value)
    """
    process = run_forked(program)
    assert process.stdout == "before\n"
    assert process.returncode == -11, process.stderr  # SIGSEGV
    assert "Segmentation fault" in process.stderr


# -- copy --


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip_keeps_values(dtype):
    x = sample(3, 5, dtype=dtype)
    y = x.to("openreg")
    assert y.device == torch.device("openreg:0")
    assert_close(y.cpu(), x, rtol=0, atol=0)


@pytest.mark.parametrize("to_dtype", [torch.float64, torch.int32, torch.complex64])
@pytest.mark.parametrize("way", ["to device", "on device", "to host"])
def test_copies_convert_the_dtype(to_dtype, way):
    x = sample(4, 3)
    expected = x.to(to_dtype)
    if way == "to device":
        y = torch.empty(4, 3, dtype=to_dtype, device="openreg").copy_(x)
    elif way == "on device":
        y = x.to("openreg").to(to_dtype)
    else:
        y = torch.empty(4, 3, dtype=to_dtype).copy_(x.to("openreg"))
    assert_close(y.cpu(), expected, rtol=0, atol=0)


@pytest.mark.parametrize("source", ["cpu", "openreg:0", "openreg:1"])
@pytest.mark.parametrize("target", ["cpu", "openreg:0", "openreg:1"])
@pytest.mark.parametrize(
    "view",
    [
        lambda t: t,
        lambda t: t.t(),
        lambda t: t[1:, ::2],
        lambda t: t.flip(0),
        lambda t: t[:1].expand(4, 6),
    ],
    ids=["dense", "transposed", "strided", "flipped", "expanded"],
)
def test_copies_between_any_devices_and_strides(source, target, view):
    x = sample(4, 6)
    expected = view(x)
    y = view(x.to(source))
    out = torch.full(expected.shape, -1.0).to(target)
    out.copy_(y)
    assert_close(out.cpu(), expected, rtol=0, atol=0)
    strided = torch.full((*expected.shape, 2), -1.0).to(target)
    strided[..., 1].copy_(y)
    assert_close(strided[..., 1].cpu(), expected, rtol=0, atol=0)
    assert_close(strided[..., 0].cpu(), torch.full(expected.shape, -1.0))


def test_copy_broadcasts():
    x = sample(3)
    y = torch.zeros(2, 3).to("openreg").copy_(x)
    assert_close(y.cpu(), x.expand(2, 3))
    y = torch.zeros(2, 3).copy_(x.to("openreg"))
    assert_close(y, x.expand(2, 3))
    with pytest.raises(RuntimeError, match="must match"):
        torch.zeros(2, 2, device="openreg").copy_(x)


@pytest.mark.parametrize("target", ["cpu", "openreg"])
def test_pending_conjugation_and_negation_are_honoured(target):
    x = sample(3, 2, dtype=torch.complex64)
    y = x.to("openreg")
    assert_close(y.conj().to(target).cpu(), x.conj().resolve_conj())
    assert_close(y.conj().imag.to(target).cpu(), x.conj().imag.resolve_neg())
    out = torch.zeros(3, 2, dtype=torch.complex64).to(target)
    out.conj().copy_(y)
    assert_close(out.cpu(), x.conj().resolve_conj())


def test_copy_between_devices_waits_for_both(run_forked):
    # 200 dependent copies there and back: an unordered one would carry an old value.
    x = torch.zeros(1000, device="openreg:0")
    for _ in range(200):
        y = x.to("openreg:1")
        y.add_(1)
        x = y.to("openreg:0")
        del y
    assert_close(x.cpu(), torch.full((1000,), 200.0))


def test_copies_that_would_overlap_are_refused_as_on_the_cpu():
    for device in ("cpu", "openreg"):
        x = torch.arange(2500.0).view(50, 50).to(device)
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            x.copy_(x.t())
        with pytest.raises(RuntimeError, match="refers to a single memory location"):
            torch.ones(1, device=device).expand(4).copy_(torch.arange(4.0))
        with pytest.raises(NotImplementedError, match="not implemented for 'Bits8'"):
            torch.ones(2, device=device).to(torch.bits8)
    assert torch.ones(1, device="openreg").item() == 1.0


def test_streams_of_a_device_that_does_not_exist_are_refused():
    with pytest.raises(
        torch.AcceleratorError, match="device index 5 is out of range: this process"
    ):
        torch.accelerator.current_stream(5)


def test_a_child_forked_while_a_thread_allocates_can_free_tensors(run_forked):
    program = """
        import os, threading, torch
        def churn():
            while True:
                torch.empty(100, device="openreg")
        threading.Thread(target=churn, daemon=True).start()
        for _ in range(30):
            x = torch.empty(100, device="openreg")
            child = os.fork()
            if child == 0:
                del x
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        print("done", flush=True)
        os._exit(0)
    """
    process = run_forked(program)
    assert process.stdout == "done\n", process.stderr


def test_item_and_conversions():
    assert torch.tensor(3, device="openreg").item() == 3
    assert torch.tensor(2.5, device="openreg").item() == 2.5
    assert torch.tensor(1 + 2j, device="openreg").item() == 1 + 2j
    assert torch.tensor([True], device="openreg").item() is True
    assert torch.arange(4, device="openreg").tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot"):
        torch.zeros(2, device="openreg").item()
    with pytest.raises(RuntimeError, match="of 2 elements cannot become a number"):
        torch.ops.aten._local_scalar_dense(torch.zeros(2, device="openreg"))


def test_empty_tensors_can_be_copied():
    x = torch.empty(0, 3, device="openreg")
    assert x.cpu().shape == (0, 3)
    assert torch.empty(0, 3).to("openreg").shape == (0, 3)
    assert x.to("openreg:1").device.index == 1


def test_a_peer_copy_materialises_its_target_where_it_lies():
    x = torch.zeros(4, device="openreg:1")
    y = torch._lazy_clone(x)  # shares the memory until one of them is written
    for source in (torch.ones(4, device="openreg:0"), torch.ones(4).double()):
        z = torch._lazy_clone(x)
        z.copy_(source.to("openreg:0"))
        assert z.untyped_storage().device == torch.device("openreg:1")
        assert_close(z.cpu(), torch.ones(4))
    y.copy_(torch.ones(4, device="openreg:0"))
    assert_close(y.cpu(), torch.ones(4))
    assert_close(x.cpu(), torch.zeros(4))


def test_a_storage_that_is_too_small_is_refused():
    small = torch.ones(8, device="openreg")
    small.untyped_storage().resize_(4)
    host = torch.ones(8)
    host.untyped_storage().resize_(4)
    full = torch.ones(8, device="openreg")
    for src, dst in (
        (small, torch.ones(8)),
        (small, full),
        (small, full.double()),
        (torch.ones(8), small),
        (torch.ones(8).double(), small),
        (host, full),
        (host, full.double()),
        (full, host),
        (full.double(), host),
        (full, small),
    ):
        with pytest.raises(RuntimeError, match=r"needs \d+ bytes, but .* has 4"):
            dst.copy_(src)
    one = torch.ones(1, device="openreg")
    one.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="needs 4 bytes, but its storage has 0"):
        one.item()


# -- view --


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.view(3, 8),
        lambda t: t.reshape(-1),
        lambda t: t.transpose(0, 1),
        lambda t: t[1],
        lambda t: t[..., ::2],
        lambda t: t.unfold(1, 2, 1),
        lambda t: t.as_strided((2, 2), (1, 4), 3),
        lambda t: t.diagonal(),
        lambda t: t.expand(2, 4, 6),
        lambda t: t.split(2)[1],
    ],
)
def test_views_share_memory(view):
    x = sample(4, 6)
    y = x.to("openreg")
    a, b = view(x), view(y)
    assert (a.shape, a.stride(), a.storage_offset()) == (
        b.shape,
        b.stride(),
        b.storage_offset(),
    )
    assert b.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    assert_close(b.cpu(), a)


def test_complex_views():
    x = sample(2, 3, dtype=torch.complex64)
    y = x.to("openreg")
    assert_close(torch.view_as_real(y).cpu(), torch.view_as_real(x))
    assert_close(torch.view_as_complex(torch.view_as_real(y)).cpu(), x)


def test_view_that_does_not_fit_is_an_error():
    with pytest.raises(RuntimeError, match="invalid for input of size 6"):
        torch.empty(6, device="openreg").view(4)


# -- storage --


def test_resize_keeps_the_beginning():
    x = torch.arange(4.0).to("openreg")
    x.resize_(2, 3)
    assert x.shape == (2, 3)
    assert_close(x.view(-1)[:4].cpu(), torch.arange(4.0))
    x.resize_(2)
    assert_close(x.cpu(), torch.arange(2.0))


def test_storage_is_freed_and_brought_back():
    x = torch.arange(4.0).to("openreg")
    x.untyped_storage().resize_(0)
    assert x.untyped_storage().nbytes() == 0
    x.untyped_storage().resize_(16)
    x.copy_(torch.arange(4.0))
    assert_close(x.cpu(), torch.arange(4.0))


def test_set_():
    x = torch.arange(6.0).to("openreg")
    y = torch.empty(0, device="openreg")
    y.set_(x)
    assert y.is_set_to(x)
    y.set_(x.untyped_storage(), 2, (2, 2), (2, 1))
    assert_close(y.cpu(), torch.arange(2.0, 6.0).view(2, 2))
    y.set_(x.untyped_storage())
    assert y.shape == (6,)
    y.set_()
    assert y.shape == (0,)
    with pytest.raises(RuntimeError, match="devices must match"):
        y.set_(torch.zeros(2).untyped_storage())


def test_module_to_keeps_the_parameters():
    module = torch.nn.Linear(3, 2)
    before = list(module.parameters())
    module.to("openreg")
    assert all(a is b for a, b in zip(before, module.parameters(), strict=True))
    assert before[0].device.type == "openreg"
    before[0].data = torch.ones(2, 3, device="openreg")
    assert_close(module.weight.cpu(), torch.ones(2, 3))
