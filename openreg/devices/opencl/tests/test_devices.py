"""A kernel runs on the stream of its tensors, whichever device is the current one."""

import pytest
import torch
import torch.nn.functional as F
from support import hold


def draw(x):
    return torch.rand(x.shape, device=x.device) + x


def attend(x):
    q = x.reshape(1, 2, 4, 8)
    return F.scaled_dot_product_attention(q, q, q)


@pytest.mark.parametrize(
    "call",
    [
        draw,
        attend,
        lambda x: torch.rand_like(x) * x,
        lambda x: torch.empty_like(x).bernoulli_(0.5) * x,
        lambda x: F.dropout(x, 0.5),
        lambda x: F.conv2d(x.reshape(1, 4, 4, 4), x.reshape(1, 4, 4, 4)[:, :, :2, :2]),
        lambda x: x @ x.t(),
        lambda x: x.softmax(1),
        lambda x: x[x[:3, 0].long()],
        lambda x: x.index_put((x[:3, 0].long(),), x[:3]),
        lambda x: torch.cat([x, x * 2]),
        lambda x: F.layer_norm(x, (8,)),
        lambda x: x.sum(0),
        lambda x: x.masked_fill(x > 0, 2.0),
    ],
)
def test_a_kernel_runs_where_its_tensors_are(call):
    zeros = torch.zeros(8, 8, device="ocl:1")
    torch.manual_seed(3)
    expected = call(zeros + 2).cpu()
    torch.manual_seed(3)
    stream = torch.ocl.current_stream(1)
    torch.ocl.synchronize(1)
    assert torch.ocl.current_device() == 0
    with hold(stream):
        result = call(zeros.add_(1) + 1)  # another stream would not wait for the ones
        assert not stream.query()
    torch.testing.assert_close(result.cpu(), expected, rtol=0, atol=0)
