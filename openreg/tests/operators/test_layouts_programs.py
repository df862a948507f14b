# Sparse tensors compute as on the CPU, in all forms; see docs/operators/layouts.md.
import pytest
import torch
import torch.nn.functional as F
from layouts_outcomes import difference, with_gradients
from layouts_support import IGNORED
from layouts_tensors import compressed_tensors, coo_tensors, every_tensor

pytestmark = pytest.mark.filterwarnings(*IGNORED)


def ones(x, *sizes):
    return torch.ones(sizes, dtype=x.dtype, device=x.device)


def vector(x):
    return torch.tensor([1, 0, 1], device=x.device)


REDUCTIONS = {
    "sum": lambda x: x.sum(),
    "sum, 0": lambda x: x.sum(0),
    "sum, keepdim": lambda x: x.sum(1, keepdim=True),
    "sparse.sum": lambda x: torch.sparse.sum(x),
    "sparse.sum, 0": lambda x: torch.sparse.sum(x, 0),
    "sparse.sum, float64": lambda x: torch.sparse.sum(x, dtype=torch.float64),
    "sparse.softmax": lambda x: torch.sparse.softmax(x, 1),
    "sparse.log_softmax": lambda x: torch.sparse.log_softmax(x, 0),
    "norm": lambda x: x.norm(),
    "any": lambda x: x.any(),
    "mean": lambda x: x.mean(),
    "amax": lambda x: x.amax(),
    "masked.sum": lambda x: torch.masked.sum(x, 0),
    "masked.amax": lambda x: torch.masked.amax(x, 1),
    "item": lambda x: x.sum().item(),
}
PRODUCTS = {
    "x @ x": lambda x: x @ x,
    "x @ x.mT": lambda x: x @ x.transpose(-2, -1),
    "x @ dense": lambda x: x @ x.to_dense(),
    "dense @ x": lambda x: x.to_dense() @ x,
    "x @ vector": lambda x: x @ ones(x, x.shape[-1]),
    "sparse.mm": lambda x: torch.sparse.mm(x, ones(x, x.shape[-1], 3)),
    "sparse.mm, sparse": lambda x: torch.sparse.mm(x, x),
    "sparse.mm, mean": lambda x: torch.sparse.mm(x, x.to_dense(), "mean"),
    "sparse.addmm": lambda x: torch.sparse.addmm(
        ones(x, x.shape[0], 3), x, ones(x, x.shape[-1], 3), beta=0.5, alpha=2
    ),
    "addmm, large number": lambda x: torch.addmm(
        ones(x, 4, 4), x, ones(x, 4, 4), alpha=300
    ),
    "addmm, broadcast": lambda x: torch.addmm(ones(x, 4), x, ones(x, 4, 4)),
    "addmm_": lambda x: x.to_dense().addmm_(x, x.to_dense()),
    "addmm, out": lambda x: torch.addmm(
        x.to_dense(), x, x.to_dense(), out=x.to_dense()
    ),
    "mm, out": lambda x: torch.mm(x, x.to_dense(), out=x.to_dense()),
    "mm, empty out": lambda x: torch.mm(x, x.to_dense(), out=ones(x, 0)),
    "mm, sliced out": lambda x: torch.mm(x, x.to_dense(), out=ones(x, 4, 8)[:, ::2]),
    "mm, sparse out": lambda x: torch.mm(x, x, out=x.clone()),
    "mm, wrong sizes": lambda x: torch.mm(x, ones(x, 3, 3)),
    "mm, other dtype": lambda x: torch.mm(x, x.to_dense().double()),
    "bmm": lambda x: torch.bmm(x, x.to_dense()),
    "hspmm": lambda x: torch.hspmm(x, ones(x, x.shape[-1], 3)),
    "hspmm, out": lambda x: torch.hspmm(x, x.to_dense(), out=x.clone()),
    "smm": lambda x: torch.smm(x, x.to_dense()),
    "sspaddmm": lambda x: torch.sspaddmm(x, x, x.to_dense()),
    "sampled_addmm": lambda x: torch.sparse.sampled_addmm(
        x, x.to_dense(), x.to_dense(), beta=0.5
    ),
    "addmv": lambda x: torch.addmv(x.to_dense()[0], x, x.to_dense()[0]),
    "linear": lambda x: F.linear(x.to_dense(), x),
    "triangular_solve": lambda x: torch.triangular_solve(x.to_dense(), x),
    "index_select": lambda x: x.index_select(0, vector(x)),
}
ARITHMETIC = {
    "x * 2": lambda x: x * 2,
    "x * 2.5": lambda x: x * 2.5,
    "x / 2": lambda x: x / 2,
    "x // 2": lambda x: x // 2,
    "x * tensor of no dimension": lambda x: x * ones(x),
    "x ** 2": lambda x: x**2,
    "x * x": lambda x: x * x,
    "x + x": lambda x: x + x,
    "x - 2 x": lambda x: x - 2 * x,
    "dense + x": lambda x: x.to_dense() + x,
    "x + dense": lambda x: x + x.to_dense(),
    "dense * x": lambda x: x.to_dense() * x,
    "x * dense": lambda x: x * x.to_dense(),
    "x * row": lambda x: x * ones(x, x.shape[-1]),
    "x * column": lambda x: x * ones(x, x.shape[0], 1),
    "x / dense": lambda x: x / x.to_dense(),
    "relu": lambda x: x.relu(),
    "sqrt": lambda x: (x * x).sqrt(),
    "sin": lambda x: x.sin(),
    "neg": lambda x: -x,
    "isnan": lambda x: x.isnan(),
    "nan_to_num": lambda x: x.nan_to_num(),
    "conj": lambda x: x.conj().resolve_conj(),
    "mask of a dense tensor": lambda x: (x.to_dense() * 2).sparse_mask(x),
    "mask of a sparse tensor": lambda x: (x * 2).sparse_mask(x),
    "coalesced mask": lambda x: (x * 2).sparse_mask(x.coalesce()),
    "mask by other places": lambda x: x.transpose(0, 1).sparse_mask(x),
    "projection": lambda x: torch.ops.aten._sparse_mask_projection(
        x.transpose(0, 1), x, True
    ),
}
IN_PLACE = {
    "add_": lambda x: x.clone().add_(x),
    "add_ itself": lambda x: (y := x.clone()).add_(y),
    "add_ twice": lambda x: x.clone().add_(x * 2, alpha=2),
    "add_ float64": lambda x: x.clone().add_(x.double()),
    "sub_": lambda x: x.clone().sub_(x),
    "mul_": lambda x: x.clone().mul_(x),
    "mul_ 2": lambda x: x.clone().mul_(2),
    "mul_ 2.5": lambda x: x.clone().mul_(2.5),
    "mul_ tensor 2.5": lambda x: x.clone().mul_(torch.tensor(2.5, device=x.device)),
    "mul_ dense": lambda x: x.clone().mul_(x.to_dense()),
    "mul_ float64": lambda x: x.clone().mul_(x.double()),
    "div_": lambda x: x.clone().div_(2),
    "div_ 2.5, trunc": lambda x: x.clone().div_(2.5, rounding_mode="trunc"),
    "floor_divide_": lambda x: x.clone().floor_divide_(2),
    "pow_": lambda x: x.clone().pow_(2),
    "zero_": lambda x: x.clone().zero_(),
    "fill_": lambda x: x.clone().fill_(2),
    "copy_": lambda x: x.clone().copy_(x * 2),
    "copy_ float64": lambda x: x.clone().copy_(x.double()),
    "relu_": lambda x: x.clone().relu_(),
    "dense add_": lambda x: x.to_dense().add_(x, alpha=-0.5),
    "dense sub_": lambda x: x.to_dense().sub_(x),
    "dense mul_": lambda x: x.to_dense().mul_(x),
    "t_": lambda x: x.clone().t_(),
    "add, out": lambda x: torch.add(x, x * 2, out=x.clone()),
    "add, empty out": lambda x: torch.add(x, x * 2, out=torch.empty_like(x)),
    "add, int out": lambda x: torch.add(x, x, out=x.int()),
    "add, out is an argument": lambda x: torch.add(x, (y := x.clone()), out=y),
    "add, dense out": lambda x: torch.add(x.to_dense(), x, out=x.to_dense()),
    "mul, out": lambda x: torch.mul(x, x, out=x.clone()),
    "mul, int out": lambda x: torch.mul(x, x, out=x.int()),
    "mul, dense out": lambda x: torch.mul(x, x, out=x.to_dense()),
    "div, out": lambda x: torch.div(x, 2, out=x.clone()),
    "pow, out": lambda x: torch.pow(x, 2, out=x.clone()),
    "sin, out": lambda x: torch.sin(x, out=x.clone()),
    "sin, float64 out": lambda x: torch.sin(x, out=x.double()),
    "neg, int out": lambda x: torch.neg(x, out=x.int()),
    "cat, out": lambda x: torch.cat([x, x], out=x.clone()),
}
# What the CPU has for neither of the tensors that are tried.
LACKING = {
    "reductions": {"mean", "amax", "masked.amax"},
    "products": {"bmm", "mm, wrong sizes", "mm, other dtype"},
    "arithmetic": {"x / dense"},
    "in place": {"mul, dense out", "add, int out", "pow_", "cat, out"},
}
PROGRAMS = {
    "reductions": REDUCTIONS,
    "products": PRODUCTS,
    "arithmetic": ARITHMETIC,
    "in place": IN_PLACE,
}
# A program that ends the process on the CPU, or leaves an invalid tensor there; the
# device refuses it, see test_layouts_gaps.py.
REFUSED = {
    **dict.fromkeys(
        ["csr hybrid", "csc hybrid"],
        ("dense + x", "x + dense", "dense add_", "dense sub_", "add, dense out"),
    ),
    **dict.fromkeys(
        [f"{layout} batched" for layout in ("csr", "csc", "bsr", "bsc")],
        ("add_", "sub_", "copy_", "x - 2 x", "add, "),
    ),
}
TENSORS = {n: t for n, t in every_tensor().items() if t.layout != torch.strided}


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("name", TENSORS)
def test_programs(name, kind):
    """Without gradients, then with gradients and all invariants checked."""
    x, found = TENSORS[name], []
    differentiable = x.dtype.is_floating_point or x.dtype.is_complex
    for what, program in PROGRAMS[kind].items():
        if what.startswith(REFUSED.get(name, "nothing")):
            continue
        for differentiate in (False, True):
            y = x.detach().requires_grad_(differentiate and differentiable)
            with torch.sparse.check_sparse_tensor_invariants(differentiate):
                text, _ = difference(with_gradients(program), y)
            found += [f"{what}, {differentiate}: {text}"] if text else []
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", PROGRAMS)
def test_most_programs_succeed_on_the_cpu(kind):
    """A program that fails for every tensor would compare nothing but errors."""
    tensors = [coo_tensors()["float32"], compressed_tensors()["csr float32"]]
    failing = {
        what
        for what, program in PROGRAMS[kind].items()
        if not any(difference(program, tensor)[1] for tensor in tensors)
    }
    assert failing == LACKING[kind]
