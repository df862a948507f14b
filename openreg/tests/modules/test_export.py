# Programs that leave the process; see docs/modules/export.md.
import io

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim, export
from torch.export.passes import move_to_device_pass
from torch.testing import assert_close

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # torch's own


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.project = nn.LayerNorm(8), nn.Linear(8, 8)
        self.register_buffer("scale", torch.full((), 2.0))

    def forward(self, x):
        q = self.project(self.norm(x)).unflatten(-1, (2, 4)).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, q, q, is_causal=True)
        made = torch.ones(3, 1, device=x.device)
        return y.transpose(1, 2).flatten(2) * self.scale + made


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Model().to("openreg")


def inputs(batch):
    torch.manual_seed(batch)
    return torch.randn(batch, 3, 8, device="openreg")


def exported(model, **options):
    return export(model, (inputs(2),), dynamic_shapes=({0: Dim("batch")},), **options)


def check(program, model):
    for batch in (2, 5):
        x = inputs(batch)
        assert_close(program.module()(x), model(x))


@pytest.mark.parametrize("strict", [False, True])
def test_a_dynamic_batch(model, strict):
    program = exported(model, strict=strict)
    check(program, model)
    assert len(program.range_constraints) == 1
    operators = {str(n.target) for n in program.graph.nodes}
    assert "aten.scaled_dot_product_attention.default" in operators


def test_save_and_load(model):
    file = io.BytesIO()
    torch.export.save(exported(model), file)
    file.seek(0)
    program = torch.export.load(file)
    assert {x.device.type for x in program.state_dict.values()} == {"openreg"}
    check(program, model)


def test_decompositions(model):
    program = exported(model).run_decompositions()
    operators = {str(n.target) for n in program.graph.nodes}
    assert "aten.addmm.default" in operators
    assert not any("scaled_dot_product_attention.default" in x for x in operators)
    check(program, model)


def test_to_the_cpu_and_back(model):
    program = move_to_device_pass(exported(model), "cpu")
    x = inputs(4)
    assert_close(program.module()(x.cpu()), model(x).cpu())
    check(move_to_device_pass(program, "openreg"), model)


def test_to_another_device(model):
    program = move_to_device_pass(exported(model), "openreg:1")
    result = program.module()(inputs(3).to("openreg:1"))
    assert result.device.index == 1
    assert_close(result.cpu(), model(inputs(3)).cpu())


def test_an_exported_module_can_be_trained(model):
    module = exported(model).module()
    (expected,) = torch.autograd.grad(model(inputs(3)).sum(), [model.project.weight])
    module(inputs(3)).sum().backward()
    assert_close(module.project.weight.grad, expected)


def test_without_the_backend(model, run_python, tmp_path):
    torch.export.save(exported(model), tmp_path / "openreg.pt2")
    moved = move_to_device_pass(exported(model), "cpu")
    torch.export.save(moved, tmp_path / "cpu.pt2")
    torch.save([inputs(3).cpu(), model(inputs(3)).detach().cpu()], tmp_path / "io.pt")
    process = run_python(
        f"""
        import torch
        folder = {str(tmp_path)!r}
        x, expected = torch.load(f"{{folder}}/io.pt")
        program = torch.export.load(f"{{folder}}/cpu.pt2")
        torch.testing.assert_close(program.module()(x).detach(), expected)
        try:
            torch.export.load(f"{{folder}}/openreg.pt2")
        except RuntimeError as error:
            print("refused")
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert process.stdout == "refused\n", process.stderr
    assert "privateuseone" in process.stderr
