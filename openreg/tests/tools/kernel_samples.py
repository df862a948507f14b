# Collects small calls of operators; see docs/operators/structured.md.
"""Record what the samples of the operator database call, forward and backward."""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

SMALL = 4096  # elements of all tensors of a call
TENSORS = ("Tensor", "Optional[Tensor]", "List[Tensor]", "List[Optional[Tensor]]")
NUMBERS = ("number", "Optional[number]")


def _bag_gradient(weights: torch.Tensor | None = None) -> tuple[Any, ...]:
    indices, bags, sizes = torch.arange(2), torch.arange(2), torch.ones(2).long()
    grad = torch.ones(2, 3)
    return (grad, indices, bags, sizes, torch.arange(2), 2, False, 0, weights, -1)


# Calls that no sample of the database makes, at least not on the CPU.
WRITTEN: dict[str, list[tuple[Any, ...]]] = {
    "_addmm_activation": [(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2))],
    "_dirichlet_grad": [(torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3))],
    "_embedding_bag_dense_backward": [_bag_gradient(), _bag_gradient(torch.ones(2))],
    "_prelu_kernel": [(torch.ones(2, 3), torch.ones(1, 3))],
    "arange.start_step": [(0, 2, 1, torch.float32)],
    "bincount": [(torch.arange(3), torch.ones(3))],
    "clamp_max": [(torch.ones(3), 1)],
    "conj_physical": [(torch.ones(3, dtype=torch.complex64),)],
    "div.Tensor_mode": [(torch.ones(3), torch.ones(3), None)],
    "kaiser_window.beta": [(5, True, 12.0, torch.float32)],
    "linspace": [(0, 3, 4, torch.float32)],
    "logspace": [(0, 3, 4, 2.0, torch.float32)],
    "norm.ScalarOpt_dim_dtype": [(torch.ones(3), 2, [0], False, torch.float32)],
    "unique_dim_consecutive": [(torch.ones(4, 2), 0)],
    "scatter.reduce": [
        (torch.ones(3), 0, torch.arange(3), torch.ones(3), text)
        for text in ("add", "multiply")
    ],
    "scatter.value_reduce": [
        (torch.ones(3), 0, torch.tensor([0]), 1, text) for text in ("add", "multiply")
    ],
}


# Programs whose operators, forward and backward, have no sample either.
PROGRAMS: list[Callable[[], torch.Tensor]] = [
    lambda: F.ctc_loss(
        _leaf(4, 1, 3).log_softmax(2), torch.tensor([[1, 2]]), [4], [2], blank=0
    ),
    lambda: F.ctc_loss(
        _leaf(4, 1, 3).log_softmax(2),
        torch.tensor([[1, 2]]),
        torch.tensor([4]),
        torch.tensor([2]),
    ),
    lambda: torch._weight_norm_interface(_leaf(3, 2), _leaf(3, 1), 0)[0],
    lambda: torch._standard_gamma(_leaf(3).exp()),
    *(
        lambda mode=mode: F.interpolate(_leaf(1, 1, 4, 4), 3, mode=mode, antialias=True)
        for mode in ("bilinear", "bicubic", "lanczos")
    ),
    lambda: F.embedding_bag(
        torch.tensor([0, 1, 1, 0]), _leaf(3, 2), torch.tensor([0, 2]), mode="sum"
    ),
    lambda: F.embedding_bag(
        torch.tensor([0, 1, 1, 0]),
        _leaf(3, 2),
        torch.tensor([0, 2]),
        mode="sum",
        per_sample_weights=_leaf(4),
    ),
    lambda: F.embedding(torch.tensor([0, 1]), torch.ones(2, 3), max_norm=1.0),
    lambda: torch.isin(torch.arange(4.0), 2.0),
    lambda: torch.range(0, 3),
]


def _leaf(*sizes: int) -> torch.Tensor:
    return torch.rand(sizes).requires_grad_()


class Sample:
    """A call of an operator on CPU tensors that can be repeated with other dtypes."""

    def __init__(self, op: torch._ops.OpOverload, args: Any, kwargs: Any) -> None:
        self.op = op
        self.for_overlaps = False  # besides the smallest of its kind
        self.name = functional(op)
        schema = op._schema.arguments
        # By the order of the schema, as the backend's C++ has them.
        values = dict(zip((each.name for each in schema), args, strict=False)) | kwargs
        self.values = {
            each.name: values.get(each.name, each.default_value) for each in schema
        }
        types = {each.name: str(each.real_type) for each in schema}
        self.tensors = [name for name, kind in types.items() if kind in TENSORS]
        self.lists = [name for name in self.tensors if "List" in types[name]]
        self.numbers = [name for name, kind in types.items() if kind in NUMBERS]
        texts = [name for name, kind in types.items() if "str" in kind]
        self.text = str(self.values[texts[0]]) if texts else ""

    def dtype_at(self, place: str) -> torch.dtype | None:
        """The dtype of the tensors of an argument, None if it is missing."""
        given = tree_leaves(self.values[place])
        leaves = [x for x in given if isinstance(x, torch.Tensor)]  # not a number
        return leaves[0].dtype if leaves else None

    def run(self, dtypes: dict[str, torch.dtype], /, **values: Any) -> Any:
        """Call the operator with ones of these dtypes; return the first result.

        None if the CPU refuses the call.
        """
        given = self.values | values
        kinds = {(x.is_floating_point, x.is_complex) for x in dtypes.values()}
        if kinds == {(False, False)}:  # floats would make it a computation of floats
            integers = {
                name: 3 for name in self.numbers if self.values[name] is not None
            }
            given = self.values | integers | values
        for place, dtype in dtypes.items():
            given[place] = tree_map_only(
                torch.Tensor,
                lambda x, dtype=dtype: _cast(x, dtype),
                self.values[place],
            )
        try:
            result = call(self.op, given)
        except Exception:
            return None
        return result[0] if isinstance(result, tuple | list) else result

    def missing(self) -> tuple[bool, ...]:
        """Which tensors are not given."""
        return tuple(self.dtype_at(place) is None for place in self.tensors)

    def kind(self) -> tuple[Any, ...]:
        """What decides which kernel of an operator runs, besides the dtypes."""
        numbers = tuple(self.values[name] is None for name in self.numbers)
        lists = tuple(x == [] for x in self.values.values() if isinstance(x, list))
        tensors = tree_leaves([self.values[place] for place in self.tensors])
        deep = tuple(x.dim() > 1 for x in tensors if isinstance(x, torch.Tensor))
        return self.text, self.missing(), numbers, lists, deep[:4]

    def rank(self) -> tuple[bool, bool, int]:
        """Small calls come first, but kernels may leave out much for single elements.

        With floats, the values can be told from the indices.
        """
        leaves = tree_leaves(list(self.values.values()))
        tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
        sizes = [x.numel() for x in tensors]
        floats = any(x.is_floating_point() or x.is_complex() for x in tensors)
        return not floats, max(sizes, default=0) < 4, sum(sizes)


def call(op: torch._ops.OpOverload, values: dict[str, Any]) -> Any:
    """Call `op` with values by the names of its schema."""
    arguments = op._schema.arguments
    args = [values[each.name] for each in arguments if not each.kwarg_only]
    return op(*args, **{x.name: values[x.name] for x in arguments if x.kwarg_only})


def _cast(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Keep the values of an index; the others must not be 0, which divides nothing."""
    if not tensor.is_floating_point() and not dtype.is_floating_point:
        return tensor.to(dtype)
    return torch.ones_like(tensor, dtype=torch.uint8).to(dtype)


class Recorder(TorchDispatchMode):
    """Keeps the smallest call of each kind: by text, shapes and what is missing."""

    def __init__(self, wanted: Iterable[str]) -> None:
        super().__init__()
        self.calls: dict[str, dict[Any, Sample]] = {name: {} for name in wanted}
        # Here any tensor may also be the output.
        self.of_one_shape: dict[str, dict[Any, Sample]] = {name: {} for name in wanted}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = functional(func)
        if name not in self.calls:
            return func(*args, **(kwargs or {}))
        clone = lambda x: x.detach().clone()  # noqa: E731
        before = tree_map_only(torch.Tensor, clone, (args, kwargs or {}))
        result = func(*args, **(kwargs or {}))
        # A kernel that writes no element may ignore the dtype.
        if all(x.numel() for x in tree_leaves(result) if isinstance(x, torch.Tensor)):
            self._record(name, *before)
        return result

    def _record(self, name: str, args: Any, kwargs: Any) -> None:
        leaves = tree_leaves((args, kwargs))
        tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
        size = sum(x.numel() for x in tensors)
        plain = all(x.layout == torch.strided and not x.is_meta for x in tensors)
        if size > SMALL or not plain or any(not x.numel() for x in tensors):
            return
        sample = Sample(operator(name), args, kwargs)
        kinds = [self.calls[name]]
        if len({x.shape for x in tensors}) == 1:
            kinds.append(self.of_one_shape[name])
        for kept in kinds:
            known = kept.get(sample.kind())
            if known is None or sample.rank() < known.rank():
                kept[sample.kind()] = sample


def operator(name: str) -> torch._ops.OpOverload:
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def functional(func: torch._ops.OpOverload) -> str:
    """`add.Tensor` for `add_.Tensor` and `add.Tensor` of aten."""
    if func.namespace != "aten":
        return ""
    base, overload = func._schema.name.removeprefix("aten::"), func._overloadname
    if base.endswith("_") and not base.endswith("__"):
        base = base[:-1]
    return base if overload == "default" else f"{base}.{overload}"


def collect(wanted: set[str]) -> dict[str, list[Sample]]:
    """Return calls of each of these operators."""
    recorder = Recorder(wanted)
    for op in op_db:
        for dtype in (torch.float32, torch.int64):
            if dtype in op.supported_dtypes("cpu"):
                _run(op, dtype, recorder)
                break
    for program in PROGRAMS:
        _record(program, recorder)
    found = {name: list(calls.values()) for name, calls in recorder.calls.items()}
    for name, calls in recorder.of_one_shape.items():
        for sample in calls.values():
            if sample not in found[name]:
                sample.for_overlaps = True
                found[name].append(sample)
    for name in wanted & set(WRITTEN):
        calls = [Sample(operator(name), args, {}) for args in WRITTEN[name]]
        # The number of elements is a number here, and for one a kernel may not run.
        found[name] = found[name] * bool(calls[0].tensors) + calls
    without = sorted(name for name, calls in found.items() if not calls)
    if without:
        raise SystemExit(f"no sample calls {without}: write calls into {__file__}")
    return found


def _run(op: OpInfo, dtype: torch.dtype, recorder: Recorder) -> None:
    differentiable = op.supports_autograd and dtype.is_floating_point
    for sample in op.sample_inputs_func(op, "cpu", dtype, differentiable):
        _record(lambda: op(sample.input, *sample.args, **sample.kwargs), recorder)  # noqa: B023


def _record(program: Callable[[], Any], recorder: Recorder) -> None:
    """Run it forward and backward."""
    with contextlib.suppress(Exception), recorder:
        outputs = [
            x
            for x in tree_leaves(program())
            if isinstance(x, torch.Tensor) and x.requires_grad
        ]
        if outputs:
            torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])
