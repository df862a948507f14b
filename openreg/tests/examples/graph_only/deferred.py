# Deferred eager: collect operators until a value is needed; see
# docs/modules/graph-only.md.
"""The collected calls become one graph, which is compiled once for each sequence."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from .binary import Binary
from .cache import GraphCache
from .chip import compile_graph
from .eager import (
    VALUE_DEPENDENT,
    GraphEager,
    check_call,
    describe,
    device_of,
    devices_of,
    is_memory,
)
from .lower import lower


@dataclass(frozen=True)
class View:
    """A tensor of a call: which memory, and what it reads of it."""

    slot: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    def of(self, bases: dict[int, torch.Tensor]) -> torch.Tensor:
        """Make the tensor of the slot's present value."""
        base = bases[self.slot]
        if (self.size, self.stride, self.offset) == (base.shape, base.stride(), 0):
            return base
        return base.as_strided(self.size, self.stride, self.offset)


@dataclass
class Slot:
    """Memory that pending calls read or make; ``base`` holds it if it is an input."""

    storage: StorageWeakRef
    dtype: torch.dtype
    size: torch.Size
    base: torch.Tensor | None

    def _memory(self) -> torch.UntypedStorage:
        return torch.UntypedStorage._new_with_weak_ptr(self.storage.cdata)

    def fill(self, result: torch.Tensor) -> None:
        """Copy a result to the memory that was promised for it."""
        target = torch.empty(0, dtype=self.dtype, device=result.device)
        target.set_(self._memory(), 0, self.size, _contiguous(self.size)).copy_(result)

    def invalidate(self) -> None:
        """Take the memory away after an error, so that reading it is an error."""
        if memory := self._memory():
            memory.resize_(0)


READERS = frozenset(
    getattr(torch.Tensor, name)
    for name in ("__repr__", "data_ptr", "untyped_storage", "__dlpack__")
)


class _Readers(TorchFunctionMode):
    """See the calls that read memory without the dispatcher."""

    def __init__(self, deferred: "DeferredEager") -> None:
        super().__init__()
        self._deferred = deferred

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func in READERS:
            self._deferred.flush(func.__name__)
        return func(*args, **kwargs or {})


class DeferredEager(TorchDispatchMode):
    """Collect calls; run them when a value is needed, or when there are ``limit``."""

    def __init__(
        self, limit: int = 512, cache: GraphCache | None = None, missing: str = "host"
    ) -> None:
        """With ``limit=1`` each operator runs when it is called, as in eager mode."""
        super().__init__()
        self.limit, self.missing = limit, missing
        self.cache = GraphCache() if cache is None else cache
        self.eager = GraphEager(self.cache, missing=missing)
        self.flushes: Counter[str] = Counter()
        self._calls: list[tuple[Any, list[Any], Any, list[int]]] = []
        self._slots: list[Slot] = []
        self._slot_of: dict[int, int] = {}
        self._device: torch.device | None = None
        self._running = False
        self._readers = _Readers(self)

    # LITERALINCLUDE START: GRAPH_ONLY_DEFER
    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        flat, _ = tree_flatten((args, kwargs))
        device = device_of(flat)
        if self._running or device is None or not self._needs_values(func, flat):  # (1)
            return func(*args, **kwargs)
        if self._device not in (None, device):
            self.flush("another device")
        if self._can_wait(func, flat):
            try:
                return self._record(func, args, kwargs, device)
            except VALUE_DEPENDENT:
                pass
        self.flush(str(func))  # (2)
        with self.eager:
            return func(*args, **kwargs)

    # LITERALINCLUDE END: GRAPH_ONLY_DEFER

    def mark_step(self) -> None:
        """Run what is pending; the call at the end of a training step."""
        self.flush("mark_step")

    def __enter__(self) -> Self:
        self._readers.__enter__()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        self._readers.__exit__(*error)
        super().__exit__(*error)
        self.flush("exit")

    def _needs_values(self, func: Any, flat: Sequence[Any]) -> bool:
        """Whether a call reads or writes values: not an upload, a view, ``empty``."""
        on_device = [x for x in flat if isinstance(x, torch.Tensor) and not x.is_cpu]
        is_upload = func is torch.ops.aten._to_copy.default and not on_device
        return not (func.is_view or is_upload or "empty" in func._schema.name)

    def _can_wait(self, func: Any, flat: Sequence[Any]) -> bool:
        """Whether a call may run later: it computes there, and draws no numbers."""
        tensors = [x for x in flat if isinstance(x, torch.Tensor)]
        return (
            (not is_memory(func, flat) or func is torch.ops.aten.copy_.default)
            and torch.Tag.nondeterministic_seeded not in func.tags
            and not any(x.is_out for x in func._schema.arguments)
            and len(devices_of(flat)) == 1
            and all(self._fits(x) for x in tensors)
        )

    def _fits(self, x: torch.Tensor) -> bool:
        slot = self._slot_of.get(_storage(x)._cdata)
        return slot is None or self._slots[slot].dtype == x.dtype

    def _record(self, func: Any, args: Any, kwargs: Any, device: torch.device) -> Any:
        flat, spec = tree_flatten((args, kwargs))
        promised = check_call(func, flat, spec)
        call = [self._view(x) if isinstance(x, torch.Tensor) else x for x in flat]
        written = any(x.alias_info for x in func._schema.returns)
        results = tree_map_only(
            torch.Tensor,
            lambda x: torch.empty(x.shape, dtype=x.dtype, device=device),
            promised,
        )
        made = [] if written else _tensors(results)
        self._device = device
        self._calls.append((func, call, spec, [self._new(x) for x in made]))
        result = return_and_correct_aliasing(func, args, kwargs, results)
        if len(self._calls) >= self.limit:
            self.flush("limit")
        return result

    def _view(self, x: torch.Tensor) -> View:
        storage = _storage(x)
        if storage._cdata not in self._slot_of:
            whole = x.is_contiguous() and storage.nbytes() == x.nbytes
            size = x.shape if whole else (storage.nbytes() // x.itemsize,)
            base = x.new_empty(0).set_(storage, 0, size, _contiguous(size))
            self._new(base, base)
        slot = self._slot_of[storage._cdata]
        return View(slot, tuple(x.shape), x.stride(), int(x.storage_offset()))

    def _new(self, x: torch.Tensor, base: torch.Tensor | None = None) -> int:
        reference = StorageWeakRef(_storage(x))
        self._slot_of[reference.cdata] = len(self._slots)
        self._slots.append(Slot(reference, x.dtype, x.shape, base))
        return len(self._slots) - 1

    # LITERALINCLUDE START: GRAPH_ONLY_FLUSH
    def flush(self, reason: str) -> None:
        """Compile what is pending as one graph, unless that was done before; run it."""
        calls, slots = self._calls, dict(enumerate(self._slots))
        self._calls, self._slots, self._slot_of = [], [], {}
        if not calls or self._device is None:
            return
        self.flushes[reason] += 1
        device, self._device, self._running = self._device, None, True
        read = {i: slot.base for i, slot in slots.items() if slot.base is not None}
        alive = [i for i, slot in slots.items() if not slot.storage.expired()]  # (1)
        made = [i for i in alive if i not in read]
        inputs = list(read.values())
        key = f"{calls} {describe(inputs, False)} {made} {self.missing}"  # (2)
        try:
            binary = self.cache.get(key, lambda: self._compile(calls, read, made))
            results = binary.run(inputs, device)
            for i, result in zip(made, results, strict=True):
                slots[i].fill(result)
        except BaseException:
            for i in made:
                slots[i].invalidate()  # (3)
            raise
        finally:
            self._running = False

    # LITERALINCLUDE END: GRAPH_ONLY_FLUSH

    def _compile(self, calls: Any, read: dict[int, Any], made: list[int]) -> Binary:
        def replay(*inputs: torch.Tensor) -> list[torch.Tensor]:
            bases = dict(zip(read, inputs, strict=True))
            for func, call, spec, new in calls:
                flat = [x.of(bases) if isinstance(x, View) else x for x in call]
                flat = ["cpu" if isinstance(x, torch.device) else x for x in flat]
                args, kwargs = tree_unflatten(flat, spec)
                results = _tensors(func(*args, **kwargs))
                for slot, result in zip(new, results, strict=bool(new)):
                    bases[slot] = result.contiguous()
            return [bases[slot] for slot in made]

        module, writes = lower(replay, list(read.values()))
        return compile_graph(module, writes, missing=self.missing)


def _tensors(results: Any) -> list[torch.Tensor]:
    """The tensors of what an operator returns, without the ones that it leaves out."""
    return [x for x in tree_flatten(results)[0] if isinstance(x, torch.Tensor)]


def _contiguous(size: Sequence[int]) -> list[int]:
    """The strides of a chip without strides."""
    return [math.prod(size[i + 1 :]) for i in range(len(size))]


def _storage(x: torch.Tensor) -> torch.UntypedStorage:
    """The storage of a tensor, without the flush that a reader's call causes."""
    with torch._C.DisableTorchFunction():
        return x.untyped_storage()
