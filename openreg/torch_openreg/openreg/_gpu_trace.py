# Callbacks for what the runtime does; see docs/ship/debugging.md.
"""Python callbacks for events, streams, memory and synchronizations.

torch looks this module up as ``torch.openreg._gpu_trace`` after
``torch._C._activate_gpu_trace()``, which cannot be undone. A callback runs on the
thread of the traced call. If it raises, the error is logged, and the call continues.
"""

from collections.abc import Callable

from torch._utils import CallbackRegistry

EventCreationCallbacks: CallbackRegistry[[int]] = CallbackRegistry(
    "openreg event creation"
)
EventDeletionCallbacks: CallbackRegistry[[int]] = CallbackRegistry(
    "openreg event deletion"
)
EventRecordCallbacks: CallbackRegistry[[int, int]] = CallbackRegistry(
    "openreg event record"
)
EventWaitCallbacks: CallbackRegistry[[int, int]] = CallbackRegistry(
    "openreg event wait"
)
MemoryAllocationCallbacks: CallbackRegistry[[int]] = CallbackRegistry(
    "openreg memory allocation"
)
MemoryDeallocationCallbacks: CallbackRegistry[[int]] = CallbackRegistry(
    "openreg memory deallocation"
)
StreamCreationCallbacks: CallbackRegistry[[int]] = CallbackRegistry(
    "openreg stream creation"
)
DeviceSynchronizationCallbacks: CallbackRegistry[[]] = CallbackRegistry(
    "openreg device synchronization"
)
StreamSynchronizationCallbacks: CallbackRegistry[[int]] = CallbackRegistry(
    "openreg stream synchronization"
)
EventSynchronizationCallbacks: CallbackRegistry[[int]] = CallbackRegistry(
    "openreg event synchronization"
)


def register_callback_for_event_creation(cb: Callable[[int], None]) -> None:
    """Call ``cb`` with an event's handle, when the first record makes it."""
    EventCreationCallbacks.add_callback(cb)


def register_callback_for_event_deletion(cb: Callable[[int], None]) -> None:
    """Call ``cb`` with an event's handle."""
    EventDeletionCallbacks.add_callback(cb)


def register_callback_for_event_record(cb: Callable[[int, int], None]) -> None:
    """Call ``cb`` with the handles of an event and of the stream."""
    EventRecordCallbacks.add_callback(cb)


def register_callback_for_event_wait(cb: Callable[[int, int], None]) -> None:
    """Call ``cb`` with the handles of an event and of the stream that waits."""
    EventWaitCallbacks.add_callback(cb)


def register_callback_for_memory_allocation(cb: Callable[[int], None]) -> None:
    """Call ``cb`` with the address of new memory."""
    MemoryAllocationCallbacks.add_callback(cb)


def register_callback_for_memory_deallocation(cb: Callable[[int], None]) -> None:
    """Call ``cb`` with the address of memory no longer used."""
    MemoryDeallocationCallbacks.add_callback(cb)


def register_callback_for_stream_creation(cb: Callable[[int], None]) -> None:
    """Call ``cb`` with a stream's handle."""
    StreamCreationCallbacks.add_callback(cb)


def register_callback_for_device_synchronization(cb: Callable[[], None]) -> None:
    """Call ``cb`` without arguments, before a thread waits for a whole device."""
    DeviceSynchronizationCallbacks.add_callback(cb)


def register_callback_for_stream_synchronization(cb: Callable[[int], None]) -> None:
    """Call ``cb`` with a stream's handle; 0 for a default stream."""
    StreamSynchronizationCallbacks.add_callback(cb)


def register_callback_for_event_synchronization(cb: Callable[[int], None]) -> None:
    """Call ``cb`` with an event's handle."""
    EventSynchronizationCallbacks.add_callback(cb)
