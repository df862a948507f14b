# A small language model, and the ways to share it; see docs/modules/sharding.md.
"""Each function below changes a model so that several processes train it."""

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn import functional

WORDS, WIDTH, HEADS, KV_HEADS, LAYERS, LENGTH = 64, 32, 4, 2, 4, 16
HEAD = WIDTH // HEADS


def rotate(x: torch.Tensor) -> torch.Tensor:
    """Turn pairs of numbers by an angle that grows with the place in the sentence."""
    length, size = x.shape[-2:]
    steps = torch.arange(0, size, 2, device=x.device) / size
    angles = torch.arange(length, device=x.device)[:, None] * 10000.0**-steps
    first, second = x.chunk(2, -1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1)


# LITERALINCLUDE START: LLAMA_ATTENTION
class Attention(nn.Module):
    """Attention with fewer heads of keys and values than of queries."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(WIDTH, HEADS * HEAD, bias=False)
        self.k = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.v = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.out = nn.Linear(HEADS * HEAD, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            linear(x).unflatten(-1, (-1, HEAD)).transpose(1, 2)  # (1)
            for linear in (self.q, self.k, self.v)
        )
        y = functional.scaled_dot_product_attention(
            rotate(q), rotate(k), v, is_causal=True, enable_gqa=True
        )
        return self.out(y.transpose(1, 2).flatten(2))


# LITERALINCLUDE END: LLAMA_ATTENTION


class FeedForward(nn.Module):
    """Two layers, the first with a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """One layer of the model."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.attention = nn.RMSNorm(WIDTH), Attention()
        self.feed_norm, self.feed = nn.RMSNorm(WIDTH), FeedForward()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed(self.feed_norm(x))


class Llama(nn.Module):
    """Words in, for each place one number for each possible next word out."""

    def __init__(self) -> None:
        super().__init__()
        self.words: nn.Module | None = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleDict({str(i): Block() for i in range(LAYERS)})
        self.norm: nn.Module | None = nn.RMSNorm(WIDTH)
        self.out: nn.Module | None = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.words(x) if self.words else x
        for block in self.blocks.values():
            x = block(x)
        return self.out(self.norm(x)) if self.norm and self.out else x


def sentences(count: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return words, and for each of them the one that follows."""
    generator = torch.Generator().manual_seed(step)
    words = torch.randint(0, WORDS, (count, LENGTH + 1), generator=generator)
    return words[:, :-1], words[:, 1:]


def loss_of(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return how far the model is from the words that follow."""
    return functional.cross_entropy(logits.flatten(0, 1), target.flatten())


# LITERALINCLUDE START: FULLY_SHARD
def shard(model: Llama, mesh: DeviceMesh, **options: object) -> Llama:
    """Let each rank keep one part of every parameter, its gradient and its state."""
    for block in model.blocks.values():
        fully_shard(block, mesh=mesh, **options)  # type: ignore[call-overload]
    fully_shard(model, mesh=mesh, **options)  # type: ignore[call-overload]
    assert isinstance(model, FSDPModule)
    return model  # type: ignore[return-value]


# LITERALINCLUDE END: FULLY_SHARD


# LITERALINCLUDE START: TENSOR_PARALLEL
def split_layers(model: Llama, mesh: DeviceMesh, loss_parallel: bool = False) -> Llama:
    """Let each rank compute some heads, and some of the hidden numbers."""
    columns, rows = ColwiseParallel(), RowwiseParallel()
    plan = dict.fromkeys(["q", "k", "v"], columns) | {"out": rows}
    plan = {f"attention.{name}": style for name, style in plan.items()}
    plan |= {"feed.gate": columns, "feed.up": columns, "feed.down": rows}
    for block in model.blocks.values():
        parallelize_module(block, mesh, plan)
    last = ColwiseParallel(
        output_layouts=Shard(-1) if loss_parallel else Replicate(),  # (1)
        use_local_output=not loss_parallel,
    )
    ends = {"words": RowwiseParallel(input_layouts=Replicate()), "out": last}
    parallelize_module(model, mesh, ends)
    return model


# LITERALINCLUDE END: TENSOR_PARALLEL


# LITERALINCLUDE START: PIPELINE_STAGE
def keep_stage(model: Llama, stage: int, stages: int) -> Llama:
    """Throw away what other stages of a pipeline compute."""
    for i in range(LAYERS):
        if i * stages // LAYERS != stage:
            del model.blocks[str(i)]
    if stage > 0:
        model.words = None
    if stage < stages - 1:
        model.norm = model.out = None
    return model


# LITERALINCLUDE END: PIPELINE_STAGE
