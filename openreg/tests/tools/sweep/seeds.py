# Seeds all that draws random numbers for a sample; see docs/ship/sweep.md.
import random

import numpy
import torch

SEED = 1234  # that of PyTorch's own tests


def seed_all(seed: int = SEED) -> None:
    """Seed the generators of the CPU, of the device, of Python and of NumPy.

    ``torch.manual_seed`` also queues a seed, with the stack of its caller, for each
    kind of device that never starts here. That took a third of the time of a sample.
    """
    torch.default_generator.manual_seed(seed)
    torch.openreg.manual_seed_all(seed)
    random.seed(seed)
    numpy.random.seed(seed)
