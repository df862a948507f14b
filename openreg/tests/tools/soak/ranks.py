# Random collectives, and ranks that are killed; see docs/ship/robustness.md.
"""Four processes of one group do the same; then one of them is killed."""

import random
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from ranks import Ranks

SIZE = 4
REDUCE = {
    "sum": (dist.ReduceOp.SUM, sum),
    "max": (dist.ReduceOp.MAX, max),
    "min": (dist.ReduceOp.MIN, min),
}


Result = tuple[torch.Tensor, int]


def _value(rank: int, step: int) -> int:
    return (rank * 7 + step * 3) % 31


def collectives(state: dict[str, Any], seed: int, steps: int) -> int:
    """Do random collectives on random streams; raise where a value is wrong."""
    choose, rank = random.Random(seed), dist.get_rank()
    streams = [torch.Stream("openreg") for _ in range(3)]
    for step in range(steps):
        what, count = choose.choice(sorted(CALLS)), choose.choice([1, 100, 70_000])
        values = [_value(each, step) for each in range(SIZE)]
        with torch.openreg.stream(choose.choice(streams)):
            x = torch.full((count,), float(values[rank]), device="openreg")
            found, expected = CALLS[what](choose, x, values, rank)
            if not torch.equal(found.cpu(), torch.full(found.shape, float(expected))):
                raise AssertionError(f"{what} of {values}: {found}, not {expected}")
    return steps


def _all_reduce(
    choose: random.Random, x: torch.Tensor, values: list[int], rank: int
) -> Result:
    op, function = REDUCE[choose.choice(sorted(REDUCE))]
    dist.all_reduce(x, op)
    return x, function(values)


def _broadcast(
    choose: random.Random, x: torch.Tensor, values: list[int], rank: int
) -> Result:
    root = choose.randrange(SIZE)
    dist.broadcast(x, root)
    return x, values[root]


def _all_gather(
    choose: random.Random, x: torch.Tensor, values: list[int], rank: int
) -> Result:
    out = torch.empty(SIZE, len(x), device="openreg")
    dist.all_gather_single(out, x)
    return out.sum(0), sum(values)


def _reduce_scatter(
    choose: random.Random, x: torch.Tensor, values: list[int], rank: int
) -> Result:
    out = torch.empty_like(x)
    dist.reduce_scatter_single(out, x.repeat(SIZE))
    return out, sum(values)


def _ring(
    choose: random.Random, x: torch.Tensor, values: list[int], rank: int
) -> Result:
    out = torch.empty_like(x)
    there, here = (rank + 1) % SIZE, (rank - 1) % SIZE
    messages = [dist.P2POp(dist.isend, x, there), dist.P2POp(dist.irecv, out, here)]
    for work in dist.batch_isend_irecv(messages):
        work.wait()
    return out, values[here]


CALLS = {
    "all_reduce": _all_reduce,
    "broadcast": _broadcast,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "send and receive": _ring,
}


# LITERALINCLUDE START: KILLED_RANK
def round_of_ranks(seed: int, calls: dict[str, int]) -> None:
    """Run collectives; kill a rank in the middle of more; all others must notice."""
    choose = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        ranks = Ranks(SIZE, Path(folder), "occl", seconds=20)
        try:
            assert ranks.run(collectives, seed, 50) == [50] * SIZE
            calls["collectives"] = calls.get("collectives", 0) + 50 * SIZE
            for peer in ranks.peers:
                peer.start(collectives, seed + 1, 1_000_000)
            time.sleep(choose.random() / 2)
            killed = choose.randrange(SIZE)
            ranks.peers[killed].kill()
            answers = ranks.answers()
            del answers[killed]
            wrong = [one for one in answers if not _tells_of_a_rank(one)]
            assert not wrong, f"after rank {killed} was killed: {wrong}"
            calls["ranks killed"] = calls.get("ranks killed", 0) + 1
        finally:
            ranks.close()


# LITERALINCLUDE END: KILLED_RANK


def _tells_of_a_rank(answer: object) -> bool:
    return isinstance(answer, str) and "rank" in answer and "hangs" not in answer
