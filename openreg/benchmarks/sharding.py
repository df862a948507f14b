# What sharding costs, against the CPU; see docs/modules/sharding.md.
"""Times sharded work of openreg tensors, and the same work without them, in turn.

    python openreg/benchmarks/sharding.py [--rounds N] [--quick]

Each round times both, one after the other, in the same processes with one thread each;
the table shows medians of rank 0, and the median of the rounds' ratios (above 1: the
device takes longer). The rows:

* a training step with FSDP2, two ranks, against the same model on the CPU with Gloo;
* a one-sided all-reduce of symmetric memory, two and four ranks, against OCCL's;
* save and load of 64 MiB as a distributed checkpoint, against torch.save.
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
import torch.distributed._symmetric_memory as symm_mem
import torch.distributed.checkpoint as dcp
import torch.multiprocessing
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

Call = Callable[[], object]
KIB, MIB = 1 << 10, 1 << 20


def training_step(device: str) -> Call:
    """Return one step of a stack of layers, each of them sharded."""
    mesh = init_device_mesh(device, (dist.get_world_size(),))
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(4)]
    model = nn.Sequential(*layers).to(device)
    for layer in (*layers, model):
        fully_shard(layer, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(128, 512, device=device)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def all_reduces(size: int) -> tuple[Call, Call]:
    """Return the all-reduce of OCCL and the one-sided one, of as many bytes."""
    x = torch.zeros(size // 4, device="openreg")
    shared = symm_mem.empty(size // 4, device="openreg").zero_()
    symm_mem.rendezvous(shared, dist.group.WORLD)
    out, group = torch.empty_like(x), dist.group.WORLD.group_name
    one_sided = torch.ops.symm_mem.one_shot_all_reduce_out
    return lambda: dist.all_reduce(x), lambda: one_sided(shared, "sum", group, out)


def checkpoints(folder: Path) -> list[tuple[str, Call, Call]]:
    """Return rows of one process; both sides write the file's bytes to the disk."""
    state = {str(i): torch.randn(MIB, device="openreg") for i in range(16)}
    read = {key: torch.empty_like(value) for key, value in state.items()}
    plain = folder / "plain.pt"

    def save() -> None:
        with plain.open("wb") as file:
            torch.save(state, file)
            os.fsync(file.fileno())

    def load() -> None:
        for key, value in torch.load(plain).items():
            read[key].copy_(value)

    options = {"checkpoint_id": folder / "shared", "no_dist": True}
    return [
        ("save, 64 MiB", save, lambda: dcp.save(state, **options)),
        ("load, 64 MiB", load, lambda: dcp.load(read, **options)),
    ]


def seconds(call: Call, calls: int) -> float:
    """Return the time of one call, with what it left to do."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
        torch.accelerator.synchronize()
    return (time.perf_counter() - start) / calls


def row(name: str, against: str, pair: tuple[Call, Call], calls: int, n: int) -> None:
    """Time both calls ``n`` times, and let rank 0 print."""
    for call in pair:
        seconds(call, 2)  # warm up
    times = []
    for _ in range(n):
        dist.barrier()
        times.append([seconds(call, calls) for call in pair])
    if dist.get_rank() == 0:
        that, device = (statistics.median(column) * 1e3 for column in zip(*times))  # noqa: B905
        ratio = statistics.median(b / a for a, b in times)
        print(
            f"{name:24}{against:>12}{that:10.3f} ms{device:10.3f} ms{ratio:8.2f}x",
            flush=True,
        )


def measure(rank: int, ranks: int, rounds: int, folder: str) -> None:
    """Be one rank."""
    torch.set_num_threads(1)
    dist.init_process_group(
        "cpu:gloo,openreg:occl",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=ranks,
    )
    if ranks == 1:
        for name, plain, shared in checkpoints(Path(folder)):
            row(name, "torch.save", (plain, shared), 1, rounds)
        dist.destroy_process_group()
        return
    for size in (4 * KIB, 64 * KIB, MIB):
        name = f"one-sided {size // KIB} KiB, {ranks}"
        row(name, "OCCL", all_reduces(size), 200, rounds)
    if ranks == 2:
        steps = training_step("cpu"), training_step("openreg")
        row("FSDP2 step, 2 ranks", "CPU, Gloo", steps, 5, rounds)
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description="What sharding costs.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="few rounds: a smoke test")
    options = parser.parse_args()
    rounds = 3 if options.quick else options.rounds
    os.environ["OMP_NUM_THREADS"] = "1"  # of every rank, on both sides
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    heads = ("operation", "against", "that", "openreg", "ratio")
    print("{:24}{:>12}{:>13}{:>13}{:>9}".format(*heads), flush=True)
    for ranks in (2, 4, 1):
        with tempfile.TemporaryDirectory() as folder:
            arguments = (ranks, rounds, folder)
            torch.multiprocessing.spawn(measure, arguments, nprocs=ranks)
    print(f"torch {torch.__version__}, median of {rounds} rounds, one thread a rank")


if __name__ == "__main__":
    main()
