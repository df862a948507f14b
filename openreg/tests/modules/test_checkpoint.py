# Checkpoints of a model in parts; see docs/modules/checkpoint.md.
import os
import re
import signal
import threading
from pathlib import Path

import checkpoint
import llama
import pytest
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from patience import PATIENCE
from ranks import Ranks, message
from sharding_support import (
    BATCH,
    STEPS,
    fresh,
    optimizer_of,
    rows,
    share_of_batch,
    train_as_one,
    whole,
)
from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

Failed = dcp.api.CheckpointException
pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")

# As in test_sharding.py.
FLOAT32 = {"rtol": 1e-4, "atol": 5e-5}


def trained(model, mesh, first, last, folder=None):
    """Return an optimizer that has made some steps, after it was loaded."""
    optimizer = optimizer_of(model)
    if folder:
        checkpoint.load(model, optimizer, folder)
    for step in range(first, last):
        share = share_of_batch(mesh) if mesh else slice(None)
        words, target = (
            part[share].to("openreg") for part in llama.sentences(BATCH, step)
        )
        optimizer.zero_grad()
        llama.loss_of(model(words), target).backward()
        optimizer.step()
    return optimizer


def stop_and_save(state, folder):
    """Two ranks train and save; the two others do the same, in another folder."""
    mesh = rows(2)
    model = llama.shard(fresh().to("openreg"), mesh)
    optimizer = trained(model, mesh, 0, STEPS - 1)
    weights, states = dcp.state_dict.get_state_dict(model, optimizer)
    here = folder / ("step-2" if dist.get_rank() < 2 else "other")
    both = {"model": weights, "optimizer": states}
    dcp.save(both, checkpoint_id=here, process_group=mesh.get_group())


def load_and_go_on(state, folder, ranks):
    """Return the weights after the last step, whole."""
    torch.manual_seed(9)  # other weights than those saved
    mesh, model = rows(ranks), llama.Llama().to("openreg")
    llama.shard(model, mesh)
    trained(model, mesh, STEPS - 1, STEPS, folder)
    return {name: whole(value) for name, value in model.named_parameters()}


@pytest.fixture(scope="module")
def saved(four, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    assert four.run(stop_and_save, folder) == [None] * 4
    return folder / "step-2"


@pytest.fixture(scope="module")
def expected():
    return train_as_one()[1]


@pytest.mark.parametrize("ranks", [2, 4])
def test_what_two_saved_is_loaded_by_two_and_four(four, saved, expected, ranks):
    for weights in four.run(load_and_go_on, saved, ranks):
        assert not isinstance(weights, str), weights
        torch.testing.assert_close(weights, expected, **FLOAT32)


def test_what_two_saved_is_loaded_by_one(saved, expected):
    files = sorted(path.name for path in saved.iterdir())
    assert files == [".metadata", "__0_0.distcp", "__1_0.distcp"]
    torch.manual_seed(9)
    model = llama.Llama().to("openreg")
    trained(model, None, STEPS - 1, STEPS, saved)
    weights = {name: whole(value) for name, value in model.named_parameters()}
    torch.testing.assert_close(weights, expected, **FLOAT32)


# --- Saving in the background ---------------------------------------------------------


class Late(dcp.FileSystemWriter):
    """Writes when it is told to."""

    def __init__(self, folder):
        super().__init__(folder)
        self.now = threading.Event()

    def write_data(self, plan, planner):
        assert self.now.wait(PATIENCE)
        return super().write_data(plan, planner)


def split(value):
    mesh = init_device_mesh("openreg", (4,))
    return distribute_tensor(torch.full((16,), value), mesh, [Shard(0)])


def save_behind(state, folder):
    """Change the tensor while it waits to be written."""
    x, writer = split(3.0), Late(folder)
    future = dcp.async_save({"x": x}, storage_writer=writer)
    x.fill_(4.0)
    running = not future.done()
    writer.now.set()
    future.result()
    read = {"x": split(0.0)}
    dcp.load(read, checkpoint_id=folder)
    return running, whole(read["x"]).tolist()


def test_async_save_writes_what_there_was_when_it_was_called(four, tmp_path):
    assert four.run(save_behind, tmp_path / "saved") == [(True, [3.0] * 16)] * 4


def test_async_save_needs_a_group_for_the_cpu(alone, tmp_path):
    error = "A CPU backend must be enabled for async save; try initializing process "
    error += "group with 'cpu:gloo,cuda:nccl'"
    with pytest.raises(AssertionError) as caught:
        dcp.async_save({"x": torch.ones(1)}, checkpoint_id=tmp_path)
    assert str(caught.value) == error


def test_asynchronous_staging_does_not_wait_for_the_device():
    """Torch gives it a stream that waits for no other, on any device."""
    x = torch.zeros(2, device="openreg")
    torch.openreg.synchronize()
    stager = DefaultStager(StagingOptions(False, False, True, True))
    with torch.openreg.simulator.hold():
        x.add_(1)
        copied = stager.stage({"x": x}).result(PATIENCE)
    assert copied["x"].tolist() == [0, 0]
    torch.openreg.synchronize()
    assert stager.stage({"x": x}).result(PATIENCE)["x"].tolist() == [1, 1]
    stager.close()


def test_staging_in_pinned_memory_knows_cuda_only():
    with pytest.warns(UserWarning, match="requires CUDA, but CUDA is not available"):
        DefaultStager(StagingOptions(True, False, False, False)).close()


# --- What each call needs -------------------------------------------------------------


def save_one(folder):
    dcp.save({"x": torch.ones(2, device="openreg")}, checkpoint_id=folder)


def load_meta(folder):
    read = {"x": torch.empty(2, device="meta")}
    dcp.load(read, checkpoint_id=folder)
    assert read["x"].device.type == "openreg"
    assert read["x"].tolist() == [1, 1]


NEEDS = {
    (save_one, "is_available"),
    (save_one, "current_stream"),
    (save_one, "stream"),
    (load_meta, "current_device"),
}


@pytest.mark.filterwarnings("ignore")  # of an older checkpoint, and of torch's own
def test_each_module_attribute_that_the_page_names_is_needed(
    alone, take_away, tmp_path
):
    save_one(tmp_path / "whole")
    needed = set()
    names = {name for _, name in NEEDS} | {"device_count", "Stream", "Event"}
    for name in sorted(names):
        missing = take_away(name)
        for call, folder in ((save_one, "new"), (load_meta, "whole")):
            text = outcome(lambda call=call, f=folder: call(tmp_path / f))
            if text:
                needed.add((call, name))
                assert missing in text
    assert needed == NEEDS


# --- Failures and killed processes ----------------------------------------------------


class Full:
    """Cannot be written."""

    def __reduce__(self):
        raise OSError(28, "No space left on device")


class Deadly:
    """Ends the process when it is written, in the middle of a checkpoint."""

    def __reduce__(self):
        os.kill(os.getpid(), signal.SIGKILL)


def outcome(call):
    """Return what ``call`` raises; torch's own exception is no ``Exception``."""
    assert not issubclass(Failed, Exception)
    try:
        return message(call)
    except Failed as error:
        return str(error)


def save_with(state, folder, kind=None):
    """Save 8 numbers, and on rank 1 something else besides."""
    mesh = init_device_mesh("openreg", (dist.get_world_size(),))
    x = distribute_tensor(torch.full((8,), float(kind is not None)), mesh, [Shard(0)])
    extra = {"what": kind()} if kind and dist.get_rank() == 1 else {}
    return outcome(lambda: dcp.save({"x": x, **extra}, checkpoint_id=folder))


def load_alone(folder):
    read = {"x": torch.empty(8, device="openreg")}
    dcp.load(read, checkpoint_id=folder, no_dist=True)
    return read["x"].tolist()


def test_each_rank_learns_that_one_cannot_write(four, tmp_path):
    """What is left of the older checkpoint in the same folder is of two ages."""
    assert four.run(save_with, tmp_path) == [None] * 4
    assert load_alone(tmp_path) == [0] * 8
    for text in four.run(save_with, tmp_path, Full):
        assert "CheckpointException ranks:dict_keys([1])" in text
        assert "No space left on device" in text
    with pytest.raises(Failed):
        load_alone(tmp_path)


@pytest.mark.parametrize("backend", ["occl", "cpu:gloo,openreg:occl"])
def test_a_killed_save_leaves_the_last_checkpoint(tmp_path, backend):
    group = Ranks(4, tmp_path, backend, seconds=20)
    try:
        assert group.run(save_with, tmp_path / "step-1") == [None] * 4
        first, gone, *others = group.run(save_with, tmp_path / "step-2", Deadly)
    finally:
        group.close()
    # Gloo reports a closed connection; other ranks wait for rank 0 until the timeout.
    gloo = "by peer|Timed out waiting"
    dead = "rank 1: its process has ended" if backend == "occl" else gloo
    assert len(others) == 2
    for text in (first, *others):
        assert re.search(dead, text), text
    assert gone == "EOFError"
    left = {path.name for path in (tmp_path / "step-2").iterdir()}
    assert left == {f"__{rank}_0.distcp" for rank in range(4)}
    with pytest.raises(Failed, match=r"No such file or directory: '.*\.metadata'"):
        load_alone(tmp_path / "step-2")
    assert checkpoint.last(Path(tmp_path)) == tmp_path / "step-1"
    assert load_alone(tmp_path / "step-1") == [0] * 8
