# Copies batches to the device ahead of their use; see docs/frontend/data-loading.md.
"""A loop over batches whose copies overlap with the computation."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only


# LITERALINCLUDE START: PREFETCHER
class Prefetcher:
    """Yields the batches of a loader on a device, each copied one step ahead.

    A batch is a tensor, or tuples, lists and dictionaries with tensors in them.

    Args:
        loader: yields batches in pinned host memory.
        device: where the batches go; by default, the current device of the accelerator.

    Raises:
        RuntimeError: there is no accelerator.
    """

    def __init__(
        self, loader: Iterable[Any], device: torch.device | str | None = None
    ) -> None:
        self.loader = loader
        device = torch.accelerator.current_accelerator() if device is None else device
        if device is None:
            raise RuntimeError("no accelerator: loop over the loader itself")
        self.stream = torch.Stream(device)  # (1)

    # LITERALINCLUDE END: PREFETCHER

    # LITERALINCLUDE START: PREFETCHER_LOOP
    def __iter__(self) -> Iterator[Any]:
        batches = iter(self.loader)
        ahead = self._copy_next(batches)
        while ahead is not None:
            batch, copied = ahead
            current = torch.accelerator.current_stream(self.stream.device)
            current.wait_event(copied)  # (1)
            for leaf in tree_leaves(batch):
                if isinstance(leaf, torch.Tensor):
                    leaf.record_stream(current)  # (2)
            ahead = self._copy_next(batches)  # (3)
            yield batch

    # LITERALINCLUDE END: PREFETCHER_LOOP

    # LITERALINCLUDE START: PREFETCHER_COPY
    def _copy_next(self, batches: Iterator[Any]) -> tuple[Any, torch.Event] | None:
        try:
            batch = next(batches)
        except StopIteration:
            return None
        with self.stream:
            batch = tree_map_only(
                torch.Tensor,
                lambda tensor: tensor.to(self.stream.device, non_blocking=True),
                batch,
            )
            return batch, self.stream.record_event()


# LITERALINCLUDE END: PREFETCHER_COPY
