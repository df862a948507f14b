# A sender that does not wait; see docs/frontend/multiprocessing.md.
"""The memory of a process goes with the process, unless somebody has opened it."""

import torch
import torch.multiprocessing as mp


# LITERALINCLUDE START: TOO_EARLY
def send(queue):
    queue.put(torch.ones(3, device="openreg"))


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=send, args=(queue,))
    process.start()
    process.join(100)  # the mistake: the tensor has not been received yet
    queue.get(timeout=100)
# LITERALINCLUDE END: TOO_EARLY
