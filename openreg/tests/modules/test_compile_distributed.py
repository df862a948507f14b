# Compiled models of several processes; see docs/modules/sharding.md.
import llama
import pytest
import torch
from ranks import Ranks
from sharding_support import BATCH, STEPS, fresh, optimizer_of, train_as_one, whole
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

FLOAT32 = {"rtol": 1e-4, "atol": 5e-5}


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:  # the processes inherit it
        patch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
        patch.setenv("TORCHINDUCTOR_VEC_ISA_OK", "1")
        folder = tmp_path_factory.mktemp("two")
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder / "inductor"))
        group = Ranks(2, folder, "occl")
    yield group
    group.close()


def train(state, way):
    """Return losses and weights of a compiled model that two processes share."""
    torch._dynamo.reset()
    model = fresh().to("openreg")
    mesh = init_device_mesh("openreg", (2,))
    if way == "ddp":
        forward = torch.compile(DistributedDataParallel(model))
    else:  # first compiled, then shared: the hooks of FSDP stay outside of the graphs
        for block in model.blocks.values():
            block.compile()
        forward = llama.shard(model, mesh)
    optimizer, losses = optimizer_of(model), []
    first = mesh.get_local_rank() * BATCH // 2
    share = slice(first, first + BATCH // 2)
    for step in range(STEPS):
        words, target = (x[share].to("openreg") for x in llama.sentences(BATCH, step))
        optimizer.zero_grad()
        loss = llama.loss_of(forward(words), target)
        loss.backward()
        optimizer.step()
        total = loss.detach() / 2
        torch.distributed.all_reduce(total)
        losses.append(total.item())
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    return losses, {n: whole(x) for n, x in model.state_dict().items()}, graphs


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_a_compiled_model_learns_what_one_process_learns(two, way):
    expected = train_as_one()
    for result in two.run(train, way):
        assert not isinstance(result, str), result
        *learned, graphs = result
        assert graphs > 0
        torch.testing.assert_close(tuple(learned), expected, **FLOAT32)
