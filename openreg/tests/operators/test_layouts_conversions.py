# Every sparse tensor becomes every other one, with gradients; see
# docs/operators/layouts.md.
import copy
import io

import pytest
import torch
from layouts_outcomes import difference, members, with_gradients
from layouts_support import IGNORED
from layouts_tensors import every_tensor

pytestmark = pytest.mark.filterwarnings(*IGNORED)


def through_a_file(x):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file)


def compressed_again(x):
    return torch.sparse_compressed_tensor(*members(x), x.shape, layout=x.layout)


CONVERSIONS = {
    "to_dense": lambda x: x.to_dense(),
    "to_dense, float64": lambda x: x.to_dense(dtype=torch.float64),
    "to_dense, gradient everywhere": lambda x: x.to_dense(masked_grad=False),
    "to_sparse": lambda x: x.to_sparse(),
    "to_sparse, 1": lambda x: x.to_sparse(1),
    "to_sparse, 2": lambda x: x.to_sparse(2),
    "to_sparse_coo": lambda x: x.to_sparse_coo(),
    "to_sparse_csr": lambda x: x.to_sparse_csr(),
    "to_sparse_csr, hybrid": lambda x: x.to_sparse_csr(dense_dim=1),
    "to_sparse_csc": lambda x: x.to_sparse_csc(),
    "to_sparse_csc, hybrid": lambda x: x.to_sparse_csc(dense_dim=1),
    "to_sparse_bsr": lambda x: x.to_sparse_bsr((2, 2)),
    "to_sparse_bsr, 1 x 2": lambda x: x.to_sparse_bsr((1, 2)),
    "to_sparse_bsr, 3 x 3": lambda x: x.to_sparse_bsr((3, 3)),
    "to_sparse_bsr, hybrid": lambda x: x.to_sparse_bsr((2, 2), dense_dim=1),
    "to_sparse_bsc": lambda x: x.to_sparse_bsc((2, 2)),
    "to_sparse_bsc, 2 x 1": lambda x: x.to_sparse_bsc((2, 1)),
    "layout, csr": lambda x: x.to_sparse(layout=torch.sparse_csr),
    "layout, csc": lambda x: x.to_sparse(layout=torch.sparse_csc),
    "layout, bsr": lambda x: x.to_sparse(layout=torch.sparse_bsr, blocksize=(2, 2)),
    "layout, bsc": lambda x: x.to_sparse(layout=torch.sparse_bsc, blocksize=(2, 2)),
    "all layouts in turn": lambda x: (
        x.to_sparse_coo()
        .to_sparse_csr()
        .to_sparse_csc()
        .to_sparse_bsr((2, 2))
        .to_sparse_bsc((2, 2))
        .to_dense()
    ),
    "coalesce": lambda x: x.coalesce(),
    "values": lambda x: x.values(),
    "values of the coalesced": lambda x: x.coalesce().values(),
    "indices": lambda x: x.indices(),
    "crow_indices": lambda x: (x.crow_indices(), x.col_indices()),
    "ccol_indices": lambda x: (x.ccol_indices(), x.row_indices()),
    "from indices and values": lambda x: torch.sparse_coo_tensor(
        x._indices(), x._values() * 2, x.shape
    ).to_dense(),
    "said to be coalesced": lambda x: torch.sparse_coo_tensor(
        x._indices(), x._values(), x.shape, is_coalesced=True
    ),
    "indices out of range": lambda x: torch.sparse_coo_tensor(
        x._indices() + 9, x._values(), x.shape, check_invariants=True
    ),
    "without a size": lambda x: torch.sparse_coo_tensor(x._indices(), x._values()),
    "from compressed members": compressed_again,
    "transpose": lambda x: x.transpose(0, 1),
    "t": lambda x: x.t(),
    "permute": lambda x: x.permute(1, 0),
    "double": lambda x: x.double(),
    "int": lambda x: x.int(),
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.detach(),
    "deepcopy of a COO tensor": lambda x: copy.deepcopy(x.to_sparse_coo()),
    "through a file": lambda x: through_a_file(x.detach()),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "reshape": lambda x: x.reshape(-1),
    "flatten": lambda x: x.flatten(),
    "broadcast": lambda x: torch._sparse_broadcast_to(x, (2, *x.shape)),
    "expand": lambda x: x.expand(2, *x.shape),
    "zeros_like": lambda x: torch.zeros_like(x),
    "select": lambda x: x.select(0, 1),
    "row": lambda x: x[1],
    "column": lambda x: x[:, 1],
    "narrow_copy": lambda x: x.narrow_copy(0, 1, 2),
    "cat": lambda x: torch.cat([x, x]),
    "stack": lambda x: torch.stack([x, x]),
    "resize_as_sparse_": lambda x: x.clone().resize_as_sparse_(x),
    "sparse_resize_": lambda x: x.clone().sparse_resize_((8, 8), 2, 0),
    "sparse_resize_and_clear_": lambda x: x.clone().sparse_resize_and_clear_(
        (8, 8), 2, 0
    ),
    "dimensions": lambda x: (x.sparse_dim(), x.dense_dim(), x._nnz(), x.is_sparse),
}
TENSORS = every_tensor()


@pytest.mark.parametrize("check", [False, True], ids=["unchecked", "checked"])
@pytest.mark.parametrize("name", TENSORS)
def test_conversions(name, check):
    """With ``check``, torch checks the invariants of every sparse tensor it makes."""
    x, found, right = TENSORS[name], [], 0
    differentiable = x.dtype.is_floating_point or x.dtype.is_complex
    for what, convert in CONVERSIONS.items():
        x = x.detach().requires_grad_(differentiable)
        with torch.sparse.check_sparse_tensor_invariants(check):
            text, succeeded = difference(with_gradients(convert), x)
        found += [f"{what}: {text}"] if text else []
        right += succeeded
    assert not found, "\n".join(found)
    assert right >= 10  # the CPU has at least these


def test_the_conversions_cover_all_pairs_of_layouts():
    """Each layout becomes each other one on the CPU, but for pairs that torch lacks."""
    targets = [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc]
    targets += [torch.sparse_bsr, torch.sparse_bsc]
    lacking = set()
    for source in targets:
        for target in targets:
            blocks = {"blocksize": (2, 2)} if "bs" in str(source) else {}
            wanted = {"blocksize": (2, 2)} if "bs" in str(target) else {}
            x = torch.eye(4).to_sparse(layout=source, **blocks).to("openreg")
            try:
                y = x.to_sparse(layout=target, **wanted)
            except RuntimeError:
                lacking.add((str(source)[13:], str(target)[13:]))
                continue
            assert torch.equal(y.to_dense().cpu(), torch.eye(4))
            assert y.layout == target
    assert lacking == {("bsr", "csr"), ("bsr", "csc"), ("bsc", "csr"), ("bsc", "csc")}
