# Two processes, one tensor; see docs/frontend/multiprocessing.md.
"""One process sends a tensor, the other doubles it in place."""

import torch
import torch.multiprocessing as mp


# LITERALINCLUDE START: HANDOVER
def double(queue, done):
    x = queue.get()  # (1)
    x.mul_(2)
    torch.accelerator.synchronize()  # (2)
    done.set()


if __name__ == "__main__":
    context = mp.get_context("spawn")
    queue, done = context.Queue(), context.Event()
    process = context.Process(target=double, args=(queue, done))
    process.start()
    x = torch.arange(4.0, device="openreg")
    queue.put(x)
    done.wait(timeout=100)  # (3)
    print(x)
    process.join()
# LITERALINCLUDE END: HANDOVER
