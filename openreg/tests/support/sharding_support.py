# Trains the small language model in parts; see docs/modules/sharding.md.
"""Each way to share the model, and what one process without any of them gets."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import llama
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import loss_parallel
from torch.utils.checkpoint import checkpoint

BATCH, STEPS, CLIP = 8, 3, 0.5

Result = tuple[list[float], dict[str, torch.Tensor]]


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor that all ranks have together, on the host."""
    tensor = tensor.detach()
    return (tensor.full_tensor() if isinstance(tensor, DTensor) else tensor).cpu()


def optimizer_of(model: torch.nn.Module, **options: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=1e-2, **options)


def fresh() -> llama.Llama:
    """Return the model with which everyone starts, on the host."""
    torch.manual_seed(0)
    return llama.Llama()


def train_as_one(clip: bool = False) -> Result:
    """Return losses and weights of one process with the whole batch, on the CPU."""
    model = fresh()
    optimizer, losses = optimizer_of(model), []
    for step in range(STEPS):
        words, target = llama.sentences(BATCH, step)
        optimizer.zero_grad()
        loss = llama.loss_of(model(words), target)
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: whole(value) for name, value in model.state_dict().items()}


def share_of_batch(group: Any) -> slice:
    """Return the part of the batch that this rank of a mesh gets."""
    rank, size = group.get_local_rank(), group.size()
    return slice(rank * BATCH // size, (rank + 1) * BATCH // size)


def rows(ranks: int) -> Any:
    """Return this rank's mesh where each ``ranks`` of four ranks do the same."""
    names = ("copies", "parts")
    mesh = init_device_mesh("openreg", (4 // ranks, ranks), mesh_dim_names=names)
    return mesh["parts"]


def checkpointed(model: llama.Llama) -> None:
    """Compute each block again during backward, instead of keeping what it computed."""
    for block in model.blocks.values():
        forward = block.forward

        def again(x: torch.Tensor, forward: Callable[..., Any] = forward) -> Any:
            return checkpoint(forward, x, use_reentrant=False)

        block.forward = again  # type: ignore[method-assign]


# --- The ways: each returns the mesh whose ranks have different parts of the batch ----


def fsdp(model: llama.Llama, **options: Any) -> Any:
    mesh = init_device_mesh("openreg", (dist.get_world_size(),))
    llama.shard(model, mesh, **options)
    return mesh


def fsdp_checkpointed(model: llama.Llama) -> Any:
    checkpointed(model)
    return fsdp(model)


def hsdp(model: llama.Llama) -> Any:
    mesh = init_device_mesh("openreg", (2, 2), mesh_dim_names=("copies", "parts"))
    llama.shard(model, mesh)
    return mesh._flatten()


def tensor_parallel(model: llama.Llama, in_parts: bool = False) -> Any:
    mesh = init_device_mesh("openreg", (2, 2), mesh_dim_names=("data", "heads"))
    llama.split_layers(model, mesh["heads"], in_parts)
    return None  # the two pairs of ranks do the same


def two_dimensions(model: llama.Llama) -> Any:
    mesh = init_device_mesh("openreg", (2, 2), mesh_dim_names=("data", "heads"))
    llama.split_layers(model, mesh["heads"])
    llama.shard(model, mesh["data"])
    return mesh["data"]


BFLOAT16 = MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32)
WAYS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "fsdp": (fsdp, {}),
    "fsdp_keeps": (fsdp, {"reshard_after_forward": False}),
    "fsdp_bfloat16": (fsdp, {"mp_policy": BFLOAT16}),
    "fsdp_offload": (fsdp, {"offload_policy": CPUOffloadPolicy()}),
    "fsdp_checkpointed": (fsdp_checkpointed, {}),
    "fsdp_accumulate": (fsdp, {}),
    "fsdp_clip": (fsdp, {}),
    "hsdp": (hsdp, {}),
    "tensor_parallel": (tensor_parallel, {}),
    "loss_parallel": (tensor_parallel, {"in_parts": True}),
    "two_dimensions": (two_dimensions, {}),
}


def _parts(way: str, words: Any, target: Any) -> Iterator[tuple[Any, Any, bool]]:
    """Yield what goes through the model at once, and whether it is the last."""
    count = 2 if way == "fsdp_accumulate" else 1
    pairs = list(zip(words.chunk(count), target.chunk(count), strict=True))
    for index, (x, y) in enumerate(pairs):
        yield x, y, index == count - 1


def _loss_context(way: str) -> contextlib.AbstractContextManager[None]:
    return loss_parallel() if way == "loss_parallel" else contextlib.nullcontext()


def train_together(state: dict[str, Any], way: str) -> tuple[Any, ...]:
    """Return losses and weights, the device of the weights, and the collectives."""
    model = fresh().to("openreg")
    make, options = WAYS[way]
    mesh = make(model, **options)
    share = slice(None) if mesh is None else share_of_batch(mesh)
    # A plain tensor and a DTensor cannot be in one list for a foreach kernel.
    optimizer = optimizer_of(model, foreach=False if mesh is None else None)
    losses, collectives = [], {}
    for step in range(STEPS):
        words, target = (
            part[share].to("openreg") for part in llama.sentences(BATCH, step)
        )
        optimizer.zero_grad()
        total = torch.zeros((), device="openreg")
        for x, y, last in _parts(way, words, target):
            if way == "fsdp_accumulate":
                model.set_requires_gradient_sync(last)
            with CommDebugMode() as comm, _loss_context(way):
                loss = llama.loss_of(model(x), y) * (len(x) / len(words))
                loss.backward()
            collectives = comm.get_comm_counts()
            total += whole(loss).to("openreg")
        if way == "fsdp_clip":
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        dist.all_reduce(total, dist.ReduceOp.AVG)
        losses.append(total.item())
    device = next(model.parameters()).device.type
    weights = {name: whole(value) for name, value in model.named_parameters()}
    return losses, weights, device, {str(name) for name in collectives}
