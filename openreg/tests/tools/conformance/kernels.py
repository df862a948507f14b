# Kernels with a fault in place of those of the backend; see docs/ship/conformance.md.
"""``planted`` lists them: in place of a kernel, around it, or for another key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

Kernel = Callable[..., Any]
LIBRARIES: list[Any] = []  # a registration ends with its library


def register(
    name: str, kernel: Kernel, key: str = "PrivateUse1", *, with_keyset: bool = False
) -> None:
    """Replace the kernel of an operator."""
    library = torch.library.Library("aten", "IMPL")
    library.impl(name, kernel, key, with_keyset=with_keyset, allow_override=True)
    LIBRARIES.append(library)


def register_around(name: str, kernel: Kernel) -> None:
    """Replace the kernel of an operator; the new kernel gets it as first argument."""
    own = torch.library.get_kernel(f"aten::{name}", "PrivateUse1")

    def call(keys: Any, *args: Any, **kwargs: Any) -> Any:
        return kernel(partial(own.call_boxed, keys), *args, **kwargs)

    register(name, call, with_keyset=True)


def on_cpu(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that computes on the CPU, and changes the result."""
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload or "default")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        device = next(x.device for x in args if isinstance(x, torch.Tensor))
        host = [x.cpu() if isinstance(x, torch.Tensor) else x for x in args]
        result = change(operator(*host, **kwargs))
        return result if result.device.type == "meta" else result.to(device)

    return kernel


KERNELS: dict[str, tuple[str, Callable[..., Any], str]] = {
    # the operator: what is wrong, how its result changes, the case that finds it
    "exp": ("is off by 0.1 %", lambda x: x * 1.001, "operators.pointwise"),
    "tanh": ("has a wrong sign", lambda x: -x, "operators.pointwise"),
    "gelu": ("is another approximation", lambda x: x + 1e-3, "operators.pointwise"),
    "mm": ("is transposed", lambda x: x.flip(0), "operators.products"),
    "bmm": ("mixes up its batches", lambda x: x.roll(1, 0), "operators.products"),
    "addmm": ("rounds to 16 bits", lambda x: x.half().float(), "operators.products"),
    "sum.dim_IntList": ("ignores an element", lambda x: x - 1, "operators.reductions"),
    "mean.dim": (
        "divides by another number",
        lambda x: x * 0.9,
        "operators.reductions",
    ),
    "_softmax": ("is not normalized", lambda x: x * 2, "operators.reductions"),
    "cumsum": ("runs backward", lambda x: x.flip(1), "operators.reductions"),
    "index_select": ("is off by one row", lambda x: x.roll(1, 0), "operators.indexing"),
    "gather": ("returns another dtype", lambda x: x.double(), "operators.indexing"),
    "tril": ("keeps the wrong triangle", lambda x: x.t(), "operators.indexing"),
    "threshold_backward": ("passes every gradient", lambda x: x + 1, "training.sgd"),
}

# The functions below get the kernel of the backend, and the arguments of the call.

# -- memory and copies --


def strides_of_the_source(
    own: Kernel, src: Any, dst: Any, non_blocking: bool = False
) -> Any:
    """Take the elements as they lie in memory."""
    if src.numel() == dst.numel():
        dense = torch.empty(src.size(), device="meta").stride()
        src = src.as_strided(src.size(), dense) if src.stride() != dense else src
    return own(src, dst, non_blocking)


def conjugation(own: Kernel, src: Any, dst: Any, non_blocking: bool = False) -> Any:
    return own(src.conj() if src.is_conj() else src, dst, non_blocking)


def rounding(own: Kernel, src: Any, dst: Any, non_blocking: bool = False) -> Any:
    to_whole = src.is_floating_point() and dst.dtype == torch.int32
    return own(src.round() if to_whole else src, dst, non_blocking)


def never_waits(own: Kernel, src: Any, dst: Any, non_blocking: bool = False) -> Any:
    return own(src, dst, True)


def device_0(own: Kernel, size: Any, **options: Any) -> Any:
    options["device"] = torch.device("openreg", 0)
    return own(size, **options)


def leaves_the_device(own: Kernel, size: Any, **options: Any) -> Any:
    result = own(size, **options)
    torch.accelerator.set_device_index(result.device.index)
    return result


def no_format(own: Kernel, size: Any, **options: Any) -> Any:
    options.pop("memory_format", None)
    return own(size, **options)


def no_strides(own: Kernel, size: Any, stride: Any, **options: Any) -> Any:
    return torch.empty(size, **options)


def no_offset(own: Kernel, x: Any, size: Any, stride: Any, offset: Any = None) -> Any:
    return own(x, size, stride, 0)


def view_copies(own: Kernel, x: Any, size: Any) -> Any:
    return own(x.clone(), size)


def first_element(own: Kernel, x: Any) -> Any:
    return own(x.as_strided((), (), 0))


def loses_contents(own: Kernel, x: Any, size: Any, **options: Any) -> Any:
    return own(x, size, **options).zero_()


# -- operators --


def other_strides(own: Kernel, x: Any) -> Any:
    return own(x).contiguous()


def on_device_0(own: Kernel, *args: Any, **kwargs: Any) -> Any:
    return own(*args, **kwargs).to("openreg:0")


def no_promotion(own: Kernel, x: Any, other: Any, **kwargs: Any) -> Any:
    result = own(x, other, **kwargs)
    return result.to(x.dtype) if x.dim() else result


def only_dense(own: Kernel, x: Any, other: Any) -> Any:
    return own(x, other) if x.is_contiguous() else x


def not_written(own: Kernel, x: Any, other: Any, *, out: Any, **kwargs: Any) -> Any:
    return out


def dense_out(own: Kernel, x: Any, other: Any, *, out: Any) -> Any:
    """Write the elements in order, as if `out` were dense."""
    result = own(x, other, out=torch.empty(0, dtype=out.dtype, device=out.device))
    if out.shape != result.shape:
        out.resize_(result.shape)
    out.as_strided(out.shape, result.stride()).copy_(result)
    return out


def narrow_indices(own: Kernel, *args: Any) -> Any:
    return own(*args).to(torch.int32)


def no_error(x: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    factor, info = torch.linalg.cholesky_ex(x.cpu(), upper=upper)
    return factor.to(x.device), torch.zeros_like(info).to(x.device)


def other_sign(own: Kernel, gradient: Any, output: Any) -> Any:
    return -own(gradient, output)


# -- random numbers --


def restarts(own: Kernel, x: Any, *args: Any, **kwargs: Any) -> Any:
    kwargs["generator"] = torch.Generator(x.device).manual_seed(1)
    return own(x, *args, **kwargs)


def no_generator(own: Kernel, x: Any, *args: Any, **kwargs: Any) -> Any:
    kwargs.pop("generator", None)
    return own(x, *args, **kwargs)


def from_the_cpu(own: Kernel, x: Any, *args: Any, **kwargs: Any) -> Any:
    if kwargs.get("generator") is not None:
        return own(x, *args, **kwargs)
    return x.copy_(torch.empty(x.size(), dtype=x.dtype).uniform_(*args))


def twice_as_wide(own: Kernel, x: Any, *args: Any, **kwargs: Any) -> Any:
    return own(x, *args, **kwargs).mul_(2)


def other_mask(own: Kernel, *args: Any) -> Any:
    output, mask = own(*args)
    return output, mask.roll(1)


Around = tuple[str, str, Kernel, str]
AROUND: tuple[Around, ...] = (
    # the operator, what is wrong, the kernel, the case that finds it
    ("_copy_from", "ignores strides", strides_of_the_source, "copies.layouts"),
    ("_copy_from", "ignores a conjugation", conjugation, "copies.lazy_bits"),
    ("_copy_from", "rounds instead of truncating", rounding, "copies.conversions"),
    ("_copy_from", "never waits", never_waits, "host memory.blocking"),
    ("_local_scalar_dense", "ignores views", first_element, "copies.scalars"),
    ("as_strided", "ignores the offset", no_offset, "copies.views"),
    ("view", "copies", view_copies, "copies.views"),
    (
        "clone",
        "returns the same memory",
        lambda x, **_: torch.ops.aten.alias(x),
        "copies.deepcopies",
    ),
    ("empty.memory_format", "ignores the index", device_0, "memory.other_device"),
    (
        "empty.memory_format",
        "leaves another device current",
        leaves_the_device,
        "memory.other_device",
    ),
    ("empty.memory_format", "ignores the format", no_format, "memory.strides"),
    ("empty_strided", "ignores the strides", no_strides, "memory.strides"),
    ("resize_", "loses the contents", loses_contents, "memory.resize_and_set"),
    (
        "_has_compatible_shallow_copy_type",
        "refuses",
        lambda *_: False,
        "training.same_parameters",
    ),
    (
        "record_stream",
        "does nothing",
        lambda *_: None,
        "allocator.record_stream",
    ),
    ("relu", "returns other strides", other_strides, "operators.strides"),
    ("mm", "returns to device 0", on_device_0, "operators.other_device"),
    ("add.Tensor", "does not promote", no_promotion, "operators.promotion"),
    ("mul_.Tensor", "ignores a view", only_dense, "operators.in_place_and_out"),
    ("add.out", "writes nothing", not_written, "operators.in_place_and_out"),
    ("mm.out", "ignores the strides of `out`", dense_out, "native operators.out"),
    ("argmin", "returns 32-bit indices", narrow_indices, "operators.reductions"),
    ("linalg_cholesky_ex", "hides an error", no_error, "operators.refusals"),
    ("tanh_backward", "has a wrong sign", other_sign, "autograd.backward"),
    ("uniform_", "starts anew each time", restarts, "operators.random"),
    ("uniform_", "ignores its generator", no_generator, "generator.seeds"),
    (
        "uniform_",
        "draws the numbers of the CPU",
        from_the_cpu,
        "generator.default_generator",
    ),
    ("normal_", "is twice as wide", twice_as_wide, "generator.distributions"),
    ("native_dropout", "returns another mask", other_mask, "generator.dropout"),
)
INSTEAD = {"clone", "linalg_cholesky_ex"}  # these do not call the kernel they replace


def _without_formula(name: str) -> Kernel:
    operator = getattr(torch.ops.aten, name)
    return lambda x, *args, **kwargs: operator(x.detach(), *args, **kwargs)


Layer = tuple[str, str, str, str]
LAYERS: tuple[Layer, ...] = (
    # the operator, its key, what is wrong, the case that finds it
    ("exp", "AutogradPrivateUse1", "has no gradient", "autograd.backward"),
    ("mm", "AutocastPrivateUse1", "is not cast", "mixed precision.casts"),
    ("softmax.int", "AutocastPrivateUse1", "is not cast", "mixed precision.casts"),
)


def planted() -> Iterator[tuple[str, str, str, Callable[[], object]]]:
    """The operator, what is wrong, the case that finds it, and what plants it."""
    for name, (text, change, case) in KERNELS.items():
        yield name, text, case, partial(_plant_change, name, change)
    for name, text, kernel, case in AROUND:
        plant = register if name in INSTEAD else register_around
        yield name, text, case, partial(plant, name, kernel)
    for name, key, text, case in LAYERS:
        yield name, text, case, partial(_plant_layer, name, key)


def _plant_change(name: str, change: Kernel) -> None:
    register(name, on_cpu(name, change))


def _plant_layer(name: str, key: str) -> None:
    autograd = key.startswith("Autograd")
    kernel = _without_formula(name) if autograd else torch.library.fallthrough_kernel
    register(name, kernel, key)
