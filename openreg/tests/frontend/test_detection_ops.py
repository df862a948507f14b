# An operator of another library gets a kernel; see docs/frontend/training-libraries.md.
import detection_ops
import pytest
import torch
from torch.testing import assert_close


@pytest.fixture
def registered():
    fragment = detection_ops.register_nms()
    yield
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
