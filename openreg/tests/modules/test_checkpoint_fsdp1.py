# Loads the optimizer of a model in FSDP1 from a checkpoint; see
# docs/modules/checkpoint.md.
import llama
import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from sharding_support import BATCH, STEPS, fresh, optimizer_of, train_as_one, whole
from torch.distributed.checkpoint.optimizer import load_sharded_optimizer_state_dict
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import StateDictType

SHARDED = StateDictType.SHARDED_STATE_DICT


def wrapped(model):
    made = FSDP(model, device_id=torch.openreg.current_device())
    return made, optimizer_of(made)


def trained(model, optimizer, first, last):
    rank = dist.get_rank()
    share = slice(rank * BATCH // 2, (rank + 1) * BATCH // 2)
    for step in range(first, last):
        words, target = (x[share].to("openreg") for x in llama.sentences(BATCH, step))
        optimizer.zero_grad()
        llama.loss_of(model(words), target).backward()
        optimizer.step()


def stop_and_save(state, folder):
    model, optimizer = wrapped(fresh())
    trained(model, optimizer, 0, STEPS - 1)
    with FSDP.state_dict_type(model, SHARDED):
        states = FSDP.optim_state_dict(model, optimizer)
        both = {"model": model.state_dict(), "optimizer": states}
        dcp.save(both, checkpoint_id=folder)


# LITERALINCLUDE START: FSDP1_LOAD
def load(model, optimizer, folder):
    with FSDP.state_dict_type(model, SHARDED):
        weights = {"model": model.state_dict()}
        dcp.load(weights, checkpoint_id=folder)
        model.load_state_dict(weights["model"])
        states = load_sharded_optimizer_state_dict(
            weights["model"], "optimizer", dcp.FileSystemReader(folder)
        )
        states = FSDP.optim_state_dict_to_load(model, optimizer, states["optimizer"])
        optimizer.load_state_dict(states)


# LITERALINCLUDE END: FSDP1_LOAD


def load_and_go_on(state, folder):
    """Return the weights after the last step, and where the optimizer's state is."""
    torch.manual_seed(9)  # other weights than those saved
    model, optimizer = wrapped(llama.Llama())
    load(model, optimizer, folder)
    devices = {str(x["exp_avg"].device) for x in optimizer.state.values()}
    trained(model, optimizer, STEPS - 1, STEPS)
    with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT):
        return {k: whole(v) for k, v in model.state_dict().items()}, devices


def take_device(state, index):
    torch.openreg.set_device(index if index is not None else dist.get_rank())


@pytest.mark.parametrize("index", [None, 0])  # each its own device, or both the same
def test_the_optimizer_continues_where_it_stopped(two, tmp_path, index):
    expected = train_as_one()[1]
    assert two.run(take_device, index) == [None] * 2
    assert two.run(stop_and_save, tmp_path) == [None] * 2
    for rank, result in enumerate(two.run(load_and_go_on, tmp_path)):
        assert not isinstance(result, str), result
        weights, devices = result
        torch.testing.assert_close(weights, expected, rtol=1e-4, atol=5e-5)
        assert devices == {f"openreg:{rank if index is None else index}"}
