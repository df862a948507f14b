# FSDP1, the class; see docs/modules/sharding.md.
"""Each variant gives the losses and weights of one process with the whole batch."""

import copy
from typing import Any

import llama
import pytest
import torch
import torch.distributed as dist
from ranks import message
from sharding_support import (
    BATCH,
    CLIP,
    STEPS,
    fresh,
    optimizer_of,
    train_as_one,
    whole,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    CPUOffload,
    FullStateDictConfig,
    MixedPrecision,
    ShardingStrategy,
    StateDictType,
)
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.tensor.debug import CommDebugMode

BFLOAT16 = MixedPrecision(torch.bfloat16, reduce_dtype=torch.float32)
WAYS: dict[str, dict[str, Any]] = {
    "full_shard": {},
    "from_the_host": {},
    "shard_grad_op": {"sharding_strategy": ShardingStrategy.SHARD_GRAD_OP},
    "no_shard": {"sharding_strategy": ShardingStrategy.NO_SHARD},
    "hybrid_shard": {"sharding_strategy": ShardingStrategy.HYBRID_SHARD},
    "original_parameters": {"use_orig_params": True},
    "bfloat16": {"mixed_precision": BFLOAT16},
    "offload": {"cpu_offload": CPUOffload(True)},
    "clip": {},
}
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


def wrapped(way: str) -> FSDP:
    model = fresh() if way == "from_the_host" else fresh().to("openreg")
    options = dict(WAYS[way])
    if way == "hybrid_shard":
        names = ("copies", "parts")
        mesh = init_device_mesh("openreg", (2, 2), mesh_dim_names=names)
        options["device_mesh"] = mesh
    # LITERALINCLUDE START: FSDP1
    blocks = ModuleWrapPolicy({llama.Block})  # (1)
    device = torch.device("openreg", 0)
    return FSDP(model, auto_wrap_policy=blocks, device_id=device, **options)  # (2)
    # LITERALINCLUDE END: FSDP1


def train(state, way):
    """Return the losses, the whole weights, where the parts are, and collectives."""
    model = wrapped(way)
    optimizer, losses = optimizer_of(model), []
    rank, size = dist.get_rank(), dist.get_world_size()
    share = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
    for step in range(STEPS):
        words, target = (
            part[share].to("openreg") for part in llama.sentences(BATCH, step)
        )
        optimizer.zero_grad()
        with CommDebugMode() as comm:
            loss = llama.loss_of(model(words), target)
            loss.backward()
        if way == "clip":
            model.clip_grad_norm_(CLIP)
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total, dist.ReduceOp.AVG)
        losses.append(total.item())
    device = next(model.parameters()).device.type
    counts = {str(name) for name in comm.get_comm_counts()}
    config = FullStateDictConfig(offload_to_cpu=True)
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, config):
        weights = {name: whole(value) for name, value in model.state_dict().items()}
    return losses, weights, device, counts


@pytest.fixture(scope="module")
def one():
    return {clip: train_as_one(clip) for clip in (False, True)}


@pytest.mark.parametrize("way", WAYS)
def test_losses_and_weights_are_those_of_one_process(four, one, way):
    expected_losses, expected = one[way == "clip"]
    tolerance = {"rtol": 1e-4, "atol": 5e-5}
    if way == "bfloat16":
        tolerance = {"rtol": 2e-2, "atol": 4e-2}
    for result in four.run(train, way):
        assert not isinstance(result, str), result
        losses, weights, device, collectives = result
        torch.testing.assert_close(losses, expected_losses, **tolerance)
        torch.testing.assert_close(weights, expected, **tolerance)
        assert device == ("cpu" if way == "offload" else "openreg")
        gather = {"c10d._allgather_base_", "c10d._reduce_scatter_base_"}
        reduce = {"c10d.allreduce_"}
        wanted = {"no_shard": reduce, "hybrid_shard": gather | reduce}
        assert collectives == wanted.get(way, gather)


def save_and_load(state):
    """Save the parts, change the weights, load; return what is whole, twice."""
    model = wrapped("full_shard")
    kind = StateDictType.SHARDED_STATE_DICT
    with FSDP.state_dict_type(model, kind):
        saved = copy.deepcopy(model.state_dict())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7)
    with FSDP.state_dict_type(model, kind):
        model.load_state_dict(saved)
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT):
        return {name: whole(value) for name, value in model.state_dict().items()}


def test_parts_are_saved_and_loaded(four):
    expected = fresh().state_dict()
    for result in four.run(save_and_load):
        assert not isinstance(result, str), result
        torch.testing.assert_close(result, dict(expected), rtol=0, atol=0)


def step():
    model = wrapped("full_shard")
    words, target = (part.to("openreg") for part in llama.sentences(2, 0))
    llama.loss_of(model(words), target).backward()
    model.clip_grad_norm_(CLIP)
    torch.accelerator.synchronize()


NEEDS = {"current_stream", "stream", "Stream"}


@pytest.mark.filterwarnings(
    "ignore:FSDP is switching to use `NO_SHARD`", "ignore:The AccumulateGrad node"
)
def test_each_module_attribute_that_the_page_names_is_needed(alone, take_away):
    needed = set()
    for name in (*sorted(NEEDS), "device_count", "set_device", "set_stream"):
        take_away(name)
        if text := message(step):
            needed.add(name)
            words = f"Custom backend 'openreg' not implement 'torch.openreg.{name}'"
            assert text == f"AttributeError: {words}"
    assert needed == NEEDS
