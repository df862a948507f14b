# Messages between two ranks, several at a time; see docs/modules/distributed.md.
import datetime
import random
import time

import torch
import torch.distributed as dist

openreg = torch.openreg


def from_one_and_from_any(state):
    """Of two messages one is for a receive from any rank, one for one from rank 1."""
    if dist.get_rank() == 1:
        for step in range(200):
            x = torch.full((6,), float(step), device="openreg")
            for work in [dist.isend(x, 0), dist.isend(x + 0.5, 0)]:
                work.wait()
        openreg.synchronize()
        return True
    chance = random.Random(0)
    good = True
    for step in range(200):
        out = torch.empty(2, 6, device="openreg")
        works = [dist.irecv(out[0])]
        time.sleep(chance.random() * 1e-3)  # so the second comes at any moment
        works.append(dist.irecv(out[1], 1))
        for work in works:
            work.wait()
        good &= sorted(out[:, 0].tolist()) == [step, step + 0.5]
    return good


def test_a_receive_from_any_and_one_from_a_rank_do_not_meet(two):
    assert two.run(from_one_and_from_any) == [True, True]


def two_devices(state):
    """Messages to one rank with one tag arrive in order, also from two devices."""
    rows = [
        torch.full((i + 3,), float(i), device=f"openreg:{i % 2}") for i in range(20)
    ]
    if dist.get_rank() == 0:
        with openreg.simulator.delay(500, seed=1):
            works = [dist.isend(row, 1) for row in rows]
            for work in works:
                work.wait()
            openreg.synchronize(0)
            openreg.synchronize(1)
        return True
    out = [torch.empty_like(row) for row in rows]
    for work in [dist.irecv(row, 0) for row in out]:
        work.wait()
    return all(torch.equal(a, b) for a, b in zip(out, rows, strict=True))


def test_messages_of_two_devices_keep_their_order(two):
    assert two.run(two_devices) == [True, True]


def many_tags(state):
    """The 33rd tag shares the stream of the first, and waits for its message."""
    tags = range(1000, 1033)
    store = dist.distributed_c10d._get_default_store()
    rows = [torch.full((2,), float(tag), device="openreg") for tag in tags]
    if dist.get_rank() == 1:
        for row, tag in list(zip(rows, tags, strict=True))[1:]:
            dist.isend(row, 0, tag=tag)
        store.wait(["rank 0 has all but two"])
        dist.send(rows[0], 0, tag=tags[0])
        return None
    out = [torch.empty(2, device="openreg") for _ in tags]
    works = [dist.irecv(x, 1, tag=tag) for x, tag in zip(out, tags, strict=True)]
    for work in works[1:-1]:
        work.wait(datetime.timedelta(seconds=60))
    early = works[-1].is_completed()
    store.set("rank 0 has all but two", "")
    for work in works:
        work.wait()
    return early, [int(x[0]) for x in out] == list(tags)


def test_the_33rd_tag_shares_a_stream(two):
    assert two.run(many_tags) == [(False, True), None]
