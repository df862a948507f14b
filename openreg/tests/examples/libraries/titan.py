# Torchtitan's debug model on the device; see docs/frontend/training-libraries.md.
"""Prints the losses of two steps.

torchrun --nproc-per-node 4 titan.py    # two groups of FSDP2, each split over two
torchrun --nproc-per-node 1 titan.py    # the same batch in one process
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.tensor import Replicate, distribute_tensor
from torchtitan.components.dataloader import BaseDataLoader
from torchtitan.components.metrics import MetricsProcessor
from torchtitan.components.tokenizer import BaseTokenizer
from torchtitan.models.common.attention import ScaledDotProductAttention
from torchtitan.models.llama3 import model_registry
from torchtitan.models.llama3.config_registry import llama3_debugmodel

WORDS, LENGTH, BATCH = 2048, 32, 4
TOGETHER = os.environ["WORLD_SIZE"] == "4"


class NoTokenizer(BaseTokenizer):
    """The package has no tokenizer file; the data are numbers already."""

    @dataclass(kw_only=True, slots=True)
    class Config(BaseTokenizer.Config):
        pass

    def __init__(self, config: Config, **_: Any) -> None:
        super().__init__()

    def encode(self, *_: Any, **__: Any) -> list[int]:
        raise NotImplementedError

    def decode(self, *_: Any, **__: Any) -> str:
        raise NotImplementedError

    def get_vocab_size(self) -> int:
        return WORDS


class Sentences(BaseDataLoader):
    """Random sentences; each group of processes gets its part of every batch."""

    @dataclass(kw_only=True, slots=True)
    class Config(BaseDataLoader.Config):
        pass

    def __init__(
        self, config: Config, *, dp_rank: int, local_batch_size: int, **_: Any
    ) -> None:
        self.part = slice(dp_rank * local_batch_size, (dp_rank + 1) * local_batch_size)

    def __iter__(self) -> Iterator[tuple[dict[str, torch.Tensor], torch.Tensor]]:
        random = torch.Generator().manual_seed(0)
        while True:
            words = torch.randint(WORDS, (BATCH, LENGTH + 1), generator=random)
            words = words[self.part]
            yield {"input": words[:, :-1]}, words[:, 1:]

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        pass


class Losses(MetricsProcessor):
    """Keeps what torchtitan would print."""

    @dataclass(kw_only=True, slots=True)
    class Config(MetricsProcessor.Config):
        pass

    def __init__(self, config: Config, **options: Any) -> None:
        super().__init__(config, **options)
        self.losses: list[float] = []

    def log(self, step: int, average: float, *_: Any, **__: Any) -> None:
        self.losses.append(average)


# LITERALINCLUDE START: TITAN_CONFIG
def configuration() -> Any:
    config = llama3_debugmodel()
    config.model_spec = model_registry("debugmodel", attn_backend="varlen")
    for layer in config.model_spec.model.layers:
        layer.attention.inner_attention = ScaledDotProductAttention.Config()  # (1)
    config.parallelism.spmd_backend = "partial_dtensor"  # (2)
    config.parallelism.data_parallel_shard_degree = 2 if TOGETHER else 1
    config.parallelism.tensor_parallel_degree = 2 if TOGETHER else 1
    config.training.disable_cuda_graphs = True
    config.training.mixed_precision_param = "float32"
    config.training.local_batch_size = BATCH // 2 if TOGETHER else BATCH
    config.training.seq_len, config.validator.enable = LENGTH, False
    config.metrics = Losses.Config(log_freq=1)
    config.tokenizer, config.dataloader = NoTokenizer.Config(), Sentences.Config()
    return config


# LITERALINCLUDE END: TITAN_CONFIG


@torch.no_grad()
def equal_weights(model: torch.nn.Module) -> None:
    """Start from the same weights, whatever the number of processes."""
    random = torch.Generator().manual_seed(0)
    for p in model.parameters():
        whole = torch.randn(p.shape, generator=random)
        if p.dim() > 1:
            whole *= 0.02
        mesh = p.device_mesh
        p.copy_(distribute_tensor(whole, mesh, [Replicate()] * mesh.ndim))


def main() -> None:
    config = configuration()
    # LITERALINCLUDE START: TITAN_STEPS
    trainer = config.build()
    equal_weights(trainer.model_parts[0])
    batches = trainer.batch_generator(trainer.dataloader)
    for trainer.step in (1, 2):  # (1)
        trainer.train_step(batches)
    # LITERALINCLUDE END: TITAN_STEPS
    weight = next(trainer.model_parts[0].parameters())
    assert weight.device.type == "openreg", weight.device
    if dist.get_rank() == 0:
        losses = trainer.metrics_processor.losses
        print(*(f"loss {loss:.5f}" for loss in losses), sep="\n", flush=True)
    trainer.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
