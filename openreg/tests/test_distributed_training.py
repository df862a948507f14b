# Several processes train as one does; see docs/modules/distributed.md.
import copy

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks
from torch.nn.parallel import DistributedDataParallel

BATCH, STEPS = 8, 4


class Branches(torch.nn.Module):
    """A model of which some parameters are not used in each step."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 10)
        self.left = torch.nn.Linear(10, 3)
        self.right = torch.nn.Linear(10, 3)
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        x = torch.relu(self.first(x))
        return self.left(x) if self.steps % 2 else self.right(x)


def data():
    generator = torch.Generator().manual_seed(3)
    return [
        (
            torch.randn(BATCH, 6, generator=generator),
            torch.randn(BATCH, 3, generator=generator),
        )
        for _ in range(STEPS)
    ]


def weights(model):
    return [parameter.detach().cpu() for parameter in model.parameters()]


def train(model, share, accumulate=1):
    """Return the weights after some steps with this rank's share of each batch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step, (x, y) in enumerate(data()):
        x, y = x[share].to("openreg"), y[share].to("openreg")
        last = step % accumulate == accumulate - 1
        if accumulate > 1 and not last and hasattr(model, "no_sync"):
            with model.no_sync():
                torch.nn.functional.mse_loss(model(x), y).backward()
        else:
            torch.nn.functional.mse_loss(model(x), y).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
    return weights(model)


def train_as_one(state, accumulate=1):
    torch.manual_seed(0)
    return train(Branches().to("openreg"), slice(None), accumulate)


def train_together(state, how):
    torch.manual_seed(dist.get_rank())  # DDP starts all from rank 0's weights
    model = Branches().to("openreg")
    size, me = dist.get_world_size(), dist.get_rank()
    options = {"find_unused_parameters": True}
    if how == "buckets":
        options["bucket_cap_mb"] = 1e-4
    ddp = DistributedDataParallel(model, **options)
    if how == "hook":

        def hook(group, bucket):
            work = dist.all_reduce(bucket.buffer(), async_op=True)
            return work.get_future().then(lambda done: done.value()[0] / size)

        ddp.register_comm_hook(None, hook)
    share = slice(me * BATCH // size, (me + 1) * BATCH // size)
    return train(ddp, share, 2 if how == "no_sync" else 1)


@pytest.fixture(scope="module", params=[2, 4])
def ranks(request, tmp_path_factory):
    group = Ranks(request.param, tmp_path_factory.mktemp("group"), "occl")
    yield group
    group.close()


@pytest.mark.parametrize("how", ["plain", "buckets", "no_sync", "hook"])
def test_ddp_gives_the_weights_of_one_process(ranks, how):
    results = ranks.run(train_together, how)
    assert isinstance(results[0], list), results[0]
    one = train_as_one({}, 2 if how == "no_sync" else 1)
    for result in results:
        torch.testing.assert_close(result, one)
    assert all(torch.equal(a, b) for a, b in zip(results[0], results[1], strict=True))
    torch.manual_seed(0)
    before = weights(Branches())
    assert not torch.equal(before[0], copy.copy(one[0]))
