# Level 5: process groups; see docs/ship/conformance.md.
from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

from torch_conformance._case import Area
from torch_conformance._device import Device, check, same
from torch_conformance._features import require
from torch_conformance._load import load
from torch_conformance._outcome import Missing, told

area = Area(
    "distributed",
    level=5,
    stage=9,
    page="modules/distributed",
    implement="c10d::Backend, torch/csrc/distributed/c10d/Backend.hpp; "
    "torch.distributed.Backend.register_backend(..., devices=[name])",
)
RANKS = 2
MISSING = 3  # the exit status of a rank without process groups


def _ranks(d: Device, work: Callable[[Device, int], None]) -> None:
    """Run something in two processes, forked before the device is used."""
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(RANKS):
            child = os.fork()
            if child == 0:
                os._exit(_rank(d, work, rank, Path(folder)))
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children]
        said = [path.read_text() for path in sorted(Path(folder).glob("error *"))]
    if MISSING in codes:
        raise Missing(said[codes.index(MISSING)])
    check(codes == [0] * RANKS, f"the ranks end with {codes}: {'; '.join(said)}")


def _rank(
    d: Device, work: Callable[[Device, int], None], rank: int, folder: Path
) -> int:
    try:
        load(d.imports)
        require(d, ("process groups",))
        index = rank % d.module.device_count()
        if d.type != "cpu":
            torch.accelerator.set_device_index(index)
        dist.init_process_group(
            dist.get_default_backend_for_device(d.type),
            store=dist.FileStore(f"{folder}/store", RANKS),
            rank=rank,
            world_size=RANKS,
            timeout=timedelta(seconds=120),
        )
        work(d, index)
        dist.destroy_process_group()
    except BaseException as error:
        (folder / f"error {rank}").write_text(told(error))
        return MISSING if isinstance(error, Missing) else 1
    return 0


def _collectives(d: Device, index: int) -> None:
    rank = dist.get_rank()
    x = torch.full((1001,), float(rank + 1), device=d(index))
    dist.all_reduce(x)
    same(x, torch.full((1001,), 3.0), "all_reduce")
    dist.broadcast(y := torch.full((3,), rank, device=d(index)), src=1)
    same(y, torch.ones(3, dtype=torch.int64), "broadcast")
    parts = [torch.empty(2, device=d(index)) for _ in range(RANKS)]
    dist.all_gather(parts, torch.full((2,), float(rank), device=d(index)))
    for number, part in enumerate(parts):
        same(part, torch.full((2,), float(number)), "all_gather")
    dist.barrier()


def _data_parallel(d: Device, index: int) -> None:
    torch.manual_seed(0)
    reference, rank = torch.nn.Linear(4, 3), dist.get_rank()
    model = torch.nn.Linear(4, 3)
    model.load_state_dict(reference.state_dict())
    ids = None if d.type == "cpu" else [index]
    parallel = torch.nn.parallel.DistributedDataParallel(model.to(d(index)), ids)
    x = torch.randn(RANKS * 5, 4)
    parallel(x[5 * rank : 5 * rank + 5].to(d(index))).square().mean().backward()
    reference(x).square().mean().backward()
    same(model.weight.grad, reference.weight.grad, "gradient")


@area.case("Collectives of two processes have the right values.", loads=False)
def collectives(d: Device) -> None:
    _ranks(d, _collectives)


@area.case("Data-parallel training has the gradients of one process.", loads=False)
def data_parallel(d: Device) -> None:
    _ranks(d, _data_parallel)
