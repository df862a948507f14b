# Tensors can be created, copied, viewed and resized; see docs/operators/minimal.md.
"""Runs on any backend: its names are in ``support/backend.py``.

Of an error, these tests compare the type, and the words only where torch writes them.
"""

import pytest
import torch
from backend import DEVICE, LARGE
from torch.testing import assert_close

FIRST, SECOND = f"{DEVICE}:0", f"{DEVICE}:1"
two_devices = pytest.mark.needs(devices=2)
PLACES = ["cpu", FIRST, pytest.param(SECOND, marks=two_devices)]
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
    x = torch.empty(2, 3, dtype=dtype, device=DEVICE)
    assert (x.shape, x.dtype, x.device.type) == ((2, 3), dtype, DEVICE)
    assert x.stride() == (3, 1)
    assert x.device.index == 0


def test_empty_honours_strides_and_memory_format():
    assert torch.empty_strided((2, 3), (1, 2), device=DEVICE).stride() == (1, 2)
    x = torch.empty(2, 3, 4, 5, device=DEVICE, memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)


@two_devices
def test_empty_uses_the_current_device():
    assert torch.empty(1, device=SECOND).device.index == 1
    with torch.accelerator.device_index(1):
        assert torch.empty(1, device=DEVICE).device.index == 1
    assert torch.empty(1, device=DEVICE).device.index == 0


@two_devices
def test_empty_does_not_change_the_current_device():
    torch.empty(1, device=SECOND)
    assert torch.accelerator.current_device_index() == 0


def test_bad_arguments_of_factories_are_named():
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be"):
        torch.empty(1, device=DEVICE, pin_memory=True)
    with pytest.raises(torch.AcceleratorError):
        torch.empty(1, device=f"{DEVICE}:{torch.accelerator.device_count()}")
    with pytest.raises(RuntimeError, match="negative dimension"):
        torch.empty(-1, device=DEVICE)
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 44, dtype=torch.uint8, device=DEVICE)
    assert_close(torch.ones(1, device=DEVICE).cpu(), torch.ones(1))  # still usable


@pytest.mark.needs(capability="memory that the host cannot touch")
def test_host_code_cannot_touch_device_memory(run_forked):
    program = f"""
        import ctypes, torch
        x = torch.ones(4, device="{DEVICE}")
        torch.accelerator.synchronize()
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
    y = x.to(DEVICE)
    assert y.device == torch.device(FIRST)
    assert_close(y.cpu(), x, rtol=0, atol=0)


@pytest.mark.parametrize("to_dtype", [torch.float64, torch.int32, torch.complex64])
@pytest.mark.parametrize("way", ["to device", "on device", "to host"])
def test_copies_convert_the_dtype(to_dtype, way):
    x = sample(4, 3)
    expected = x.to(to_dtype)
    if way == "to device":
        y = torch.empty(4, 3, dtype=to_dtype, device=DEVICE).copy_(x)
    elif way == "on device":
        y = x.to(DEVICE).to(to_dtype)
    else:
        y = torch.empty(4, 3, dtype=to_dtype).copy_(x.to(DEVICE))
    assert_close(y.cpu(), expected, rtol=0, atol=0)


@pytest.mark.parametrize("source", PLACES)
@pytest.mark.parametrize("target", PLACES)
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
    y = torch.zeros(2, 3).to(DEVICE).copy_(x)
    assert_close(y.cpu(), x.expand(2, 3))
    y = torch.zeros(2, 3).copy_(x.to(DEVICE))
    assert_close(y, x.expand(2, 3))
    with pytest.raises(RuntimeError, match="must match"):
        torch.zeros(2, 2, device=DEVICE).copy_(x)


@pytest.mark.parametrize("target", ["cpu", DEVICE])
def test_pending_conjugation_and_negation_are_honoured(target):
    x = sample(3, 2, dtype=torch.complex64)
    y = x.to(DEVICE)
    assert_close(y.conj().to(target).cpu(), x.conj().resolve_conj())
    assert_close(y.conj().imag.to(target).cpu(), x.conj().imag.resolve_neg())
    out = torch.zeros(3, 2, dtype=torch.complex64).to(target)
    out.conj().copy_(y)
    assert_close(out.cpu(), x.conj().resolve_conj())


@two_devices
def test_copy_between_devices_waits_for_both():
    # 200 dependent copies there and back: an unordered one would carry an old value.
    x = torch.zeros(1000, device=FIRST)
    for _ in range(200):
        y = x.to(SECOND)
        y.add_(1)
        x = y.to(FIRST)
        del y
    assert_close(x.cpu(), torch.full((1000,), 200.0))


def test_copies_that_would_overlap_are_refused_as_on_the_cpu():
    for device in ("cpu", DEVICE):
        x = torch.arange(2500.0).view(50, 50).to(device)
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            x.copy_(x.t())
        with pytest.raises(RuntimeError, match="refers to a single memory location"):
            torch.ones(1, device=device).expand(4).copy_(torch.arange(4.0))
        with pytest.raises(NotImplementedError, match="not implemented for 'Bits8'"):
            torch.ones(2, device=device).to(torch.bits8)
    assert torch.ones(1, device=DEVICE).item() == 1.0


@pytest.mark.needs(stage=LARGE)
def test_streams_of_a_device_that_does_not_exist_are_refused():
    with pytest.raises(torch.AcceleratorError):
        torch.accelerator.current_stream(torch.accelerator.device_count())


def test_a_child_forked_while_a_thread_allocates_can_free_tensors(run_forked):
    program = f"""
        import os, threading, torch
        def churn():
            while True:
                torch.empty(100, device="{DEVICE}")
        threading.Thread(target=churn, daemon=True).start()
        for _ in range(30):
            x = torch.empty(100, device="{DEVICE}")
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
    assert torch.tensor(3, device=DEVICE).item() == 3
    assert torch.tensor(2.5, device=DEVICE).item() == 2.5
    assert torch.tensor(1 + 2j, device=DEVICE).item() == 1 + 2j
    assert torch.tensor([True], device=DEVICE).item() is True
    assert torch.arange(4, device=DEVICE).tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot"):
        torch.zeros(2, device=DEVICE).item()


@pytest.mark.needs(stage=LARGE)
def test_the_operator_behind_item_takes_one_element():
    with pytest.raises(RuntimeError):
        torch.ops.aten._local_scalar_dense(torch.zeros(2, device=DEVICE))


def test_empty_tensors_can_be_copied():
    x = torch.empty(0, 3, device=DEVICE)
    assert x.cpu().shape == (0, 3)
    assert torch.empty(0, 3).to(DEVICE).shape == (0, 3)
    assert x.to(FIRST).device.index == 0


@pytest.mark.needs(stage=LARGE, devices=2)
def test_a_peer_copy_materialises_its_target_where_it_lies():
    x = torch.zeros(4, device=SECOND)
    y = torch._lazy_clone(x)  # shares the memory until one of them is written
    for source in (torch.ones(4, device=FIRST), torch.ones(4).double()):
        z = torch._lazy_clone(x)
        z.copy_(source.to(FIRST))
        assert z.untyped_storage().device == torch.device(SECOND)
        assert_close(z.cpu(), torch.ones(4))
    y.copy_(torch.ones(4, device=FIRST))
    assert_close(y.cpu(), torch.ones(4))
    assert_close(x.cpu(), torch.zeros(4))


@pytest.mark.needs(stage=LARGE)  # the CPU does not check it either
def test_a_storage_that_is_too_small_is_refused():
    small = torch.ones(8, device=DEVICE)
    small.untyped_storage().resize_(4)
    host = torch.ones(8)
    host.untyped_storage().resize_(4)
    full = torch.ones(8, device=DEVICE)
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
        with pytest.raises(RuntimeError):
            dst.copy_(src)
    assert_close(full.cpu(), torch.ones(8))


def test_a_storage_that_is_gone_cannot_be_read():
    one = torch.ones(1, device=DEVICE)
    one.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError):
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
    y = x.to(DEVICE)
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
    y = x.to(DEVICE)
    assert_close(torch.view_as_real(y).cpu(), torch.view_as_real(x))
    assert_close(torch.view_as_complex(torch.view_as_real(y)).cpu(), x)


def test_view_that_does_not_fit_is_an_error():
    with pytest.raises(RuntimeError, match="invalid for input of size 6"):
        torch.empty(6, device=DEVICE).view(4)


# -- storage --


def test_resize_keeps_the_beginning():
    x = torch.arange(4.0).to(DEVICE)
    x.resize_(2, 3)
    assert x.shape == (2, 3)
    assert_close(x.view(-1)[:4].cpu(), torch.arange(4.0))
    x.resize_(2)
    assert_close(x.cpu(), torch.arange(2.0))


def test_storage_is_freed_and_brought_back():
    x = torch.arange(4.0).to(DEVICE)
    x.untyped_storage().resize_(0)
    assert x.untyped_storage().nbytes() == 0
    x.untyped_storage().resize_(16)
    x.copy_(torch.arange(4.0))
    assert_close(x.cpu(), torch.arange(4.0))


def test_set_():
    x = torch.arange(6.0).to(DEVICE)
    y = torch.empty(0, device=DEVICE)
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
    module.to(DEVICE)
    assert all(a is b for a, b in zip(before, module.parameters(), strict=True))
    assert before[0].device.type == DEVICE
    before[0].data = torch.ones(2, 3, device=DEVICE)
    assert_close(module.weight.cpu(), torch.ones(2, 3))
