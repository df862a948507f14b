# Saves and loads a model that processes share; see docs/modules/checkpoint.md.
"""A checkpoint is a folder with a file of each process."""

from pathlib import Path

import torch.distributed.checkpoint as dcp
from torch import nn, optim
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict


# LITERALINCLUDE START: CHECKPOINT_SAVE
def save(model: nn.Module, optimizer: optim.Optimizer, folder: Path) -> None:
    """Write this process's part of the checkpoint."""
    weights, state = get_state_dict(model, optimizer)  # (1)
    dcp.save({"model": weights, "optimizer": state}, checkpoint_id=folder)


# LITERALINCLUDE END: CHECKPOINT_SAVE


# LITERALINCLUDE START: CHECKPOINT_LOAD
def load(model: nn.Module, optimizer: optim.Optimizer, folder: Path) -> None:
    """Read what this process needs, whatever number of processes has written it."""
    weights, state = get_state_dict(model, optimizer)
    dcp.load({"model": weights, "optimizer": state}, checkpoint_id=folder)  # (1)
    set_state_dict(  # (2)
        model, optimizer, model_state_dict=weights, optim_state_dict=state
    )


# LITERALINCLUDE END: CHECKPOINT_LOAD


# LITERALINCLUDE START: CHECKPOINT_LAST
def last(folder: Path) -> Path | None:
    """Return the newest checkpoint that is complete."""
    done = (file.parent for file in folder.glob("step-*/.metadata"))
    return max(done, key=lambda path: int(path.name[len("step-") :]), default=None)


# LITERALINCLUDE END: CHECKPOINT_LAST
