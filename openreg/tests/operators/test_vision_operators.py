"""Pooling, padding, sampling and resizing; see docs/operators/structured.md."""

import pytest
import torch
from against_cpu import (
    check_against_cpu,
    ints,
    random,
    same,
    same_error,
    same_into_a_view,
)
from torch.nn import functional as F

aten = torch.ops.aten


pytestmark = pytest.mark.usefixtures("no_fallback")


def last(dims):
    return torch.channels_last if dims == 2 else torch.channels_last_3d


OPERATORS = {
    "reflection pad": (2, lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect")),
    "replication pad": (2, lambda x: F.pad(x, (1, 9, 3, 0), mode="replicate")),
    "negative pad": (2, lambda x: F.pad(x, (-1, 2, 1, -2), mode="replicate")),
    "reflection pad 3d": (3, lambda x: F.pad(x, (1, 2, 3, 0, 1, 1), mode="reflect")),
    "replication pad 3d": (3, lambda x: F.pad(x, (1, 2, 3, 0, 1, 9), mode="replicate")),
    "average": (2, lambda x: F.adaptive_avg_pool2d(x, (2, 3))),
    "average 3d": (3, lambda x: F.adaptive_avg_pool3d(x, (2, 3, 1))),
    "maximum": (2, lambda x: F.adaptive_max_pool2d(x, (2, 3))),
    "maximum 3d": (3, lambda x: F.adaptive_max_pool3d(x, (2, 3, 1))),
    "max pool": (3, lambda x: F.max_pool3d(x, 2, 1, 1, ceil_mode=True)),
    "max pool dilated": (3, lambda x: F.max_pool3d(x, (1, 2, 2), dilation=(2, 1, 2))),
    "average pool": (3, lambda x: F.avg_pool3d(x, 2, 1)),
    "columns": (2, lambda x: F.unfold(x, (2, 3), padding=1, stride=2)),
    "columns dilated": (2, lambda x: F.unfold(x, 2, dilation=(1, 2))),
    "linear, smooth": (
        2,
        lambda x: F.interpolate(x, (3, 9), mode="bilinear", antialias=True),
    ),
    "cubic, smooth": (
        2,
        lambda x: F.interpolate(x, (9, 3), mode="bicubic", antialias=True),
    ),
    "nearest exact": (2, lambda x: F.interpolate(x, (3, 9), mode="nearest-exact")),
    "nearest exact 3d": (
        3,
        lambda x: F.interpolate(x, (3, 9, 2), mode="nearest-exact"),
    ),
    "area": (2, lambda x: F.interpolate(x, (2, 3), mode="area")),
    "pixels": (2, lambda x: F.pixel_shuffle(x.repeat(1, 2, 1, 1), 2)),
    "channels": (2, lambda x: F.channel_shuffle(x, 2)),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(
    "layout", ["contiguous", "channels last", "sliced", "transposed"]
)
def test_images_and_volumes(name, layout):
    dims, call = OPERATORS[name]
    sizes = [2, 4, 5, 6, 7][: dims + 2]
    torch.manual_seed(0)
    x = torch.randn(sizes)
    if layout == "channels last":
        x = x.to(memory_format=last(dims))
    elif layout == "sliced":
        x = torch.randn([size * 2 for size in sizes])[
            tuple([slice(None, None, 2)] * len(sizes))
        ]
    elif layout == "transposed":
        x = torch.randn(sizes).transpose(-1, -2)
    placed = torch.empty_strided(x.shape, x.stride(), device="openreg")
    placed.copy_(x)
    results = []
    for given in (x, placed):
        given.requires_grad_()
        result = call(given)
        torch.manual_seed(1)
        weight = torch.randn(result.shape).to(given.device)
        results.append((result, *torch.autograd.grad(result, given, weight)))
    for expected, actual in zip(*results, strict=True):
        assert actual.stride() == expected.stride()
        torch.testing.assert_close(actual.cpu(), expected)


@pytest.mark.parametrize("name", OPERATORS)
def test_without_a_batch_or_with_an_empty_one(name):
    dims, call = OPERATORS[name]
    sizes = [4, 5, 6, 7][: dims + 1]
    for shape in (sizes, [0, *sizes]):
        try:
            call(torch.randn(shape))
        except (RuntimeError, ValueError):
            same_error(lambda d, shape=shape: call(random(*shape)(d)))
        else:
            same(lambda d, shape=shape: call(random(*shape)(d)))


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("dims", [2, 3])
def test_grid_sample(mode, padding_mode, dims):
    if mode == "bicubic" and dims == 3:
        mode = "bilinear"
    options = {"mode": mode, "padding_mode": padding_mode, "align_corners": False}
    x, grid = torch.randn([2, 3, 4, 5, 6][: dims + 2]), torch.rand(2, 3, 4, 2)
    if dims == 3:
        grid = torch.rand(2, 3, 4, 2, 3)
    check_against_cpu(lambda a, g: F.grid_sample(a, g * 2 - 1, **options), x, grid)
    x = x.to(memory_format=last(dims))
    same(lambda d: F.grid_sample(x.to(d), grid.to(d), **options))
    fixed = grid.clone()  # needs no gradient
    check_against_cpu(lambda a: F.grid_sample(a, fixed.to(a.device), **options), x)


def test_pooling_backwards():
    x = torch.randn(2, 3, 4, 6)
    check_against_cpu(
        lambda a: F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2), x
    )
    x = torch.randn(2, 3, 4, 6, 4)
    check_against_cpu(
        lambda a: F.max_unpool3d(*F.max_pool3d(a, 2, return_indices=True), 2), x
    )
    samples = torch.rand(2, 3, 3)
    check_against_cpu(
        lambda a: F.fractional_max_pool3d(
            a, 2, (2, 3, 2), _random_samples=samples.to(a.device)
        ),
        x,
    )
    check_against_cpu(
        lambda a: F.fractional_max_pool2d(
            a, 2, (2, 3), _random_samples=samples[..., :2].to(a.device)
        ),
        x[..., 0],
    )
    same(lambda d: F.fold(random(2, 12, 9)(d), 4, 2))
    same(lambda d: F.fold(random(12, 9)(d), 4, 2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["average pool", "linear, smooth", "cubic, smooth"])
def test_dtypes_that_only_cuda_has(name, dtype):
    dims, call = OPERATORS[name]
    x = torch.randn([2, 4, 5, 6, 7][: dims + 2]).to(dtype)
    given = x.to("openreg").requires_grad_()
    result = call(given)
    assert result.dtype == dtype
    wide = x.float().requires_grad_()
    expected = call(wide)
    torch.testing.assert_close(result.cpu(), expected.to(dtype))
    result.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(given.grad.cpu(), wide.grad.to(dtype))


@pytest.mark.parametrize(
    "call",
    [
        lambda d, o: aten.reflection_pad2d(random(2, 3, 4, 5)(d), [1, 1, 1, 1], **o),
        lambda d, o: aten.replication_pad3d(random(2, 3, 4, 5)(d), [1] * 6, **o),
        lambda d, o: aten.adaptive_avg_pool2d(random(2, 3, 4, 5)(d), [2, 3], **o),
        lambda d, o: aten.im2col(
            random(2, 3, 4, 5)(d), [2, 2], [1, 1], [0, 0], [1, 1], **o
        ),
        lambda d, o: aten.col2im(
            random(12, 9)(d), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1], **o
        ),
        lambda d, o: aten.max_unpool2d(
            random(2, 3, 4)(d), ints(2, 3, 4)(d), [6, 8], **o
        ),
    ],
)
def test_out_is_a_view(call):
    same_into_a_view(lambda d, out: call(d, {} if out is None else {"out": out}))


@pytest.mark.parametrize(
    "call",
    [
        lambda d: F.pad(random(2, 3, 4, 5)(d), (5, 0, 0, 0), mode="reflect"),
        lambda d: F.pad(random(2, 3, 4, 5)(d), (0, 0, 4, 0), mode="reflect"),
        lambda d: F.pad(random(2, 3, 4, 5)(d), (-3, -3, 0, 0), mode="replicate"),
        lambda d: F.pad(random(2, 3, 4, 5, 6)(d), (6, 0, 0, 0, 0, 0), mode="reflect"),
        lambda d: aten.reflection_pad2d(random(3, 4)(d), [1, 1, 1, 1]),
        lambda d: aten.replication_pad2d(random(2, 3, 4)(d), [1, 1]),
        lambda d: aten.reflection_pad2d_backward(
            random(2, 5, 6)(d), random(2, 3, 5)(d), [1, 1, 1, 1]
        ),
        lambda d: aten._adaptive_avg_pool2d(random(3, 4)(d), [2, 2]),
        lambda d: aten._adaptive_avg_pool2d(random(3, 4, 5)(d), [2]),
        lambda d: aten._adaptive_avg_pool3d(random(3, 4, 0, 5)(d), [2, 2, 2]),
        lambda d: aten._adaptive_avg_pool2d(random(3, 4, 5)(d), [2, -1]),
        lambda d: F.max_pool3d(random(2, 3, 4, 5)(d), 0),
        lambda d: F.max_pool3d(random(2, 3, 4, 5)(d), 2, padding=2),
        lambda d: F.max_pool3d(random(2, 3, 4, 5)(d), 9),
        lambda d: F.max_pool3d(random(2, 3, 4)(d), 1),
        lambda d: F.max_pool3d(random(2, 3, 4, 5)(d), (1, 2)),
        lambda d: aten.max_unpool2d(random(2, 3, 4)(d), ints(2, 3, 5)(d), [6, 8]),
        lambda d: aten.max_unpool2d(random(2, 3, 4)(d), random(2, 3, 4)(d), [6, 8]),
        lambda d: aten.max_unpool2d(random(2, 3, 4)(d), ints(2, 3, 4)(d), [6]),
        lambda d: F.unfold(random(2, 3, 4, 5)(d), 9),
        lambda d: F.unfold(random(2, 3)(d), 1),
        lambda d: F.unfold(random(2, 3, 4, 5)(d), 0),
        lambda d: F.fold(random(2, 12, 9)(d), 5, 2),
        lambda d: F.fold(random(2, 11, 9)(d), 4, 2),
        lambda d: F.grid_sample(random(2, 3, 4, 5)(d), random(1, 4, 5, 2)(d)),
        lambda d: F.grid_sample(random(2, 3, 4, 5)(d), random(2, 4, 5, 3)(d)),
        lambda d: F.grid_sample(random(2, 3, 4, 5)(d), random(2, 4, 5, 2)(d).double()),
        lambda d: F.channel_shuffle(random(2, 3, 4, 5)(d), 2),
        lambda d: F.channel_shuffle(random(2, 3)(d), 2),
    ],
)
@pytest.mark.filterwarnings("ignore:Default grid_sample")
def test_what_the_cpu_refuses(call):
    same_error(call)
