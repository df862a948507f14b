# Kernels for an operator of another library; see docs/frontend/training-libraries.md.
"""Operators that a library declares, with kernels that the backend adds."""

from typing import Any

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


# --- An operator with a backward: the library has a formula for every device ----------

PLACES = "float spatial_scale, int pooled_height, int pooled_width"
SIZES = "int batch_size, int channels, int height, int width"
OPTIONS = "int sampling_ratio, bool aligned"
library.define(f"roi_align(Tensor input, Tensor rois, {PLACES}, {OPTIONS}) -> Tensor")
library.define(
    f"_roi_align_backward(Tensor grad, Tensor rois, {PLACES}, {SIZES}, {OPTIONS})"
    " -> Tensor"
)


def remember(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, ctx.rois, *ctx.places, ratio, aligned = inputs
    ctx.options = (*x.shape, ratio, aligned)


def backward_of_the_library(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    backward = torch.ops.vision._roi_align_backward
    x = backward(grad, ctx.rois, *ctx.places, *ctx.options)
    return x, None, None, None, None, None, None


torch.library.register_autograd(
    "vision::roi_align", backward_of_the_library, setup_context=remember, lib=library
)

# --- The backend, again ---------------------------------------------------------------


def shares(start: Tensor, size: Tensor, bins: int, ratio: int, length: int) -> Tensor:
    """Return how much each row, or column, counts for each bin of each region."""
    count = torch.full_like(size, ratio) if ratio > 0 else (size / bins).ceil()
    most = ratio if ratio > 0 else int(max(count.tolist(), default=0))
    start, step, count = (x[:, None, None] for x in (start, size / bins, count))
    sample = torch.arange(most, device=size.device) + 0.5
    bin_ = torch.arange(bins, device=size.device)[:, None]
    place = start + (bin_ + sample / count) * step
    used = (sample < count) & (place >= -1) & (place <= length)
    row = torch.arange(length, device=size.device)
    near = 1 - (place.clamp(0, length - 1)[..., None] - row).abs()  # bilinear
    return (near.clamp(min=0) * used[..., None]).sum(2) / count.clamp(min=1)


def regions(
    rois: Tensor, scale: float, bins: list[int], sizes: Any, ratio: int, half: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the image of each region, and the shares of its rows and columns."""
    places = rois[:, 1:] * scale - 0.5 * half
    size = places[:, 2:] - places[:, :2]
    size = size if half else size.clamp(min=1)
    y, x = (
        shares(places[:, 1 - i], size[:, 1 - i], bins[i], ratio, sizes[i])[:, None]
        for i in (0, 1)
    )
    return rois[:, 0].long(), y, x


def register_roi_align() -> torch.library.Library:
    fragment = torch.library.Library("vision", "IMPL")

    # LITERALINCLUDE START: VISION_ROI_ALIGN
    @torch.library.impl(fragment, "roi_align", "PrivateUse1")
    def forward(x: Tensor, rois: Tensor, scale: float, *numbers: int) -> Tensor:
        *bins, ratio, aligned = numbers
        image, rows, columns = regions(rois, scale, bins, x.shape[2:], ratio, aligned)
        return rows @ x[image] @ columns.mT  # (1)

    @torch.library.impl(fragment, "_roi_align_backward", "PrivateUse1")
    def backward(grad: Tensor, rois: Tensor, scale: float, *numbers: int) -> Tensor:
        *bins, images, channels, height, width, ratio, aligned = numbers
        x = grad.new_zeros(images, channels, height, width)
        image, rows, columns = regions(rois, scale, bins, x.shape[2:], ratio, aligned)
        return x.index_add(0, image, rows.mT @ grad @ columns)  # (2)

    # LITERALINCLUDE END: VISION_ROI_ALIGN
    return fragment
