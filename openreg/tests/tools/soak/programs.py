# Random programs on streams, with graphs and faults; see docs/ship/robustness.md.
"""A state machine of hypothesis: each rule is something that a program does."""

import io
from typing import ClassVar

import hypothesis.strategies as st
import torch
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from .twins import BINARY, IN_PLACE, UNARY, Twin, apply, check, gradients, small

openreg = torch.openreg
STREAMS = 3  # of each device, besides its default stream
MOST = 12  # tensors at a time
PICK = st.integers(0, 10_000)
SIZE = st.sampled_from([1, 7, 100, 5000, 70_000]) | st.integers(1, 3000)


class Programs(RuleBasedStateMachine):
    """Tensors, views, copies, streams, events, graphs, and devices that stop."""

    devices = range(2)
    calls: ClassVar[dict[str, int]] = {}  # how often each rule ran

    def __init__(self) -> None:
        super().__init__()
        self.twins: list[Twin] = []
        self.graphs: list[tuple[torch.accelerator.Graph, Twin, torch.Tensor, int]] = []

    @initialize(sizes=st.lists(SIZE, min_size=4, max_size=6))
    def begin(self, sizes: list[int]) -> None:
        openreg.simulator.reset()  # after a program that failed
        self.streams = {
            index: [
                openreg.default_stream(index),
                *(torch.Stream(f"openreg:{index}") for _ in range(STREAMS)),
            ]
            for index in self.devices
        }
        for number, size in enumerate(sizes):
            self.make(size, number, number, number, whole=number % 2 == 0)

    def _count(self, name: str) -> None:
        self.calls[name] = self.calls.get(name, 0) + 1

    def _twin(self, pick: int) -> Twin:
        return self.twins[pick % len(self.twins)]

    def _stream(self, index: int, pick: int) -> torch.Stream:
        streams = self.streams[index]
        return streams[pick % len(streams)]

    def _keep(
        self, device: torch.Tensor, host: torch.Tensor, *on: torch.Stream
    ) -> Twin:
        twin = Twin(device, host)
        twin.memory.streams.update(on)
        self.twins.append(twin)
        if len(self.twins) > MOST:
            del self.twins[0]  # while it is used, perhaps
        return twin

    # -- tensors

    @rule(
        size=SIZE, value=st.integers(0, 30), device=PICK, pick=PICK, whole=st.booleans()
    )
    def make(self, size: int, value: int, device: int, pick: int, whole: bool) -> None:
        self._count("make")
        index = self.devices[device % len(self.devices)]
        stream = self._stream(index, pick)
        dtype = torch.int64 if whole else torch.float32
        host = torch.remainder(torch.arange(size) + value, 31).to(dtype)
        with openreg.stream(stream):
            self._keep(host.to(f"openreg:{index}", non_blocking=True), host, stream)

    @precondition(lambda self: self.twins)
    @rule(which=PICK, pick=PICK, function=st.sampled_from(UNARY), event=st.booleans())
    def compute(self, which: int, pick: int, function: object, event: bool) -> None:
        self._count("compute")
        twin = self._twin(which)
        stream = self._stream(twin.device.device.index, pick)
        with openreg.stream(stream):
            twin.use_on(stream, torch.Event("openreg") if event else None)
            self._keep(apply(function, twin.device), apply(function, twin.host), stream)

    @precondition(lambda self: self.twins)
    @rule(which=PICK, other=PICK, pick=PICK, function=st.sampled_from(BINARY))
    def combine(self, which: int, other: int, pick: int, function: object) -> None:
        left, right = self._twin(which), self._twin(other)
        if left.device.device != right.device.device:
            return
        self._count("combine")
        length = min(len(left.host), len(right.host))
        stream = self._stream(left.device.device.index, pick)
        with openreg.stream(stream):
            left.use_on(stream)
            right.use_on(stream)
            device = apply(function, left.device[:length], right.device[:length])
            host = apply(function, left.host[:length], right.host[:length])
            self._keep(device, host, stream)

    @precondition(lambda self: self.twins)
    @rule(which=PICK, pick=PICK, function=st.sampled_from(IN_PLACE))
    def change(self, which: int, pick: int, function: object) -> None:
        self._count("change in place")
        twin = self._twin(which)
        stream = self._stream(twin.device.device.index, pick)
        with openreg.stream(stream):
            twin.use_on(stream)
            for x in (twin.device, twin.host):
                function(x)  # type: ignore[operator]
                x.remainder_(31)

    @precondition(lambda self: self.twins)
    @rule(which=PICK, start=st.integers(0, 50), step=st.integers(1, 3))
    def view(self, which: int, start: int, step: int) -> None:
        twin = self._twin(which)
        if start < len(twin.host):
            self._count("view")
            new = self._keep(twin.device[start::step], twin.host[start::step])
            new.memory = twin.memory

    @precondition(lambda self: self.twins)
    @rule(which=PICK, device=PICK, pick=PICK, wait=st.booleans())
    def move(self, which: int, device: int, pick: int, wait: bool) -> None:
        self._count("copy to a device")
        twin = self._twin(which)
        there = self.devices[device % len(self.devices)]
        stream = self._stream(twin.device.device.index, pick)
        with openreg.stream(stream):
            twin.use_on(stream)
            target = openreg.current_stream(there)
            target.wait_stream(stream)
            moved = twin.device.to(f"openreg:{there}", non_blocking=not wait, copy=True)
        self._keep(moved, twin.host.clone(), target)

    @precondition(lambda self: self.twins)
    @rule(which=PICK, other=PICK)
    def differentiate(self, which: int, other: int) -> None:
        left, right = self._twin(which), self._twin(other)
        if left.device.device != right.device.device:
            return
        self._count("backward")
        length = min(len(left.host), len(right.host))
        stream = openreg.default_stream(left.device.device.index)
        with openreg.stream(stream):
            left.use_on(stream)
            right.use_on(stream)
            found = gradients(left.device[:length], right.device[:length])
            expected = gradients(left.host[:length], right.host[:length])
            for device, host in zip(found, expected, strict=True):
                self._keep(device, host, stream)

    @precondition(lambda self: self.twins)
    @rule(which=PICK)
    def save(self, which: int) -> None:
        self._count("save and load")
        twin, file = self._twin(which), io.BytesIO()
        check([twin])
        torch.save(twin.device, file)
        file.seek(0)
        self._keep(torch.load(file), twin.host.clone())

    @precondition(lambda self: self.twins)
    @rule(which=PICK)
    def free(self, which: int) -> None:
        self._count("free")
        self.twins.remove(self._twin(which))

    @precondition(lambda self: self.twins)
    @rule(which=PICK)
    def read(self, which: int) -> None:
        self._count("read")
        check([self._twin(which)])

    # -- the device

    @rule(what=st.integers(0, 3), number=st.integers(0, 1000), device=PICK)
    def do_to_device(self, what: int, number: int, device: int) -> None:
        """Do what needs no tensor, and would otherwise be half of each program."""
        if what == 0:
            self._count("empty the caches")
            torch.accelerator.empty_cache()
        elif what == 1:
            self.draw(number, device)
        elif what == 2:
            self.ask_too_much(device)
        else:
            self.stop(device, number % 6)

    def draw(self, seed: int, device: int) -> None:
        self._count("random numbers")
        place = f"openreg:{self.devices[device % len(self.devices)]}"
        generator = torch.Generator(place)
        drawn = []
        for _ in range(2):
            generator.manual_seed(seed)
            drawn.append(torch.rand(100, device=place, generator=generator).cpu())
        assert torch.equal(*drawn)

    # -- graphs

    # LITERALINCLUDE START: CAPTURE
    @precondition(lambda self: self.twins and len(self.graphs) < 3)
    @rule(which=PICK, chosen=st.integers(0, 5))
    def capture(self, which: int, chosen: int) -> None:
        self._count("capture")
        twin = self._twin(which)
        stream = self._stream(twin.device.device.index, 1)
        with openreg.device(twin.device.device), openreg.stream(stream):
            twin.use_on(stream)
            static = Twin(twin.device.clone(), twin.host.clone())
            static.use_on(stream)
            graph = torch.accelerator.Graph()
            with graph:
                result = apply(UNARY[chosen], static.device)
        self.graphs.append((graph, static, result, chosen))

    # LITERALINCLUDE END: CAPTURE

    @precondition(lambda self: self.graphs)
    @rule(which=PICK, pick=PICK, value=st.integers(0, 30))
    def replay(self, which: int, pick: int, value: int) -> None:
        self._count("replay")
        graph, static, result, chosen = self.graphs[which % len(self.graphs)]
        stream = self._stream(static.device.device.index, pick)
        with openreg.device(static.device.device), openreg.stream(stream):
            static.use_on(stream)
            for x in (static.device, static.host):
                x.copy_(small(x + value))
            graph.replay()
            host = apply(UNARY[chosen], static.host)
            self._keep(result.clone(), host, stream)

    @precondition(lambda self: self.graphs)
    @rule(which=PICK)
    def drop_graph(self, which: int) -> None:
        self._count("free a graph")
        del self.graphs[which % len(self.graphs)]

    # -- faults

    def stop(self, device: int, after: int) -> None:
        """A kernel fails; what the device has is lost, the others go on."""
        self._count("a kernel fails")
        torch.accelerator.synchronize()
        index = self.devices[device % len(self.devices)]
        openreg.synchronize(index)
        openreg.simulator.fail_kernel("add", after)
        with openreg.device(index):
            x = None
            try:
                x = torch.ones(100, device="openreg")
                for _ in range(after + 1):
                    x = x + 1
                openreg.synchronize()
            except torch.AcceleratorError as error:
                assert "orSimFailKernel" in str(error)
            else:
                raise AssertionError("the device did not stop")
        del x
        here = torch.device("openreg", index)
        check(twin for twin in self.twins if twin.device.device != here)
        self.graphs = [one for one in self.graphs if one[1].device.device != here]
        self.twins = [twin for twin in self.twins if twin.device.device != here]
        openreg.simulator.reset()
        assert torch.ones(2, device=here).add(1).tolist() == [2, 2]

    def ask_too_much(self, device: int) -> None:
        self._count("out of memory")
        index = self.devices[device % len(self.devices)]
        try:
            torch.empty(1 << 50, dtype=torch.uint8, device=f"openreg:{index}")
        except torch.OutOfMemoryError:
            return
        raise AssertionError("a petabyte of memory was given")

    # -- the end

    def teardown(self) -> None:
        try:
            check(self.twins)
        finally:
            self.twins.clear()
            self.graphs.clear()
