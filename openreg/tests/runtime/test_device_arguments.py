# A wrong device argument raises what torch.cuda raises; see docs/runtime/errors.md.
import inspect

import pytest
import torch
from torch.cuda._utils import _get_device_index as cuda_index
from torch.xpu._utils import _get_device_index as xpu_index

openreg = torch.openreg
# Arguments besides the device that a function needs.
BEFORE = {
    "set_rng_state": lambda: (openreg.get_rng_state(0),),
    "caching_allocator_alloc": lambda: (64,),
    "get_stream_from_external": lambda: (0,),
    "ExternalStream": lambda: (0,),
    "set_per_process_memory_fraction": lambda: (1.0,),
    "use_mem_pool": lambda: (openreg.MemPool(),),
}
# What a negative index means, besides an error.
NOTHING = {"set_device", "device"}
CURRENT = {
    "ExternalStream", "Stream", "caching_allocator_alloc", "current_stream",
    "default_stream", "get_rng_state", "get_stream_from_external", "set_rng_state",
    "synchronize",
}  # fmt: skip


def is_storage(value: object) -> bool:
    """Whether it is a legacy type, whose device is its own."""
    return isinstance(value, type) and issubclass(value, torch.TypedStorage)


def functions() -> dict[str, list[str]]:
    """Each public name of the module that takes devices, with their parameters."""
    found = {}
    for name in openreg.__all__:
        value = getattr(openreg, name)
        if not callable(value) or value is openreg.Event or is_storage(value):
            continue
        names = inspect.signature(value).parameters
        devices = [it for it in names if it in ("device", "peer")]
        if devices:
            found[name] = devices
    return found


FUNCTIONS = functions()


def call(name: str, device: object) -> None:
    """Call a function with a device for each of its parameters in turn."""
    for place in FUNCTIONS[name]:
        devices = dict.fromkeys(FUNCTIONS[name], 0) | {place: device}
        result = getattr(openreg, name)(*BEFORE.get(name, tuple)(), **devices)
        if hasattr(type(result), "__enter__"):
            with result:
                pass
        elif name == "caching_allocator_alloc":
            openreg.caching_allocator_delete(result)


@pytest.fixture(autouse=True, scope="module")
def _started():
    openreg.init()
    torch.ones(1, device="openreg")


def test_the_functions_were_found():
    assert len(FUNCTIONS) > 25
    assert {"set_device", "memory_stats", "Stream", "use_mem_pool"} < set(FUNCTIONS)
    assert (NOTHING | CURRENT | set(BEFORE)) <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_index_without_a_device(name):
    numbers = [2, 9, 127, 128, 256, 300, 2**31, 2**32, 2**63, 2**64, -129, -(2**64)]
    if name not in NOTHING | CURRENT:
        numbers += [-1, -2, -128]
    for index in numbers:
        with pytest.raises(
            torch.AcceleratorError, match=r"openreg: .*device"
        ) as caught:
            call(name, index)
        assert caught.value.error_code == 101, index
    for device in ("openreg:9", torch.device("openreg", 9), openreg.device(9)):
        with pytest.raises(torch.AcceleratorError, match=r"openreg: .*device.* 9"):
            call(name, device)
    assert openreg.current_device() == 0


@pytest.mark.parametrize("name", sorted(NOTHING | CURRENT))
def test_a_negative_index(name):
    for index in (-1, -2, -128):
        with openreg.device(1):
            call(name, index)
            assert openreg.current_device() == 1


def test_a_negative_index_means_the_current_device():
    with openreg.device(1):
        assert openreg.Stream(-1).device.index == 1
        assert openreg.current_stream(-3).device.index == 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_openreg_device(name):
    for device in ("cpu", "cuda", "cuda:1", torch.device("cpu"), torch.device("meta")):
        words = f"Expected an openreg device, but got: {torch.device(device)}"
        with pytest.raises(ValueError, match=words):
            call(name, device)
    for text in ("", "first", "1", "openreg:-1", "openreg:x"):
        with pytest.raises(RuntimeError, match=r"[Dd]evice"):
            call(name, text)
    for thing in (1.5, [0], object, b"openreg", torch.accelerator.device_index(1)):
        with pytest.raises(ValueError, match=r"Expected a torch\.device"):
            call(name, thing)
    assert openreg.current_device() == 0


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"set_device"}))
def test_no_index_is_the_current_device(name):
    for device in ("openreg", torch.device("openreg"), None, True, openreg.device(1)):
        call(name, device)


def test_set_device_needs_an_index_as_that_of_cuda_does():
    for device in ("openreg", torch.device("openreg"), None):
        with pytest.raises(
            ValueError, match="a specified index or an integer, but got"
        ):
            openreg.set_device(device)
    openreg.set_device(True)  # torch's other modules take it for the index 1
    assert openreg.current_device() == 1
    openreg.set_device(openreg.device(0))
    assert openreg.current_device() == 0


@pytest.mark.parametrize(("theirs", "kind"), [(cuda_index, "cuda"), (xpu_index, "xpu")])
@pytest.mark.parametrize("device", ["cpu", "meta:3", None, 1.5, [0], "", "first", "1"])
def test_the_words_are_those_of_cuda_and_xpu(theirs, kind, device):
    errors = []
    for function in (theirs, openreg._utils._get_device_index):
        with pytest.raises((ValueError, RuntimeError)) as caught:
            function(device, False)
        errors.append((caught.type, str(caught.value)))
    (their_type, their_words), ours = errors
    their_words = their_words.replace(f"a {kind} device", "an openreg device")
    assert ours == (their_type, their_words)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(1, device="openreg:9"),
        lambda: torch.ones(1).to("openreg:9"),
        lambda: torch.ones(1).openreg(9),
        lambda: torch.ones(1, device="openreg").to("openreg:9"),
        lambda: torch.empty_strided((1,), (1,), device="openreg:9"),
        lambda: torch.UntypedStorage(4, device="openreg:9"),
        lambda: torch.Generator("openreg:9"),
        lambda: torch.Stream("openreg:9"),
        lambda: torch.accelerator.set_device_index(9),
        lambda: torch.accelerator.current_stream(9),
        lambda: torch.accelerator.synchronize(9),
        lambda: torch.accelerator.memory_stats(9),
        lambda: torch.accelerator.get_memory_info(9),
        lambda: torch.accelerator.get_device_capability(9),
        lambda: torch.accelerator.device_index(9).__enter__(),
        lambda: torch._C._accelerator_hooks_set_current_device(9),
        lambda: torch._C._accelerator_hooks_exchange_device(9),
        lambda: torch.nn.Linear(2, 2).to("openreg:9"),
    ],
)
def test_torch_raises_a_runtime_error_too(make):
    """That is the contract of torch.accelerator, and what torch.cuda raises."""
    with pytest.raises(RuntimeError, match=r"openreg: .*device.* 9") as caught:
        make()
    assert type(caught.value) is torch.AcceleratorError
    assert caught.value.error_code == 101
    assert openreg.current_device() == 0


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: torch.empty(1, device="openreg", pin_memory=True), RuntimeError,
         "Only dense CPU tensors can be pinned"),
        (lambda: openreg.set_rng_state(torch.zeros(3, dtype=torch.uint8)), RuntimeError,
         "RNG state is wrong size"),
        (lambda: openreg.set_rng_state(torch.zeros(16)), TypeError,
         "RNG state must be a torch.ByteTensor"),
        (lambda: openreg.set_rng_state(torch.zeros(32, dtype=torch.uint8)[::2]),
         RuntimeError, "RNG state must be contiguous"),
        (lambda: openreg.caching_allocator_delete(7), RuntimeError,
         "invalid device pointer: 0x7"),
        (lambda: openreg.caching_allocator_delete(-1), ValueError,
         "openreg: -1 is not an address of memory"),
        (lambda: openreg.caching_allocator_delete(None), TypeError,
         "openreg: the address is None, not an int"),
        (lambda: openreg.caching_allocator_alloc(100.5), TypeError,
         "openreg: the size is 100.5, not an int"),
        (lambda: openreg.caching_allocator_alloc(1 << 70), ValueError,
         f"openreg: cannot allocate {1 << 70} bytes"),
        (lambda: openreg.caching_allocator_alloc(-1), ValueError,
         "openreg: cannot allocate -1 bytes"),
        (lambda: openreg.caching_allocator_alloc(1, 0, "s"), TypeError,
         "openreg: the handle of a stream is 's', not an int"),
        (lambda: openreg.ExternalStream(1 << 70), ValueError,
         f"openreg: {1 << 70} is not the handle of a stream"),
        (lambda: openreg._sleep(1.5), TypeError,
         "openreg: the number of cycles is 1.5, not an int"),
        (lambda: openreg._sleep(1 << 70), ValueError,
         f"openreg: _sleep expects 0 to 2**63 - 1 cycles, but got {1 << 70}"),
        (lambda: openreg.set_per_process_memory_fraction(2.0), ValueError, "2"),
        (lambda: openreg.set_per_process_memory_fraction(1), TypeError, "1"),
        (lambda: openreg.memory._record_memory_history("no"), RuntimeError,
         "expected state to be 'state', 'all', or None"),
        (lambda: openreg.memory._record_memory_history(context="no"), RuntimeError,
         "expected context to be 'state', 'alloc', 'all', or None"),
        (lambda: openreg.memory._record_memory_history(stacks="no"), RuntimeError,
         "expected stacks to be 'python', or 'all'"),
        (lambda: torch.ones(1, device="openreg").untyped_storage().resize_(-1),
         RuntimeError, "negative"),
    ],
)  # fmt: skip
def test_other_mistakes_have_the_type_and_words_of_cuda(call, kind, words):
    with pytest.raises(kind) as caught:
        call()
    assert caught.type is kind
    assert words in str(caught.value).splitlines()[0]
