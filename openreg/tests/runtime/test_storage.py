# Storages: resize, copies, numbers; tags of tensors; see docs/runtime/storage.md.
import copy
import gc
import io
import pickle

import pytest
import torch
from torch.testing import assert_close

openreg = torch.openreg
hold = torch.openreg.simulator.hold


def allocated(device: int = 0) -> int:
    return torch.accelerator.memory_allocated(device)


def save_and_load(value, **options):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


# -- resize --


def test_a_storage_gives_its_memory_back_as_fsdp_does_it():
    gc.collect()
    before = allocated()
    x = torch.ones(1 << 16, device="openreg")
    storage = x.untyped_storage()
    size = storage.nbytes()
    assert allocated() == before + size
    for value in (2.0, 3.0):
        storage.resize_(0)
        assert (storage.nbytes(), storage.data_ptr(), allocated()) == (0, 0, before)
        storage.resize_(size)
        assert allocated() == before + size
        x.copy_(torch.full((1 << 16,), value))
        assert_close(x.cpu(), torch.full((1 << 16,), value))


def test_shrinking_and_growing_keep_the_beginning():
    x = torch.arange(8.0).to("openreg")
    other = x[2:4]
    x.untyped_storage().resize_(16)
    assert_close(other.cpu(), torch.tensor([2.0, 3.0]))
    with pytest.raises(RuntimeError, match="needs 32 bytes, but its storage has 16"):
        x.cpu()
    x.untyped_storage().resize_(64)
    assert_close(x[:4].cpu(), torch.arange(4.0))
    assert other.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    address = x.data_ptr()
    x.untyped_storage().resize_(64)
    assert x.data_ptr() == address  # nothing to do


def test_a_resize_keeps_the_device():
    x = torch.arange(4.0).to("openreg:1")
    before = allocated(0), allocated(1)
    x.untyped_storage().resize_(0)
    assert x.untyped_storage().device == torch.device("openreg:1")
    x.untyped_storage().resize_(16)
    assert x.untyped_storage().device == torch.device("openreg:1")
    assert (allocated(0), allocated(1)) == before
    assert torch.openreg.current_device() == 0


def test_a_storage_grows_behind_the_work_of_its_stream():
    x = torch.zeros(4, device="openreg")
    with hold():
        x.add_(1)
        x.untyped_storage().resize_(4096)
        x.add_(1)
    assert_close(x.cpu(), torch.full((4,), 2.0))


def test_a_storage_grows_while_another_stream_stands_still():
    side = torch.Stream("openreg")
    x = torch.arange(256.0).to("openreg")
    with hold(side):
        with side:
            x.untyped_storage().resize_(4096)  # the copy is still to come
        y = torch.full((256,), -1.0, device="openreg")  # must not get the old memory
        torch.accelerator.current_stream().synchronize()
    side.synchronize()
    assert_close(x.cpu(), torch.arange(256.0))
    assert_close(y.cpu(), torch.full((256,), -1.0))


def test_wrong_resizes_are_refused_and_change_nothing():
    x = torch.arange(4.0).to("openreg")
    with pytest.raises(RuntimeError, match="cannot have a negative size"):
        x.untyped_storage().resize_(-1)
    with pytest.raises(torch.OutOfMemoryError):
        x.untyped_storage().resize_(1 << 44)
    foreign = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    with pytest.raises(RuntimeError, match="cannot be resized: it does not own"):
        foreign.untyped_storage().resize_(100)
    assert_close(x.cpu(), torch.arange(4.0))


# -- numbers: the storage of this backend --


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.empty(3, device="openreg"),
        lambda: torch.empty(0, device="openreg"),
        lambda: torch.empty_strided((2, 2), (1, 2), device="openreg"),
        lambda: torch.ones(3).to("openreg"),
        lambda: torch.ones(3, device="openreg") + 1,
        lambda: torch.ones(3, device="openreg") * 2,
        lambda: copy.deepcopy(torch.ones(3, device="openreg")),
        lambda: save_and_load(torch.ones(3, device="openreg")),
        lambda: torch._lazy_clone(torch.ones(3, device="openreg")),
        lambda: torch.empty(0, device="openreg").set_(
            torch.UntypedStorage(8, device="openreg")
        ),
    ],
)
def test_each_storage_has_a_number_of_its_own(make):
    first, second = make(), make()
    assert openreg.storage_id(first) != openreg.storage_id(second)


def test_a_number_stays_and_is_never_given_again():
    x = torch.ones(1000, device="openreg")
    number = openreg.storage_id(x)
    assert openreg.storage_id(x[1:]) == number
    x.untyped_storage().resize_(8000)
    assert openreg.storage_id(x) == number
    x.untyped_storage().resize_(4000)
    del x
    y = torch.ones(1000, device="openreg")
    assert openreg.storage_id(y) != number
    with pytest.raises(ValueError, match="a storage on cpu has no id"):
        openreg.storage_id(torch.ones(1))


def test_a_new_storage_lies_on_the_device_that_was_asked_for():
    for size in (0, 8):
        storage = torch.UntypedStorage(size, device="openreg:1")
        assert storage.device == torch.device("openreg:1")
        assert storage.nbytes() == size
    assert torch.empty(0, device="openreg:1").untyped_storage().device.index == 1


# -- tags --


def tagged() -> torch.Tensor:
    x = torch.ones(2, 3, device="openreg")
    openreg.set_tensor_tags(x, {"packed": True, "frozen": False})
    return x


TAGS = {"packed": True, "frozen": False}


def assign_data(x):
    y = torch.ones(1, device="openreg")
    y.data = x
    return y


KEPT = {
    "itself, changed in place": lambda x: x.add_(1).resize_(3),
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "assigned to data": assign_data,
    "Parameter": torch.nn.Parameter,
    "copy.copy": copy.copy,
    "no copy needed": lambda x: x.to("openreg").contiguous(),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "torch.save": save_and_load,
}
LOST = {
    "view": lambda x: x.view(6),
    "slice": lambda x: x[:1],
    "alias": torch.ops.aten.alias,
    "clone": lambda x: x.clone(),
    "deepcopy": copy.deepcopy,
    "lazy_clone": torch._lazy_clone,
    "dtype": lambda x: x.double(),
    "host and back": lambda x: x.cpu().to("openreg"),
    "other device": lambda x: x.to("openreg:1"),
    "set_": lambda x: torch.empty(0, device="openreg").set_(x),
}


@pytest.mark.parametrize("way", KEPT.values(), ids=KEPT)
def test_tags_are_kept_by(way):
    assert openreg.get_tensor_tags(way(tagged())) == TAGS


@pytest.mark.parametrize("way", LOST.values(), ids=LOST)
def test_tags_are_lost_by(way):
    assert openreg.get_tensor_tags(way(tagged())) == {}


def test_tags_of_a_detached_tensor_are_its_own():
    x = tagged()
    y = x.detach()
    openreg.set_tensor_tags(y, {"other": True})
    assert openreg.get_tensor_tags(x) == TAGS
    openreg.set_tensor_tags(x, {})
    assert openreg.get_tensor_tags(x) == {}
    assert openreg.get_tensor_tags(y) == {"other": True}


def test_tags_are_saved_beside_torchs_own():
    x = torch.complex(torch.ones(2), torch.ones(2)).to("openreg").conj()
    openreg.set_tensor_tags(x, TAGS)
    y = save_and_load(x)
    assert y.is_conj() and openreg.get_tensor_tags(y) == TAGS
    assert_close(y.cpu(), x.cpu())


def test_a_file_with_tags_can_be_read_on_a_host():
    loaded = save_and_load(tagged(), map_location="cpu")
    assert_close(loaded, torch.ones(2, 3))


def test_a_module_keeps_the_tags_of_its_parameters_in_a_file():
    module = torch.nn.Linear(2, 2, device="openreg")
    openreg.set_tensor_tags(module.weight, TAGS)
    loaded = save_and_load(module.state_dict())
    assert openreg.get_tensor_tags(loaded["weight"]) == TAGS


def test_wrong_tags_are_refused():
    x = torch.ones(1, device="openreg")
    for name in ("conj", "neg"):
        with pytest.raises(ValueError, match=f"torch reserves the name '{name}'"):
            openreg.set_tensor_tags(x, {name: True})
    with pytest.raises(TypeError):
        openreg.set_tensor_tags(x, {"packed": "yes"})
    with pytest.raises(ValueError, match="only openreg tensors have tags"):
        openreg.set_tensor_tags(torch.ones(1), {"packed": True})
    with pytest.raises(ValueError, match="only openreg tensors have tags"):
        openreg.get_tensor_tags(torch.ones(1))
    assert openreg.get_tensor_tags(x) == {}


# -- copies of storages --


def test_storages_are_copied_in_every_direction():
    x = torch.arange(4.0)
    host = x.untyped_storage()
    device = x.to("openreg").untyped_storage()
    expected = host.tolist()
    copies = [
        device.cpu(),
        device.clone(),
        copy.deepcopy(device),
        device.to(device="openreg:1"),
        host.openreg(),
        host.openreg(1),
        host.to(device="openreg:1"),
        torch.UntypedStorage(16, device="openreg").copy_(host, non_blocking=True),
        torch.UntypedStorage(16, device="openreg:1").copy_(device),
        torch.UntypedStorage(16).copy_(device, non_blocking=True),
    ]
    for one in copies:
        assert one.tolist() == expected
        assert one.data_ptr() != device.data_ptr()
    assert copies[5].device == torch.device("openreg:1")
    assert device.openreg() is device
    assert device.is_openreg and not host.is_openreg


def test_storages_of_other_sizes_are_not_copied():
    with pytest.raises(RuntimeError, match="size does not match"):
        torch.UntypedStorage(8, device="openreg").copy_(torch.UntypedStorage(16))


def test_elements_of_storages():
    x = torch.arange(4.0, device="openreg")
    storage = x.untyped_storage()
    assert storage[7] == x.cpu().untyped_storage()[7]
    storage[:4] = 0
    storage.fill_(0)
    assert_close(x.cpu(), torch.zeros(4))
    assert (storage.nbytes(), len(storage), storage.size()) == (16, 16, 16)
    assert storage.data_ptr() == x.data_ptr() == x[:2].untyped_storage().data_ptr()


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_typed_storages():
    x = torch.arange(4.0, device="openreg")
    typed = x.storage()
    assert typed.tolist() == [0, 1, 2, 3] and typed[2] == 2
    assert typed.is_openreg and typed.dtype == torch.float32
    assert typed.double().tolist() == [0, 1, 2, 3]
    assert torch.arange(3.0).storage().openreg().device.type == "openreg"
    assert pickle.loads(pickle.dumps(typed)).tolist() == [0, 1, 2, 3]
    typed.resize_(8)
    assert x.untyped_storage().nbytes() == 32


def test_a_storage_is_written_to_a_file(tmp_path):
    x = torch.arange(4.0)
    with (tmp_path / "file").open("wb") as file:
        x.to("openreg").untyped_storage()._write_file(file, True, False, 4)
    assert (tmp_path / "file").read_bytes() == bytes(x.untyped_storage().tolist())


def test_what_a_storage_on_the_device_refuses():
    storage = torch.ones(2, device="openreg").untyped_storage()
    with pytest.raises(RuntimeError, match="only available on CPU"):
        storage._share_filename_cpu_()
    with pytest.raises(TypeError, match="only CPU memory can be pinned"):
        storage.pin_memory()
    with pytest.raises(RuntimeError, match="devices must match"):
        torch.ones(2).set_(storage)


def test_deepcopy_keeps_what_tensors_share():
    x = torch.arange(4.0, device="openreg")
    a, b = copy.deepcopy([x, x[1:3]])
    a.fill_(9)
    assert_close(b.cpu(), torch.full((2,), 9.0))
    assert_close(x.cpu(), torch.arange(4.0))
    c, d = save_and_load([x, x[1:3]])
    assert openreg.storage_id(c) == openreg.storage_id(d)


# -- copy on write --


def test_a_lazy_clone_is_copied_when_one_of_both_is_written():
    x = torch.arange(4.0, device="openreg")
    y = torch._lazy_clone(x)
    assert torch._C._is_cow_tensor(x) and torch._C._is_cow_tensor(y)
    assert torch._C._data_address(x) == torch._C._data_address(y)
    y.add_(1)
    assert not torch._C._is_cow_tensor(y)
    assert_close(x.cpu(), torch.arange(4.0))
    assert_close(y.cpu(), torch.arange(1.0, 5.0))


@pytest.mark.parametrize("size", [0, 8, 64])
def test_a_lazy_clone_can_be_resized(size):
    x = torch.arange(4.0, device="openreg")
    y = torch._lazy_clone(x)
    y.untyped_storage().resize_(size)
    y.resize_(size // 4).zero_()
    assert_close(x.cpu(), torch.arange(4.0))
    assert y.untyped_storage().nbytes() == size


# -- what a new storage holds --


@pytest.mark.parametrize("dtype", [torch.bits8, torch.uint1, torch.float4_e2m1fn_x2])
def test_zeros_of_dtypes_without_kernels(dtype):
    x = torch.empty(5, dtype=dtype, device="openreg")
    x.untyped_storage().fill_(255)
    x.zero_()
    assert x.untyped_storage().tolist() == [0] * 5
    assert torch.zeros(2, 3, dtype=dtype, device="openreg").dtype == dtype


def test_zero_of_strided_tensors_leaves_the_rest():
    x = torch.ones(4, 4, device="openreg")
    x[:, ::2].zero_()
    x[1:3].zero_()
    expected = torch.ones(4, 4)
    expected[:, ::2] = 0
    expected[1:3] = 0
    assert_close(x.cpu(), expected)


def test_new_memory_is_filled_in_deterministic_mode():
    torch.use_deterministic_algorithms(True)
    try:
        for dtype in (torch.float32, torch.int16, torch.complex64, torch.bool):
            for make in (
                torch.empty,
                lambda n, **k: torch.empty_strided((n,), (1,), **k),
            ):
                on_device = make(5, dtype=dtype, device="openreg")
                on_host = make(5, dtype=dtype)
                assert_close(on_device.cpu(), on_host, equal_nan=True, rtol=0, atol=0)
        x = torch.zeros(2, dtype=torch.int32, device="openreg").resize_(4)
        assert x.tolist() == [0, 0, 2**31 - 1, 2**31 - 1]
    finally:
        torch.use_deterministic_algorithms(False)
