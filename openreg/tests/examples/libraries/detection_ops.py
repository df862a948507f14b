# Kernels for an operator of another library; see docs/frontend/training-libraries.md.
"""``vision::nms``, which a library declares, with a kernel that the backend adds."""

import torch
from torch import Tensor

# --- The library: a kernel for the CPU only, as torchvision has in C++ ----------------

library = torch.library.Library("vision", "DEF")
library.define("nms(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")


def overlap(one: list[float], other: list[float]) -> float:
    """Return the area that two boxes share, of the area that they cover together."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(width, 0.0) * max(height, 0.0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return shared / (sum(areas) - shared)


@torch.library.impl(library, "nms", "CPU")
def nms_of_the_library(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Keep the boxes that overlap with no kept box of a higher score."""
    kept: list[int] = []
    places = boxes.tolist()
    for index in scores.argsort(descending=True, stable=True).tolist():
        if all(overlap(places[index], places[i]) <= iou_threshold for i in kept):
            kept.append(index)
    return torch.tensor(kept, dtype=torch.int64)


# --- The backend: in the file that your entry point imports ---------------------------


def overlaps(boxes: Tensor) -> Tensor:
    """Return the overlap of each box with each other, on their device."""
    low = torch.maximum(boxes[:, None, :2], boxes[:, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[:, 2:])
    shared = (high - low).clamp(min=0).prod(2)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    return shared / (areas[:, None] + areas - shared)


# LITERALINCLUDE START: VISION_NMS
def register_nms() -> torch.library.Library:
    fragment = torch.library.Library("vision", "IMPL")  # (1)

    @torch.library.impl(fragment, "nms", "PrivateUse1")
    def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
        order = scores.argsort(descending=True, stable=True)
        too_close = (overlaps(boxes[order]) > iou_threshold).cpu()  # (2)
        left = torch.ones(len(order), dtype=torch.bool)
        for index in range(len(order)):
            if left[index]:
                left[index + 1 :] &= ~too_close[index, index + 1 :]
        return order[left.to(boxes.device)]

    return fragment
    # LITERALINCLUDE END: VISION_NMS
