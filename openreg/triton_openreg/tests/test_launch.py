# From a call in Python to a kernel on a stream; see docs/modules/triton-launch.md.
import threading

import pytest
import torch
import triton
import triton.language as tl
from patience import PATIENCE
from torch.testing import assert_close
from triton import knobs
from while_held import returns_while_held


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def launch(x, y, out):
    add[(triton.cdiv(x.numel(), 32),)](x, y, out, x.numel(), B=32)
    return out


@pytest.fixture
def tensors():
    x, y = torch.randn(100), torch.randn(100)
    return x.to("openreg"), y.to("openreg"), torch.zeros(100, device="openreg")


# -- where and when it runs --


def test_values(tensors):
    x, y, _ = tensors
    assert_close(launch(*tensors), x + y, rtol=0, atol=0)


def test_a_launch_does_not_wait(tensors):
    x, y, _ = tensors
    launch(*tensors)  # compiles
    out = returns_while_held(lambda: launch(*tensors))
    assert_close(out, x + y)


def test_on_the_current_stream(tensors):
    x, y, out = tensors
    launch(*tensors)
    out.zero_()
    torch.openreg.synchronize()
    stream, event = torch.openreg.Stream(), torch.openreg.Event()
    with torch.openreg.simulator.hold(stream), stream:
        launch(*tensors)
        event.record()
        assert not stream.query() and not event.query()
        assert torch.openreg.default_stream().query()
    event.synchronize()
    assert_close(out, x + y)


def test_on_the_second_device():
    x = torch.randn(50, device="openreg:1")
    with torch.openreg.device(1):
        out = launch(x, x, torch.empty_like(x))
        stream = torch.openreg.Stream(1)
        with torch.openreg.simulator.hold(), stream:  # the default stream of device 1
            launch(x, x, torch.empty_like(x))
            stream.synchronize()
    assert_close(out, x + x)


def test_in_a_graph(tensors):
    x, y, out = tensors
    launch(*tensors)
    stream, graph = torch.openreg.Stream(), torch.accelerator.Graph()
    with stream, graph:
        launch(*tensors)
    x.mul_(2)
    out.zero_()
    for _ in range(2):
        graph.replay()
        assert_close(out, x + y)


def test_a_grid_of_three_dimensions_and_an_empty_one():
    @triton.jit
    def count(out):
        x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        row = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
        tl.store(out + row, x + 10 * y + 100 * z)

    out = torch.full((24,), -1, device="openreg", dtype=torch.int32)
    count[(2, 3, 4)](out)
    expected = [
        x + 10 * y + 100 * z for z in range(4) for y in range(3) for x in (0, 1)
    ]
    assert out.tolist() == expected
    count[(2, 0)](out.fill_(7))
    assert out.tolist() == [7] * 24


def test_a_launch_that_waits_for_room_lets_other_threads_run(tensors):
    """A stream takes 1024 tasks; without the GIL, the main thread can go on."""
    launch(*tensors)
    with torch.openreg.simulator.hold():
        ready = threading.Event()

        def fill():
            ready.set()
            for _ in range(1100):
                launch(*tensors)

        thread = threading.Thread(target=fill, daemon=True)
        thread.start()
        ready.wait(PATIENCE)
        thread.join(2)
        assert thread.is_alive()
    thread.join(PATIENCE)
    assert not thread.is_alive()


# -- what tools see --


def test_a_profile_has_the_name_of_the_kernel(tensors):
    launch(*tensors)
    activities = torch.profiler.ProfilerActivity
    with torch.profiler.profile(
        activities=[activities.CPU, activities.PrivateUse1]
    ) as profile:
        launch(*tensors)
        torch.openreg.synchronize()
    rows = [event for event in profile.events() if event.name == "add"]
    assert [str(row.device_type) for row in rows] == ["DeviceType.OPENREG"]


def test_launch_hooks(tensors, monkeypatch):
    seen = []
    hooks = {"launch_enter_hook": "enter", "launch_exit_hook": "exit"}
    for hook, word in hooks.items():
        chain = getattr(knobs.runtime, hook)
        call = lambda metadata, word=word: seen.append((word, metadata.get()["name"]))  # noqa: E731
        chain.add(call)
        monkeypatch.setattr(chain, "calls", [call])
    launch(*tensors)
    assert seen == [("enter", "add"), ("exit", "add")]


# -- arguments --


@triton.jit
def store(out, value):
    tl.store(out, value)


@triton.jit
def integers(
    out,
    a: tl.int8,
    b: tl.int16,
    c: tl.int32,
    d: tl.int64,
    e: tl.uint8,
    f: tl.uint16,
    g: tl.uint32,
    h: tl.uint64,
    i: tl.int1,
):
    values = (a, b, c, d, e, f, g, h, i)
    for index in tl.static_range(9):
        tl.store(out + index, values[index].to(tl.int64))


@triton.jit
def floats(out, a: tl.float16, b: tl.bfloat16, c: tl.float32, d: tl.float64):
    values = (a, b, c, d)
    for index in tl.static_range(4):
        tl.store(out + index, values[index].to(tl.float64))


@pytest.mark.parametrize(
    "values",
    [
        (-5, -300, -(2**31), -(2**63), 255, 2**16 - 1, 2**32 - 1, 2**63 - 1, True),
        (127, 300, 2**31 - 1, 2**62, 0, 1, 2, 3, False),
    ],
)
def test_integers(values):
    out = torch.zeros(9, device="openreg", dtype=torch.int64)
    integers[(1,)](out, *values)
    assert out.tolist() == list(map(int, values))


@pytest.mark.parametrize(
    "value", [0.1, -2.5, 1.00390625, 65504.0, 1e-8, float("inf"), float("nan")]
)
def test_floats(value):
    out = torch.zeros(4, device="openreg", dtype=torch.float64)
    floats[(1,)](out, *(value,) * 4)
    dtypes = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    expected = [torch.tensor(value, dtype=dtype).item() for dtype in dtypes]
    assert_close(out.cpu(), torch.tensor(expected).double(), equal_nan=True)
    assert_close(out.tolist(), expected, rtol=0, atol=0, equal_nan=True)


def test_a_number_that_does_not_fit():
    @triton.jit
    def store(out, value: tl.int32):
        tl.store(out, value)

    out = torch.zeros(1, device="openreg", dtype=torch.int32)
    with pytest.raises(OverflowError, match=r"argument value .* fit into 32 bits"):
        store[(1,)](out, 2**31)


def test_a_tensor_that_the_device_cannot_reach(tensors):
    x, y, out = tensors
    with pytest.raises(ValueError, match=r"argument x .* in host memory"):
        launch(x.cpu(), y, out)
    with pytest.raises(ValueError, match=r"argument y .* in host memory"):
        launch(x, y.cpu().pin_memory(), out)
    with pytest.raises(ValueError, match=r"argument out .* openreg:1, .* openreg:0"):
        launch(x, y, torch.empty(100, device="openreg:1"))


def test_no_memory_and_no_tensor():
    empty = torch.empty(0, device="openreg")
    launch(empty, empty, empty)
    store[(0,)](empty, 1.0)


def test_a_tuple():
    @triton.jit
    def total(out, pair, rest):
        tl.store(out, tl.load(pair[0]) + pair[1] + rest[0][0] + rest[1])

    out, x = torch.zeros(1, device="openreg"), torch.full((1,), 2.0, device="openreg")
    total[(1,)](out, (x, 3.0), ((4.0,), 1))
    assert out.item() == 10


def test_a_tensor_descriptor():
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def copy(source, out, B: tl.constexpr):
        block = source.load([0, 0])
        i = tl.arange(0, B)
        tl.store(out + i[:, None] * B + i[None, :], block)

    x = torch.randn(16, 16, device="openreg")
    out = torch.zeros_like(x)
    copy[(1,)](TensorDescriptor.from_tensor(x, [16, 16]), out, B=16)
    assert_close(out, x)


def test_an_error_of_the_driver_is_raised(tensors):
    launch(*tensors)
    torch.openreg.simulator.fail_kernel("add")
    launch(*tensors)
    with pytest.raises(torch.AcceleratorError, match="add"):
        torch.openreg.synchronize()
    with pytest.raises(torch.AcceleratorError, match="orErrorLaunchFailure"):
        launch(*tensors)
    torch.openreg.simulator.reset()
