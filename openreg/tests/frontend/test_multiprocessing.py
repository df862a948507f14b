# What arrives in another process is the same memory; docs/frontend/multiprocessing.md.
import io
import pickle
import threading
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
import torch
import torch.multiprocessing
from peer import Peer, PeerError
from torch_openreg import _C

openreg = torch.openreg


@pytest.fixture(scope="module")
def peer():
    other = Peer()
    yield other
    other.close()


@pytest.fixture(autouse=True)
def _drop(peer):
    yield
    peer.ask(drop)
    openreg.ipc_collect()


# -- what the peer does --


def drop(state):
    state.clear()


def describe(state, x):
    place = x.device, x.shape, x.stride(), x.storage_offset()
    return (type(x), x.dtype, *place), x.detach().cpu()


def keep(state, name, x):
    state[name] = x


def make(state, *shape, device="openreg"):
    return torch.arange(24.0, device=device).reshape(shape)


def send_again(state, x):
    return x


def add(state, *tensors):
    for x in tensors:
        x.add_(1)
    openreg.synchronize(0)
    openreg.synchronize(1)


def same_storage(state, a, b):
    return openreg.storage_id(a) == openreg.storage_id(b)


def kept_share_storage(state, a, b):
    return same_storage(state, state[a], state[b])


def resize(state, x):
    x.resize_(1000)


def open_descriptors(state):
    return len(list(Path("/proc/self/fd").iterdir()))


# -- what arrives --


@pytest.mark.parametrize("index", [0, 1])
def test_the_memory_is_shared_both_ways(peer, index):
    x = torch.zeros(3, 4, device=f"openreg:{index}")
    peer.ask(add, x)
    assert x.tolist() == torch.ones(3, 4).tolist()
    peer.ask(keep, "x", x)
    y = peer.ask(make, 4, 6)
    y.mul_(2)
    assert torch.equal(y.cpu(), 2 * torch.arange(24.0).reshape(4, 6))


VIEWS = {
    "whole": lambda x: x,
    "transposed": lambda x: x.t(),
    "slice": lambda x: x[1:3, 2::2],
    "element": lambda x: x[2, 3],
    "expanded": lambda x: x[:1].expand(5, 6),
    "as strided": lambda x: x.as_strided((2, 2), (1, 3), 5),
    "empty": lambda x: x[:0],
    "bytes": lambda x: x.view(torch.uint8),
    "double": lambda x: x.double(),
    "bfloat16": lambda x: x.bfloat16(),
    "bool": lambda x: x > 5,
    "complex": lambda x: torch.complex(x, x),
    "integer": lambda x: x.long(),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_arrive_as_they_are(peer, name):
    reference = VIEWS[name](torch.arange(24.0).reshape(4, 6))
    x = VIEWS[name](torch.arange(24.0, device="openreg").reshape(4, 6))
    (kind, dtype, device, shape, stride, offset), values = peer.ask(describe, x)
    assert (kind, device) == (torch.Tensor, torch.device("openreg:0"))
    assert (dtype, shape, stride, offset) == (
        reference.dtype,
        reference.shape,
        reference.stride(),
        reference.storage_offset(),
    )
    assert torch.equal(values, reference)


def test_tensors_of_one_storage_stay_together(peer):
    x = torch.zeros(10, device="openreg")
    other = torch.zeros(10, device="openreg")
    assert peer.ask(same_storage, x[:4], x[6:])
    assert not peer.ask(same_storage, x, other)
    peer.ask(keep, "a", x[:4])  # in two messages
    peer.ask(keep, "b", x[6:])
    assert peer.ask(kept_share_storage, "a", "b")


def test_blocks_of_one_segment_are_told_apart(peer):
    pool = openreg.MemPool()
    with openreg.use_mem_pool(pool):
        tensors = [torch.full((100,), i, device="openreg") for i in range(5)]
    assert len(pool.snapshot()) == 1
    peer.ask(add, *tensors)
    assert [x[7].item() for x in tensors] == [1, 2, 3, 4, 5]


def test_many_tensors_need_few_descriptors(peer):
    before = peer.ask(open_descriptors)
    tensors = [torch.zeros(1, device="openreg") for _ in range(300)]
    for i, x in enumerate(tensors):
        peer.ask(keep, i, x)
    assert peer.ask(open_descriptors) < before + 10


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_parameters_stay_parameters(peer, dtype):
    grad = dtype.is_floating_point
    x = torch.nn.Parameter(torch.ones(3, dtype=dtype, device="openreg"), grad)
    (kind, *_), values = peer.ask(describe, x)
    assert kind is torch.nn.Parameter
    assert torch.equal(values, torch.ones(3, dtype=dtype))
    back = ForkingPickler.loads(ForkingPickler.dumps(x))
    assert (type(back), back.requires_grad) == (torch.nn.Parameter, grad)


def test_modules_are_shared(peer):
    model = torch.nn.Linear(3, 2, device="openreg")
    before = model.weight.detach().cpu()
    peer.ask(add_to_module, model)
    assert torch.equal(model.weight.detach().cpu(), before + 1)


def add_to_module(state, model):
    with torch.no_grad():
        add(state, *model.parameters())


def test_leaves_keep_requires_grad(peer):
    x = torch.ones(3, device="openreg", requires_grad=True)
    assert ForkingPickler.loads(ForkingPickler.dumps(x)).requires_grad
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf"):
        ForkingPickler.dumps(x * 2)
    peer.ask(describe, (x * 2).detach())


class Tagged(torch.Tensor):
    """A subclass, which torch's reducer does not know."""


def test_storages_and_subclasses_are_shared(peer):
    x = torch.zeros(4, device="openreg")
    peer.ask(fill_storage, x.untyped_storage())
    assert x.view(torch.uint8).unique().tolist() == [3]
    y = torch.zeros(4, device="openreg").as_subclass(Tagged)
    peer.ask(add, y)
    assert y.tolist() == [1, 1, 1, 1]
    assert peer.ask(describe, y)[0][0] is Tagged


def fill_storage(state, storage):
    storage.fill_(3)
    openreg.synchronize()


def test_sparse_tensors_arrive(peer):
    x = torch.eye(3).to_sparse().to("openreg")
    assert torch.equal(peer.ask(to_dense, x), torch.eye(3))


def to_dense(state, x):
    return x.to_dense().cpu()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_nested_tensors_arrive(peer, layout):
    parts = [torch.ones(2, 3), torch.zeros(1, 3)]
    x = torch.nested.nested_tensor(parts, layout=layout, device="openreg")
    found = peer.ask(unbind, x)
    assert [part.tolist() for part in found] == [part.tolist() for part in parts]


def unbind(state, x):
    return [part.cpu() for part in x.unbind()]


def test_sharing_strategies_change_nothing(peer):
    before = torch.multiprocessing.get_sharing_strategy()
    torch.multiprocessing.set_sharing_strategy("file_system")
    try:
        x = torch.zeros(3, device="openreg")
        peer.ask(add, x)
        assert x.tolist() == [1, 1, 1]
    finally:
        torch.multiprocessing.set_sharing_strategy(before)


def test_lazy_clones_become_real_ones(peer):
    x = torch.zeros(4, device="openreg")
    y = x._lazy_clone()
    peer.ask(add, y)
    assert (x.tolist(), y.tolist()) == ([0] * 4, [1] * 4)


def test_empty_storages_arrive(peer):
    x = torch.empty(0, 3, device="openreg:1")
    (_, _, device, shape, *_), _ = peer.ask(describe, x)
    assert (device, shape) == (torch.device("openreg:1"), (0, 3))


def test_work_of_every_stream_is_done_when_it_arrives(peer):
    peer.ask(drop)  # it has started
    stream = torch.Stream("openreg")
    x = torch.zeros(1000, device="openreg")
    openreg.synchronize()
    arrived = threading.Event()

    def let_go():
        arrived.wait(1)  # sending waits, so nothing arrives before this is over
        held.__exit__(None, None, None)

    held = openreg.simulator.hold(stream)
    held.__enter__()
    with stream:
        x.add_(1)
    thread = threading.Thread(target=let_go)
    thread.start()
    values = peer.ask(describe, x)[1]
    arrived.set()
    thread.join()
    assert values.tolist() == [1] * 1000


def test_a_queue_prints_why_it_could_not_send(run_forked):
    result = run_forked("""
        import torch, torch.multiprocessing
        queue = torch.multiprocessing.Queue()
        queue.put(torch.ones(3, device="openreg", requires_grad=True) * 2)
        queue.close()
        queue.join_thread()
        print("done")
    """)
    assert result.stdout == "done\n"
    assert "Cowardly refusing to serialize non-leaf" in result.stderr


# -- what is refused --


def test_received_memory_is_not_passed_on(peer):
    words = "cannot send a tensor that was itself received.*clone"
    x = torch.zeros(3, device="openreg")
    with pytest.raises(PeerError, match=words):
        peer.ask(send_again, x)
    y = peer.ask(make, 24)
    with pytest.raises(RuntimeError, match=words):
        peer.ask(add, y)
    peer.ask(add, y.clone())
    assert y[1].item() == 1


def test_shared_memory_cannot_be_resized(peer):
    x = torch.zeros(3, device="openreg")
    with pytest.raises(PeerError, match="cannot be resized"):
        peer.ask(resize, x)
    with pytest.raises(RuntimeError, match="cannot be resized"):
        x.resize_(1000)
    x.resize_(2)  # that needs no memory


def test_a_message_is_received_once(peer):
    x = torch.zeros(3, device="openreg")
    message = ForkingPickler.dumps(x)
    assert ForkingPickler.loads(message).data_ptr() == x.data_ptr()
    openreg.ipc_collect()
    with pytest.raises(RuntimeError, match="received before"):
        ForkingPickler.loads(message)
    message = bytes(ForkingPickler.dumps(x))
    peer.ask(load, message)
    with pytest.raises(PeerError, match="received before"):
        openreg.ipc_collect()
        peer.ask(load, message)


def load(state, message):
    return ForkingPickler.loads(message).sum().item()


def test_a_message_may_be_opened_twice_while_it_lives(peer):
    x = torch.ones(3, device="openreg")
    message = bytes(ForkingPickler.dumps(x))
    peer.ask(keep_loaded, "a", message)
    peer.ask(keep_loaded, "b", message)
    assert peer.ask(kept_share_storage, "a", "b")
    assert peer.ask(release_one, "b") == 3


def keep_loaded(state, name, message):
    state[name] = ForkingPickler.loads(message)


def release_one(state, name):
    del state[name]
    return state["a"].sum().item()


def test_bytes_that_are_no_message(peer):
    with pytest.raises(ValueError, match=r"a shared-memory message has .* not 3"):
        _C._ipc_receive(b"abc")


def raw_message(state):
    state["own"] = torch.full((1000,), 7.0, device="openreg")
    return _C._ipc_send(state["own"].untyped_storage())


def test_spoilt_messages_harm_nobody(peer):
    message = peer.ask(raw_message)
    refused = 0
    for bit in range(8 * len(message)):
        spoilt = bytearray(message)
        spoilt[bit // 8] ^= 1 << bit % 8
        try:
            storage = _C._ipc_receive(bytes(spoilt))
        except (RuntimeError, ValueError):
            refused += 1
        else:  # another place in the segment, or another name for the same
            torch.empty(0, dtype=torch.uint8, device="openreg").set_(storage).cpu()
            del storage
    assert refused > 4 * len(message)
    x = torch.empty(0, device="openreg").set_(_C._ipc_receive(message))
    assert x.tolist() == [7] * 1000


def test_failed_kernels_are_told_before_anything_is_sent(run_forked):
    result = run_forked("""
        import torch
        from multiprocessing.reduction import ForkingPickler
        x = torch.ones(3, device="openreg")
        torch.openreg.simulator.fail_kernel()
        x.add_(1)
        try:
            ForkingPickler.dumps(x)
        except torch.AcceleratorError as error:
            print("add" in str(error))
    """)
    assert result.stdout == "True\n", result.stderr


# -- what stays as it was --


def test_tensors_elsewhere_are_sent_as_before(peer):
    x = torch.zeros(3)
    peer.ask(add, x)
    assert x.tolist() == [1, 1, 1] and x.is_shared()
    with pytest.raises(RuntimeError, match="meta storage; try pickling a meta tensor"):
        ForkingPickler.dumps(torch.empty(3, device="meta").untyped_storage())
    assert peer.ask(keep, "meta", torch.empty(3, device="meta")) is None
    reducers = ForkingPickler(io.BytesIO()).dispatch_table
    original = torch.multiprocessing.reductions.reduce_tensor
    assert reducers[torch.Tensor] is original
    assert reducers[torch.nn.Parameter] is original


def test_plain_pickle_copies(peer):
    x = torch.zeros(3, device="openreg")
    y = pickle.loads(pickle.dumps(x))
    y.add_(1)
    assert x.tolist() == [0, 0, 0]


def test_share_memory_has_nothing_to_do():
    x = torch.zeros(3, device="openreg")
    assert x.share_memory_() is x and x.is_shared()
    model = torch.nn.Linear(2, 2, device="openreg").share_memory()
    assert model.weight.device.type == "openreg"


def test_a_queue_gives_the_same_storage_back_within_a_process():
    queue = torch.multiprocessing.get_context("spawn").SimpleQueue()
    x = torch.zeros(3, device="openreg")
    queue.put(x)
    y = queue.get()
    assert openreg.storage_id(x) == openreg.storage_id(y)


def test_events_and_streams_do_not_travel():
    for thing in (torch.Event("openreg"), torch.Stream("openreg")):
        with pytest.raises(TypeError, match="cannot pickle"):
            ForkingPickler.dumps(thing)
