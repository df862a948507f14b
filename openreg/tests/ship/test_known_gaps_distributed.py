# Limits of torch.distributed 2.13, as they are today; see docs/ship/known-gaps.md.
import pytest
import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch_release import has_changed


@pytest.fixture
def group(request):
    torch.distributed.init_process_group(
        request.param, store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.parametrize("group", [None], indirect=True)
def test_a_process_group_without_a_name_counts_as_gloo(group):
    model = torch.nn.Linear(1, 1).to("openreg")
    if has_changed("a process group without a name uses what is there"):
        torch.nn.parallel.DistributedDataParallel(model)
        return
    with pytest.raises(RuntimeError, match="Could not find backend type 1"):
        torch.nn.parallel.DistributedDataParallel(model)


@pytest.mark.parametrize("group", ["occl"], indirect=True)
def test_monitored_barrier_is_only_for_gloo(group):
    new = has_changed("monitored_barrier asks for a backend with CPU tensors")
    text = "a group with a CPU-capable backend" if new else "only implemented for GLOO"
    with pytest.raises(ValueError, match=text):
        torch.distributed.monitored_barrier()


@pytest.mark.smoke
@pytest.mark.parametrize("group", ["occl"], indirect=True)
def test_bf16_compress_hook_is_refused_by_its_name(group):
    model = torch.nn.Linear(1, 1).to("openreg")
    ddp = torch.nn.parallel.DistributedDataParallel(model)
    if torch.version.cuda:  # what counts is NCCL in the build, not the group's backend
        ddp.register_comm_hook(None, default_hooks.bf16_compress_hook)
        x = torch.ones(2, 1, device="openreg")
        ddp(x).sum().backward()
        assert model.weight.grad.tolist() == [[2.0]]
        return
    with pytest.raises(TypeError, match="BF16 all reduce communication hook required"):
        ddp.register_comm_hook(None, default_hooks.bf16_compress_hook)


@pytest.mark.parametrize("group", ["occl"], indirect=True)
def test_the_name_of_a_split_group_depends_on_the_number_of_groups(group):
    name = torch.distributed.distributed_c10d._process_group_name
    before = name([0], use_hashed_name=True)
    changed = has_changed("each group has its own name")
    assert (name([0], use_hashed_name=True) == before) != changed
    torch.distributed.new_group([0])
    assert name([0], use_hashed_name=True) != before


class FutureWork(torch.distributed.distributed_c10d.Work):
    """What a backend in Python returns, which has no streams."""

    def __init__(self):
        super().__init__()
        self.future = torch.futures.Future()

    def get_future(self):
        return self.future


def test_a_work_of_another_backend_cannot_block_our_stream():
    torch.ones(1, device="openreg")
    # The build for CUDA has a kernel that spins, and looks for CUDA's driver.
    told = "CUDA" if torch.version.cuda else "Failed to create StreamBlock"
    with pytest.raises(RuntimeError, match=told):
        FutureWork().block_current_stream()


@pytest.mark.parametrize("group", ["cpu:gloo,openreg:occl"], indirect=True)
def test_gloo_cannot_block_our_stream_but_our_own_work_can(group):
    x = torch.ones(2, device="openreg")
    torch.distributed.all_reduce(x, async_op=True).block_current_stream()
    assert (x * 2).tolist() == [2.0, 2.0]
    work = torch.distributed.all_reduce(torch.ones(2), async_op=True)
    with pytest.raises(RuntimeError, match=r"Failed to create StreamBlock|CUDA"):
        work.block_current_stream()
    work.wait()
