# Compiled training of whole models; see docs/modules/compile-inductor.md.
import pytest
import torch
from torch import nn
from torch.testing import assert_close

pytestmark = pytest.mark.usefixtures("inductor")


class Block(nn.Module):
    """A Transformer block with fused attention."""

    def __init__(self, size: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(size), nn.LayerNorm(size)
        self.project, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.mlp = nn.Sequential(nn.Linear(size, 32), nn.GELU(), nn.Linear(32, size))

    def forward(self, x):
        q, k, v = (
            t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for t in self.project(self.before(x)).chunk(3, -1)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.between(x))


def mlp():
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 12))


def cnn():
    # A bias before BatchNorm has no gradient but noise, and Adam follows noise.
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(36, 5),
    )


MODELS = {"mlp": (mlp, (12,)), "cnn": (cnn, (3, 8, 8)), "block": (Block, (6, 16))}
OPTIMIZERS = {
    "sgd": lambda params: torch.optim.SGD(params, lr=0.05, momentum=0.9),
    "adamw": lambda params: torch.optim.AdamW(params, lr=0.01, eps=1e-3),
}


def train(name, optimizer, device, compiled, batches, compile_step=False):
    torch.manual_seed(0)
    make, shape = MODELS[name]
    net = make().to(device)
    optimizer = OPTIMIZERS[optimizer](net.parameters())
    forward = torch.compile(net, fullgraph=True) if compiled else net
    step = torch.compile(optimizer.step) if compile_step else optimizer.step
    losses = []
    for batch in batches:
        x = torch.randn(batch, *shape).to(device)
        optimizer.zero_grad()
        loss = forward(x).square().mean()
        loss.backward()
        step()
        losses.append(loss.item())
    return losses, [x.detach().cpu() for x in net.state_dict().values()]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training(name, optimizer):
    batches = (4, 4, 6, 5, 6)  # the third size is a symbol
    arguments = name, optimizer
    on_cpu = train(*arguments, "cpu", False, batches)
    on_device = train(*arguments, "openreg", True, batches)
    assert_close(on_device, on_cpu, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_compiled_optimizers(optimizer):
    arguments = "mlp", optimizer
    on_cpu = train(*arguments, "cpu", False, (4, 4, 4))
    on_device = train(*arguments, "openreg", True, (4, 4, 4), compile_step=True)
    assert_close(on_device, on_cpu, rtol=1e-4, atol=1e-5)


def test_worker_processes_compile(run_python, tmp_path):
    process = run_python(
        """
        import torch
        torch.openreg.init()  # before the workers are there
        x = torch.ones(5, device="openreg")
        print(torch.compile(lambda x: x.sin().sum() + x)(x).shape)
        """,
        TORCHINDUCTOR_COMPILE_THREADS="2",
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path),
    )
    assert process.stdout == "torch.Size([5])\n", process.stderr
