# Work runs in the order asked for, and no other; see docs/runtime/stream.md.
#
# A stream that is held keeps its order, so each wrong program here is wrong every time.
import gc
import threading
import time
from contextlib import ExitStack

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

openreg = torch.openreg
simulator = openreg.simulator


def settled(*values: float, count: int = 1000) -> list[torch.Tensor]:
    """Tensors on the device whose values are there."""
    tensors = [torch.full((count,), float(v), device="openreg") for v in values]
    openreg.synchronize()
    return tensors


def value(tensor: torch.Tensor) -> float:
    """The one value that all elements have."""
    host = tensor.cpu()
    assert torch.all(host == host[0])
    return host[0].item()


# --------------------------------------------------- on the current stream


def copy_on_device(x):
    return torch.empty_like(x).copy_(x)


def copy_with_conversion(x):
    return x.to(torch.float64)


def copy_to_other_device(x):
    return x.to("openreg:1")


KERNELS = [lambda x: x + x, lambda x: x.fill_(2), lambda x: x.add_(1), copy_on_device]
COPIES = [copy_with_conversion, copy_to_other_device, lambda x: x.clone()]


@pytest.mark.parametrize("operation", KERNELS + COPIES)
def test_operators_run_on_the_current_stream_and_others_go_on(operation):
    (x,) = settled(1)
    expected = operation(torch.ones(1000)) if operation in KERNELS else x.cpu()
    side, other = openreg.Stream(), openreg.Stream()
    with simulator.hold(side):
        with openreg.stream(side):
            y = operation(x)
        assert not side.query()
        with openreg.stream(other):
            z = torch.ones(1000, device="openreg") + 1
            assert value(z) == 2  # waits for `other` only
        assert openreg.default_stream().query()
        assert not side.query()
    side.synchronize()
    openreg.synchronize(y.device)
    assert torch.equal(y.cpu(), expected.to(y.dtype))


def test_a_copy_to_the_device_runs_on_the_current_stream():
    (x,) = settled(1)
    side = openreg.Stream()
    with simulator.hold(side):
        with openreg.stream(side):
            x.copy_(torch.full((1000,), 5.0), non_blocking=True)  # buffered: no wait
        assert value(x) == 1
        assert not side.query()
    side.synchronize()
    assert value(x) == 5


def test_an_operator_that_falls_back_waits_for_its_own_stream_only():
    (x,) = settled(3)
    side, held = openreg.Stream(), openreg.Stream()
    with simulator.hold(held), openreg.stream(side):
        side.wait_stream(openreg.default_stream())
        assert value(x * x) == 9


# --------------------------------------------- a wait that was forgotten


def read_what_another_stream_writes(synchronize: bool) -> float:
    x, y = settled(0, 0)
    writer, reader = openreg.Stream(), openreg.Stream()
    with simulator.hold(writer):
        with openreg.stream(writer):
            x.fill_(1)
        if synchronize:
            reader.wait_stream(writer)
        with openreg.stream(reader):
            y.copy_(x)
        if not synchronize:
            reader.synchronize()
        assert reader.query() is not synchronize
    reader.synchronize()
    return value(y)


def write_what_another_stream_still_reads(synchronize: bool) -> float:
    x, y = settled(1, 0)
    reader, writer = openreg.Stream(), openreg.Stream()
    with simulator.hold(reader):
        with openreg.stream(reader):
            y.add_(x)
            event = reader.record_event()
        if synchronize:
            writer.wait_event(event)
        with openreg.stream(writer):
            x.fill_(7)
        if not synchronize:
            writer.synchronize()
    openreg.synchronize()
    return value(y)


def read_on_the_host_what_a_side_stream_writes(synchronize: bool) -> float:
    (x,) = settled(0)
    side = openreg.Stream()
    with ExitStack() as stack:
        stack.enter_context(simulator.hold(side))
        with openreg.stream(side):
            x.fill_(1)
        if synchronize:
            openreg.current_stream().wait_stream(side)
            stack.close()  # else the next line would deadlock
        return value(x)


def reuse_memory_that_a_side_stream_reads(synchronize: bool) -> float:
    gc.collect()  # no other block of this size may become free meanwhile
    openreg.synchronize()
    openreg.empty_cache()
    count = 6 << 20  # 24 MiB are their own segment: no hole elsewhere fits better
    x, y = settled(1, 0, count=count)
    side = openreg.Stream()
    with simulator.hold(side):
        with openreg.stream(side):
            y.add_(x)
        if synchronize:
            x.record_stream(side)
        address = x.data_ptr()
        del x
        z = torch.full((count,), 7.0, device="openreg")  # on the stream of x
        assert (z.data_ptr() == address) is not synchronize
        openreg.current_stream().synchronize()
    side.synchronize()
    return value(y)


def copy_between_devices(synchronize: bool) -> float:
    (x,) = settled(0)
    y = torch.zeros(1000, device="openreg:1")
    writer = openreg.Stream(0)
    openreg.synchronize(1)
    with simulator.hold(writer):
        with openreg.stream(writer):
            x.fill_(1)
        if synchronize:
            openreg.current_stream(0).wait_stream(writer)
        y.copy_(x)  # on the current streams of both devices
        if not synchronize:
            openreg.synchronize(1)
        assert openreg.current_stream(1).query() is not synchronize
    openreg.synchronize(1)
    return value(y)


PROGRAMS = {
    read_what_another_stream_writes: (1, 0),
    write_what_another_stream_still_reads: (1, 7),
    read_on_the_host_what_a_side_stream_writes: (1, 0),
    reuse_memory_that_a_side_stream_reads: (1, 7),
    copy_between_devices: (1, 0),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_forgotten_synchronization_is_noticed_each_time(program):
    right, wrong = PROGRAMS[program]
    for _ in range(3):
        assert program(synchronize=True) == right
        assert program(synchronize=False) == wrong


# ------------------------------------------------------------- waiting


def test_a_stream_can_wait_for_one_of_another_device():
    (x,) = settled(0)
    near, far = openreg.Stream(0), openreg.Stream(1)
    with simulator.hold(near):
        with openreg.stream(near):
            x.fill_(1)
        far.wait_stream(near)
        assert not far.query()
        assert openreg.default_stream(1).query()
    far.synchronize()
    assert near.query()


@pytest.mark.parametrize("wait", ["stream", "event", "device", "module", "item"])
def test_other_python_threads_go_on_while_one_waits(wait):
    (x,) = settled(1)
    side = openreg.Stream()
    started, done = threading.Event(), []

    def wait_for_side():
        openreg.set_stream(side)
        waiting = {
            "stream": side.synchronize,
            "event": side.record_event().synchronize,
            "device": torch.accelerator.synchronize,
            "module": openreg.synchronize,
            "item": (x + x)[0].item,
        }[wait]
        started.set()
        waiting()
        done.append(time.monotonic())

    with simulator.hold(side):
        with openreg.stream(side):
            x.add_(1)
        thread = threading.Thread(target=wait_for_side)
        thread.start()
        started.wait()
        for _ in range(10):  # would stand still if the thread kept the interpreter
            time.sleep(0.001)
        assert thread.is_alive()
        released = time.monotonic()
    thread.join()
    assert done[0] >= released


def test_a_destroyed_event_still_holds_back_who_waits_for_it():
    x, y = settled(0, 0)
    writer, reader = openreg.Stream(), openreg.Stream()
    with simulator.hold(writer):
        with openreg.stream(writer):
            x.fill_(1)
        event = writer.record_event()
        reader.wait_event(event)
        del event
        with openreg.stream(reader):
            y.copy_(x)
        assert not reader.query()
    reader.synchronize()
    assert value(y) == 1


# ------------------------------------------------------- random schedules

STREAMS = 8
TENSORS = 4
STEP = st.one_of(
    st.tuples(st.just("add"), *[st.integers(0, TENSORS - 1)] * 3),
    st.tuples(st.just("copy"), *[st.integers(0, TENSORS - 1)] * 2),
    st.tuples(st.just("fill"), st.integers(0, TENSORS - 1), st.integers(-3, 3)),
    st.tuples(st.just("new"), st.integers(0, TENSORS - 1), st.integers(-3, 3)),
)


def apply(tensors: list[torch.Tensor], step: tuple) -> None:
    kind, target, *rest = step
    if kind == "add":
        torch.add(tensors[rest[0]], tensors[rest[1]], out=tensors[target])
    elif kind == "copy":
        tensors[target].copy_(tensors[rest[0]])
    elif kind == "fill":
        tensors[target].fill_(rest[0])
    else:  # frees the old memory for the next allocation
        tensors[target] = torch.full_like(tensors[target], float(rest[0]))


@settings(max_examples=30, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, STREAMS - 1), STEP), max_size=30),
    by_event=st.booleans(),
    seed=st.integers(1, 1000),
)
def test_any_schedule_with_its_synchronization_gives_the_values_of_the_cpu(
    steps, by_event, seed
):
    """Each step on its own stream; waits only for those which used its tensors."""
    expected = [torch.zeros(256) for _ in range(TENSORS)]
    streams = [openreg.Stream() for _ in range(STREAMS)]
    last: list[set[int]] = [set() for _ in range(TENSORS)]  # streams that used it
    with simulator.delay(200, seed):
        actual = [torch.zeros(256, device="openreg") for _ in range(TENSORS)]
        for stream in streams:
            stream.wait_stream(openreg.current_stream())
        for where, step in steps:
            apply(expected, step)
            stream = streams[where]
            used = {step[1], *(step[2:] if step[0] in ("add", "copy") else ())}
            for index in used:
                for other in last[index] - {where}:
                    if by_event:
                        stream.wait_event(streams[other].record_event())
                    else:
                        stream.wait_stream(streams[other])
                last[index].add(where)
            with openreg.stream(stream):
                for index in used:
                    actual[index].record_stream(stream)
                apply(actual, step)
                actual[step[1]].record_stream(stream)
        for stream in streams:
            openreg.current_stream().wait_stream(stream)
        result = [tensor.cpu() for tensor in actual]
    assert all(map(torch.equal, result, expected))
