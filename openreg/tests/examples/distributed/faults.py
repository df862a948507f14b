# Four ranks, of which rank 2 does something else; see
# docs/modules/distributed-debugging.md.
"""torchrun --nproc-per-node=4 faults.py skip, or shapes, slow, nan."""

import sys
import time

import torch
import torch.distributed as dist
from torch_openreg.openreg import flight_recorder

CULPRIT = 2


# LITERALINCLUDE START: FAULTS
def skip(culprit: bool, x: torch.Tensor) -> None:
    dist.all_reduce(x)
    if not culprit:
        dist.all_reduce(x)


def shapes(culprit: bool, x: torch.Tensor) -> None:
    dist.all_reduce(x[:2] if culprit else x)


def slow(culprit: bool, x: torch.Tensor) -> None:
    for _ in range(5):
        time.sleep(0.3 if culprit else 0)
        dist.all_reduce(x)


def nan(culprit: bool, x: torch.Tensor) -> None:
    dist.all_reduce(x.log() if culprit else x)  # x is -1
    # LITERALINCLUDE END: FAULTS


# LITERALINCLUDE START: FAULTS_MAIN
def main() -> None:
    dist.init_process_group("cpu:gloo,openreg:occl")
    dist.group.WORLD._enable_collectives_timing()
    rank = dist.get_rank()
    try:
        globals()[sys.argv[1]](rank == CULPRIT, -torch.ones(3, device="openreg"))
        torch.openreg.synchronize()
    except RuntimeError as error:  # of the call, or a device fault
        print(f"rank {rank}: {str(error).splitlines()[0]}\n", end="")
    flight_recorder.dump("trace/rank_")
    # LITERALINCLUDE END: FAULTS_MAIN


if __name__ == "__main__":
    main()
