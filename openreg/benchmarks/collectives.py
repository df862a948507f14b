# Bus bandwidth of collectives, against Gloo; see docs/modules/distributed.md.
"""Times collectives of openreg tensors, and of CPU tensors with Gloo, in turn.

    python openreg/benchmarks/collectives.py [--ranks 2 4] [--rounds N] [--quick]

What is timed is what a program does: the collective, and then `synchronize()`; with
Gloo the call itself waits. Each round times both one after the other, in the same
processes with the same number of threads; the table shows the medians of the bandwidths
of rank 0, and of the rounds' ratios.

Bus bandwidth counts the bytes that each rank must at least send: of an all_reduce of B
bytes with n ranks 2 (n - 1) / n B, of an all_gather with a result of B bytes
(n - 1) / n B.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing

KIB, MIB = 1 << 10, 1 << 20
SIZES = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB]
SIZES += [64 * MIB]


def all_reduce(device: str, size: int) -> Callable[[], object]:
    x = torch.zeros(size // 4, device=device)
    return lambda: dist.all_reduce(x)


def all_gather(device: str, size: int) -> Callable[[], object]:
    out = torch.zeros(size // 4, device=device)
    part = torch.zeros(size // 4 // dist.get_world_size(), device=device)
    return lambda: dist.all_gather_single(out, part)


def seconds(call: Callable[[], object], calls: int) -> float:
    """Return the time of one call, with what it left to do."""
    dist.barrier()
    start = time.perf_counter()
    for _ in range(calls):
        call()
        torch.accelerator.synchronize()
    return (time.perf_counter() - start) / calls


def measure(rank: int, ranks: int, rounds: int, budget: float, store: str) -> None:
    """Be one rank; rank 0 prints."""
    torch.set_num_threads(1)
    dist.init_process_group(
        "cpu:gloo,openreg:occl",
        init_method=f"file://{store}",
        rank=rank,
        world_size=ranks,
    )
    for make, factor in ((all_reduce, 2), (all_gather, 1)):
        for size in SIZES:
            on_cpu, on_device = make("cpu", size), make("openreg", size)
            seconds(on_cpu, 2), seconds(on_device, 2)  # warm up
            once = torch.tensor(max(seconds(on_cpu, 3), seconds(on_device, 3)))
            dist.all_reduce(once, dist.ReduceOp.MAX)  # the same count on all ranks
            calls = max(1, min(500, int(budget / once.item())))
            pairs = [
                (seconds(on_cpu, calls), seconds(on_device, calls))
                for _ in range(rounds)
            ]
            if rank != 0:
                continue
            moved = factor * (ranks - 1) / ranks * size / 1e9
            cpu, device = (moved / statistics.median(t) for t in zip(*pairs))  # noqa: B905
            ratio = statistics.median(a / b for a, b in pairs)
            print(
                f"{make.__name__:12}{ranks:6}{size // KIB:10} KiB"
                f"{cpu:10.3f} GB/s{device:10.3f} GB/s{ratio:8.2f}x",
                flush=True,
            )
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description="Bus bandwidth of collectives.")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="few rounds: a smoke test")
    options = parser.parse_args()
    rounds, budget = (3, 0.01) if options.quick else (options.rounds, 0.1)
    os.environ["OMP_NUM_THREADS"] = "1"  # of every rank, on both sides
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    heads = ("collective", "ranks", "bytes", "gloo", "occl", "ratio")
    print("{:12}{:>6}{:>14}{:>15}{:>15}{:>9}".format(*heads), flush=True)
    for ranks in options.ranks:
        with tempfile.TemporaryDirectory() as folder:
            arguments = (ranks, rounds, budget, str(Path(folder) / "store"))
            torch.multiprocessing.spawn(measure, arguments, nprocs=ranks)
    print(f"torch {torch.__version__}, median of {rounds} rounds, one thread a rank")


if __name__ == "__main__":
    main()
