# Sparse tensors: COO and compressed; see docs/operators/sparse.md.
import copy

import pytest
import torch
import torch.nn.functional as F
from layouts_support import IGNORED, check, holes, random, same, through_a_file

pytestmark = pytest.mark.filterwarnings(*IGNORED)

A, B, M = holes(4, 4), holes(4, 5)[:, 1:].contiguous(), random(4, 3)
REPEATED = torch.sparse_coo_tensor(
    [[0, 0, 1], [1, 1, 2]], [1.0, 2.0, 3.0], (4, 4), check_invariants=True
)
COO = [
    lambda a, b: a,
    lambda a, b: a.to_dense(),
    lambda a, b: a.to(torch.float64),
    lambda a, b: a + b,
    lambda a, b: a.to_dense() + b,
    lambda a, b: a * b,
    lambda a, b: 2 * a / 3,
    lambda a, b: a @ b,
    lambda a, b: a @ b.to_dense(),
    lambda a, b: a @ b.to_dense()[0],
    lambda a, b: torch.sparse.addmm(b.to_dense(), a, b.to_dense()),
    lambda a, b: torch.bmm(a.unsqueeze(0), b.to_dense().unsqueeze(0)),
    lambda a, b: a.t(),
    lambda a, b: a.sum(),
    lambda a, b: torch.sparse.sum(a, 1),
    lambda a, b: torch.sparse.softmax(a, 1),
    lambda a, b: a.relu().sqrt(),
    lambda a, b: a.norm(),
    lambda a, b: torch.cat([a, b]),
    lambda a, b: a[1],
    lambda a, b: b.to_dense().sparse_mask(a),
    lambda a, b: a.clone().add_(b),
    lambda a, b: a.to_dense().add_(b),
    lambda a, b: a.clone().mul_(b),
    lambda a, b: a.clone().zero_(),
    lambda a, b: a.clone().copy_(b),
    lambda a, b: a.to_sparse_csr(),
    lambda a, b: torch.mm(a, b.to_dense(), out=b.to_dense()),
    lambda a, b: torch.zeros_like(a),
    lambda a, b: copy.deepcopy(a),
    lambda a, b: through_a_file(a),
]


@pytest.mark.parametrize("number", range(len(COO)))
def test_coo_tensors(number):
    check(COO[number], A.to_sparse(), B.to_sparse())


def test_coo_tensors_are_made_and_coalesced():
    check(lambda x: x.to_sparse(), A)
    check(lambda x: x.to_sparse(1), A)
    check(lambda x: x.coalesce(), REPEATED)
    x = REPEATED.to("openreg")
    assert not x.is_coalesced()
    assert (x._nnz(), x.coalesce()._nnz(), x.sparse_dim(), x.dense_dim()) == (
        3,
        2,
        2,
        0,
    )
    assert x._indices().device == x._values().device == x.device
    assert x.coalesce().values().tolist() == [3, 3]
    assert "device='openreg:0', size=(4, 4), nnz=3" in repr(x)
    made = torch.sparse_coo_tensor(
        x._indices(), x._values(), (4, 4), check_invariants=True
    )
    same(made.to_dense(), REPEATED.to_dense())


def test_coo_tensors_have_gradients():
    a = A.double().to_sparse().to("openreg").requires_grad_()
    m = M.double().to("openreg").requires_grad_()
    torch.sparse.mm(a, m).square().sum().backward()
    left, right = A.double().to_sparse().requires_grad_(), M.double().requires_grad_()
    torch.sparse.mm(left, right).square().sum().backward()
    same(a.grad.coalesce(), left.grad.coalesce())
    same(m.grad, right.grad)


def test_a_graph_network_learns_the_weights_of_its_edges():
    edges = torch.tensor([[0, 0, 1, 2, 3, 3], [1, 2, 0, 3, 0, 2]])

    def train(device, optimizer):
        places, features = edges.to(device), random(4, 3).to(device)
        weights = [random(3, 5), random(5, 2), random(6).abs()]  # the last: of edges
        parameters = [x.to(device, copy=True).requires_grad_() for x in weights]
        first, second, strengths = parameters
        step = optimizer(parameters, lr=0.05)
        losses = []
        for _ in range(6):
            step.zero_grad()
            graph = torch.sparse_coo_tensor(
                places, strengths, (4, 4), check_invariants=True
            )
            hidden = torch.sparse.mm(graph, features @ first).relu()
            loss = (torch.sparse.mm(graph, hidden @ second) - 1).square().mean()
            loss.backward()
            step.step()
            losses.append(loss.item())
        assert not torch.equal(strengths.detach().cpu(), weights[2])
        assert losses[-1] < losses[0]
        return losses, [x.detach().cpu() for x in parameters]

    for optimizer in (torch.optim.SGD, torch.optim.Adam):
        losses, trained = train("openreg", optimizer)
        expected, others = train("cpu", optimizer)
        assert losses == pytest.approx(expected, rel=1e-6)
        torch.testing.assert_close(trained, others, rtol=1e-5, atol=1e-6)


def test_sparse_gradients_of_an_embedding_train_it():
    def train(device, optimizer, **options):
        table = torch.nn.Embedding(10, 3, sparse=True, _weight=random(10, 3))
        table.to(device)
        step = optimizer(table.parameters(), **options)
        for words in ([1, 2, 2], [7, 1]):
            step.zero_grad()
            table(torch.tensor(words, device=device)).square().sum().backward()
            assert table.weight.grad.is_sparse
            step.step()
        return table.weight.detach()

    for optimizer in (torch.optim.SGD, torch.optim.SparseAdam):
        same(train("openreg", optimizer, lr=0.1), train("cpu", optimizer, lr=0.1))


CSR = [
    lambda a, b: a,
    lambda a, b: a.to_dense(),
    lambda a, b: a.to(torch.float64),
    lambda a, b: a.to_sparse_coo(),
    lambda a, b: a.t(),
    lambda a, b: a[0],
    lambda a, b: a * 2,
    lambda a, b: a.relu(),
    lambda a, b: a.sum(),
    lambda a, b: a + b,
    lambda a, b: a @ b,
    lambda a, b: a @ b.to_dense(),
    lambda a, b: a @ b.to_dense()[0],
    lambda a, b: F.linear(b.to_dense(), a),
    lambda a, b: torch.sparse.mm(a, b.to_dense(), "amax"),
    lambda a, b: torch.sparse.sampled_addmm(a, b.to_dense(), b.to_dense()),
    lambda a, b: a.clone().add_(b),  # has other places
    lambda a, b: a.clone().zero_(),
    lambda a, b: through_a_file(a),
]


@pytest.mark.parametrize("number", range(len(CSR)))
def test_csr_tensors(number):
    check(CSR[number], A.to_sparse_csr(), B.to_sparse_csr())


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_a_reduced_product_has_gradients(reduce):
    def run(device, *, left, right):
        a = A.to_sparse_csr().to(device).detach().requires_grad_(left)
        m = M.clone().to(device).requires_grad_(right)
        result = torch.sparse.mm(a, m, reduce)
        result.square().sum().backward()
        return result.detach(), a.grad, m.grad

    for left, right in ((True, True), (True, False), (False, True)):
        expected = run("cpu", left=left, right=right)
        results = zip(run("openreg", left=left, right=right), expected, strict=True)
        for actual, one in results:
            assert (actual is None) == (one is None)
            if one is not None:
                same(actual, one)
    torch.openreg.reset_fallback_counts()
    with torch.no_grad():
        a, m = A.to_sparse_csr().to("openreg"), M.to("openreg")
        same(torch.sparse.mm(a, m, reduce), torch.sparse.mm(a.cpu(), M, reduce))
    assert torch.openreg.fallback_counts()["aten::_sparse_mm_reduce_impl"] == 1


def test_other_compressed_layouts():
    check(lambda x: x.to_sparse_csr(), A)
    check(lambda x: x.to_sparse_csc(), A)
    check(lambda x: x.to_sparse_bsr((2, 2)), A)
    check(lambda x: x.to_sparse_bsc((2, 2)).to_dense(), A)
    x = A.to_sparse_csr().to("openreg")
    assert x.crow_indices().device == x.values().device == x.device
    assert "layout=torch.sparse_csr" in repr(x)
    y = torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), x.values(), x.shape)
    same(y, A.to_sparse_csr())
    with pytest.raises(RuntimeError, match="nnz"):
        torch.sparse_csr_tensor(
            x.crow_indices(), x.col_indices()[:1], x.values(), check_invariants=True
        )
