# Every context manager can be entered again; see docs/frontend/device-module.md.
import inspect
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import torch
from patience import PATIENCE

openreg = torch.openreg
MODULES = [openreg, openreg.memory, openreg.simulator, openreg.streams]


def streams_and_device() -> tuple[int, ...]:
    streams = [openreg.current_stream(index).stream_id for index in range(2)]
    return (openreg.current_device(), *streams)


def pool_of_new_memory() -> str:
    """The private pool that this thread allocates from now, if any."""
    x = torch.empty(3 << 20, dtype=torch.uint8, device="openreg:0")
    segments = openreg.memory_snapshot()
    address = x.data_ptr()
    (found,) = [
        segment["segment_pool_id"]
        for segment in segments
        if 0 <= address - segment["address"] < segment["total_size"]
    ]
    return "a private pool" if found != (0, 0) else "the common pool"


def is_held() -> bool:
    """Nothing is enqueued on this stream, so a release for a moment starts nothing."""
    stream = openreg.default_stream(1)
    try:
        openreg.simulator._release(stream)
    except ValueError:
        return False
    openreg.simulator._hold(stream)
    return True


Make = Callable[[], AbstractContextManager[object]]
# Name: how to make one, what it changes, and whether for the calling thread alone.
CONTEXTS: dict[str, tuple[Make, Callable[[], object], bool]] = {
    "device": (lambda: openreg.device(1), streams_and_device, True),
    "device_of": (
        lambda: openreg.device_of(torch.empty(1, device="openreg:1")),
        streams_and_device,
        True,
    ),
    "StreamContext": (
        lambda: openreg.StreamContext(openreg.Stream(1)),
        streams_and_device,
        True,
    ),
    "stream": (lambda: openreg.stream(openreg.Stream(1)), streams_and_device, True),
    "Stream": (lambda: openreg.Stream(1), streams_and_device, True),
    "ExternalStream": (
        lambda: openreg.get_stream_from_external(openreg.Stream(1).native_handle, 1),
        streams_and_device,
        True,
    ),
    "use_mem_pool": (
        lambda: openreg.use_mem_pool(openreg.MemPool(), 0),
        pool_of_new_memory,
        True,
    ),
    "fallbacks": (lambda: openreg.fallbacks("error"), openreg.fallback_mode, False),
    "hold": (
        lambda: openreg.simulator.hold(openreg.default_stream(1)),
        is_held,
        False,
    ),
    "delay": (
        lambda: openreg.simulator.delay(3, seed=5),
        openreg.simulator._get_delay,
        False,
    ),
}


@pytest.fixture(params=CONTEXTS)
def case(request):
    """A context, a function for what it changes, its values out- and inside."""
    make, look, _ = CONTEXTS[request.param]
    context = make()
    outside = look()
    with context:
        inside = look()
    assert inside != outside
    assert look() == outside
    return context, look, outside, inside


def makes_contexts(value: object) -> bool:
    """Whether it is a class of context managers, or a function that returns one."""
    if inspect.isclass(value):
        return hasattr(value, "__enter__")
    if not inspect.isfunction(value):
        return False
    returned = inspect.signature(value).return_annotation
    generator = inspect.isgeneratorfunction(inspect.unwrap(value))
    return generator or hasattr(returned, "__enter__")


def test_the_list_has_every_context_manager_of_the_package():
    found = {
        name
        for module in MODULES
        for name in module.__all__
        if makes_contexts(getattr(module, name))
    }
    # A current stream is no new one, and the class is in the list.
    returned = {name for name in found if name.endswith("_stream")}
    assert found - returned - {"get_stream_from_external"} == set(CONTEXTS)


def test_again_after_its_end(case):
    context, look, outside, inside = case
    for _ in range(2):
        with context:
            assert look() == inside
        assert look() == outside


def test_within_itself(case):
    context, look, outside, inside = case
    with context:
        with context:
            with context:
                assert look() == inside
            assert look() == inside
        assert look() == inside
    assert look() == outside


def test_an_exception_within_itself(case):
    context, look, outside, inside = case
    with context:
        with pytest.raises(KeyError), context:
            raise KeyError
        assert look() == inside
        with pytest.raises(ZeroDivisionError), context, context:
            raise ZeroDivisionError
        assert look() == inside
    assert look() == outside


def run(*functions: Callable[[], None]) -> None:
    """Run each function in its own thread; raise what one of them raises."""
    errors: list[BaseException] = []

    def call(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(it,)) for it in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("objects", ["one object", "two objects"])
def test_two_threads_whose_blocks_overlap(name, objects):
    """The thread that enters first leaves first."""
    make, look, own = CONTEXTS[name]
    first = make()
    second = first if objects == "one object" else make()
    outside = look()
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))

    def enter_first():
        with first:
            inside = look()
            first_is_in.set()
            assert second_is_in.wait(PATIENCE)
            assert look() == inside
        if own:
            assert look() == outside
        first_is_out.set()

    def enter_second():
        assert first_is_in.wait(PATIENCE)
        assert (look() == outside) == own
        with second:
            inside = look()
            assert inside != outside
            second_is_in.set()
            assert first_is_out.wait(PATIENCE)
            assert look() == inside
        assert look() == outside

    run(enter_first, enter_second)
    assert look() == outside


def test_a_context_that_cannot_be_entered_changes_nothing():
    context = openreg.device(99)
    with openreg.device(1):
        with pytest.raises((RuntimeError, ValueError)), context:
            raise AssertionError("not reached")
        assert openreg.current_device() == 1
    assert openreg.current_device() == 0
    with pytest.raises(ValueError, match="not 'maybe'"), openreg.fallbacks("maybe"):
        raise AssertionError("not reached")
    assert openreg.fallback_mode() == "allow"


def test_a_context_is_a_decorator_too():
    @openreg.fallbacks("error")
    def mode() -> str:
        return openreg.fallback_mode()

    assert [mode(), mode(), openreg.fallback_mode()] == ["error", "error", "allow"]


def test_a_graph_refuses_to_be_recorded_within_itself():
    """Torch's class: nothing stays behind, and the graph can be recorded afterwards."""
    graph, stream = torch.accelerator.Graph(), openreg.Stream(0)
    x = torch.zeros(2, device="openreg")
    with pytest.raises(RuntimeError, match="capture"), stream, graph, graph:
        raise AssertionError("not reached")
    assert not stream.is_capturing() and streams_and_device() == (0, 0, 0)
    with stream, graph:
        x.add_(1)
    graph.replay()
    openreg.synchronize()
    assert x.tolist() == [1.0, 1.0]


def test_another_thread_may_end_a_block():
    stream = torch.Stream("openreg")
    x = torch.zeros(3, device="openreg")
    torch.openreg.synchronize()
    hold = torch.openreg.simulator.hold(stream)
    hold.__enter__()
    with stream:
        x += 1
    thread = threading.Thread(target=hold.__exit__, args=(None, None, None))
    thread.start()
    torch.openreg.synchronize()
    thread.join()
    assert x.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="was not entered"):
        hold.__exit__(None, None, None)


@pytest.mark.parametrize("name", CONTEXTS)
def test_no_block_ends_that_has_not_begun(name):
    make, look, _ = CONTEXTS[name]
    outside = look()
    with pytest.raises(RuntimeError, match="was not entered"):
        make().__exit__(None, None, None)
    assert look() == outside
