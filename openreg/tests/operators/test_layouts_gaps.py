# Pins what torch itself gets wrong; see docs/operators/layouts.md.
"""Where the CPU's own result is wrong, the device refuses the call."""

import pytest
import torch
from layouts_support import IGNORED

pytestmark = pytest.mark.filterwarnings(*IGNORED)


def hybrid() -> torch.Tensor:
    x = torch.arange(16.0).view(2, 4, 2)
    return x.to_sparse_csr(dense_dim=1)


def test_a_strided_and_a_hybrid_compressed_tensor_are_not_added():
    x = hybrid().to("openreg")
    for call in (lambda: x + x.to_dense(), lambda: x.to_dense() + x):
        with pytest.raises(NotImplementedError, match="reads values out of bounds"):
            call()
    assert torch.equal((x.to_dense() + x.to_dense()).cpu(), 2 * hybrid().to_dense())


def test_batches_of_compressed_tensors_are_not_added():
    x = torch.eye(2).expand(3, 2, 2).to_sparse_csr()
    y = torch.ones(3, 2, 2).to_sparse_csr()
    with pytest.raises(RuntimeError):  # an invalid tensor: two batches became one
        (x + y).to_dense()
    with pytest.raises(NotImplementedError, match="returns an invalid tensor"):
        x.to("openreg") + y.to("openreg")


def test_a_quantized_tensor_with_holes_stays_on_its_device():
    """Torch asks for an empty tensor like it, and forgets the device."""
    q = torch.quantize_per_tensor(torch.arange(12.0), 0.1, 2, torch.qint8)
    holes = q.to("openreg").view(2, 6)[:, ::2]
    assert holes.cpu().device.type == "openreg"
    assert torch.equal(holes.contiguous().cpu(), q.view(2, 6)[:, ::2])


def test_three_tensors_of_csc_layout_are_no_addmm():
    """On the CPU this ends the process."""
    x = torch.eye(3).to_sparse_csc().to("openreg")
    with pytest.raises(NotImplementedError, match="all tensors are CSC"):
        torch.addmm(x, x, x)
    assert torch.equal(torch.mm(x, x).to_dense().cpu(), torch.eye(3))
