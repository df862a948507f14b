# The comparison of a model with the CPU; see docs/ship/parity.md.
import ast
import runpy
import sys
import textwrap
from pathlib import Path

import pytest
import torch
import torch_openreg_compare
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch_openreg_compare import Comparison, compare
from torch_openreg_compare.__main__ import main as run_command

EXAMPLE = Path(__file__).parents[1] / "examples/parity/wrong_gelu.py"
pytestmark = pytest.mark.filterwarnings("ignore:Warning only once for all operators")


class Net(nn.Module):
    """Attention, recurrence, convolution, statistics, in-place writes and views."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(
            16, 4, 32, batch_first=True, dropout=0.0
        )
        self.convolution = nn.Conv1d(5, 4, 3, padding=1)
        self.norm = nn.BatchNorm1d(4)
        self.lstm = nn.LSTM(16, 8, batch_first=True)

    def forward(self, x):
        y = self.norm(self.convolution(self.layer(self.embedding(x))))
        y = self.lstm(y)[0].transpose(1, 2).contiguous()
        y[:, 0] += 1
        y.relu_()
        return y, y.sum(-1).sort(-1), torch.nonzero(x)


@pytest.fixture
def plant():
    """Return a function that registers a kernel for the device, for this test."""
    libraries = []

    def register(name, kernel, namespace="aten"):
        libraries.append(torch.library.Library(namespace, "IMPL"))
        libraries[-1].impl(name, kernel, "PrivateUse1", allow_override=True)

    yield register
    for library in libraries:
        library._destroy()


def names(findings):
    return [str(finding.function) for finding in findings]


def test_nothing_is_found_where_nothing_is_wrong():
    report = compare(Net(), (torch.randint(20, (3, 5)),), "openreg")
    assert report.operators > 300
    assert report.findings == [] and report.result is None
    names = " ".join(report.unchecked)
    assert "efficient_attention" in names and "lstm" in names
    assert "0 out of tolerance" in report.show()


class Sparse(nn.Module):
    """A product with a matrix that has no memory of its own."""

    def forward(self, x):
        return torch.sparse.mm(x.to_sparse(), x).to_dense() + 1


def test_the_device_gives_the_values_of_what_has_no_memory():
    report = compare(Sparse(), (torch.eye(3).roll(1, 0),), "openreg")
    assert report.findings == [] and report.result is None


def test_a_step_with_its_optimizer_is_compared():
    model = Net().to("openreg")
    optimizer = torch.optim.AdamW(model.parameters())
    with Comparison("openreg") as mode:
        for _ in range(2):
            optimizer.zero_grad()
            output = model(torch.randint(20, (3, 5)).to("openreg"))[0]
            output.square().sum().backward()
            optimizer.step()
    assert mode.number > 500 and mode.findings == []


def test_attention_is_compared_where_torch_composes_it():
    q = torch.rand(1, 2, 4, 8, requires_grad=True)

    def attend(q):
        with sdpa_kernel(SDPBackend.MATH):
            return nn.functional.scaled_dot_product_attention(q, q, q)

    report = compare(attend, (q,), "openreg")
    assert report.operators > 20 and not report.unchecked and not report.findings


def test_a_compiled_function_runs_eagerly():
    def backend(graph, inputs):
        def refuse(*args):
            raise LookupError("the compiled graph ran")

        return refuse

    function = torch.compile(lambda x: x.sin() + 1, backend=backend)
    x = torch.rand(3, device="openreg")
    with pytest.raises(LookupError, match="the compiled graph ran"):
        function(x)
    with Comparison("openreg") as mode:
        y = function(x)
    assert mode.number == 2 and mode.findings == []
    torch.testing.assert_close(y.cpu(), x.cpu().sin() + 1)


def test_numbers_drawn_by_the_device_are_replaced():
    with Comparison("openreg") as mode:
        torch.manual_seed(3)
        x = torch.ones(100, device="openreg")
        y = nn.functional.dropout(x, 0.5) + x.bernoulli(0.5)
        z = torch.rand(5, device="openreg") + y[:5]
    assert mode.findings == [] and mode.random.total() == 3
    torch.manual_seed(3)
    mask, _ = torch.native_dropout(torch.ones(100), 0.5, True)
    expected = mask + torch.ones(100).bernoulli(0.5)
    assert y.tolist() == expected.tolist()
    assert z.tolist() == (torch.rand(5) + expected[:5]).tolist()


def test_the_example_names_its_kernel():
    example = runpy.run_path(str(EXAMPLE))
    try:
        out = compare(*example["build"](), "openreg").show()
    finally:
        example["device_kernels"]._destroy()
    assert "2 of them even with the CPU's inputs" in out
    assert "the first: aten.gelu.default, forward in 0.layers.2 (GELU)" in out
    line = next(
        number
        for number, text in enumerate(EXAMPLE.read_text().splitlines(), 1)
        if "self.layers(x)" in text
    )
    assert f"called from wrong_gelu.py:{line} in forward" in out
    assert "aten.native_dropout.default 2" in out


# Since 2.14, torch.load checks sparse tensors that an earlier load left when it failed.
@pytest.mark.filterwarnings("ignore:Validating sparse tensor invariants")
@pytest.mark.parametrize("saved", [False, True])
def test_the_program_of_the_report_repeats_the_difference(plant, tmp_path, saved):
    """With the strides of the inputs, which the planted kernel ignores."""
    file = tmp_path / "inputs.pt" if saved else None

    def kernel(x):
        return (x.as_strided(x.shape, (3, 1)) * 2).neg() / -2

    plant("abs", kernel)
    assert not compare(lambda x: x.abs(), (torch.rand(3, 3),), "openreg").findings
    report = compare(lambda x: x[:, ::2].abs(), (torch.rand(3, 6),), "openreg")
    text = report.show(save=file)
    program = text.partition("to repeat it:")[2].partition("the others:")[0]
    program = textwrap.dedent(program)
    assert ".as_strided((3, 3), (6, 2))" in program
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        exec(program, {})


def test_a_wrong_backward_has_the_module_of_its_forward(plant):
    plant("gelu_backward", lambda grad, x, *, approximate="none": grad * (x > 0))
    model = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 2))
    report = compare(model, (torch.randn(3, 4),), "openreg")
    assert names(report.causes()) == ["aten.gelu_backward.default"]
    place = report.causes()[0].place
    assert place.phase == "backward, GeluBackward0" and place.module == "1 (GELU)"
    assert report.result is not None
    report = compare(model, (torch.randn(3, 4),), "openreg", backward=False)
    assert report.findings == [] and report.result is None


def test_an_error_that_only_grows_is_no_cause(plant):
    """Each step is within tolerance; the product multiplies the error by 1000."""
    plant("neg", lambda x: x * -1 + 5e-6)
    report = compare(lambda x: (-x + x) * 1000, (torch.rand(4),), "openreg")
    assert names(report.findings) == ["aten.mul.Tensor"] and report.causes() == []
    assert "with the CPU's inputs: within tolerance" in report.show()
    assert report.result is not None


def test_with_feed_only_causes_are_found(plant):
    def last_is_left_out(x, dim=None, keepdim=False, *, dtype=None):
        return x[:, :-1].cumsum(1)[:, -1]

    def work(x):
        return (x.sum(1) * 3 + 1).exp().sin()

    plant("sum.dim_IntList", last_is_left_out)
    x = torch.rand(4, 5, requires_grad=True)
    plain, fed = (compare(work, (x,), "openreg", feed=feed) for feed in (False, True))
    assert len(plain.findings) > 4
    assert names(plain.causes()) == names(fed.findings) == ["aten.sum.dim_IntList"]
    assert fed.result is None


def test_in_place_writes_are_compared_with_the_inputs_of_before(plant):
    def first_is_lost(x):
        x[0] = 0
        return x

    def work(x):
        y = x + 1
        y[1:].exp_()
        return y

    plant("exp_", first_is_lost)
    report = compare(work, (torch.rand(4),), "openreg")
    assert names(report.causes()) == ["aten.exp_.default"]
    assert report.causes()[0].cpu_error < 1e-6 < report.causes()[0].device_error


def test_what_the_cpu_lacks_is_listed(plant):
    definition = torch.library.Library("parity_test", "DEF")
    definition.define("twice(Tensor x) -> Tensor")
    plant("twice", lambda x: x * 2, "parity_test")
    with Comparison("openreg") as mode:
        y = torch.ops.parity_test.twice(torch.ones(2, device="openreg")) + 1
    assert mode.findings == [] and y.tolist() == [3.0, 3.0]
    assert mode.unchecked == {"parity_test.twice.default": 1}
    definition._destroy()


def test_other_shapes_are_a_difference(plant):
    plant("nonzero", lambda x: torch.zeros(1, 1, dtype=torch.int64, device=x.device))
    report = compare(lambda x: torch.nonzero(x) + 1, (torch.ones(3),), "openreg")
    assert names(report.findings) == ["aten.nonzero.default"]
    assert "shape" in report.findings[0].difference


def test_a_tolerance_of_ones_own(plant):
    plant("neg", lambda x: x * -1 + 5e-6)
    for atol, found in ((1e-6, 1), (1e-5, 0)):
        report = compare(torch.neg, (torch.rand(3),), "openreg", rtol=0, atol=atol)
        assert len(report.findings) == found


def test_the_command_refuses_what_it_cannot_use(tmp_path, capsys):
    empty = tmp_path / "empty.py"
    empty.write_text("")
    for arguments, error in (
        ([str(empty)], "has no function build()"),
        (["--rtol", "1", str(empty)], "pass both --rtol and --atol"),
    ):
        with pytest.raises(SystemExit):
            run_command(arguments)
        assert error in capsys.readouterr().err
    right = tmp_path / "right.py"
    right.write_text(
        "import torch\ndef build():\n    return torch.sin, (torch.ones(2),)"
    )
    assert run_command([str(right)]) == 0


def test_the_package_needs_no_backend():
    """Its modules import torch and the standard library alone."""
    folder = Path(torch_openreg_compare.__file__).parent
    allowed = {"torch", folder.name} | sys.stdlib_module_names
    imported = set()
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)
    assert imported
    assert {name.partition(".")[0] for name in imported} <= allowed
