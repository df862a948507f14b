# Eight threads use the device at once and compute what the CPU does.
# See docs/runtime/errors.md.
import random
import threading

import holding
import pytest
import torch
from patience import PATIENCE

THREADS = 8


def run_threads(work):
    """Run `work(number)` in eight threads at once; raise what the first one raised."""
    start = threading.Barrier(THREADS)
    errors = []

    def body(number):
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


class Twin:
    """A tensor on the device and on the CPU, its first and its last stream."""

    def __init__(self, device, host, stream):
        self.device, self.host, self.home, self.stream = device, host, stream, stream

    def use_on(self, stream):
        """Order the use on another stream, and keep the memory until it is over."""
        if stream != self.stream:
            stream.wait_stream(self.stream)
            self.device.record_stream(stream)
            self.stream = stream


def stress(number, steps, streams):
    """Do at random what programs do; each value must be the CPU's."""
    choose = random.Random(number)
    index = number % torch.openreg.device_count()
    torch.openreg.set_device(index)
    own = [*streams[index], torch.accelerator.current_stream(index)]
    generator = torch.Generator(f"openreg:{index}").manual_seed(number)
    twins = []

    def make(stream):
        size = choose.choice([1, 7, 100, 5000, 70_000])
        value = choose.randrange(100)
        return Twin(
            torch.full((size,), float(value), device="openreg"),
            torch.full((size,), float(value)),
            stream,
        )

    for step in range(steps):
        stream = choose.choice(own)
        with torch.openreg.stream(stream):  # the object is shared by threads
            if len(twins) < 4:
                twins.append(make(stream))
            twin = twins[choose.randrange(len(twins))]
            twin.use_on(stream)
            what = choose.randrange(10)
            if what == 0:  # a new tensor, from another
                twins.append(Twin(twin.device + step, twin.host + step, stream))
            elif what == 1:  # in place
                twin.device.add_(step)
                twin.host.add_(step)
            elif what == 2:  # through a view
                twin.device[::2].add_(1)
                twin.host[::2].add_(1)
            elif what == 3:  # copy in
                host = torch.arange(float(len(twin.host)))
                twins.append(Twin(host.to("openreg"), host, stream))
            elif what == 4:  # copy out
                assert torch.equal(twin.device.cpu(), twin.host)
            elif what == 5:  # to the other device and back
                other = f"openreg:{1 - index}"
                moved = (twin.device.to(other) + 1).to(f"openreg:{index}")
                assert torch.equal(moved.cpu(), twin.host + 1)
            elif what == 6:  # order by an event
                event = torch.Event("openreg")
                event.record(stream)
                other = choose.choice(own)
                other.wait_event(event)
                if choose.random() < 0.3:
                    event.synchronize()
            elif what == 7:  # random numbers of an own generator
                values = torch.rand(100, device="openreg", generator=generator).cpu()
                assert values.min() >= 0 and values.max() < 1
            elif len(twins) > 2:  # freed while it is read
                twins.append(Twin(twin.device + step, twin.host + step, stream))
                twins.remove(twin)
                home, size = twin.home, len(twin.host)
                del twin
                with torch.openreg.stream(home):
                    torch.full((size,), -1.0, device="openreg")
            if step % 50 == 0:
                torch.accelerator.empty_cache()
                torch.accelerator.memory_stats(index)
    torch.openreg.synchronize()
    for twin in twins:
        assert torch.equal(twin.device.cpu(), twin.host)


PROGRAM = """
    import sys
    sys.path[:0] = {paths!r}
    import torch, test_threads
    streams = [[torch.Stream(f"openreg:{{i}}") for _ in range(3)] for i in range(2)]
    test_threads.run_threads(
        lambda number: test_threads.stress(number + {seed}, {steps}, streams)
    )
    torch.accelerator.empty_cache()
    print(torch.accelerator.memory_allocated(0), torch.accelerator.memory_allocated(1))
"""


@pytest.mark.parametrize("delay", ["0", "300:5"], ids=["quick", "delayed"])
@pytest.mark.parametrize("steal", ["0", "1"], ids=["workers", "stealing"])
def test_eight_threads_compute_what_the_cpu_does(steal, delay, run_forked, request):
    folder = request.path.parent
    paths = [str(folder), str(folder.parent / "support")]
    program = PROGRAM.format(paths=paths, seed=1, steps=120)
    process = run_forked(program, OPENREG_STEAL=steal, OPENREG_SIM_DELAY=delay)
    assert process.returncode == 0, process.stderr
    assert process.stdout == "0 0\n"  # nothing leaks
    assert process.stderr == ""


@pytest.mark.needs(capability="hold")
def test_the_stress_notices_a_missing_wait():
    """Without the wait of `use_on` the same program computes something else."""
    side = torch.Stream("openreg")
    device = torch.zeros(4, device="openreg")
    torch.openreg.synchronize()
    with holding.hold(side):
        with side:
            twin = Twin(device, torch.zeros(4), side)
            twin.device.add_(1)
            twin.host.add_(1)
        assert not torch.equal(twin.device.cpu(), twin.host)
    twin.use_on(torch.accelerator.current_stream())
    assert torch.equal(twin.device.cpu(), twin.host)


def train(device, seed, steps=5):
    """A small model; returns its gradients on the CPU after some steps."""
    generator = torch.Generator().manual_seed(seed)
    first, second = (
        torch.randn(4, 4, generator=generator).to(device).requires_grad_()
        for _ in range(2)
    )
    for step in range(steps):
        loss = ((first + second) * (first + step)).sum()
        loss.backward()
    return first.grad.cpu(), second.grad.cpu()


@pytest.mark.parametrize("delay", [0, 200])
@pytest.mark.needs(capability="delay")
def test_eight_threads_run_backward_at_once(delay):
    expected = [train("cpu", seed) for seed in range(THREADS)]
    results = [None] * THREADS

    def work(number):
        stream = torch.Stream(f"openreg:{number % 2}")
        with stream:
            results[number] = train(f"openreg:{number % 2}", number)

    with holding.delay(delay, seed=1):
        run_threads(work)
    for result, gradients in zip(results, expected, strict=True):
        for value, other in zip(result, gradients, strict=True):
            torch.testing.assert_close(value, other)


def test_one_graph_is_shared_by_eight_threads():
    x = torch.ones(1000, device="openreg", requires_grad=True)
    run_threads(lambda number: (x + number).sum().backward())
    assert x.grad.tolist() == [8.0] * 1000


def test_refusals_in_eight_threads_leave_the_warnings_of_the_process_as_they_were():
    x = torch.ones(4, dtype=torch.bool, device="openreg")

    def work(number):
        for _ in range(200):
            with pytest.raises(NotImplementedError, match="kthvalue"):
                torch.kthvalue(x, 1)

    run_threads(work)
    assert not torch.is_warn_always_enabled()


def test_the_threads_of_the_driver_obey_set_num_threads(run_forked):
    program = """
import os
import torch
torch.set_num_threads(1)
x = torch.randn(512, 512, device="openreg")
torch.openreg.synchronize()
before = len(os.listdir("/proc/self/task"))
x @ x
torch.openreg.synchronize()
print(len(os.listdir("/proc/self/task")) - before)
"""
    assert run_forked(program, OPENREG_STEAL="0").stdout == "0\n"


@pytest.mark.needs(capability="kernels of the host")
def test_a_result_has_the_same_bits_whichever_thread_computes_it(run_forked):
    program = """
import threading
import torch
torch.set_num_threads(2)
values = [torch.randn(300_000) for _ in range(10)]
expected = {}
for number in (1, 2):
    torch.set_num_threads(number)
    expected[number] = [x.sum().item() for x in values]
assert expected[1] != expected[2]

def check(number):
    streams = [torch.Stream("openreg") for _ in values]
    sums = []
    for x, stream in zip(values, streams):
        with stream:
            sums.append(x.to("openreg").sum())
    torch.accelerator.synchronize()
    assert [s.item() for s in sums] == expected[number]
    assert torch.get_num_threads() == number

# What torch's thread that pins batches does: threads that begin later have 1.
other = threading.Thread(target=torch.set_num_threads, args=(1,))
other.start()
other.join()
check(2)
torch.set_num_threads(1)
check(1)
torch.set_num_threads(2)
check(2)
"""
    for steal in ("0", "1"):
        process = run_forked(program, OPENREG_STEAL=steal)
        assert process.returncode == 0, process.stderr


@pytest.mark.parametrize("run", [1, 2])
def test_a_number_of_threads_from_an_earlier_test_does_not_count(run):
    found = []

    def look_and_set():
        found.append(torch.get_num_threads())
        torch.set_num_threads(1)  # as the thread that pins a DataLoader's batches

    other = threading.Thread(target=look_and_set)
    other.start()
    other.join()
    assert found == [torch.get_num_threads()]
