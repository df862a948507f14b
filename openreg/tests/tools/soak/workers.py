# Shared tensors and loaders whose processes are killed; see docs/ship/robustness.md.
"""Processes are killed while they use memory of this one, which goes on."""

import random
from typing import Any

import torch
from peer import Peer
from torch.utils.data import DataLoader, Dataset

openreg = torch.openreg


def keep(state: dict[str, Any], name: int, tensor: torch.Tensor) -> float:
    """Keep a tensor over there; return its sum."""
    state[str(name)] = tensor
    return tensor.sum().item()


def forget(state: dict[str, Any], name: int) -> None:
    """Free a tensor over there."""
    state.pop(str(name), None)


def round_of_shared_memory(seed: int, calls: dict[str, int]) -> None:
    """Send tensors to two processes, and kill one of them again and again."""
    choose = random.Random(seed)
    peers = [Peer(), Peer()]
    before = openreg.memory_reserved()
    try:
        for step in range(30):
            which = choose.randrange(2)
            size, value = choose.choice([10, 1000, 100_000]), choose.randrange(31)
            x = torch.full((size,), float(value), device="openreg")
            assert peers[which].ask(keep, step, x) == size * value
            calls["tensors sent"] = calls.get("tensors sent", 0) + 1
            if choose.random() < 0.5:
                peers[which].ask(forget, step)
            if choose.random() < 0.2:
                peers[which].kill()
                calls["receivers killed"] = calls.get("receivers killed", 0) + 1
                assert (x + 1).cpu().eq(value + 1).all()
                peers[which] = Peer()
            del x
    finally:
        for peer in peers:
            peer.kill()
    openreg.ipc_collect()
    torch.accelerator.empty_cache()
    assert openreg.memory_reserved() <= before


class Numbers(Dataset[torch.Tensor]):
    """Each item contains its index."""

    def __len__(self) -> int:
        return 400

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((50,), float(index))


def round_of_loaders(seed: int, calls: dict[str, int]) -> None:
    """Load pinned batches; kill a worker; the next loader works."""
    choose = random.Random(seed)
    for kill in (True, False):
        options: dict[str, Any] = {"multiprocessing_context": "forkserver"}
        loader = DataLoader(Numbers(), 10, num_workers=2, pin_memory=True, **options)
        batches, last = iter(loader), choose.randrange(5, 30)
        try:
            for number, batch in enumerate(batches):
                here = batch.to("openreg", non_blocking=True)
                assert here.sum().item() == 50 * sum(
                    range(number * 10, number * 10 + 10)
                )
                calls["batches"] = calls.get("batches", 0) + 1
                if kill and number == last:
                    choose.choice(batches._workers).kill()
        except RuntimeError as error:
            if not kill or "worker" not in str(error):
                raise
            calls["workers killed"] = calls.get("workers killed", 0) + 1
        else:
            assert not kill or last >= 30, "nobody noticed that a worker was killed"
