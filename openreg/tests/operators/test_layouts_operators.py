# Every operator that torch registers for sparse CPU tensors; see
# docs/operators/layouts.md.
import pytest
import torch
from layouts_outcomes import difference, with_gradients
from layouts_schema import arguments, find
from layouts_support import IGNORED
from layouts_tensors import compressed_tensors, coo_tensors

pytestmark = pytest.mark.filterwarnings(*IGNORED)
has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key

KEYS = {"SparseCPU": coo_tensors, "SparseCsrCPU": compressed_tensors}
# Nothing to compare: memory without values, random numbers, and what torch asks of
# host memory.
INCOMPARABLE = {
    "aten::empty.memory_format",
    "aten::empty_like",
    "aten::normal_",
    "aten::resize_",
    "aten::_pin_memory",
    "aten::is_pinned",
    "c10d::allreduce_",
}
# Torch has a kernel that refuses every sparse tensor, or the arguments do not fit.
NEVER_RIGHT = {
    "SparseCPU": {
        "aten::_to_sparse.sparse_dim",  # takes dense and compressed tensors
        "aten::norm.ScalarOpt_dim_dtype",  # takes none
        "aten::_sparse_coo_tensor_with_dims_and_tensors",  # takes dense tensors
        "aten::_to_sparse_bsr",  # see test_layouts_conversions.py
        "aten::sspaddmm.out",  # see test_layouts_programs.py
    },
    "SparseCsrCPU": {
        "aten::_sparse_mm_reduce_impl",  # see test_layouts_sparse.py
        "aten::_sparse_mm_reduce_impl_backward",
    },
}
PARTS = 4


def operators(key):
    names = (n for n in torch._C._dispatch_get_all_op_names() if has_kernel(n, key))
    return sorted(set(names) - INCOMPARABLE)


def unusable(name, what, positional, keywords):
    """Return whether a call ends the process, or reads no memory, on the CPU."""
    tensors = [x for x in (*positional, *keywords.values()) if torch.is_tensor(x)]
    if name.startswith("aten::addmm") and "csc" in what:
        return True  # reads memory that is not there
    if name == "aten::addmm.out" and keywords["out"].layout != torch.strided:
        return True  # written to while it is read, if it is one of the factors
    if name.startswith("aten::add"):  # see test_layouts_gaps.py
        mixed = {x.layout for x in tensors[:2]} >= {torch.strided}
        return ("hybrid" in what and mixed) or "batched" in what
    if name.startswith("aten::div") and "mode" in name:
        return "complex" in what  # the rounding of complex numbers stops the device
    if name.startswith("aten::abs"):
        return "bool" in what  # computed, as on CUDA; the CPU has no kernel
    no_elements = "no elements" in what or "no rows" in what
    return no_elements and ("_csr_" in name or name == "aten::sum.dim_IntList")


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("key", KEYS)
def test_operators_called_by_their_schemas(key, part):
    names, tensors = operators(key)[part::PARTS], KEYS[key]()
    others, found, right = KEYS[key](seed=1), [], set()
    for name in names:
        operator, calls = find(name), 0
        call = with_gradients(lambda args, kwargs, op=operator: op(*args, **kwargs))
        for index, (what, tensor) in enumerate(tensors.items()):
            # Gradients of batches are sums, which test_layouts_gaps.py is about.
            grad = tensor.dtype.is_floating_point and "batched" not in what
            grad = grad and not name.endswith(("out", "_", "grad_input"))
            checked = index // 2 % 2 == 1
            for args, kwargs in arguments(name, tensor, others[what], limit=6):
                calls += 1
                if unusable(name, what, args, kwargs):
                    continue
                tensor.requires_grad_(grad and (index + calls) % 2 == 0)
                with torch.sparse.check_sparse_tensor_invariants(checked):
                    text, succeeded = difference(call, args, kwargs)
                tensor.requires_grad_(False)
                right |= {name} if succeeded else set()
                found += [f"{name} {what} {args[1:]} {kwargs}: {text}"] if text else []
        assert calls >= len(tensors) - 4, name
    assert not found, "\n".join(text[:700] for text in found[:20])
    assert set(names) - right == NEVER_RIGHT[key] & set(names)


@pytest.mark.parametrize("key", KEYS)
def test_what_is_never_right_is_registered(key):
    assert NEVER_RIGHT[key] <= set(operators(key))
    assert len(operators(key)) > 130
