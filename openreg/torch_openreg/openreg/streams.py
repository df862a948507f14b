# Streams and events with the names of torch.xpu; see docs/runtime/stream.md.
"""Order and overlap of the work on a device."""

import ctypes
from types import TracebackType
from typing import Self

import torch
from torch.compiler import is_dynamo_compiling

from torch_openreg import _C

from ._contexts import Blocks
from ._utils import Device as _Device
from ._utils import (
    _external_stream,
    _get_current_index,
    _get_device_index,
    _integer,
)

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "get_stream_from_external",
    "is_current_stream_capturing",
    "set_stream",
    "stream",
]


class Stream(torch.Stream):
    """A queue of work on one device; ``with stream:`` makes it current.

    Args:
        device: where; the current device by default, and for a negative index.
        priority: 0, or negative for a stream that runs first. Numbers outside of
            :meth:`priority_range` mean the nearest one inside.
        kwargs: ``stream_id``, ``device_index`` and ``device_type`` of a stream that
            exists; they are not checked before the stream is used.

    Raises:
        torch.AcceleratorError: there is no such device.
    """

    def __new__(
        cls, device: _Device | None = None, priority: int = 0, **kwargs: int
    ) -> Self:
        """Take a stream from the pool of its device and priority."""
        if kwargs:  # an existing stream, as Dynamo and the functions below name it
            return super().__new__(cls, priority=priority, **kwargs)
        where = torch.device("openreg", _get_current_index(device))
        return super().__new__(cls, where, priority=priority)

    native_handle: int  # of torch.Stream, whose stubs lack it

    @property
    def priority(self) -> int:
        """The priority; 0 is the least."""
        return _C._stream_priority(self)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the least and the greatest priority, such as ``(0, -5)``."""
        return _C._stream_priority_range()

    def wait_event(self, event: torch.Event) -> None:
        """Let work enqueued from now on start after the event's last record.

        Raises:
            TypeError: it is not an event.
        """
        _expect(event, torch.Event, "wait_event")
        super().wait_event(event)

    def wait_stream(self, stream: torch.Stream) -> None:
        """Let work enqueued from now on start after the current work of ``stream``.

        Raises:
            TypeError: it is not a stream.
        """
        _expect(stream, torch.Stream, "wait_stream")
        super().wait_stream(stream)

    # Torch's own do nothing for a stream that is current on another device, and mix up
    # threads that enter the same stream; see docs/ship/known-gaps-streams.md.
    def __enter__(self) -> Self:
        self._blocks.enter(_C._switch_to(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._blocks.leave().back()

    @property
    def _blocks(self) -> Blocks[_C._StreamSwitch]:
        return self.__dict__.setdefault("_previous", Blocks())

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        """The handle, for functions of the driver that are called with ctypes."""
        return ctypes.c_void_p(self.native_handle)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, torch.Stream) and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other  # of torch's, none differs from None

    __hash__ = torch.Stream.__hash__

    def __repr__(self) -> str:
        handle = f"native_handle={self.native_handle:#x}"
        return f"torch.openreg.Stream(device={self.device}, {handle})"


class ExternalStream(Stream):
    """A stream that another library made with ``orStreamCreate``.

    It is not destroyed with this object: its maker owns it, and must keep it alive
    as long as tensors that were used on it.

    Args:
        stream_ptr: the driver's handle, as a number; 0 is the default stream.
        device: where the stream was made; the current device by default.
        kwargs: only ``priority``, which has no effect: the stream has one already.

    Raises:
        torch.AcceleratorError: the handle is not that of a live stream.
        TypeError: the handle is not an int, or a keyword is not known.
        ValueError: the stream belongs to another device.
    """

    def __new__(
        cls, stream_ptr: int, device: _Device | None = None, **kwargs: int
    ) -> Self:
        """Wrap the handle."""
        stream = _external_stream(stream_ptr, _get_current_index(device))
        if unknown := sorted(kwargs.keys() - {"priority"}):
            raise TypeError(
                f"openreg: ExternalStream() got an unexpected keyword argument "
                f"{unknown[0]!r}: pass only a handle and its device"
            )
        return super().__new__(cls, **_key(stream))


# Torch's own class: torch rejects objects of a Python subclass where it expects an
# event, as in elapsed_time(); see docs/ship/known-gaps-streams.md.
Event = torch.Event


def _expect(value: object, kind: type, method: str) -> None:
    """Reject an argument that torch would misinterpret."""
    if not isinstance(value, kind):
        raise TypeError(
            f"openreg: Stream.{method}() takes a {kind.__name__}, not {value!r}"
        )


def _key(stream: torch.Stream) -> dict[str, int]:
    """Return the arguments that make a stream from an existing one."""
    return {
        "stream_id": stream.stream_id,
        "device_index": stream.device_index,
        "device_type": stream.device_type,
    }


def current_stream(device: _Device | None = None) -> Stream:
    """Return the calling thread's current stream of a device.

    Raises:
        torch.AcceleratorError: there is no such device.
    """
    if is_dynamo_compiling():
        traced = torch.accelerator.current_stream
        return traced() if device is None else traced(device)  # type: ignore[return-value]
    return Stream(**_key(torch.accelerator.current_stream(_get_current_index(device))))


def default_stream(device: _Device | None = None) -> Stream:
    """Return the default stream of a device, which is initially current.

    Raises:
        torch.AcceleratorError: there is no such device.
    """
    return Stream(**_key(_C._external_stream(0, _get_current_index(device))))


def set_stream(stream: torch.Stream | None) -> None:
    """Make a stream current for this thread, and its device; None does nothing.

    Raises:
        torch.AcceleratorError: its handle is not that of a live stream.
        ValueError: it belongs to another device, or to a device of another type.
    """
    if stream is not None:
        # Torch checks nothing: every later operator would fail instead.
        _C._external_stream(stream.stream_id, _get_device_index(stream.device))
        torch.accelerator.set_stream(stream)


def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
    """Make the stream of this id current; Dynamo's generated code calls it."""
    set_stream(torch.Stream(stream_id, device_index, device_type))


def get_stream_from_external(data_ptr: int, device: _Device | None = None) -> Stream:
    """Return the stream of a driver's handle; see :class:`ExternalStream`.

    Args:
        data_ptr: the handle, as a number.
        device: where the stream was made; the current device by default.
    """
    return ExternalStream(data_ptr, device)


def is_current_stream_capturing() -> bool:
    """Return whether work for the current stream is recorded instead of run."""
    return current_stream().is_capturing()


# LITERALINCLUDE START: STREAM_CONTEXT
class StreamContext:
    """Context manager that makes a stream and its device current; None does nothing.

    At its end, also after an exception, the stream that was current on that device, the
    device that was current, and its stream are current again. The same object can be
    entered again, also within itself and by other threads.
    """

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream
        self._previous: Blocks[_C._StreamSwitch] = Blocks()  # (1)

    def __enter__(self) -> None:
        if self.stream is not None:
            self._previous.enter(_C._switch_to(self.stream))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.stream is not None:
            self._previous.leave().back()


# LITERALINCLUDE END: STREAM_CONTEXT


# LITERALINCLUDE START: TRACED_STREAM
def stream(stream: torch.Stream | None) -> StreamContext:
    """Return a context manager that makes a stream current."""
    if is_dynamo_compiling() and stream is not None:
        return stream  # type: ignore[return-value]  # Dynamo has `with stream:`
    return StreamContext(stream)


# LITERALINCLUDE END: TRACED_STREAM


def _sleep(cycles: int) -> None:
    """Keep the current stream busy for this many cycles of a 1 GHz clock.

    Raises:
        TypeError: it is not an int.
        ValueError: it is negative, or does not fit into 64 bits.
    """
    number = _integer(cycles, "the number of cycles")
    if not 0 <= number < 2**63:
        raise ValueError(
            f"openreg: _sleep expects 0 to 2**63 - 1 cycles, but got {number}"
        )
    _C._sleep(number)
