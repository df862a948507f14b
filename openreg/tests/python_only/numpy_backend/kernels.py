# Operators of the device npy, in NumPy; see docs/frontend/python-only.md.
"""Memory, copies, views, two native operators, and a fallback for all others."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_map

# LITERALINCLUDE START: NUMPY_TENSOR
# torch.from_numpy has these; each has one counterpart in torch.
NUMPY = {
    dtype: torch.empty(0, dtype=dtype).numpy().dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.float32, torch.float64),
    )
}
TORCH = {ours: theirs for theirs, ours in NUMPY.items()}


def wrap(array: np.ndarray) -> torch.Tensor:
    """Return a tensor on ``npy:0`` whose elements are those of an array."""
    array = np.asarray(array)  # NumPy gives numbers where torch has 0 dimensions
    tensor = torch._C._acc.create_empty_tensor(array.shape, TORCH[array.dtype])  # (1)
    tensor.untyped_storage().array = array  # (2)
    return tensor


# LITERALINCLUDE END: NUMPY_TENSOR


# LITERALINCLUDE START: NUMPY_UNWRAP
def unwrap(value: torch.Tensor | complex) -> Any:
    """Return the array of a tensor on ``npy``; numbers pass as they are.

    A CPU tensor without dimensions is also a number: torch makes them of Python's.

    Raises:
        RuntimeError: another tensor of another device.
    """
    if not isinstance(value, torch.Tensor):
        return value
    if value.device.type != "npy" and value.dim():
        raise RuntimeError(
            f"npy: expected tensors on npy, but got one on {value.device}: call .npy()"
        )
    return memory(value)


def memory(tensor: torch.Tensor) -> np.ndarray:
    """Return the array of a tensor on ``npy``, or one over the memory of the CPU's."""
    if tensor.device.type == "npy":
        return tensor.untyped_storage().array
    return tensor.detach().numpy()


# LITERALINCLUDE END: NUMPY_UNWRAP

library = torch.library.Library("aten", "IMPL")


def implements(*names: str) -> Callable[[Any], Any]:
    """Register a function as the kernel of operators, for this device."""

    def register(kernel: Any) -> Any:
        for name in names:
            library.impl(name, kernel, "PrivateUse1")
        return kernel

    return register


# LITERALINCLUDE START: NUMPY_FACTORY
@implements("empty.memory_format")
def empty(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Any:
    """Return new memory; ``ones``, ``zeros``, ``rand`` fill it."""
    dtype = dtype or torch.get_default_dtype()
    if dtype not in NUMPY:
        raise NotImplementedError(f"npy: there is no {dtype} here: convert before")
    return wrap(np.empty(size, NUMPY[dtype]))


@implements("empty_strided")
def empty_strided(size: Sequence[int], stride: Sequence[int], **options: Any) -> Any:
    """Return new memory; torch sees a contiguous tensor, whatever it asked for."""
    return empty(size, **options)


@implements("_copy_from")
def copy_from(source: Any, target: Any, non_blocking: bool = False) -> torch.Tensor:
    """Copy between the CPU and the device, or on the device; dtypes may differ."""
    np.copyto(memory(target), memory(source), casting="unsafe")
    return target


@implements("_local_scalar_dense")
def item(tensor: torch.Tensor) -> Any:
    """Return the one element, for ``item()`` and ``if``."""
    return unwrap(tensor).item()


# LITERALINCLUDE END: NUMPY_FACTORY


# LITERALINCLUDE START: NUMPY_VIEWS
@implements("view", "_unsafe_view")
def view(tensor: torch.Tensor, size: Sequence[int]) -> torch.Tensor:
    """Return a view of another shape, or a copy where NumPy cannot make a view.

    ``reshape`` also ends here: torch believes that the tensor is contiguous.
    """
    return wrap(unwrap(tensor).reshape(size))


@implements("transpose.int")
def transpose(tensor: torch.Tensor, first: int, second: int) -> torch.Tensor:
    """Return a view with two dimensions exchanged."""
    return wrap(unwrap(tensor).swapaxes(first, second))


# LITERALINCLUDE END: NUMPY_VIEWS


@implements("t")
def t(tensor: torch.Tensor) -> torch.Tensor:
    """Return the transposed matrix, a view."""
    return wrap(unwrap(tensor).T)


@implements("permute")
def permute(tensor: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    """Return a view with the dimensions in another order."""
    return wrap(unwrap(tensor).transpose(dims))


@implements("expand")
def expand(tensor: Any, size: Sequence[int], *, implicit: bool = False) -> Any:
    """Return a view in which dimensions of size 1 repeat."""
    array = unwrap(tensor)
    missing = len(size) - array.ndim
    known = [
        array.shape[i - missing] if length == -1 else length
        for i, length in enumerate(size)
    ]
    return wrap(np.broadcast_to(array, known))


@implements("slice.Tensor")
def slice_(
    tensor: Any, dim: int = 0, start: Any = None, end: Any = None, step=1
) -> Any:
    """Return a view of a part."""
    index = [slice(None)] * tensor.dim()
    index[dim] = slice(start, end, step)
    return wrap(unwrap(tensor)[tuple(index)])


@implements("select.int")
def select(tensor: torch.Tensor, dim: int, index: int) -> torch.Tensor:
    """Return a view of one element of a dimension."""
    where: list[Any] = [slice(None)] * tensor.dim()
    where[dim] = index
    return wrap(unwrap(tensor)[(*where, ...)])


@implements("unsqueeze")
def unsqueeze(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """Return a view with one more dimension."""
    return wrap(np.expand_dims(unwrap(tensor), dim))


# LITERALINCLUDE START: NUMPY_AS_STRIDED
@implements("as_strided")
def as_strided(tensor: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """Return a view by strides; only of memory that is in order, as torch believes."""
    array = unwrap(tensor)
    if not array.flags.c_contiguous:
        raise NotImplementedError("npy: as_strided() of a view; call clone() before")
    array = array.reshape(-1)[storage_offset or 0 :]
    steps = [step * array.itemsize for step in stride]
    return wrap(np.lib.stride_tricks.as_strided(array, size, steps))


# LITERALINCLUDE END: NUMPY_AS_STRIDED


# LITERALINCLUDE START: NUMPY_NATIVE
@implements("add.Tensor")
def add(self: torch.Tensor, other: torch.Tensor, *, alpha: Any = 1) -> torch.Tensor:
    """Add with broadcasting; torch decides on the dtype of the result."""
    dtype = NUMPY[torch.result_type(self, other)]
    result = unwrap(self) + alpha * unwrap(other)
    return wrap(np.asarray(result).astype(dtype, copy=False))


@implements("mm")
def mm(self: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """Multiply two matrices."""
    return wrap(unwrap(self) @ unwrap(mat2))


# LITERALINCLUDE END: NUMPY_NATIVE


# LITERALINCLUDE START: NUMPY_FALLBACK
def fallback(operator: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Any:
    """Run an operator of torch's CPU on the memory of the arrays."""
    if operator.is_view or "Storage" in str(operator._schema):
        raise NotImplementedError(f"npy: there is no {operator}")
    ours: list[tuple[torch.Tensor, torch.Tensor]] = []

    def to_cpu(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if not isinstance(value, torch.Tensor) or value.device.type != "npy":
            return value
        array = unwrap(value)
        if not array.flags.writeable:  # (1)
            array = array.copy()
        cpu = torch.from_numpy(array)
        if value.numel() == 0:  # (2)
            cpu = torch.empty(value.shape, dtype=value.dtype)
        ours.append((cpu, value))
        return cpu

    # LITERALINCLUDE END: NUMPY_FALLBACK

    # LITERALINCLUDE START: NUMPY_RESULT
    def to_npy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        for cpu, tensor in ours:
            if cpu is value:  # changed in place, or out=
                if cpu.shape != tensor.shape:
                    tensor.data = wrap(cpu.numpy())  # (1)
                return tensor
        return wrap(value.numpy())

    result = operator(*tree_map(to_cpu, args), **tree_map(to_cpu, kwargs))
    return tree_map(to_npy, result)


everything = torch.library.Library("_", "IMPL")
everything.fallback(fallback, "PrivateUse1")

# LITERALINCLUDE END: NUMPY_RESULT

# Kernels acquire the GIL. An autograd thread that waits for it while Python exits would
# abort the process, so backward passes run in the thread that calls backward().
torch.autograd.set_multithreading_enabled(False)
