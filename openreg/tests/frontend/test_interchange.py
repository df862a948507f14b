# DLPack, NumPy and Python objects; see docs/frontend/interchange.md.
import gc
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from contract import code, table
from torch.testing import assert_close
from torch.utils.dlpack import DLDeviceType, from_dlpack, to_dlpack
from while_held import returns_while_held

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from exported import Exported

sys.path.pop(0)

simulator = torch.openreg.simulator
hold = simulator.hold

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
DTYPES += [torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16]
DTYPES += [torch.float32, torch.float64, torch.complex64, torch.complex128]
DTYPES += [torch.float8_e4m3fn, torch.float8_e5m2]


def values() -> torch.Tensor:
    return torch.arange(12.0).view(3, 4)


def capsule(x):
    return from_dlpack(to_dlpack(x))


def versioned(x):
    return from_dlpack(x.__dlpack__(max_version=(1, 0)))


def protocol(x):
    return torch.from_dlpack(Exported(x))


@pytest.fixture(params=[capsule, versioned, protocol])
def exchange(request):
    return request.param


# -- DLPack --


def test_memory_is_shared_both_ways(exchange):
    x = values().to("openreg:1")
    y = exchange(x)
    assert (y.device, y.data_ptr()) == (x.device, x.data_ptr())
    y.add_(1)
    assert_close(x.cpu(), values() + 1)
    x.zero_()
    assert_close(y.cpu(), torch.zeros(3, 4))
    assert torch.openreg.current_device() == 0


VIEWS = {
    "transposed": lambda x: x.t(),
    "slice": lambda x: x[1:, ::2],
    "expanded": lambda x: x[:, :1].expand(3, 5),
    "empty": lambda x: x[:0],
    "scalar": lambda x: x[1, 2],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_strides_and_offsets(exchange, view):
    x = values().to("openreg")
    y = exchange(view(x))
    assert y.shape == view(x).shape
    assert_close(y.cpu(), view(values()))
    assert y.storage_offset() == 0  # the address has it
    if y.numel():
        assert (y.stride(), y.data_ptr()) == (view(x).stride(), view(x).data_ptr())


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(exchange, dtype):
    x = torch.arange(4).to(dtype)
    y = exchange(x.to("openreg"))
    assert y.dtype == dtype
    assert_close(y.cpu(), x, rtol=0, atol=0)


def test_what_dlpack_cannot_say():
    x = values().to("openreg")
    z = torch.ones(2, dtype=torch.complex64, device="openreg")
    refused = {
        "require gradient": x.clone().requires_grad_(),
        "conjugate bit": z.conj(),
        "layout other than torch.strided": x.to_sparse(),
        "Bit types are not supported": torch.empty(2, dtype=torch.bits8).to("openreg"),
    }
    for words, tensor in refused.items():
        with pytest.raises(BufferError, match=words):
            tensor.__dlpack__(max_version=(1, 0))


@pytest.mark.parametrize("device", ["cpu", "openreg"])
def test_gap_bits_that_say_how_to_read_the_values_are_lost(device):
    z = torch.complex(torch.ones(2), torch.full((2,), 2.0)).to(device)
    negative = z.conj().imag
    assert negative.is_neg() and negative.tolist() == [-2, -2]
    assert versioned(negative).tolist() == [2, 2]
    assert capsule(z.conj()).tolist() == [1 + 2j, 1 + 2j]
    assert versioned(negative.resolve_neg()).tolist() == [-2, -2]
    assert capsule(z.conj().resolve_conj()).tolist() == [1 - 2j, 1 - 2j]


def test_the_memory_lives_as_long_as_somebody_has_it():
    gc.collect()
    before = torch.accelerator.memory_allocated()
    x = torch.ones(1000, device="openreg")
    size = torch.accelerator.memory_allocated() - before
    y, unused = capsule(x), to_dlpack(x)
    del x
    assert torch.accelerator.memory_allocated() - before == size
    assert y.sum().item() == 1000
    del y
    assert torch.accelerator.memory_allocated() - before == size
    del unused  # a capsule that was not consumed
    assert torch.accelerator.memory_allocated() == before


def test_a_capsule_is_taken_once():
    taken = to_dlpack(values().to("openreg"))
    from_dlpack(taken)
    with pytest.raises(RuntimeError, match="capsules can be consumed only once"):
        from_dlpack(taken)


def test_memory_of_somebody_else_cannot_be_resized():
    x = capsule(values().to("openreg"))
    with pytest.raises(RuntimeError, match="it does not own its memory"):
        x.resize_(100)


def test_another_device_gets_a_copy():
    x = values().to("openreg:1")
    for device in ("cpu", "openreg:0"):
        y = torch.from_dlpack(Exported(x), device=device)
        assert y.device == torch.device(device)
        assert_close(y.cpu(), values())
        with pytest.raises(ValueError, match="cannot move DLPack tensor"):
            torch.from_dlpack(Exported(x), device=device, copy=False)
    same = torch.from_dlpack(Exported(x), device="openreg:1", copy=False)
    assert same.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="there is no device 7"):
        torch.from_dlpack(Exported(x), device="openreg:7")
    number = torch.utils.dlpack.DLDeviceType.kDLExtDev
    assert from_dlpack(x.__dlpack__(dl_device=(number, 0))).device.index == 0


def test_the_stream_of_the_protocol_is_ignored():
    x = torch.zeros(4, device="openreg")
    side = torch.Stream("openreg")
    torch.accelerator.synchronize()
    with hold():
        x.add_(1)
        with side:
            y = from_dlpack(x.__dlpack__(stream=side.native_handle))
            early = y + 0
        side.synchronize()
        assert not torch.accelerator.current_stream().query()
        side.wait_stream(torch.accelerator.current_stream())
        with side:
            late = y + 0
    torch.accelerator.synchronize()
    assert (early.tolist(), late.tolist()) == ([0] * 4, [1] * 4)
    with pytest.raises(TypeError, match="stream must be ``int`` or ``none``"):
        x.__dlpack__(stream=side)


def test_pinned_memory_says_that_it_is_of_cuda():
    x = torch.ones(3).pin_memory()
    assert x.__dlpack_device__() == (DLDeviceType.kDLCUDAHost, 0)
    y = torch.from_dlpack(x)
    assert y.is_pinned() and y.data_ptr() == x.data_ptr()


def test_a_read_only_array_can_be_written_through_torch():
    array = np.zeros(3, dtype=np.float32)
    array.flags.writeable = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = torch.from_dlpack(array)
        torch.from_dlpack(array, device="openreg").fill_(5)  # a copy: no harm
        torch.accelerator.synchronize()
    assert caught == [] and array.tolist() == [0, 0, 0]
    x.fill_(7)
    assert array.tolist() == [7, 7, 7]


@pytest.mark.parametrize(
    ("offset", "owner", "seen"),
    [
        (0, "exported", 1),
        (0, "imported", 1),
        (128, "exported", 1),
        (128, "imported", 2),
    ],
)
def test_record_stream_needs_the_address_of_the_block(offset, owner, seen):
    torch.accelerator.empty_cache()
    exported = torch.ones(5000, device="openreg")
    imported = capsule(exported[offset:])
    torch.accelerator.synchronize()
    side = torch.Stream("openreg")
    with hold(side):
        with side:
            result = imported + 0  # still to come, when both have died
        (exported if owner == "exported" else imported).record_stream(side)
        del exported, imported
        later = torch.full((5000,), 2.0, device="openreg")
        torch.accelerator.current_stream().synchronize()
    side.synchronize()
    assert_close(result.cpu(), torch.full((5000 - offset,), float(seen)))
    assert later.sum().item() == 10000


# -- the table of the page: what copies, what shares, what waits --

ROWS = table("frontend/interchange.md", "call")


def shares(result, sources) -> bool:
    """Change the result; say whether one of the sources has changed with it."""

    def snapshot():
        return [bytes(s) if isinstance(s, bytearray) else s.tolist() for s in sources]

    before = snapshot()
    if isinstance(result, torch.Tensor):
        result.fill_(77)
    elif isinstance(result, np.ndarray):
        result[...] = 77
    else:
        return False  # Python's own numbers
    return snapshot() != before


@pytest.mark.parametrize("row", ROWS, ids=lambda row: code(row[0])[0])
def test_each_row_of_the_table(row):
    (call,), memory, waits = code(row[0]), row[1], row[2]
    x = values().to("openreg:1")
    a = np.arange(12, dtype=np.float32)
    b = bytearray(a.tobytes())
    names = {"torch": torch, "np": np, "x": x, "a": a, "b": b, "Exported": Exported}
    names |= {"to_dlpack": to_dlpack, "from_dlpack": from_dlpack}
    stream = torch.accelerator.current_stream("openreg:1")
    if memory.startswith("raises"):
        kind, words = code(memory)
        with pytest.raises(Exception, match=re.escape(words)) as caught:
            eval(call, names)
        assert caught.type.__name__ == kind
        return
    if waits == "no":
        result = returns_while_held(lambda: eval(call, names), stream)
    else:
        expected = values() + 1
        with simulator.delay(50_000):
            x.add_(1)
            result = eval(call, names)
            assert stream.query()
        if "x" in re.findall(r"\w+", call):
            rest = torch.as_tensor(result).cpu()
            assert_close(rest, expected if rest.dim() else expected[0, 0])
    torch.accelerator.synchronize()
    torch.openreg.synchronize(1)
    assert shares(result, (x, a, b)) == memory.startswith("shared")


def test_the_table_is_read():
    assert len(ROWS) > 15


# -- NumPy --


def test_what_numpy_refuses():
    x = values().to("openreg:1")
    words = "can't convert openreg:1 device type tensor to numpy. Use Tensor.cpu()"
    for call in (
        x.numpy,
        x.__array__,
        lambda: np.asarray(x),
        lambda: np.asarray(list(x[0])),
        lambda: np.sin(x),
        lambda: x + np.ones(4),
    ):
        with pytest.raises(TypeError, match=re.escape(words)):
            call()
    for call in (lambda: np.ones(4) * x, lambda: np.ones(4) - x):
        with pytest.raises(TypeError, match="unsupported operand type"):
            call()
    assert not hasattr(x, "__array_interface__")
    with pytest.raises(AttributeError, match="Can't get __cuda_array_interface__ on"):
        x.__cuda_array_interface__  # noqa: B018
    with pytest.raises(RuntimeError, match="Unsupported device in DLTensor"):
        np.from_dlpack(Exported(x))
    with pytest.raises(TypeError, match=r"can't assign a numpy\.ndarray to"):
        x[0] = np.ones(4)


def test_numbers_and_indices_of_numpy_are_taken():
    x = values().to("openreg")
    assert_close((x + np.float32(2)).cpu(), values() + 2)
    assert_close((np.float32(2) + x).cpu(), values() + 2)
    assert_close(x[np.array([2, 0])].cpu(), values()[[2, 0]])
    assert_close(x[np.array([True, False, True])].cpu(), values()[[0, 2]])
    assert_close(x.fill_(np.float64(3)).cpu(), torch.full((3, 4), 3.0))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.arange(4)[::-1], "negative"),
        (np.arange(4).astype(">i4"), "byte order different"),
        (np.array(["a"]), "can't convert np.ndarray of type numpy.str_"),
    ],
)
def test_arrays_that_torch_cannot_read(array, words):
    with pytest.raises((ValueError, TypeError), match=words):
        torch.as_tensor(array, device="openreg")


def test_dtypes_that_numpy_does_not_have():
    x = torch.ones(2, dtype=torch.bfloat16, device="openreg")
    with pytest.raises(TypeError, match="unsupported ScalarType BFloat16"):
        x.numpy(force=True)
    assert x.float().numpy(force=True).tolist() == [1, 1]


def test_force_also_takes_gradients_and_bits():
    z = torch.complex(torch.ones(2), torch.ones(2)).to("openreg").conj()
    assert z.numpy(force=True).tolist() == [1 - 1j, 1 - 1j]
    x = torch.ones(2, device="openreg", requires_grad=True)
    assert x.numpy(force=True).tolist() == [1, 1]


# -- Python --


def test_scalars():
    x = torch.tensor(2.5, device="openreg")
    assert (x.item(), float(x), int(x), bool(x), complex(x)) == (2.5, 2.5, 2, True, 2.5)
    assert f"{x:.2f}" == "2.50"
    assert "abc"[torch.tensor(1, device="openreg")] == "b"
    with pytest.raises(RuntimeError, match="a Tensor with 12 elements cannot be"):
        values().to("openreg").item()


def test_objects_of_the_buffer_protocol_are_copied():
    buffer = bytearray(b"abcd")
    x = torch.frombuffer(buffer, dtype=torch.uint8).openreg()
    y = torch.asarray(buffer, dtype=torch.uint8, device="openreg")
    buffer[0] = 0
    assert x.tolist() == y.tolist() == list(b"abcd")
    for read in (memoryview, lambda x: torch.frombuffer(x, dtype=torch.uint8)):
        with pytest.raises(
            (TypeError, ValueError), match=r"bytes-like|buffer protocol"
        ):
            read(x)
