# Groups out of groups, and calls with several operations; see
# docs/modules/distributed-groups.md.
import copy
import datetime
import warnings

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from ranks import GROUP_SECONDS, Ranks, message
from torch.distributed.device_mesh import init_device_mesh

openreg = torch.openreg
DEVICE = torch.device("openreg", 0)


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    folder = tmp_path_factory.mktemp("group")
    group = Ranks(4, folder, "cpu:gloo,openreg:occl", device_id=DEVICE)
    yield group
    group.close()


def mine(*shape, dtype=torch.float32):
    return torch.full(shape, dist.get_rank() + 1, dtype=dtype, device="openreg")


def sum_in(group, x=None):
    x = mine(2) if x is None else x
    dist.all_reduce(x, group=group)
    return x[0].item()


# -- groups --


def split(state):
    """Split the group in two, and each half again."""
    half = dist.split_group(split_ranks=[[0, 1], [2, 3]], group_desc="half")
    quarter = dist.split_group(half, [[0], [1]])
    backend = half._get_backend(DEVICE)
    on_cpu = torch.ones(1)
    dist.all_reduce(on_cpu, group=half)
    return (
        (backend.name(), half.size(), half.rank(), half.group_desc),
        (sum_in(half), on_cpu.item()),
        (quarter.size(), sum_in(quarter)),
        dist.split_group(split_ranks=[[0, 1, 2, 3]]).size(),
    )


def test_a_group_is_split(four):
    for me, (about, sums, quarter, whole) in enumerate(four.run(split)):
        assert about == ("occl", 2, me % 2, "half")
        assert sums == (3.0 if me < 2 else 7.0, 2.0)
        assert quarter == (1, me + 1.0)
        assert whole == 4


def options(state):
    """The new group has its own options; the old group keeps its own."""
    backend = dist.group.WORLD._get_backend(DEVICE)
    before = backend.options._timeout
    child = dist.split_group(
        split_ranks=[[0, 1, 2, 3]], timeout=datetime.timedelta(seconds=40)
    )
    copied = copy.deepcopy(copy.deepcopy(backend.options))
    return (
        before,
        backend.options._timeout,
        child._get_backend(DEVICE).options._timeout,
        copied.global_ranks_in_group,
    )


def test_a_split_group_has_its_own_timeout(four):
    mine = datetime.timedelta(seconds=GROUP_SECONDS)
    other = datetime.timedelta(seconds=40)
    assert four.run(options) == [(mine, mine, other, [0, 1, 2, 3])] * 4


def new_groups(state):
    """Make groups of some ranks; the others are asked too, and get none."""
    me = dist.get_rank()
    groups = [dist.new_group([0, 2], group_desc="evens"), dist.new_group([1, 3])]
    outside = groups[1 - me % 2] is dist.GroupMember.NON_GROUP_MEMBER
    pairs, _ = dist.new_subgroups(2)
    ranks = dist.get_process_group_ranks(pairs)
    return outside, sum_in(groups[me % 2]), sum_in(pairs), ranks


def test_groups_of_some_ranks(four):
    expected = [
        (True, 4.0, 3.0, [0, 1]),
        (True, 6.0, 3.0, [0, 1]),
        (True, 4.0, 7.0, [2, 3]),
        (True, 6.0, 7.0, [2, 3]),
    ]
    assert four.run(new_groups) == expected


def merge(state):
    """Two groups of two ranks become one of four."""
    me = dist.get_rank()
    half = dist.split_group(split_ranks=[[0, 1], [2, 3]])
    store = dist.PrefixStore("merge", dist.distributed_c10d._get_default_store())
    whole = half.merge_remote_group(store, 4, datetime.timedelta(seconds=30), "whole")
    x = mine(2)
    whole.allreduce([x]).wait()
    return whole.size(), x.tolist(), me


def test_groups_are_merged(four):
    assert four.run(merge) == [(4, [10.0, 10.0], me) for me in range(4)]


def names(state):
    pair = [2 * (dist.get_rank() // 2), 2 * (dist.get_rank() // 2) + 1]
    group = dist.new_group(pair, group_desc="pair", use_local_synchronization=True)
    return (
        dist.get_backend(),
        dist.get_backend(group),
        dist.get_backend_config(),
        message(lambda: dist.all_reduce(mine(2).t().expand(2, 2), group=group)),
        str(init_device_mesh("openreg", (2, 2), mesh_dim_names=("a", "b"))),
        [
            sum_in(init_device_mesh("openreg", (2, 2)).get_group(dim))
            for dim in range(2)
        ],
    )


def shrink(state):
    return message(lambda: dist.shrink_group([3]))


def test_shrinking_is_refused(four):
    for text in four.run(shrink)[:3]:
        assert text.startswith("TypeError: ")
        assert "does not support" in text


def test_torch_knows_the_group_by_its_backend(four):
    both = "cpu:gloo,openreg:occl"
    for me, (backend, of_group, config, text, mesh, sums) in enumerate(four.run(names)):
        assert (backend, of_group, config) == (both, both, both)
        assert text.startswith("ValueError: occl::all_reduce takes contiguous tensors")
        assert mesh.startswith("DeviceMesh((a=2, b=2), 'openreg'")
        column, row = me % 2, me // 2
        assert sums == [column + 1 + column + 3, 4.0 * row + 3]


# -- several operations in one call --


def coalesced(state):
    size, me = dist.get_world_size(), dist.get_rank()
    whole = torch.empty(2 * size, device="openreg")
    with openreg.simulator.hold():
        x, y = mine(2), mine(3) * 10
        with dist._coalescing_manager(device=DEVICE, async_ops=True) as manager:
            dist.broadcast(x, 1)
            dist.reduce(y, 2)
        (work,) = manager.works
        early = work.is_completed()
    work.wait()
    openreg.synchronize()
    good = work.is_success()
    with dist._coalescing_manager():
        dist.all_gather_into_tensor(whole, x)
    with dist._coalescing_manager(device=DEVICE):
        pass  # nothing is no work
    tensors = [y] if me == 2 else []
    return (
        early,
        good,
        x.tolist(),
        [t.tolist() for t in tensors],
        whole[-1],
    )


def test_operations_are_coalesced(four):
    for me, (early, good, x, y, last) in enumerate(four.run(coalesced)):
        assert (early, good, x, last) == (False, True, [2.0, 2.0], 2.0)
        assert y == ([[100.0] * 3] if me == 2 else [])


def coalesced_on_two_devices(state):
    """Return what the call raises; the next one is as always."""
    x, y, z = mine(2), mine(2).to("openreg:1"), mine(2)

    def call():
        with dist._coalescing_manager(device=DEVICE):
            dist.broadcast(x, 1)
            dist.broadcast(y, 1)

    text = message(call)
    with dist._coalescing_manager(device=DEVICE):
        dist.broadcast(z, 2)
    return text, z.tolist()


def test_coalesced_operations_have_one_device(four):
    for text, values in four.run(coalesced_on_two_devices):
        assert "one device, but got tensors on openreg:0 and on openreg:1" in text
        assert values == [3.0, 3.0]


def batch(state):
    """A ring in both directions at once, the receives first; one Work for all."""
    size, me = dist.get_world_size(), dist.get_rank()
    left, right = (me - 1) % size, (me + 1) % size
    out = [torch.empty(2, device="openreg") for _ in range(2)]
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.irecv, out[0], left),
            dist.P2POp(dist.irecv, out[1], right),
            dist.P2POp(dist.isend, mine(2), left),
            dist.P2POp(dist.isend, mine(2) * 10, right),
        ]
    )
    for work in works:
        work.wait()
    return len(works), out[0][0].item(), out[1][0].item(), left, right


def test_messages_are_batched(four):
    for count, from_left, from_right, left, right in four.run(batch):
        assert count == 1
        assert from_left == 10.0 * (left + 1)
        assert from_right == right + 1.0


# -- reductions that Gloo does not have --


def premultiplied(state):
    size, me = dist.get_world_size(), dist.get_rank()
    op = dist.ReduceOp.PREMUL_SUM(0.5)
    results = []
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x = mine(2, dtype=dtype)
        dist.all_reduce(x, op)
        results.append((x.dtype, x.tolist()))
    # Each rank may have its own factor, also as a tensor.
    own = dist.ReduceOp.PREMUL_SUM(torch.tensor([me + 1.0], device="openreg"))
    whole, part = mine(2 * size), torch.empty(2, device="openreg")
    dist.reduce_scatter_tensor(part, whole, own)
    listed = [mine(2) for _ in range(size)]
    dist.reduce_scatter(again := torch.empty(2, device="openreg"), listed, own)
    rooted = mine(2)
    dist.reduce(rooted, 1, op)
    leaf = mine(2).requires_grad_()
    with torch.no_grad():
        dist.all_reduce(leaf, op)
    unchanged = [whole[0].item(), listed[0][0].item()]
    refused = message(lambda: dist.all_reduce(mine(2, dtype=torch.int64), op))
    return results, part.tolist(), again.tolist(), rooted.tolist(), unchanged, refused


def test_premul_sum_multiplies_first(four):
    for me, result in enumerate(four.run(premultiplied)):
        results, part, again, rooted, unchanged, refused = result
        for _, values in results:
            assert values == [5.0, 5.0]
        assert part == again == [1.0 + 4 + 9 + 16] * 2
        assert rooted == ([5.0] * 2 if me == 1 else [me + 1.0] * 2)
        assert unchanged == [me + 1.0] * 2
        assert refused.startswith(
            "TypeError: occl::all_reduce cannot reduce Long with ReduceOp.PREMUL_SUM"
        )


def sparse(state):
    x = torch.eye(3).to_sparse().to("openreg")
    return message(lambda: dist.all_reduce(x))


def test_sparse_tensors_are_refused_by_name(four):
    for text in four.run(sparse):
        assert "c10d::allreduce_" in text
        assert "'Sparseopenreg' backend" in text


# -- objects --


def objects(state):
    size, me = dist.get_world_size(), dist.get_rank()
    gathered = [None] * size if me == 2 else None
    dist.gather_object({"rank": me}, gathered, dst=2)
    everyone = [None] * size
    dist.all_gather_object(everyone, "x" * me)
    told = [me, torch.tensor([me])]
    dist.broadcast_object_list(told, src=1)
    part = [None]
    dist.scatter_object_list(part, [f"for {r}" for r in range(size)], src=3)
    heard = [None]
    if me == 0:
        dist.send_object_list(["hello"], dst=1)
    elif me == 1:
        dist.recv_object_list(heard, src=0)
    # A tensor of the device arrives on the device.
    tensors = [None] * size
    dist.all_gather_object(tensors, mine(1))
    devices = {str(x.device) for x in tensors}
    return gathered, everyone, [told[0], told[1].tolist()], part, heard, devices


def test_objects_travel(four):
    for me, (gathered, everyone, told, part, heard, devices) in enumerate(
        four.run(objects)
    ):
        assert gathered == ([{"rank": r} for r in range(4)] if me == 2 else None)
        assert everyone == ["", "x", "xx", "xxx"]
        assert told == [1, [1]]
        assert part == [f"for {me}"]
        assert heard == (["hello"] if me == 1 else [None])
        assert devices == {"openreg:0"}


# -- functional collectives --


def functional_collectives(state):
    warnings.simplefilter("ignore", FutureWarning)
    group, size = dist.group.WORLD, dist.get_world_size()
    openreg.synchronize()
    with openreg.simulator.hold():
        x = mine(4)
        y = functional.all_reduce(x, "sum", group)
        waiting = isinstance(y, functional.AsyncCollectiveTensor)
        z = y + 1  # waits, on the stream
    results = [
        z,
        x,
        functional.all_gather_single(x[:1], 0, group),
        functional.reduce_scatter_single(x, "avg", 0, group),
        functional.all_to_all_single(x, None, None, group),
        functional.broadcast(x, 2, group),
        functional.permute_tensor(x, [(r + 1) % size for r in range(size)], group),
    ]
    (many,) = functional.all_reduce_coalesced([x], "max", group)
    results.append(many)
    leaf = mine(2).requires_grad_()
    functional.all_gather_tensor_autograd(leaf, 0, group).sum().backward()
    return waiting, [r.cpu().tolist() for r in results], leaf.grad.tolist()


def test_functional_collectives(four):
    for me, (waiting, results, gradient) in enumerate(four.run(functional_collectives)):
        own, previous = [me + 1.0] * 4, [(me - 1) % 4 + 1.0] * 4
        steps = [1.0, 2.0, 3.0, 4.0]
        assert waiting
        assert results == [
            *([11.0] * 4, own, steps, [2.5], steps, [3.0] * 4, previous, [4.0] * 4)
        ]
        assert gradient == [4.0, 4.0]
