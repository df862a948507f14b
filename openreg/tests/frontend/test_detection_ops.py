# Operators of another library get kernels; see docs/frontend/training-libraries.md.
import math

import detection_ops
import pytest
import torch
from torch.testing import assert_close


@pytest.fixture
def registered():
    fragments = [detection_ops.register_nms(), detection_ops.register_roi_align()]
    yield
    for fragment in fragments:
        fragment._destroy()


def boxes(count):
    corners = torch.rand(count, 2) * 10
    return torch.cat([corners, corners + torch.rand(count, 2) * 5 + 0.1], 1)


def both(places, scores, threshold):
    """Return what the operator keeps on both devices, and what fell back."""
    nms = torch.ops.vision.nms
    expected = nms(places, scores, threshold)
    with torch.openreg.fallbacks() as counts:
        result = nms(places.to("openreg"), scores.to("openreg"), threshold)
    assert result.device.type == "openreg"
    return result.cpu(), expected, dict(counts)


def test_without_a_kernel_the_operator_falls_back():
    result, expected, counts = both(boxes(20), torch.rand(20), 0.3)
    assert torch.equal(result, expected)
    assert counts == {"vision::nms": 1}


@pytest.mark.parametrize("count", [0, 1, 2, 60])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
def test_the_kernel_of_the_backend(registered, count, threshold):
    places, scores = boxes(count), torch.rand(count)
    result, expected, counts = both(places, scores, threshold)
    assert_close(result, expected, rtol=0, atol=0)
    assert counts == {}
    if count == 60:
        assert (len(expected) < 60) == (threshold < 1)


def test_equal_scores_keep_their_order(registered):
    places = boxes(1).repeat(3, 1)
    result, expected, _ = both(places, torch.ones(3), 0.5)
    assert result.tolist() == expected.tolist() == [0]


def one_bin(picture, start, size, ratio, bin_, bins):
    """Return the mean of what is between the pixels at some places of one bin."""
    counts = [ratio if ratio > 0 else math.ceil(size[i] / bins[i]) for i in (0, 1)]
    total = picture.new_zeros(len(picture))
    for sample in ((i, j) for i in range(counts[0]) for j in range(counts[1])):
        weights = []
        for axis in (0, 1):
            length, step = picture.shape[1 + axis], size[axis] / bins[axis]
            place = start[axis] + step * (
                bin_[axis] + (sample[axis] + 0.5) / counts[axis]
            )
            if not -1 <= place <= length:
                break
            place = min(max(place, 0.0), length - 1.0)
            low = int(place)
            high = min(low + 1, length - 1)
            weights.append([(low, 1 - place + low), (high, place - low)])
        else:
            for i, down in weights[0]:
                for j, right in weights[1]:
                    total = total + down * right * picture[:, i, j]
    return total / max(counts[0] * counts[1], 1)


def roi_align_of_the_paper(x, rois, scale, bins, ratio, aligned):
    """One place after the other; autograd computes the backward."""
    results = []
    for image, *corners in rois.tolist():
        left, top, right, bottom = (c * scale - 0.5 * aligned for c in corners)
        size = bottom - top, right - left
        size = size if aligned else tuple(max(s, 1.0) for s in size)
        results += [
            one_bin(x[int(image)], (top, left), size, ratio, (i, j), bins)
            for i in range(bins[0])
            for j in range(bins[1])
        ]
    return torch.stack(results).view(len(rois), *bins, -1).permute(0, 3, 1, 2)


REGIONS = [
    [1, 0.5, 1.0, 9.0, 7.5],
    [0, -6.0, -4.0, 5.0, 3.0],  # begins outside of the picture
    [1, 8.0, 6.0, 40.0, 30.0],  # ends outside
    [1, 3.0, 3.0, 3.2, 3.1],  # less than a pixel
]


@pytest.mark.parametrize("ratio", [2, -1])
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align_and_its_backward(registered, aligned, ratio):
    x, rois = (
        torch.randn(2, 3, 6, 8, dtype=torch.double),
        torch.tensor(REGIONS).double(),
    )
    x.requires_grad_()
    expected = roi_align_of_the_paper(x, rois, 0.5, (3, 2), ratio, aligned)
    grad = torch.randn_like(expected)
    expected.backward(grad)
    y = x.detach().to("openreg").requires_grad_()
    with torch.openreg.fallbacks() as counts:
        roi_align = torch.ops.vision.roi_align
        result = roi_align(y, rois.to("openreg"), 0.5, 3, 2, ratio, aligned)
        result.backward(grad.to("openreg"))
    assert counts == {}
    assert_close(result.cpu(), expected.detach())
    assert_close(y.grad.cpu(), x.grad)
    assert (x.grad[1] == 0).any() and x.grad.abs().sum() > 1


def test_roi_align_of_no_regions(registered):
    x = torch.randn(2, 3, 6, 8, device="openreg", requires_grad=True)
    rois = torch.empty(0, 5, device="openreg")
    for ratio in (2, -1):
        result = torch.ops.vision.roi_align(x, rois, 1.0, 3, 2, ratio, False)
        assert result.shape == (0, 3, 3, 2)
        result.sum().backward()
        assert not x.grad.any()
