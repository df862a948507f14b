# A tensor without storage: views, operators, autograd; docs/runtime/custom-tensor.md.
import copy

import pytest
import torch
from tiled_support import file_of, is_tiled, load, load_tiled, pack, tiles, unpack
from torch.nn.functional import linear
from torch.testing import assert_close

aten = torch.ops.aten
COMPOSITE = torch._C.DispatchKey.CompositeExplicitAutograd


@pytest.fixture(scope="module", autouse=True)
def library():
    load_tiled()


# -- creation and copies --


@pytest.mark.parametrize("size", [(), (5,), (0, 5), (5, 0), (16, 16), (2, 17, 33)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_copies_to_and_from(size, dtype):
    x = torch.randn(size).mul(10).to(dtype)
    tiled = pack(x)
    assert is_tiled(tiled) and tiled.shape == x.shape and tiled.dtype == dtype
    assert tiled.stride() == x.stride() and tiled.device.type == "openreg"
    for plain in (tiled.cpu(), unpack(tiled).cpu(), tiled.to("openreg:1").cpu()):
        assert not is_tiled(plain)
        assert_close(plain, x, rtol=0, atol=0)
    assert_close(tiled.double().cpu(), x.double(), rtol=0, atol=0)
    again = torch.empty_like(tiled).copy_(x)  # from the host, into tiles
    assert is_tiled(again)
    assert_close(again.cpu(), x, rtol=0, atol=0)


def test_the_memory_holds_tiles():
    x = torch.arange(20.0 * 33).view(20, 33)
    held = tiles(pack(x)).cpu()
    assert held.shape == (2, 3, 16, 16)
    padded = torch.zeros(32, 48)
    padded[:20, :33] = x
    for down in range(2):
        for across in range(3):
            part = padded[16 * down : 16 * down + 16, 16 * across : 16 * across + 16]
            assert_close(held[down, across], part)


def test_it_owns_its_memory_and_gives_it_back():
    x = torch.ones(256, 256, device="openreg")
    before = torch.accelerator.memory_allocated()
    tiled = pack(x)
    view = tiled[3:]
    assert torch.accelerator.memory_allocated() == before + x.nbytes
    del tiled
    assert (
        torch.accelerator.memory_allocated() == before + x.nbytes
    )  # the view keeps it
    del view
    assert torch.accelerator.memory_allocated() == before


def test_what_pack_refuses():
    for x in (torch.ones(2, 2), torch.ones(2, 2, device="openreg").to(torch.complex64)):
        with pytest.raises(
            RuntimeError, match="tiled::pack: expected a tensor of real"
        ):
            torch.ops.tiled.pack(x)
    with pytest.raises(RuntimeError, match="tiled::tiles: expected a tensor that"):
        tiles(torch.ones(1, device="openreg"))


def test_it_works_on_the_current_stream_of_its_device():
    x = torch.randn(20, 33)
    far = torch.ops.tiled.pack(x.to("openreg:1"))
    assert far.device == torch.device("openreg:1")
    torch.accelerator.synchronize(1)  # it was packed on another stream
    stream = torch.Stream("openreg:1")
    with torch.openreg.simulator.hold(stream), stream:
        y = far.relu()
        assert not stream.query()
    stream.synchronize()
    assert torch.openreg.current_device() == 0
    assert_close(y.cpu(), x.relu())


# -- views --


VIEWS = {
    "slice": lambda x: x[3:9, ::2],
    "row": lambda x: x[4],
    "transposed": lambda x: x.t()[1:5],
    "reshaped": lambda x: x.view(60, 11)[7:31],
    "diagonal": lambda x: x.diagonal(1),
    "element": lambda x: x[19, 32],
    "split": lambda x: x.split(7)[2],
    "alias": lambda x: aten.alias(x)[1:],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_shares_the_memory(view):
    expected = torch.randn(20, 33)
    tiled = pack(expected)
    part = view(tiled)
    assert is_tiled(part) and part._base is tiled
    assert tiles(part).data_ptr() == tiles(tiled).data_ptr()
    assert_close(part.cpu(), view(expected))
    part.fill_(7)
    view(expected).fill_(7)
    part.mul_(part)
    view(expected).mul_(view(expected))
    assert_close(tiled.cpu(), expected)


def test_views_that_cannot_be():
    x = pack(torch.ones(20, 33))
    with pytest.raises(RuntimeError, match=r"has no view of size .660., because it is"):
        x.t().view(-1)
    assert_close(x.t().reshape(-1).cpu(), torch.ones(660))
    with pytest.raises(RuntimeError, match="reaches element 660 of a matrix of 660"):
        x.as_strided((661,), (1,))
    with pytest.raises(RuntimeError, match="aten::unfold would return a view"):
        x.unfold(0, 2, 1)
    with pytest.raises(RuntimeError, match="strides must not be negative"):
        x.as_strided((2,), (-1,), 3)
    with pytest.raises(RuntimeError, match="a negated view has no kernel"):
        torch._neg_view(x).cpu()
    for change in (lambda: x.resize_(3, 900), lambda: x.set_(torch.ones_like(x.cpu()))):
        with pytest.raises(RuntimeError):
            change()
    assert_close(x.cpu(), torch.ones(20, 33))


# -- operators --


@pytest.mark.parametrize("sizes", [(20, 33, 7), (16, 16, 16), (1, 40, 1)])
def test_products_of_tiles(sizes):
    rows, inner, columns = sizes
    a, b = torch.randn(rows, inner), torch.randn(inner, columns)
    result = pack(a) @ pack(b)
    assert is_tiled(result)
    assert_close(result.cpu(), a @ b)
    assert_close((pack(a.t().contiguous()).t() @ b.to("openreg")).cpu(), a @ b)
    outside = tiles(result).sum() - unpack(result).sum()
    assert abs(outside.item()) < 1e-3  # the cells around the matrix are zero


OTHERS = {
    "add": lambda x, y: x + y,
    "plain": lambda x, y: x * y.cpu().to(y.device),
    "scalar in place": lambda x, y: x.add_(1).exp_(),
    "out": lambda x, y: torch.mul(x, y, out=torch.empty_like(x)),
    "list": lambda x, y: torch.cat([x, y]),
    "index": lambda x, y: x[torch.tensor([1, 0], device=x.device)],
    "foreach": lambda x, y: torch._foreach_add([x, y], 1)[1],
    "linear": lambda x, y: linear(x, y, y[:, 0]),
    "vmap": lambda x, y: torch.vmap(torch.relu)(x),
    "view": lambda x, y: x[2:].relu(),
    "number": lambda x, y: torch.tensor(x.sum().item()),
}


@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_other_operators_get_plain_copies(call):
    x, y = torch.randn(2, 20, 33)
    assert_close(call(pack(x), pack(y)).cpu(), call(x.clone(), y))


def test_errors_of_operators():
    x = pack(torch.ones(20, 33))
    with pytest.raises(RuntimeError, match=r"tiled: mm of sizes \[20, 33\] and"):
        x @ x
    with pytest.raises(RuntimeError, match="two matrices of float32 on one device"):
        x.t() @ pack(torch.ones(20, 33).half())
    with pytest.raises(RuntimeError, match="two matrices of float32 on one device"):
        x.t() @ torch.ones(20, 33, device="openreg:1")


def test_printing():
    x = torch.randn(40, 40)
    expected = repr(x.to("openreg"))
    assert repr(pack(x)) == expected
    assert repr(pack(x).requires_grad_()) == expected[:-1] + ", requires_grad=True)"


def test_record_stream_keeps_the_tiles():
    side = torch.Stream("openreg")
    tiled = pack(torch.full((64, 64), 2.0))
    address = tiles(tiled).data_ptr()
    torch.accelerator.synchronize()
    with torch.openreg.simulator.hold(side):
        with side:
            y = tiled.relu()
        tiled.record_stream(side)
        del tiled
        other = pack(torch.full((64, 64), 9.0))
        assert tiles(other).data_ptr() != address
    side.synchronize()
    assert_close(y.cpu(), torch.full((64, 64), 2.0))


# What torch does without the kernels of this extension. The others have no kernel of
# torch that serves each device.
WITHOUT = {"clone": "plain", "empty_like": "plain", "detach": "tiled"}


@pytest.mark.parametrize("name", WITHOUT)
def test_what_kernels_of_torch_make_of_a_tiled_tensor(name):
    result = getattr(aten, name).default._op_dk(COMPOSITE, pack(torch.ones(2, 2)))
    assert is_tiled(result) == (WITHOUT[name] == "tiled")


def test_operators_that_are_needed():
    x = pack(torch.ones(2, 2))
    for default in (
        lambda: aten.alias.default._op_dk(COMPOSITE, x),
        lambda: aten._unsafe_view.default._op_dk(COMPOSITE, x, (4,)),
    ):
        with pytest.raises(NotImplementedError, match="Cannot access storage of Tiled"):
            default()
    for name in ("_copy_from", "as_strided", "view", "_reshape_alias", "record_stream"):
        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        assert not has_kernel(f"aten::{name}", "CompositeExplicitAutograd")
    assert aten._copy_from.default._schema.arguments[1].alias_info is None


# -- autograd --


def test_gradients():
    x, y = torch.randn(20, 33), torch.randn(33, 7)
    leaf, expected = pack(x).requires_grad_(), x.clone().requires_grad_()
    (leaf @ pack(y)).relu().sum().backward()
    (expected @ y).relu().sum().backward()
    assert is_tiled(leaf.grad)
    assert_close(leaf.grad.cpu(), expected.grad)
    plain = x.double().to("openreg").requires_grad_()
    assert torch.autograd.gradcheck(lambda x: unpack(pack(x).relu()), plain)


def test_gradients_through_views_that_are_written():
    x = torch.randn(20, 33)
    leaves = pack(x).requires_grad_(), x.clone().requires_grad_()
    for leaf in leaves:
        y = leaf.clone()
        y[2:5].mul_(3)
        y[:, 1] = 7
        y.t()[0].zero_()
        y.view(-1)[50:60].neg_()
        y.pow(2).sum().backward()
    assert_close(leaves[0].grad.cpu(), leaves[1].grad)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_training(optimizer):
    torch.manual_seed(0)
    x, weight = torch.randn(20, 33), torch.randn(33, 33) / 6
    parameters = torch.nn.Parameter(pack(weight)), torch.nn.Parameter(weight.clone())
    for parameter, batch in zip(parameters, (x.to("openreg"), x), strict=True):
        update = optimizer([parameter], lr=0.01)
        for _ in range(3):
            update.zero_grad()
            linear(batch, parameter).relu().pow(2).mean().backward()
            update.step()
    assert is_tiled(parameters[0])
    assert_close(parameters[0].detach().cpu(), parameters[1].detach())


def test_a_module_with_a_tiled_parameter():
    x, module = torch.randn(4, 33), torch.nn.Linear(33, 20)
    expected = module(x)
    other = copy.deepcopy(module).to("openreg")
    other.weight = torch.nn.Parameter(pack(other.weight.detach()))
    assert_close(other(x.to("openreg")).cpu(), expected)
    other.load_state_dict(load(file_of(other.state_dict())))
    assert is_tiled(other.weight)  # load_state_dict copies into it
    assert_close(other(x.to("openreg")).cpu(), expected)
    assert not is_tiled(other.to("openreg:1").weight)


def test_autocast_does_not_see_it():
    x = torch.randn(16, 16)
    with torch.autocast("openreg"):
        assert (pack(x) @ pack(x)).dtype == torch.float32
        assert (x.to("openreg") @ x.to("openreg")).dtype == torch.float16
