# What torchrun starts; see docs/modules/distributed-groups.md.
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from patience import PATIENCE
from torch.distributed.run import determine_local_world_size
from torch_release import has_changed

TRAIN = Path(__file__).parents[1] / "examples/distributed/train.py"
ENV = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
# torchrun starts `python -u`, where print() writes a line and its end apart: two ranks
# would mix them.
SAY = """
def say(text):
    print(text + "\\n", end="")
"""


def torchrun(*arguments, **env):
    """Return what the processes print."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    process = subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **ENV, **env},
    )
    assert process.returncode == 0, process.stderr[-4000:]
    return process.stdout


def one_process():
    """Return the sum of the weights after the training of `train.py`."""
    torch.manual_seed(0)
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return model.weight.sum().item()


@pytest.mark.parametrize("how", ["openreg", "auto"])
def test_torchrun_counts_the_devices(how):
    assert determine_local_world_size(how) == torch.openreg.device_count() > 1


def test_gpu_means_cuda_for_torchrun():
    with pytest.raises(ValueError, match="Cuda is not available"):
        determine_local_world_size("gpu")


def test_every_process_has_a_device():
    text = torchrun("--nproc-per-node=auto", str(TRAIN), OPENREG_DEVICE_COUNT="3")
    devices = re.findall("'device': '(.*?)'", text)
    assert devices == ["openreg:0", "openreg:1", "openreg:2"]


def test_there_may_be_more_processes_than_devices():
    """Also where each launch waits for its kernel."""
    blocking = {"OPENREG_DEVICE_COUNT": "1", "OPENREG_LAUNCH_BLOCKING": "1"}
    text = torchrun("--nproc-per-node=2", str(TRAIN), **blocking)
    assert re.findall("'device': '(.*?)'", text) == ["openreg:0"] * 2
    for weight in re.findall("'weight': (.*?)}", text):
        assert abs(float(weight) - one_process()) < 1e-3


CHECKED = (
    SAY
    + """
import torch
import torch.distributed as dist

dist.init_process_group("occl")
me, peer = dist.get_rank(), 1 - dist.get_rank()
backend = dist.group.WORLD._get_backend(torch.device("openreg"))
x = torch.full((2,), me + 1.0, device="openreg")
dist.all_reduce(x)
out = torch.empty(4, device="openreg")
dist.all_gather_into_tensor(out, x + me)
say(f"{type(backend).__name__} {x.tolist()} {out.tolist()}")
try:
    dist.all_reduce(torch.ones(2 + me, device="openreg"))
    torch.openreg.synchronize()
except RuntimeError as error:
    say(str(error).splitlines()[0])
left = dist.irecv(torch.ones(2, device="openreg"), peer)
say(f"rank {me} leaves with a message under way")
"""
)


def test_debug_mode_and_an_exit_with_a_message_under_way(tmp_path):
    """In debug mode torch compares what the ranks call, before the backend does."""
    program = tmp_path / "checked.py"
    program.write_text(CHECKED)
    text = torchrun(
        "--nproc-per-node=2", str(program), TORCH_DISTRIBUTED_DEBUG="DETAIL"
    )
    line = "_ProcessGroupWrapper [3.0, 3.0] [3.0, 3.0, 4.0, 4.0]\n"
    assert text.count(line) == 2, text
    for rank in range(2):
        assert f"Detected mismatch between collectives on ranks. Rank {rank}" in text
        assert f"rank {rank} leaves with a message under way\n" in text


BLOCKING = (
    SAY
    + """
import datetime
import torch
import torch.distributed as dist

dist.init_process_group("occl", timeout=datetime.timedelta(seconds=60))
me, peer = dist.get_rank(), 1 - dist.get_rank()
both = dist.new_group()
x, y = torch.full((2,), me + 1.0, device="openreg"), torch.empty(2, device="openreg")
for step in ("send", "receive") if me else ("receive", "send"):
    dist.isend(x, peer) if step == "send" else dist.irecv(y, peer)
say(f"got {y.tolist()}")
dist.group.WORLD.set_timeout(datetime.timedelta(seconds=2))
try:
    dist.isend(x, peer)
    dist.irecv(y, peer)
except RuntimeError as error:
    say(f"{type(error).__name__}: {str(error).splitlines()[0]}")
if me == 0:  # the program of rank 1 comes to its end
    try:
        dist.all_reduce(torch.ones(2, device="openreg:1"), group=both)
    except RuntimeError as error:
        say(str(error).splitlines()[0])
"""
)


def test_with_blocking_launches_one_rank_must_receive_first(tmp_path):
    program = tmp_path / "blocking.py"
    program.write_text(BLOCKING)
    text = torchrun("--nproc-per-node=2", str(program), OPENREG_LAUNCH_BLOCKING="1")
    assert "got [1.0, 1.0]\n" in text
    assert "got [2.0, 2.0]\n" in text
    for rank in range(2):
        assert f"DistBackendError: occl::send failed on rank {rank} of 2" in text
    ended = has_changed("groups end with their process")
    why = "rank 1: its process has ended" if ended else "rank 1 has left the group"
    assert f"failed on rank 0 of 2 in group 1: {why}" in text
