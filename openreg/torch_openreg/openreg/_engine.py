# Lets the threads of autograd finish before Python ends; see
# docs/ship/known-crashes.md.
"""At the end of the process, wait for the threads of the autograd engine.

A thread that releases a backward pass drops its reference to a Python object. If Python
has already ended, SIGABRT kills the process.
"""

import atexit
import contextlib
from pathlib import Path

from torch_openreg import _C


# LITERALINCLUDE START: ENGINE_EXIT
def _let_threads_finish() -> None:
    """Wait for the engine if it has threads for devices."""
    if not _C._is_initialized():
        return
    names = []
    for thread in Path("/proc/self/task").glob("*/comm"):
        with contextlib.suppress(OSError):  # it has just ended
            names.append(thread.read_text())
    if any(name.startswith("pt_autograd") for name in names):
        _C._drain_autograd_threads()


atexit.register(_let_threads_finish)
# LITERALINCLUDE END: ENGINE_EXIT
