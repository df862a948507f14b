# Processes of two hosts train together; see docs/modules/distributed-groups.md.
import json
import os
import re
import sys
from pathlib import Path

import pytest
import torch
from hosts import NAMES, CannotError, Hosts
from patience import PATIENCE
from test_distributed_training import train_as_one

FOLDER = Path(__file__).parent
PATHS = os.pathsep.join(map(str, (FOLDER, FOLDER.parent / "support")))
PROGRAM = """
import datetime, json, sys
import torch
import torch.distributed as dist
from test_distributed_training import train_together

torch.set_num_threads(1)
dist.init_process_group("occl", timeout=datetime.timedelta(seconds=60))
me = dist.get_rank()
x = torch.full((100_000,), me + 1.0, device="openreg")
dist.all_reduce(x)
moved = torch.empty(3, device="openreg")
dist.send(x[:3] * 10, 1) if me == 0 else dist.recv(moved, 0)
whole = torch.empty(2, device="openreg")
dist.all_gather_into_tensor(whole, x[me:][:1] + me)
print("sum", x.unique().tolist(), moved.tolist() if me else None, whole.tolist())
weights = [w.tolist() for w in train_together({}, "buckets")]
print("weights", json.dumps(weights), flush=True)
sys.stdin.readline()  # the cable is cut
dist.group.WORLD.set_timeout(datetime.timedelta(seconds=3))
dist.all_reduce(x)
try:
    torch.openreg.synchronize()
except torch.AcceleratorError as error:
    print("error", str(error).replace("\\n", " "))
"""


@pytest.fixture
def hosts():
    try:
        two = Hosts()
    except CannotError as error:
        pytest.fail(str(error), pytrace=False)
    yield two
    two.close()


def test_two_hosts_train_together_until_the_cable_is_cut(hosts):
    env = {"MASTER_ADDR": NAMES[0], "MASTER_PORT": "29500", "WORLD_SIZE": "2"}
    ranks = [
        hosts.start(
            host, sys.executable, "-c", PROGRAM, RANK=str(host), PYTHONPATH=PATHS, **env
        )
        for host in range(2)
    ]
    said = []
    for rank in ranks:
        lines = []
        for line in rank.stdout:
            lines.append(line)
            if line.startswith("weights"):
                break
        said.append("".join(lines))
    one = train_as_one({})
    for host, text in enumerate(said):
        moved = "[30.0, 30.0, 30.0]" if host else "None"
        assert f"sum [3.0] {moved} [3.0, 4.0]\n" in text, text
        weights = json.loads(re.search("^weights (.*)$", text, re.MULTILINE)[1])
        torch.testing.assert_close([torch.tensor(w) for w in weights], one)
    hosts.cut()
    for host, rank in enumerate(ranks):
        text, _ = rank.communicate("cut\n", timeout=PATIENCE)
        assert f"occl::all_reduce failed on rank {host} of 2 in group 0" in text, text
        assert re.search("imed out", text), text
        assert rank.returncode == 0
