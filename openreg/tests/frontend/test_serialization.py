# Files of openreg tensors, written and read; see docs/frontend/serialization.md.
import copy
import io
import pickle
import re
import zipfile

import pytest
import torch
from contract import code, table
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.testing import assert_close
from torch.utils.serialization import config

delay = torch.openreg.simulator.delay
FORMATS = {"zip": True, "legacy": False}
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
DTYPES += [torch.uint16, torch.float16, torch.bfloat16, torch.float32, torch.float64]
DTYPES += [torch.complex64, torch.complex128, torch.float8_e4m3fn]


@pytest.fixture(params=FORMATS.values(), ids=FORMATS)
def zipped(request):
    return request.param


@pytest.fixture
def file(tmp_path, zipped):
    """A file with one tensor of device 1, in both formats."""
    path = tmp_path / "x.pt"
    torch.save(values().to("openreg:1"), path, _use_new_zipfile_serialization=zipped)
    return path


def values() -> torch.Tensor:
    return torch.arange(6.0).view(2, 3)


def save_and_load(value, zipped=True, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer, _use_new_zipfile_serialization=zipped)
    buffer.seek(0)
    return torch.load(buffer, **options)


# -- what comes back --


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_tensor_comes_back_on_its_device(file, weights_only):
    x = torch.load(file, weights_only=weights_only)
    assert x.device == torch.device("openreg:1")
    assert_close(x.cpu(), values(), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(zipped, dtype):
    x = values().to(dtype)
    if not zipped and dtype in (torch.uint16, torch.float8_e4m3fn):
        for device in ("cpu", "openreg"):  # torch never gave them a legacy format
            with pytest.raises(AttributeError, match="has no attribute 'dtype'"):
                save_and_load(x.to(device), zipped)
        return
    y = save_and_load(x.to("openreg"), zipped)
    assert (y.dtype, y.device.type) == (dtype, "openreg")
    assert_close(y.cpu(), x, rtol=0, atol=0)


VIEWS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t(),
    "slice": lambda x: x[1:, ::2],
    "expanded": lambda x: x[:, :1].expand(2, 5),
    "empty": lambda x: x[:0],
    "scalar": lambda x: x[0, 1],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_keep_their_geometry(zipped, view):
    x = view(values().to("openreg"))
    y = save_and_load(x, zipped)
    assert (y.shape, y.stride()) == (x.shape, x.stride())
    assert y.storage_offset() == x.storage_offset()
    assert_close(y.cpu(), view(values()), rtol=0, atol=0)


@pytest.mark.parametrize("way", [save_and_load, copy.deepcopy])
def test_tensors_that_share_memory_share_it_again(way):
    x = values().to("openreg")
    a, b, c = way((x, x[1], x.t()))
    a.fill_(9)
    assert b.tolist() == [9, 9, 9]
    assert c.untyped_storage().data_ptr() == a.untyped_storage().data_ptr()
    assert_close(x.cpu(), values(), rtol=0, atol=0)


@pytest.mark.parametrize("device", ["cpu", "openreg"])
def test_pickle_gives_every_tensor_memory_of_its_own(device):
    x = values().to(device)
    a, b = pickle.loads(pickle.dumps((x, x[1])))
    assert a.device == x.device
    a.fill_(9)
    assert b.tolist() == [3, 4, 5]


def test_the_rest_of_a_tensor_comes_back(zipped):
    x = torch.nn.Parameter(values().to("openreg"), requires_grad=False)
    z = torch.complex(values(), values()).to("openreg").conj()
    a, b, c = save_and_load([x, z, x.data.clone().requires_grad_()], zipped)
    assert isinstance(a, torch.nn.Parameter) and not a.requires_grad
    assert b.is_conj() and c.requires_grad
    assert_close(b.cpu(), z.cpu())


def test_a_checkpoint_continues_training_to_the_same_weights(tmp_path, zipped):
    def build():
        torch.manual_seed(3)
        model = torch.nn.Linear(3, 2).to("openreg")
        return model, torch.optim.AdamW(model.parameters(), lr=0.1)

    def step(model, optimizer):
        model(values().to("openreg")).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    model, optimizer = build()
    step(model, optimizer)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, tmp_path / "c.pt", _use_new_zipfile_serialization=zipped)
    step(model, optimizer)
    again, its_optimizer = build()
    state = torch.load(tmp_path / "c.pt")
    again.load_state_dict(state["model"])
    its_optimizer.load_state_dict(state["optimizer"])
    step(again, its_optimizer)
    assert_close(again.weight.cpu(), model.weight.cpu(), rtol=0, atol=0)


# -- the tag --


@pytest.mark.parametrize("index", [0, 1])
def test_the_tag_names_type_and_index(tmp_path, index):
    x = torch.ones(1, device=f"openreg:{index}")
    tag = torch.serialization.location_tag(x.untyped_storage())
    assert tag == f"openreg:{index}"
    torch.save(x, tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("data.pkl"))
        assert tag.encode() in archive.read(name)


# -- map_location: the table of the page --

FORMS = table("frontend/serialization.md", "`map_location`")


@pytest.mark.parametrize("row", FORMS, ids=lambda row: code(row[0])[0])
@pytest.mark.parametrize("helper", [True, False])
def test_each_form_of_map_location(file, row, helper, monkeypatch):
    if not helper:  # then torch reads the index by itself
        monkeypatch.delattr(torch.openreg._utils, "_get_device_index")
    (form,), (expected, *_) = code(row[0]), code(row[1])
    location = eval(form, {"torch": torch})
    if expected.endswith("Error"):
        with pytest.raises(Exception, match=re.escape(code(row[1])[1])) as caught:
            torch.load(file, map_location=location)
        assert caught.type.__name__ == expected
        return
    x = torch.load(file, map_location=location)
    assert x.device == torch.device(expected)
    if expected != "meta":
        assert_close(x.cpu(), values(), rtol=0, atol=0)


def test_a_location_without_an_index_is_the_current_device(file):
    assert torch.load(file, map_location="openreg").device.index == 0
    with torch.openreg.device(1):
        assert torch.load(file, map_location="openreg").device.index == 1


def test_files_of_another_name_need_a_reader(run_forked, tmp_path):
    torch.save(values().to("openreg:1"), tmp_path / "x.pt")
    data = (tmp_path / "x.pt").read_bytes()
    (tmp_path / "old.pt").write_bytes(data.replace(b"openreg:1", b"oldname:1"))
    program = f"""
        import torch

        def read_old(storage, place):
            if place == "oldname:1":
                return storage.openreg(1)

        path = {str(tmp_path / "old.pt")!r}
        try:
            torch.load(path)
        except RuntimeError as error:
            print(error)
        torch.serialization.register_package(5, lambda storage: None, read_old)
        print(torch.load(path).device)
    """
    process = run_forked(program)  # readers stay registered
    assert process.stdout == (
        "don't know how to restore data location of torch.storage.UntypedStorage "
        "(tagged with oldname:1)\nopenreg:1\n"
    ), process.stderr


def test_a_file_of_the_host_loads_onto_the_device(zipped):
    x = save_and_load(values(), zipped, map_location="openreg:1")
    assert x.device == torch.device("openreg:1")
    assert_close(x.cpu(), values(), rtol=0, atol=0)


@pytest.mark.parametrize("location", [None, "cpu", "openreg:0"])
def test_a_mapped_file(tmp_path, location):
    torch.save(values().to("openreg:1"), tmp_path / "x.pt")
    x = torch.load(tmp_path / "x.pt", mmap=True, map_location=location)
    assert x.device == torch.device(location or "openreg:1")
    x.add_(1)  # of the copy, not of the file
    again = torch.load(tmp_path / "x.pt", map_location="cpu")
    assert_close(again, values(), rtol=0, atol=0)
    assert_close(x.cpu(), values() + 1, rtol=0, atol=0)


# -- saving waits for what it saves --


def pinned(flag: bool):
    """Let torch.save copy into pinned memory, or not."""
    return config.patch({"save.use_pinned_memory_for_d2h": flag})


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("device", ["openreg:0", "openreg:1"])
def test_saving_waits_for_the_stream(flag, device):
    x = torch.zeros(1000, device=device)
    with pinned(flag), delay(50_000):
        x.add_(1)
        y = save_and_load(x, map_location="cpu")
    assert_close(y, torch.ones(1000))


@pytest.mark.parametrize(
    ("source", "output"), [("x", "others run\n"), ("x.untyped_storage()", "")]
)
def test_gap_a_copy_of_a_storage_keeps_the_gil(run_forked, source, output):
    program = f"""
        import faulthandler, threading, torch
        x = torch.ones(4, device="openreg")
        with torch.openreg.simulator.hold():
            thread = threading.Thread(target={source}.cpu)
            faulthandler.dump_traceback_later(6, exit=True)
            thread.start()
            thread.join(2)
            print("others run", flush=True)
            faulthandler.cancel_dump_traceback_later()
        thread.join()
    """
    process = run_forked(program)
    assert (process.stdout, process.returncode) == (output, 0 if output else 1)


def test_pinned_memory_is_used_if_asked_for(tmp_path):
    x = values().to("openreg:1")
    allocations = []
    for flag in (False, True):
        torch.accelerator.empty_host_cache()
        torch.openreg.reset_accumulated_host_memory_stats()
        with pinned(flag):
            torch.save(x, tmp_path / f"{flag}.pt")
        allocations.append(torch.openreg.host_memory_stats()["num_host_alloc"])
    assert allocations == [0, 1]
    y = torch.load(tmp_path / "True.pt")
    assert y.device == x.device
    assert_close(y.cpu(), values(), rtol=0, atol=0)


# -- files that cannot be read --


def test_a_part_of_a_file_is_refused(tmp_path, file, zipped):
    whole = file.read_bytes()
    words = "failed finding central directory" if zipped else "unexpected EOF, expected"
    for length in (len(whole) // 2, len(whole) - 1) if zipped else (len(whole) - 1,):
        (tmp_path / "part.pt").write_bytes(whole[:length])
        with pytest.raises(RuntimeError, match=words):
            torch.load(tmp_path / "part.pt")
    (tmp_path / "empty.pt").write_bytes(b"")
    with pytest.raises(EOFError):
        torch.load(tmp_path / "empty.pt")
    assert_close(torch.load(file).cpu(), values(), rtol=0, atol=0)  # the device is well


def test_changed_values_are_not_noticed_by_torch_but_by_the_archive(tmp_path):
    torch.save(values().to("openreg"), tmp_path / "x.pt")
    data = bytearray((tmp_path / "x.pt").read_bytes())
    at = data.index(values().numpy().tobytes())
    data[at : at + 4] = torch.tensor(8.0).numpy().tobytes()
    (tmp_path / "x.pt").write_bytes(data)
    assert torch.load(tmp_path / "x.pt")[0].tolist() == [8, 1, 2]
    with zipfile.ZipFile(tmp_path / "x.pt") as archive:
        assert archive.testzip().endswith("data/0")


def test_only_the_zip_format_can_be_mapped(tmp_path):
    options = {"_use_new_zipfile_serialization": False}
    torch.save(values().to("openreg"), tmp_path / "x.pt", **options)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved"):
        torch.load(tmp_path / "x.pt", mmap=True)


def test_one_storage_with_two_dtypes_is_refused():
    x = values().to("openreg")
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        save_and_load([x, x.view(torch.int32)])


def test_a_fake_tensor_knows_the_device_of_the_file(tmp_path):
    torch.save(values().to("openreg:1"), tmp_path / "x.pt")
    with FakeTensorMode():
        x = torch.load(tmp_path / "x.pt")
    assert isinstance(x, FakeTensor) and x.device == torch.device("openreg:1")
