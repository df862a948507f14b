# Several processes share one model; see docs/modules/sharding.md.
import re
import warnings

import llama
import pytest
import torch
import torch.distributed as dist
import torch.distributed.tensor._random as tensor_random
from ranks import Ranks, message
from sharding_support import (
    BATCH,
    WAYS,
    fresh,
    optimizer_of,
    train_as_one,
    train_together,
    whole,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import (
    PipelineStage,
    Schedule1F1B,
    ScheduleInterleaved1F1B,
)
from torch.distributed.tensor import (
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    rand,
)
from torch.utils._python_dispatch import TorchDispatchMode

# Sums in another order, and then the square roots and divisions of AdamW.
FLOAT32 = {"rtol": 1e-4, "atol": 5e-5}
# A policy computes in bfloat16, with 8 bits; AdamW's first steps are as large as 1e-2.
BFLOAT16 = {"rtol": 2e-2, "atol": 4e-2}

GATHER, SCATTER = "c10d._allgather_base_", "c10d._reduce_scatter_base_"
TENSOR_PARALLEL = {
    "c10d_functional.all_reduce",
    "c10d_functional.all_gather_into_tensor",
}
COLLECTIVES = {
    "hsdp": {GATHER, SCATTER, "c10d.allreduce_"},
    "tensor_parallel": TENSOR_PARALLEL,
    "loss_parallel": {"c10d_functional.all_reduce"},
    "two_dimensions": TENSOR_PARALLEL | {GATHER, SCATTER},
}


@pytest.fixture(scope="module")
def one():
    return {clip: train_as_one(clip) for clip in (False, True)}


@pytest.mark.parametrize("way", WAYS)
def test_losses_and_weights_are_those_of_one_process(four, one, way):
    results = four.run(train_together, way)
    expected_losses, expected = one[way == "fsdp_clip"]
    tolerance = BFLOAT16 if way == "fsdp_bfloat16" else FLOAT32
    for result in results:
        assert not isinstance(result, str), result
        losses, weights, device, collectives = result
        torch.testing.assert_close(losses, expected_losses, **tolerance)
        torch.testing.assert_close(weights, expected, **tolerance)
        assert device == ("cpu" if way == "fsdp_offload" else "openreg")
        assert collectives == COLLECTIVES.get(way, {GATHER, SCATTER})


def test_the_model_is_trained_at_all(one):
    _, expected = one[False]
    for name, value in fresh().state_dict().items():
        assert (expected[name] - value).abs().max() > 1e-2, name


# --- Pipelines ------------------------------------------------------------------------


class Collectives(TorchDispatchMode):
    """Notes the collectives, and the messages, which ``CommDebugMode`` leaves out."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            self.names.add(func.name())
        return func(*args, **kwargs or {})


def train_in_stages(state, interleaved):
    """Return the losses, on the rank that has them, and this rank's weights."""
    mesh = init_device_mesh("openreg", (2, 2), mesh_dim_names=("data", "stages"))
    group = mesh["stages"].get_group()
    rank, count = dist.get_rank(group), 4 if interleaved else 2
    numbers = [rank, rank + 2] if interleaved else [rank]
    models = [llama.keep_stage(fresh().to("openreg"), n, count) for n in numbers]
    device = torch.device("openreg", 0)
    stages = [
        PipelineStage(model, n, count, device, group=group)
        for model, n in zip(models, numbers, strict=True)
    ]
    if interleaved:
        schedule = ScheduleInterleaved1F1B(stages, 4, loss_fn=llama.loss_of)
    else:
        schedule = Schedule1F1B(stages[0], 4, loss_fn=llama.loss_of)
    both = torch.nn.ModuleList(models)
    optimizer, means = optimizer_of(both), []
    for step in range(3):
        words, target = (part.to("openreg") for part in llama.sentences(BATCH, step))
        optimizer.zero_grad()
        losses = []
        given = (words,) if rank == 0 else ()
        with Collectives() as called:
            schedule.step(*given, target=target, losses=losses if rank else None)
        optimizer.step()
        means.append(torch.stack(losses).mean().item() if rank else None)
    weights = {}
    for model in models:
        weights |= {name: whole(value) for name, value in model.named_parameters()}
    return means, weights, called.names


@pytest.mark.parametrize("interleaved", [False, True])
def test_a_pipeline_gives_the_weights_of_one_process(four, one, interleaved):
    expected_losses, expected = one[False]
    results = four.run(train_in_stages, interleaved)
    seen = set()
    for rank, result in enumerate(results):
        assert not isinstance(result, str), result
        losses, weights, collectives = result
        assert collectives == {"c10d::send", "c10d::recv_"}
        if rank % 2:
            torch.testing.assert_close(losses, expected_losses, **FLOAT32)
        part = {name: expected[name] for name in weights}
        torch.testing.assert_close(weights, part, **FLOAT32)
        seen |= weights.keys()
    assert seen == expected.keys()


# --- DTensor --------------------------------------------------------------------------


def operations(state):
    """Return results of a few operations, each whole, and where they were."""
    mesh = init_device_mesh("openreg", (2, 2), mesh_dim_names=("a", "b"))
    generator = torch.Generator().manual_seed(0)
    left = torch.randn(6, 8, generator=generator)
    right = torch.randn(8, 5, generator=generator)
    x = distribute_tensor(left.to("openreg"), mesh, [Shard(0), Shard(1)])
    y = distribute_tensor(right.to("openreg"), mesh, [Replicate(), Shard(0)])
    product = x @ y
    moved = product.redistribute(placements=[Shard(1), Shard(0)])
    results = [
        x,
        x.sum(0),
        product,
        moved,
        moved.softmax(1),
        product.relu(),
        x.to("cpu"),
    ]
    return [(each.placements, each.to_local().shape, whole(each)) for each in results]


def test_operations_on_parts_give_the_whole(four):
    generator = torch.Generator().manual_seed(0)
    left = torch.randn(6, 8, generator=generator)
    right = torch.randn(8, 5, generator=generator)
    product = left @ right
    expected = [left, left.sum(0), product, product, product.softmax(1)]
    expected += [product.relu(), left]
    for rank, results in enumerate(four.run(operations)):
        assert not isinstance(results, str), results
        for (_, _, value), wanted in zip(results, expected, strict=True):
            torch.testing.assert_close(value, wanted)
        placements = [each[0] for each in results]
        assert placements[0] == (Shard(0), Shard(1))
        assert placements[2] == (Shard(0), Partial())
        assert placements[3] == (Shard(1), Shard(0))
        assert results[0][1] == (3, 4)
        assert results[3][1] == (3, 3 if rank < 2 else 2)


def distribute(state):
    """Return the collectives that give each rank its part, and those for copies."""
    mesh, x = init_device_mesh("openreg", (4,)), torch.ones(8, device="openreg")
    names = []
    for placement in (Shard(0), Replicate()):
        with Collectives() as called:
            distribute_tensor(x, mesh, [placement])
        names.append(called.names)
    return names


def test_the_first_rank_gives_the_others_their_parts(four):
    expected = [{"c10d::scatter_"}, {"c10d::broadcast_"}]
    assert four.run(distribute) == [expected] * 4


def random_numbers(state, count):
    mesh = init_device_mesh("openreg", (4,))

    def drawn(placement):
        torch.manual_seed(5)
        options = {"device_mesh": mesh, "placements": [placement]}
        return [rand(count, dtype=torch.double, **options) for _ in range(2)]

    parts, copies = drawn(Shard(0)), drawn(Replicate())
    torch.manual_seed(5)
    alone = [torch.rand(count, dtype=torch.double, device="openreg") for _ in range(2)]
    here = [copy.to_local().cpu() for copy in copies]
    return [whole(x) for x in parts], here, [x.cpu() for x in alone]


@pytest.mark.parametrize("count", [16, 4096, 1 << 18])
def test_random_numbers_are_shared_as_cuda_promises(four, count):
    results = four.run(random_numbers, count)
    for parts, copies, alone in results:
        assert all(map(torch.equal, parts, results[0][0]))  # the same whole
        assert torch.equal(copies[0], alone[0])  # a copy is what one device draws
        assert all(map(torch.equal, copies, results[0][1]))  # on every rank
        assert torch.cat(parts).unique().numel() == 2 * count  # nothing drawn twice
        assert not torch.equal(parts[0], copies[0])  # nor is it on CUDA


def test_parts_of_less_than_four_numbers_repeat_each_other(four):
    """Torch rounds up where a part begins; so it is on CUDA."""
    parts = four.run(random_numbers, 4)[0][0]
    assert torch.cat(parts).unique().numel() < 8


# --- The operators with which FSDP2 packs its buffers ---------------------------------


def pack_and_unpack(device):
    """Return what the three operators write, for two parameters of two processes."""
    first, second = torch.arange(6.0).view(3, 2), torch.arange(5.0) + 10
    parts = [first.to(device), second.to(device)]
    sizes, whole = [3, 2], torch.zeros(10, device=device)
    inputs = [parts[0].view(-1)[:3], parts[1][:2]]
    torch.ops.fsdp.all_gather_copy_in(inputs, whole, sizes, 5, 1)  # as rank 1
    out = [torch.zeros(2, size, device=device) for size in sizes]
    torch.ops.fsdp.split_with_sizes_copy(whole.view(2, 5), sizes, dim=1, out=out)
    chunks = torch.zeros(2, 7, device=device)
    torch.ops.fsdp.chunk_cat(parts, 0, 2, out=chunks)
    return [tensor.cpu() for tensor in (whole, *out, chunks)]


def test_fsdp_packs_with_kernels_of_the_device(no_fallback):
    assert fully_shard  # importing it registers the operators
    for name in ("all_gather_copy_in", "split_with_sizes_copy", "chunk_cat"):
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        assert has(f"fsdp::{name}", "PrivateUse1")
    results = pack_and_unpack("openreg")
    expected = pack_and_unpack("cpu")
    assert all(map(torch.equal, results, expected))
    assert all(tensor.any() for tensor in expected)


# --- Missing attributes and killed processes ------------------------------------------


def make_mesh():
    return init_device_mesh("openreg", (1,))


def draw():
    tensor_random._rng_tracker = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rand(4, device_mesh=make_mesh(), placements=[Shard(0)])


def step():
    model = llama.shard(llama.Llama().to("openreg"), make_mesh())
    words, target = (part.to("openreg") for part in llama.sentences(2, 0))
    llama.loss_of(model(words), target).backward()


NEEDS = {
    (make_mesh, "is_initialized"),
    (draw, "is_initialized"),
    (draw, "is_available"),
    (draw, "device_count"),
    (draw, "get_rng_state"),
    (draw, "set_rng_state"),
    (step, "is_initialized"),
    (step, "current_device"),
    (step, "current_stream"),
    (step, "Stream"),
    (step, "Event"),
    (step, "stream"),
}


@pytest.mark.filterwarnings("ignore:FSDP2-wrapped module")
def test_each_module_attribute_that_the_page_names_is_needed(alone, take_away):
    needed = set()
    names = [name for _, name in NEEDS] + ["set_stream", "manual_seed"]
    for name in sorted(set(names)):
        missing = take_away(name)
        for call in (make_mesh, draw, step):
            if text := message(call):
                needed.add((call, name))
                assert text == ("AssertionError: " if "set_rng" in name else missing)
    assert needed == NEEDS


@pytest.mark.filterwarnings("ignore:FSDP2-wrapped module")
def test_a_plain_tensor_and_a_dtensor_need_foreach_false(alone):
    model = llama.split_layers(llama.Llama().to("openreg"), make_mesh())
    words, target = (part.to("openreg") for part in llama.sentences(2, 0))
    llama.loss_of(model(words), target).backward()
    with pytest.raises(RuntimeError, match=r"got mixed torch\.Tensor and DTensor"):
        optimizer_of(model).step()
    optimizer_of(model, foreach=False).step()
    torch.openreg.synchronize()


def one_step(state):
    if "model" not in state:
        mesh = init_device_mesh("openreg", (dist.get_world_size(),))
        state["model"] = llama.shard(llama.Llama().to("openreg"), mesh)
    words, target = (part.to("openreg") for part in llama.sentences(2, 0))

    def call():
        llama.loss_of(state["model"](words), target).backward()

    return message(call)


def one_pipeline_step(state):
    rank, size = dist.get_rank(), dist.get_world_size()
    if "schedule" not in state:
        model = llama.keep_stage(fresh().to("openreg"), rank, size)
        stage = PipelineStage(model, rank, size, torch.device("openreg", 0))
        state["schedule"] = Schedule1F1B(stage, size, loss_fn=llama.loss_of)
    words, target = (part.to("openreg") for part in llama.sentences(4, 0))
    given = (words,) if rank == 0 else ()
    return message(lambda: state["schedule"].step(*given, target=target))


DIED = "rank 1: its process has ended"  # torch puts its own error before it, or not
OF_PIPELINE = "Failed to run stage backward|failed to run forward"
ENDS = {one_step: DIED, one_pipeline_step: f"{DIED}|{OF_PIPELINE}"}


@pytest.mark.parametrize("work", ENDS)
def test_the_other_ranks_get_an_error_when_one_dies(tmp_path, work):
    group = Ranks(4, tmp_path, "occl", seconds=20)
    try:
        assert not any(group.run(work))
        group.peers.pop(1).kill()
        answers = group.run(work)
        assert len(answers) == 3
        for answer in answers:
            assert re.search(ENDS[work], answer)
    finally:
        group.close()
