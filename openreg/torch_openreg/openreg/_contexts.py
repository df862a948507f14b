# Context managers that can be entered again; see docs/frontend/device-module.md.
"""A context restores the state of one ``with`` block, not of the object.

Users keep a context object and enter it again: later, within itself, in other threads.
An attribute of the object holds only what the last of these blocks has to restore.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ContextDecorator, contextmanager
from threading import Lock, get_ident
from types import TracebackType
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


# LITERALINCLUDE START: BLOCKS
class Blocks(Generic[T]):
    """The saved states of the ``with`` blocks of a context: one stack per thread."""

    def __init__(self) -> None:
        self._kept: dict[int, list[T]] = {}

    def enter(self, value: T) -> None:
        """Keep a value for the block that begins."""
        self._kept.setdefault(get_ident(), []).append(value)

    def leave(self) -> T:
        """Return the value of the block that ends.

        A thread that has entered none ends the block of the thread that came last.
        RuntimeError if no block has begun.
        """
        thread = get_ident()
        if thread not in self._kept:
            if not self._kept:
                raise RuntimeError("openreg: this context was not entered: use with")
            thread = next(reversed(self._kept))
        value = self._kept[thread].pop()
        if not self._kept[thread]:
            del self._kept[thread]
        return value


# LITERALINCLUDE END: BLOCKS


class _Reentrant(AbstractContextManager[T], ContextDecorator):
    """A context manager that makes a new one for each block."""

    def __init__(self, make: Callable[[], AbstractContextManager[T]]) -> None:
        self._make = make
        self._blocks: Blocks[AbstractContextManager[T]] = Blocks()

    def __enter__(self) -> T:
        block = self._make()
        value = block.__enter__()
        self._blocks.enter(block)
        return value

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return self._blocks.leave().__exit__(kind, value, traceback)


def reentrant(function: Callable[P, Iterator[T]]) -> Callable[P, _Reentrant[T]]:
    """Like ``contextlib.contextmanager``, but its objects can be entered again."""
    once = contextmanager(function)

    @functools.wraps(function)
    def make(*args: P.args, **kwargs: P.kwargs) -> _Reentrant[T]:
        return _Reentrant(lambda: once(*args, **kwargs))

    return make


class ProcessSetting(Generic[T]):
    """A value of the whole process that contexts of several threads change.

    Blocks of two threads need not end in the reverse order of their beginnings. A block
    that ends before a later one passes on its saved value, so that the last block to
    end restores the value from before the first.
    """

    def __init__(self, read: Callable[[], T], write: Callable[[T], None]) -> None:
        self._read, self._write = read, write
        self._lock = Lock()
        self._saved: list[list[T]] = []  # a list of one value for each block

    @contextmanager
    def changed_to(self, value: T) -> Iterator[None]:
        """Change the value for the time of a block."""
        with self._lock:
            saved = [self._read()]
            self._write(value)
            self._saved.append(saved)
        try:
            yield
        finally:
            with self._lock:
                place = next(i for i, s in enumerate(self._saved) if s is saved)
                del self._saved[place]
                if place < len(self._saved):
                    self._saved[place][:] = saved
                else:
                    self._write(*saved)
