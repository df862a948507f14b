# Typed storages of the device, as torch.cuda has them; see docs/runtime/storage.md.
import copy
import io
import pickle
import warnings

import pytest
import torch

openreg = torch.openreg
pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
NAMES = openreg.legacy_storages.__all__
DTYPES = {
    name: dtype for dtype, name in torch.storage._dtype_to_storage_type_map().items()
}
VALUES = [0, 1, 1, 0, 1]


def test_they_are_those_of_cuda():
    theirs = {name for name in vars(torch.cuda) if name.endswith("Storage")}
    assert set(NAMES) == {name for name in theirs if name[0] != "_"}
    assert len(NAMES) == 12


@pytest.mark.parametrize("name", NAMES)
def test_a_typed_storage_has_its_class(name):
    cls, dtype = getattr(openreg, name), DTYPES[name]
    assert (cls.__name__, cls.__module__) == (name, "torch.openreg")
    assert cls.dtype == cls._dtype == dtype
    x = torch.tensor(VALUES).to(dtype).to("openreg:1")
    assert x.storage_type() is cls
    assert x.storage().type() == f"torch.openreg.{name}"
    for other in NAMES:
        same = isinstance(x.storage(), getattr(openreg, other))
        assert same is (other == name)
        assert not isinstance(x.storage(), getattr(torch, other))
        assert not isinstance(x.cpu().storage(), getattr(openreg, other))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_made_as_on_the_cpu(name):
    ours, theirs = getattr(openreg, name), getattr(torch, name)
    for arguments in ((), (3,), (VALUES,), (tuple(VALUES),)):
        made, expected = ours(*arguments), theirs(*arguments)
        assert (type(made), made.dtype) == (type(expected), expected.dtype)
        assert made.device == torch.device("openreg:0")
        assert made.size() == expected.size()
        if arguments and arguments != (3,):  # memory of a size has any values
            assert made.tolist() == expected.tolist()
    wrapped = torch.tensor(VALUES).to(DTYPES[name]).to("openreg:1").untyped_storage()
    assert ours(wrap_storage=wrapped).tolist() == VALUES
    assert ours(wrap_storage=wrapped).data_ptr() == wrapped.data_ptr()
    for wrong in ((1.5,), (1, 2), (object(),)):
        kinds = []
        for cls in (ours, theirs):
            with pytest.raises((TypeError, RuntimeError)) as caught:
                cls(*wrong)
            kinds.append(caught.type)
        assert kinds[0] is kinds[1]
    with pytest.raises(RuntimeError, match="must be openreg, but got cpu"):
        ours(wrap_storage=torch.ones(1).untyped_storage())
    with pytest.raises(RuntimeError, match="from_buffer: Not available for openreg"):
        ours.from_buffer(b"")


@pytest.mark.parametrize(
    "work",
    [
        lambda s: s.double(),
        lambda s: s.clone(),
        lambda s: s.fill_(2),
        lambda s: s.bool(),
        lambda s: copy.deepcopy(s),
        lambda s: copy.copy(s),
        lambda s: pickle.loads(pickle.dumps(s)),
        lambda s: s.openreg(1),
    ],
)
@pytest.mark.parametrize("name", ["FloatStorage", "LongStorage", "BFloat16Storage"])
def test_it_does_what_that_of_the_cpu_does(name, work):
    found = work(getattr(openreg, name)(VALUES))
    expected = work(getattr(torch, name)(VALUES))
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()
    assert found.device.type == "openreg"
    assert found._get_legacy_storage_class().__module__ == "torch.openreg"
    assert found.cpu().tolist() == expected.tolist()


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_saved_and_loaded(name, weights_only):
    storage = getattr(openreg, name)(VALUES)
    file = io.BytesIO()
    torch.save({"storage": storage}, file)
    for where, device in ((None, "openreg:0"), ("openreg:1",) * 2, ("cpu",) * 2):
        file.seek(0)
        loaded = torch.load(file, map_location=where, weights_only=weights_only)
        found = loaded["storage"]
        assert found.device == torch.device(device)
        assert (found.dtype, found.tolist()) == (DTYPES[name], VALUES)
    # The class itself is found by its name.
    cls = getattr(openreg, name)
    assert pickle.loads(pickle.dumps(cls)) is cls


@pytest.mark.parametrize("name", NAMES)
def test_each_use_warns_as_often_as_on_cuda(name):
    """Those of torch.cuda are plain Python up to the storage: they warn without one."""
    for look in (lambda cls: cls.dtype, lambda cls: cls._dtype):
        counts = []
        for module in (openreg, torch.cuda):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                look(getattr(module, name))
            counts.append([str(warning.message)[:26] for warning in caught])
        assert counts[0] == counts[1]


def test_a_dtype_without_a_typed_storage_has_none():
    assert torch.ones(1, dtype=torch.uint16, device="openreg").storage_type() is None
    assert torch.ones(1, dtype=torch.uint16).storage_type() is None


def test_tensor_types_are_names_without_classes():
    """docs/ship/known-gaps-names.md"""
    x = torch.ones(2, device="openreg")
    for dtype, name in {torch.float64: "Double", torch.int32: "Int"}.items():
        text = f"torch.openreg.{name}Tensor"
        assert x.to(dtype).type() == text
        assert x.type(text).dtype == torch.ones(2).type(text).dtype == dtype
        assert torch.ones(2).type(text).device == x.device
        assert not hasattr(openreg, f"{name}Tensor")
    with pytest.raises(AttributeError, match="FloatTensor"):
        torch.set_default_tensor_type("torch.openreg.FloatTensor")
    # Torch makes such classes, and lists them, for the CPU and CUDA alone.
    modules = {cls.__module__ for cls in torch._tensor_classes}
    assert modules == {"torch", "torch.cuda", "torch.sparse", "torch.cuda.sparse"}
