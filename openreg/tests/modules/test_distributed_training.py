# Several processes train as one does; see docs/modules/distributed.md.
import copy

import pytest
import torch
import torch.distributed as dist
from ranks import Ranks
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.distributed.algorithms.join import Join
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


class Straight(torch.nn.Module):
    """A model of which every parameter is used in each step."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 10)
        self.second = torch.nn.Linear(10, 3)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


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


def train(model, share, accumulate=1, optimizer=None):
    """Return the weights after some steps with this rank's share of each batch."""
    if optimizer is None:
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


def train_as_one(state, accumulate=1, straight=False):
    torch.manual_seed(0)
    model = (Straight if straight else Branches)().to("openreg")
    return train(model, slice(None), accumulate)


OPTIONS = {
    "plain": {},
    "buckets": {"bucket_cap_mb": 1e-4},
    "no_sync": {},
    "hook": {},
    "views": {"gradient_as_bucket_view": True, "bucket_cap_mb": 1e-4},
    "static": {"find_unused_parameters": False, "static_graph": True},
    "allreduce_hook": {},
    "fp16_hook": {},
    "bf16_hook": {},
    "powersgd": {},
}


def own_hook(group, bucket):
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    size = dist.get_world_size()
    return work.get_future().then(lambda done: done.value()[0] / size)


def bf16_hook(state, bucket):
    return default_hooks.bf16_compress_hook(state, bucket)  # its own name is refused


def register_hook(ddp, how):
    hooks = {
        "hook": (None, own_hook),
        "allreduce_hook": (None, default_hooks.allreduce_hook),
        "fp16_hook": (None, default_hooks.fp16_compress_hook),
        "bf16_hook": (None, bf16_hook),
        # From the second step on, gradients travel as two narrow matrices.
        "powersgd": (
            powerSGD_hook.PowerSGDState(
                None, matrix_approximation_rank=6, start_powerSGD_iter=2
            ),
            powerSGD_hook.powerSGD_hook,
        ),
    }
    if how in hooks:
        ddp.register_comm_hook(*hooks[how])


def share_of_batch():
    size, me = dist.get_world_size(), dist.get_rank()
    return slice(me * BATCH // size, (me + 1) * BATCH // size)


def train_together(state, how):
    torch.manual_seed(dist.get_rank())  # DDP starts all from rank 0's weights
    model = (Straight if how == "static" else Branches)().to("openreg")
    options = {"find_unused_parameters": True, **OPTIONS[how]}
    ddp = DistributedDataParallel(model, **options)
    register_hook(ddp, how)
    return train(ddp, share_of_batch(), 2 if how == "no_sync" else 1)


@pytest.fixture(scope="module", params=[2, 4])
def ranks(request, tmp_path_factory):
    group = Ranks(request.param, tmp_path_factory.mktemp("group"), "occl")
    yield group
    group.close()


@pytest.mark.parametrize("how", OPTIONS)
def test_ddp_gives_the_weights_of_one_process(ranks, how):
    results = ranks.run(train_together, how)
    assert isinstance(results[0], list), results[0]
    one = train_as_one({}, 2 if how == "no_sync" else 1, how == "static")
    # Gradients that travel in 16 bits lose the rest; powerSGD is exact at full rank.
    loss = {"fp16_hook": 1e-3, "bf16_hook": 1e-2, "powersgd": 1e-3}
    tolerance = {"rtol": loss[how], "atol": loss[how]} if how in loss else {}
    for result in results:
        torch.testing.assert_close(result, one, **tolerance)
    assert all(torch.equal(a, b) for a, b in zip(results[0], results[1], strict=True))
    torch.manual_seed(0)
    before = weights(Branches())
    assert not torch.equal(before[0], copy.copy(one[0]))


def buffers(state):
    """Return the buffers of a model, which each rank starts with its own."""
    model = torch.nn.Sequential(torch.nn.Linear(6, 3), torch.nn.BatchNorm1d(3))
    model[1].running_mean.fill_(dist.get_rank() + 1.0)
    ddp = DistributedDataParallel(model.to("openreg"))
    first = model[1].running_mean.cpu()
    x = torch.full((4, 6), float(dist.get_rank()), device="openreg")
    for _ in range(2):
        ddp(x).sum().backward()
    ddp.eval()
    ddp(x)
    return first, model[1].running_mean.cpu(), model[1].num_batches_tracked.item()


def test_ddp_gives_the_buffers_of_rank_0(ranks):
    results = ranks.run(buffers)
    for first, after, steps in results:
        assert first.tolist() == [1.0] * 3
        assert after.tolist() != [1.0] * 3
        assert steps == 2


def uneven(state):
    """Rank r has r + 1 batches; who is done earlier goes along with the others."""
    torch.manual_seed(0)
    model = torch.nn.Linear(6, 3).to("openreg")
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    steps = 0
    with Join([ddp]):
        for x, y in data()[: dist.get_rank() + 1]:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(ddp(x.to("openreg")), y.to("openreg"))
            loss.backward()
            optimizer.step()
            steps += 1
    return steps, weights(model)


def test_ranks_may_have_more_or_less_batches(ranks):
    results = ranks.run(uneven)
    assert [steps for steps, _ in results] == [r + 1 for r in range(len(results))]
    for _, result in results:
        torch.testing.assert_close(result, results[0][1], rtol=0, atol=0)


def sharded_optimizer(state):
    """Each rank updates some of the parameters, and sends them to the others."""
    # Not at the top: it warns, and in the tests' own process a warning is an error.
    from torch.distributed.optim import ZeroRedundancyOptimizer

    torch.manual_seed(0)
    ddp = DistributedDataParallel(Straight().to("openreg"))
    optimizer = ZeroRedundancyOptimizer(
        ddp.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9
    )
    result = train(ddp, share_of_batch(), optimizer=optimizer)
    return result, len(optimizer.optim.state)


def test_a_sharded_optimizer_gives_the_weights_of_one_process(ranks):
    one = train_as_one({}, straight=True)
    results = ranks.run(sharded_optimizer)
    for result, _ in results:
        torch.testing.assert_close(result, one)
    assert sum(states for _, states in results) == len(one)
