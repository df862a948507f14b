"""One process for each OpenCL device; see docs/opencl/kernels.md.

Each process trains with its share of every batch. OpenCL has no collectives, so that
gradients travel through pinned host memory, where Gloo adds them up.

`python data_parallel.py 2` starts two processes. With OCLRT_SUB_DEVICES=1, the driver
splits a CPU into one device for each compute unit, and the processes get one each.
"""

import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from train import Perceptron, train


class Exchange:
    """Averages gradients over the processes: one copy to the host, and one back."""

    def __init__(self):
        self.on_host = None

    def __call__(self, gradients):
        together = torch.cat([gradient.flatten() for gradient in gradients])
        if self.on_host is None:
            self.on_host = torch.empty(together.shape, pin_memory=True)
        self.on_host.copy_(together)
        dist.all_reduce(self.on_host)
        together.copy_(self.on_host.div_(dist.get_world_size()), non_blocking=True)
        sizes = [gradient.numel() for gradient in gradients]
        for gradient, average in zip(gradients, together.split(sizes), strict=True):
            gradient.copy_(average.view_as(gradient))
        torch.accelerator.synchronize()  # the next copy may overwrite `on_host`


def work(rank, ranks, address, losses):
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=ranks)
    device = torch.device("ocl", rank % torch.ocl.device_count())
    with torch.accelerator.device_index(device.index):
        share = slice(rank, None, ranks)  # of every batch
        mine = train(Perceptron, device, exchange=Exchange(), share=share)
    dist.all_reduce(mine)
    if rank == 0:
        losses.put((mine / ranks).tolist())
    dist.destroy_process_group()


def train_together(ranks, file):
    """The losses of the whole batches; `file` is where the processes meet."""
    context = mp.get_context("spawn")
    losses = context.SimpleQueue()
    arguments = (ranks, f"file://{file}", losses)
    mp.start_processes(work, args=arguments, nprocs=ranks, start_method="spawn")
    return losses.get()


if __name__ == "__main__":
    meeting = Path("meeting").resolve()
    print(train_together(int(sys.argv[1]), meeting))
    meeting.unlink()
