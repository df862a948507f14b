# A pool of each kind of process; see docs/frontend/multiprocessing.md.
"""Tensors go into a pool and come back, whichever way its processes start."""

import sys

import torch
import torch.multiprocessing as mp


# LITERALINCLUDE START: START_METHODS
def halves(x):
    x.neg_()
    return x[:2].sum(), x[2:].sum()


if __name__ == "__main__":
    x = torch.arange(4.0, device="openreg:1")
    for method in sys.argv[1:]:
        with mp.get_context(method).Pool(1) as pool:
            first, second = pool.apply_async(halves, (x,)).get(timeout=100)
            print(method, first.item(), second.item(), x.tolist())
# LITERALINCLUDE END: START_METHODS
