# Batch normalization over several processes; see docs/modules/sync-batch-norm.md.
import pytest
import torch
import torch.distributed as dist
from ranks import Ranks, message, reset

SHAPES = [(6, 3), (6, 3, 4), (6, 3, 4, 2), (6, 3, 4, 2, 2)]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
TOLERANCES = {
    torch.float16: {"atol": 4e-3, "rtol": 4e-3},
    torch.bfloat16: {"atol": 4e-2, "rtol": 4e-2},
}


def close(actual, expected, dtype=torch.float32):
    tolerance = TOLERANCES.get(dtype, {})
    torch.testing.assert_close(actual.cpu(), expected, check_dtype=False, **tolerance)


def on_host(x, weight, bias, grad, running):
    """Batch normalization of the whole batch by the CPU, and its gradients."""
    leaves = [t.detach().clone().requires_grad_() for t in (x, weight, bias)]
    out = torch.nn.functional.batch_norm(
        leaves[0], *running, *leaves[1:], training=True, momentum=0.3, eps=1e-3
    )
    out.backward(grad)
    return out.detach(), *(leaf.grad for leaf in leaves)


def on_device(x, weight, bias, grad, running, parts):
    """The same in parts, as processes would do it."""
    xs, grads = x.to("openreg").split(parts), grad.to("openreg").split(parts)
    weight, bias = weight.to("openreg"), bias.to("openreg")
    stats = [torch.batch_norm_stats(part, 1e-3) for part in xs]
    counts = torch.tensor([part.numel() / 3 for part in xs], device="openreg")
    mean, invstd = torch.batch_norm_gather_stats_with_counts(
        xs[0], *map(torch.stack, zip(*stats, strict=True)), *running, 0.3, 1e-3, counts
    )
    outs, sums = [], []
    for part, grad in zip(xs, grads, strict=True):
        outs.append(torch.batch_norm_elemt(part, weight, bias, mean, invstd, 1e-3))
        sums.append(
            torch.batch_norm_backward_reduce(
                grad, part, mean, invstd, weight, True, True, True
            )
        )
    dy, dy_xmu, dw, db = (sum(each) for each in zip(*sums, strict=True))
    dx = [
        torch.batch_norm_backward_elemt(
            grad, part, mean, invstd, weight, dy, dy_xmu, counts.int()
        )
        for part, grad in zip(xs, grads, strict=True)
    ]
    return torch.cat(outs), torch.cat(dx), dw, db


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_parts_give_the_values_of_the_whole(shape, dtype):
    x = (torch.randn(shape) * 3 + 5).to(dtype)
    grad = torch.randn(shape).to(dtype)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    weight, bias = torch.rand(3, dtype=wide) + 0.5, torch.randn(3, dtype=wide)
    running = [torch.rand(3, dtype=wide), torch.rand(3, dtype=wide)]
    there = [t.to("openreg") for t in running]
    actual = on_device(x, weight, bias, grad, there, (1, 3, 2))
    expected = on_host(x.to(wide), weight, bias, grad.to(wide), running)
    for mine, cpus in zip(actual, expected, strict=True):
        close(mine, cpus, dtype)
    close(there[0], running[0], dtype)
    close(there[1], running[1], dtype)
    assert actual[0].dtype == actual[1].dtype == dtype
    assert actual[2].dtype == wide


def test_no_running_statistics_weight_or_bias():
    x = torch.randn(4, 3, 5)
    d = x.to("openreg")
    mean, invstd = torch.batch_norm_stats(d, 1e-5)
    mean, invstd = torch.batch_norm_gather_stats(
        d, mean[None], invstd[None], None, None, 0.1, 1e-5, 20
    )
    out = torch.batch_norm_elemt(d, None, None, mean, invstd, 1e-5)
    close(out, torch.nn.functional.batch_norm(x, None, None, training=True))
    results = torch.batch_norm_backward_reduce(
        d, d, mean, invstd, None, False, False, True
    )
    assert results[:3] == (None, None, None)
    close(results[3], x.sum((0, 2)))


def test_channels_last_stays():
    x = torch.randn(2, 3, 4, 5).to("openreg", memory_format=torch.channels_last)
    stats = torch.batch_norm_stats(x, 1e-5)
    out = torch.batch_norm_elemt(x, None, None, *stats, 1e-5)
    assert out.is_contiguous(memory_format=torch.channels_last)


def test_large_means_keep_their_variance():
    x = torch.randn(64, 3) + 1e3
    d = x.to("openreg").split(16)
    stats = [torch.batch_norm_stats(part, 0.0) for part in d]
    counts = torch.full((4,), 16.0, device="openreg")
    mean, invstd = torch.batch_norm_gather_stats_with_counts(
        d[0], *map(torch.stack, zip(*stats, strict=True)), None, None, 0.1, 0.0, counts
    )
    wide = x.double()
    close(mean, wide.mean(0).float())
    torch.testing.assert_close(
        invstd.cpu(), wide.var(0, correction=0).rsqrt().float(), rtol=1e-4, atol=0
    )


def test_mistakes_are_refused_and_nothing_is_launched():
    x = torch.randn(4, 3, device="openreg")
    three = torch.ones(3, device="openreg")
    with pytest.raises(RuntimeError, match=r"batch_norm_elemt: expected one number"):
        torch.batch_norm_elemt(x, None, None, three[:2], three, 0.1)
    with pytest.raises(RuntimeError, match="same device"):
        torch.batch_norm_elemt(x, None, None, three.cpu(), three, 0.1)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        torch.batch_norm_stats(three, 0.1)
    with pytest.raises(NotImplementedError, match="'Int'"):
        torch.batch_norm_stats(x.int(), 0.1)
    with pytest.raises(RuntimeError, match="the means of each part"):
        torch.batch_norm_gather_stats_with_counts(
            x, three, three, None, None, 0.1, 0.1, three
        )
    with pytest.raises(RuntimeError, match="a gradient of size"):
        torch.batch_norm_backward_reduce(x[:2], x, three, three, None, True, True, True)
    torch.openreg.synchronize()


# --- In a group -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    group = Ranks(2, tmp_path_factory.mktemp("two"), "cpu:gloo,openreg:occl")
    yield group
    group.close()


def network():
    torch.manual_seed(7)
    return torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(16, 2),
    )  # fmt: skip


def batches():
    torch.manual_seed(8)
    return [(torch.randn(6, 2, 4, 4) + 2, torch.randn(6, 2)) for _ in range(3)]


def train(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in steps:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return {name: value.cpu() for name, value in model.state_dict().items()}


def train_a_part(state):
    rank, size = dist.get_rank(), dist.get_world_size()
    model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(network()).to("openreg")
    wrapped = torch.nn.parallel.DistributedDataParallel(model)
    steps = [
        (x.chunk(size)[rank].to("openreg"), y.chunk(size)[rank].to("openreg"))
        for x, y in batches()
    ]
    torch.openreg.reset_fallback_counts()
    result = train(wrapped, steps)
    fallbacks = {n for n in torch.openreg.fallback_counts() if "batch_norm" in n}
    return {name.removeprefix("module."): v for name, v in result.items()}, fallbacks


def test_two_processes_train_as_one_with_the_whole_batch(two):
    expected = train(network(), batches())
    for result in two.run(train_a_part):
        assert not isinstance(result, str), result
        weights, fallbacks = result
        assert fallbacks == set()
        assert weights.keys() == expected.keys()
        for name, value in expected.items():
            torch.testing.assert_close(weights[name], value, rtol=1e-4, atol=1e-5)


def part(rank):
    """Return a batch of 4 for rank 0, and none for rank 1."""
    return torch.arange(24.0).reshape(4, 3, 2).square()[: 4 if rank == 0 else 0]


def a_part_without_elements(state, dtype):
    """Return what the call raises, or the output and the gradient of the input."""
    norm = torch.nn.SyncBatchNorm(3).to("openreg")
    x = part(dist.get_rank()).to("openreg", dtype).requires_grad_()
    out = []

    def call():
        out.append(norm(x))
        (out[0] ** 3).sum().backward()

    if text := message(call):
        reset(state)
        return text
    return out[0].detach().cpu(), None if x.grad is None else x.grad.cpu()


def test_a_process_may_have_no_elements(two):
    x = part(0).requires_grad_()
    expected = torch.nn.functional.batch_norm(x, None, None, training=True)
    (expected**3).sum().backward()
    first, second = two.run(a_part_without_elements, torch.float32)
    assert not isinstance(first, str), first
    torch.testing.assert_close(first[0], expected.detach())
    torch.testing.assert_close(first[1], x.grad, rtol=1e-4, atol=1e-5)
    assert not isinstance(second, str), second
    assert (second[0].shape, second[1]) == ((0, 3, 2), None)


def second_derivative(state):
    norm = torch.nn.SyncBatchNorm(3).to("openreg")
    x = torch.randn(4, 3, device="openreg", requires_grad=True)
    total = (norm(x) ** 3).sum()
    (gradient,) = torch.autograd.grad(total, x, create_graph=True)
    return message(gradient.sum().backward)


def test_there_is_no_second_derivative(two):
    operator = "aten::batch_norm_backward_elemt"
    text = f"RuntimeError: derivative for {operator} is not implemented"
    assert two.run(second_derivative) == [text] * 2


def test_no_elements_of_16_bits_are_a_disagreement(two):
    for text in two.run(a_part_without_elements, torch.float16):
        assert "the calls of the ranks do not match" in text
        assert "rank 1: #" in text
        assert "float16 of each rank" in text
