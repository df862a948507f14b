# Calls something while a stream stands still; see docs/runtime/host-memory.md.
import threading

import torch
from patience import PATIENCE


def returns_while_held(call, stream=None):
    """Run a call while its stream stands still; it must return without waiting."""
    results = []
    with torch.openreg.simulator.hold(stream):
        thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
        thread.start()
        thread.join(PATIENCE)
        waited = thread.is_alive()
    thread.join()
    assert not waited, "the call waited for the stream"
    return results[0]
