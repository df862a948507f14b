# Streams: identity, pool, current stream, other libraries; see docs/runtime/stream.md.
import copy
import ctypes
import pathlib
import pickle
import threading

import pytest
import torch
import torch_openreg

openreg = torch.openreg
driver = ctypes.CDLL(pathlib.Path(torch_openreg.__file__).parent / "lib/libopenreg.so")
TYPE = torch.Stream("openreg").device_type
SUCCESS = 0


def where() -> tuple[int, int, int]:
    """The current device, and the ids of the current streams of both devices."""
    current = torch.accelerator.current_stream
    return openreg.current_device(), current(0).stream_id, current(1).stream_id


@pytest.fixture(autouse=True)
def _default_streams():
    """Every test leaves the default streams current."""
    yield
    assert where()[1:] == (0, 0)


@pytest.fixture
def foreign():
    """A stream on device 1 that was not made by torch."""
    handle = ctypes.c_void_p()
    with openreg.device(1):
        assert driver.orStreamCreate(ctypes.byref(handle)) == SUCCESS
    yield handle
    driver.orStreamDestroy(handle)


# ---------------------------------------------------------------- the pool


def test_a_pool_has_32_streams_which_come_back_in_turn():
    priority = -4  # no other test draws from this pool
    first = [openreg.Stream(1, priority=priority) for _ in range(32)]
    assert len({s.stream_id for s in first}) == 32
    assert [openreg.Stream(1, priority=priority) for _ in range(32)] == first
    assert openreg.Stream(0, priority=priority) not in first
    assert openreg.Stream(1, priority=-3) not in first


@pytest.mark.parametrize(
    ("asked", "given"), [(0, 0), (-1, -1), (-5, -5), (-6, -5), (7, 0), (-(2**30), -5)]
)
def test_a_priority_out_of_range_becomes_the_nearest(asked, given):
    assert openreg.Stream.priority_range() == (0, -5)
    assert openreg.Stream(priority=asked).priority == given
    plain = torch.Stream("openreg", priority=asked)
    wrapped = openreg.Stream(
        stream_id=plain.stream_id, device_index=0, device_type=TYPE
    )
    assert wrapped.priority == given


@pytest.mark.parametrize("device", [1, "openreg:1", torch.device("openreg", 1)])
def test_a_stream_belongs_to_the_device_that_was_asked_for(device):
    stream = openreg.Stream(device)
    assert stream.device == torch.device("openreg:1")
    owner = ctypes.c_int(-1)
    driver.orStreamGetDevice(stream, ctypes.byref(owner))
    assert owner.value == 1


def test_without_a_device_it_is_the_current_one():
    with openreg.device(1):
        for stream in (openreg.Stream(), openreg.Stream(-1), openreg.Stream("openreg")):
            assert stream.device_index == 1
        assert torch.Stream("openreg").device_index == 1


# -------------------------------------------------------------- identity


def test_a_stream_survives_being_taken_apart():
    stream = openreg.Stream(1)
    same = torch.Stream(stream.stream_id, stream.device_index, stream.device_type)
    again = openreg.Stream(
        stream_id=same.stream_id,
        device_index=same.device_index,
        device_type=same.device_type,
    )
    assert stream == same == again
    assert hash(stream) == hash(same) == hash(again)
    assert {stream: "found"}[again] == "found"
    assert stream.native_handle == stream.stream_id == again.native_handle
    other = openreg.Stream(1)
    assert stream != other
    assert stream != stream.stream_id
    assert (stream == None, stream != None) == (False, True)  # noqa: E711
    text = (
        f"torch.openreg.Stream(device=openreg:1, native_handle={stream.stream_id:#x})"
    )
    assert repr(stream) == text


def test_streams_of_two_devices_differ_although_both_have_the_id_0():
    assert openreg.default_stream(0) != openreg.default_stream(1)
    assert openreg.default_stream(0).stream_id == openreg.default_stream(1).stream_id
    assert openreg.default_stream("openreg:1").device_index == 1


@pytest.mark.parametrize("make", [openreg.Stream, openreg.Event, torch.Stream])
def test_what_belongs_to_this_process_cannot_be_copied_or_pickled(make):
    for function in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            function(make())


def test_the_classes_are_those_of_torch():
    assert issubclass(openreg.Stream, torch.Stream)
    assert issubclass(openreg.ExternalStream, openreg.Stream)
    assert openreg.Event is torch.Event  # docs/ship/known-gaps-streams.md


# -------------------------------------------------------- the current stream


def test_each_thread_has_its_own_current_streams_and_device():
    seen = []
    stream = openreg.Stream(1)
    openreg.set_stream(stream)
    thread = threading.Thread(target=lambda: seen.append(where()))
    thread.start()
    thread.join()
    assert seen == [(0, 0, 0)]
    assert where() == (1, 0, stream.stream_id)
    openreg.set_stream(openreg.default_stream(1))


def test_set_stream_makes_the_device_current_and_no_other_stream():
    a, b = openreg.Stream(0), openreg.Stream(1)
    openreg.set_stream(a)
    openreg.set_stream(b)
    assert where() == (1, a.stream_id, b.stream_id)
    assert openreg.current_stream() == b
    assert openreg.current_stream(0) == openreg.current_stream("openreg:0") == a
    openreg.set_stream(None)
    assert where() == (1, a.stream_id, b.stream_id)
    openreg._set_stream_by_id(0, 1, TYPE)
    torch.accelerator.set_stream(openreg.default_stream(0))
    assert where() == (0, 0, 0)
    assert type(openreg.current_stream()) is openreg.Stream


CONTEXTS = [lambda stream: stream, openreg.stream, openreg.StreamContext]


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_context_restores_streams_and_device(context):
    a, b, c = openreg.Stream(0), openreg.Stream(1), openreg.Stream(0)
    with context(a):
        assert where() == (0, a.stream_id, 0)
        with context(b):
            assert where() == (1, a.stream_id, b.stream_id)
            assert torch.zeros(1, device="openreg").device.index == 1
            with context(c):
                assert where() == (0, c.stream_id, b.stream_id)
            assert where() == (1, a.stream_id, b.stream_id)
        with context(a):
            assert where() == (0, a.stream_id, 0)
        assert where() == (0, a.stream_id, 0)
    assert where() == (0, 0, 0)


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_context_restores_after_an_exception(context):
    with pytest.raises(KeyError), context(openreg.Stream(1)):
        raise KeyError
    assert where() == (0, 0, 0)


def test_no_stream_is_no_context():
    with openreg.stream(None):
        assert where() == (0, 0, 0)


def test_a_context_switches_the_device_also_for_a_stream_that_is_current_there():
    """Torch's own does not: docs/ship/known-gaps-streams.md."""
    with openreg.stream(openreg.default_stream(1)):
        assert where() == (1, 0, 0)
    assert where() == (0, 0, 0)


def test_a_context_object_serves_one_thread_whatever_others_do_with_its_stream():
    """Torch's own does not: docs/ship/known-gaps-streams.md."""
    stream, mine = openreg.Stream(), openreg.Stream()
    entered, leave = threading.Event(), threading.Event()

    def enter_and_leave_later():
        with openreg.stream(stream):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=enter_and_leave_later)
    with openreg.stream(mine):
        with openreg.stream(stream):
            thread.start()
            entered.wait()
        assert openreg.current_stream() == mine
        leave.set()
        thread.join()


# ------------------------------------------------------- other libraries


def test_a_foreign_stream_runs_our_work(foreign):
    stream = openreg.ExternalStream(foreign.value, device=1)
    assert stream.native_handle == foreign.value
    assert stream == openreg.get_stream_from_external(foreign.value, "openreg:1")
    with stream:
        x = torch.arange(4.0).to("openreg:1")
        y = x + x
    stream.synchronize()
    assert stream.query()
    assert y.tolist() == [0, 2, 4, 6]
    assert openreg.ExternalStream(0, 1) == openreg.default_stream(1)


def test_a_handle_that_is_not_ours_is_refused(foreign):
    with pytest.raises(ValueError, match="belongs to device 1, not to device 0"):
        openreg.ExternalStream(foreign.value, device=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'stream'"):
        openreg.ExternalStream(foreign.value, device=1, stream=0)
    for bad in (12345, -1, foreign.value + 1):
        with pytest.raises(torch.AcceleratorError, match="is not a live stream"):
            openreg.ExternalStream(bad, device=1)
    assert driver.orStreamDestroy(foreign) == SUCCESS
    with pytest.raises(torch.AcceleratorError, match="was destroyed already"):
        openreg.ExternalStream(foreign.value, device=1)


def test_an_invented_stream_is_refused_when_it_is_used():
    invented = torch.Stream(12345, 0, TYPE)
    real = torch.Stream("openreg")
    uses = [
        invented.query,
        invented.synchronize,
        invented.record_event,
        lambda: invented.wait_stream(real),
        lambda: real.wait_stream(invented),
        lambda: openreg.set_stream(invented),
        lambda: openreg._set_stream_by_id(12345, 0, TYPE),
        lambda: torch.ones(1, device="openreg").record_stream(invented),
        lambda: (
            openreg.Stream(stream_id=12345, device_index=0, device_type=TYPE).priority
        ),
    ]
    event = real.record_event()
    for use in [*uses, lambda: event.record(invented)]:
        with pytest.raises(torch.AcceleratorError, match="0x3039 is not a live stream"):
            use()
    assert where() == (0, 0, 0)
    with pytest.raises(torch.AcceleratorError, match="0x3039 is not"), invented:
        torch.ones(1, device="openreg")  # torch checks nothing: the operator must
    assert torch.ones(1, device="openreg").item() == 1


def test_a_device_that_does_not_exist_is_refused():
    beyond = openreg.device_count()
    for make in (
        lambda: openreg.Stream(beyond),
        lambda: torch.Stream(f"openreg:{beyond}"),
        lambda: openreg.current_stream(beyond),
        lambda: openreg.default_stream(beyond),
        lambda: openreg.ExternalStream(0, beyond),
        lambda: openreg.set_stream(torch.Stream(0, beyond, TYPE)),
        lambda: torch.Stream(0, beyond, TYPE).synchronize(),
    ):
        with pytest.raises(torch.AcceleratorError, match="openreg: "):
            make()
    for make in (
        lambda: openreg.Stream("cpu"),
        lambda: openreg.set_stream(torch.Stream("cpu")),
    ):
        with pytest.raises(ValueError, match="Expected an openreg device"):
            make()
    assert where() == (0, 0, 0)


@pytest.mark.parametrize("wrong", [None, 3, "stream"])
def test_what_is_not_a_stream_or_event_is_refused(wrong):
    stream = openreg.Stream()
    for call in (stream.wait_stream, stream.wait_event):
        with pytest.raises(TypeError, match=r"takes a (Stream|Event), not"):
            call(wrong)


# ------------------------------------------------------------- capture


def test_a_stream_says_whether_it_is_being_captured():
    stream, other = openreg.Stream(), openreg.Stream()
    graph = ctypes.c_void_p()
    relaxed = 2
    assert not stream.is_capturing()
    assert driver.orStreamBeginCapture(stream, relaxed) == SUCCESS
    with openreg.stream(stream):
        assert openreg.is_current_stream_capturing()
    assert stream.is_capturing()
    assert torch.Stream(stream.stream_id, 0, TYPE).is_capturing()
    assert not other.is_capturing()
    assert not openreg.is_current_stream_capturing()
    with pytest.raises(torch.AcceleratorError, match="captur"):
        stream.query()  # invalidates the capture, as on CUDA
    driver.orStreamEndCapture(stream, ctypes.byref(graph))
    assert not stream.is_capturing()
    assert stream.query()
