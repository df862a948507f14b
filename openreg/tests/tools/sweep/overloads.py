# The operators of aten that the sweep calls by their schema; see docs/ship/sweep.md.
from fnmatch import fnmatch
from functools import cache

import torch

LAYOUTS = ("SparseCPU", "SparseCsrCPU", "QuantizedCPU")
LIBRARY = "it belongs to the library of another device"
HOOK = "a hook for devices, which the CPU does not have"
AUTOGRAD = "it belongs to autograd, and needs a graph; other ways differentiate"
NESTED = "its arguments or results are nested tensors, which no way compares"
PACKED = "a library packs its weights, and no generated tensor is one of them"
TESTS = "torch tests its own code with it"
# Names or patterns of what is not called, and why.
LEFT_OUT = {
    **dict.fromkeys(["_cudnn*", "cudnn*", "_cufft*", "miopen*", "_miopen*"], LIBRARY),
    **dict.fromkeys(["*_mps*", "*mkldnn*", "_nnpack*", "_propagate_xla*"], LIBRARY),
    **dict.fromkeys(["_triton*", "_cslt*", "*semi_structured*"], LIBRARY),
    **dict.fromkeys(["_copy_from*", "*_overrideable*", "_resize_output*"], HOOK),
    **dict.fromkeys(["_backward", "retain_grad", "_fw_primal*"], AUTOGRAD),
    **dict.fromkeys(["_make_dual*", "_unpack_dual", "get_gradients"], AUTOGRAD),
    **dict.fromkeys(["_nested*", "nested*", "to_padded_tensor*"], NESTED),
    **dict.fromkeys(["_test*", "_foobar*", "_assert*", "_print"], TESTS),
    **dict.fromkeys(["fbgemm_*", "quantized_*_cell"], PACKED),
    "_cum???_helper": "it writes as much as its callers have allocated",
    "get_device": "it answers which device this is",
    "record_stream": "it takes a stream; openreg/tests/runtime checks it",
    "*pin_memory*": "only memory of the CPU can be pinned",
    "_get_tracing_state": "it asks the tracer",
}


@cache
def overloads() -> dict[str, torch._ops.OpOverload]:
    """Return the overloads that are called, by names such as ``aten::add.out``."""
    names = sorted(torch._C._dispatch_get_all_op_names())
    return {
        name: overload(name)
        for name in names
        if name.startswith("aten::") and why_not(name) is None
    }


def why_not(name: str) -> str | None:
    """Return why an overload is not called; None if it is."""
    operator = name.removeprefix("aten::").partition(".")[0]
    for pattern, reason in LEFT_OUT.items():
        if fnmatch(operator, pattern):
            return reason
    arguments = overload(name)._schema.arguments
    if all(one.kwarg_only for one in arguments):
        return "it takes no argument"
    if any("__torch__" in str(one.real_type) for one in arguments):
        return "it takes an object that only C++ makes"
    return None if _on_the_cpu(name) else "the CPU has no kernel for it"


def _on_the_cpu(name: str) -> bool:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    computed = torch._C._dispatch_has_computed_kernel_for_dispatch_key
    return computed(name, "CPU") or any(has(name, key) for key in LAYOUTS)


def overload(name: str) -> torch._ops.OpOverload:
    """Return an overload by its name."""
    operator, _, variant = name.removeprefix("aten::").partition(".")
    return getattr(getattr(torch.ops.aten, operator), variant or "default")
