# Copies of a tensor without storage; see docs/runtime/custom-tensor-subclass.md.
import copy
import sys
from pathlib import Path

import pytest
import torch
from tiled_support import file_of, is_tiled, load, load_tiled, pack, tiles
from torch.testing import assert_close

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "custom"))
from tiled_subclass import TiledTensor


@pytest.fixture(scope="module", autouse=True)
def library():
    load_tiled()


# -- saving and copying: what a storage changes --


COPIES = {
    "clone": (lambda x: x.clone(), True),
    "detach": (lambda x: x.detach(), True),
    "Parameter": (torch.nn.Parameter, True),
    "deepcopy": (copy.deepcopy, True),
    "copy": (copy.copy, False),
    "saved": (lambda x: load(file_of(x)), False),
    "cpu": (lambda x: x.cpu().to("openreg"), False),
    "dtype": (lambda x: x.double().float(), False),
}


@pytest.mark.parametrize("way", COPIES)
def test_which_copies_are_tiled(way):
    call, tiled = COPIES[way]
    x = torch.randn(20, 33)
    result = call(pack(x))
    assert is_tiled(result) == tiled
    assert_close(result.detach().cpu(), x)


def test_a_file_holds_a_plain_tensor():
    x = torch.randn(20, 33)
    content = file_of({"x": pack(x)})
    for where, device in ((None, "openreg:0"), ("cpu", "cpu"), ("openreg:1",) * 2):
        loaded = load(content, map_location=where)["x"]
        assert loaded.device == torch.device(device)
        assert_close(loaded.cpu(), x)
    with pytest.raises(RuntimeError, match="Callable map_location not supported"):
        load(content, map_location=lambda storage, location: storage)
    with pytest.raises(RuntimeError, match="Callable map_location not supported"):
        copy.copy(pack(x))  # the thread keeps the one of a load that failed
    load(content)
    assert_close(copy.copy(pack(x)).cpu(), x)
    with (
        torch.serialization.skip_data(),
        pytest.raises(RuntimeError, match="backends with no storage under skip_data"),
    ):
        file_of(pack(x))


@pytest.mark.parametrize("way", [copy.deepcopy, lambda pair: load(file_of(pair))])
def test_copies_of_views_share_nothing(way):
    tiled = pack(torch.ones(20, 33))
    first, second = way([tiled, tiled[:2]])
    first.zero_()
    assert_close(second.cpu(), torch.ones(2, 33))


def test_data_takes_over_the_memory_of_another_tiled_tensor():
    x, y = pack(torch.ones(20, 33)), pack(torch.randn(5, 40))
    expected = y.cpu()
    x.data = y
    assert x.shape == (5, 40) and tiles(x).data_ptr() == tiles(y).data_ptr()
    assert_close(x.cpu(), expected)


def test_a_storage_in_tiles_gives_wrong_copies():
    x = torch.randn(20, 33)
    tiled = pack(x, storage=True)
    assert torch._C._has_storage(tiled) and not torch._C._has_storage(pack(x))
    assert_close(tiled.cpu(), x)
    assert_close(tiled.detach().cpu(), x)
    held = tiles(tiled).cpu().flatten()[: x.numel()].view_as(x)
    through_dlpack = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(tiled))
    for wrong in (copy.deepcopy(tiled), load(file_of(tiled)), through_dlpack):
        assert not is_tiled(wrong)
        assert_close(wrong.cpu(), held)  # the tiles, read as if they were rows
        assert not torch.equal(wrong.cpu(), x)


def test_what_needs_a_storage():
    x = pack(torch.ones(2, 2))
    for call in (
        x.untyped_storage,
        x.share_memory_,
        lambda: x.view(torch.int32),
        lambda: torch.export.export(torch.nn.ReLU(), (x,)),
    ):
        with pytest.raises(NotImplementedError, match="Cannot access storage of Tiled"):
            call()
    message = "Cannot access data pointer of Tensor that doesn't have storage"
    with pytest.raises(RuntimeError, match=message):
        x.data_ptr()
    with pytest.raises(RuntimeError, match=message):
        torch.utils.dlpack.to_dlpack(x)
    plain = torch.ones(2, 2, device="openreg")
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        plain.data = x


def test_the_compiler_refuses_it():
    def relu(x):
        return x.relu()

    with pytest.raises(Exception, match="Cannot access storage of TiledTensorImpl"):
        torch.compile(relu, backend="eager")(pack(torch.ones(2, 2)))


# -- the subclass --


def test_a_subclass_of_python():
    x = torch.randn(20, 33)
    tiled = TiledTensor.pack(x.to("openreg"))
    assert_close(tiled.tiles, tiles(pack(x)))
    assert_close(tiled.unpack().cpu(), x)
    result = tiled.relu()
    assert type(result) is TiledTensor and type(
        tiled @ x.t().to("openreg")
    ) is not type(result)
    assert_close(result.unpack().cpu(), x.relu())
    with torch.autocast("openreg"):
        assert (tiled @ x.t().to("openreg")).dtype == torch.float16
    copied = copy.deepcopy(tiled)
    assert type(copied) is TiledTensor
    assert_close(copied.unpack().cpu(), x)
    with pytest.raises(NotImplementedError, match=r"slice.Tensor of a TiledTensor"):
        tiled[1:]
    leaf = tiled.detach().requires_grad_()
    leaf.relu().sum().backward()
    assert_close(leaf.grad.cpu(), (x > 0).float())


def test_the_subclass_stays_in_files_and_graphs():
    x = torch.randn(20, 33)
    tiled = TiledTensor.pack(x.to("openreg"))
    with torch.serialization.safe_globals([TiledTensor]):
        loaded = load(file_of(tiled))
    assert type(loaded) is TiledTensor and loaded.tiles.device.type == "openreg"
    assert_close(loaded.unpack().cpu(), x)
    result = torch.compile(torch.relu, backend="aot_eager", fullgraph=True)(tiled)
    assert type(result) is TiledTensor
    assert_close(result.unpack().cpu(), x.relu())
