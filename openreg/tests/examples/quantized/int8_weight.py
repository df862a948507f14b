# A weight of int8 with a scale for each row, as a subclass of Tensor; see
# docs/modules/quantized-weights.md.
import torch
from torch.nn import functional

aten = torch.ops.aten


# LITERALINCLUDE START: INT8_PRODUCTS
def to_int8(rows):
    scales = rows.abs().amax(1).clamp(min=torch.finfo(rows.dtype).tiny) / 127
    return (rows / scales[:, None]).round().to(torch.int8), scales


def linear(x, weight, bias=None):
    rows = x.flatten(0, -2).contiguous()
    if weight.dynamic:
        codes, scales = to_int8(rows)  # (1)
        sums = torch._int_mm(codes, weight.codes.t())
        y = (sums * scales[:, None] * weight.scales).to(x.dtype)
    else:
        y = torch._weight_int8pack_mm(rows, weight.codes, weight.scales)  # (2)
    y = y.unflatten(0, x.shape[:-1])
    return y if bias is None else y + bias


# LITERALINCLUDE END: INT8_PRODUCTS


# LITERALINCLUDE START: INT8_NEW
class Int8Weight(torch.Tensor):
    @staticmethod
    def __new__(cls, codes, scales, dynamic=False):
        return cls._make_wrapper_subclass(
            cls, codes.shape, dtype=scales.dtype, device=codes.device
        )

    def __init__(self, codes, scales, dynamic=False):
        self.codes, self.scales, self.dynamic = codes, scales, dynamic

    # LITERALINCLUDE END: INT8_NEW

    # LITERALINCLUDE START: INT8_DISPATCH
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is functional.linear:
            return linear(*args, **kwargs or {})  # (1)
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, op, types, args, kwargs=None):
        x, *rest = args
        kwargs = kwargs or {}
        if op in (aten.detach.default, aten.clone.default):  # (2)
            return cls(op(x.codes), op(x.scales), x.dynamic)
        if op is aten._to_copy.default:  # (3)
            codes = op(x.codes, **{**kwargs, "dtype": torch.int8})
            return cls(codes, op(x.scales, **kwargs), x.dynamic)
        if op is aten.copy_.default and isinstance(rest[0], cls):  # (4)
            x.codes.copy_(rest[0].codes)
            x.scales.copy_(rest[0].scales)
            return x
        if op is aten._has_compatible_shallow_copy_type.default:  # (5)
            return False
        raise NotImplementedError(f"{op} of an Int8Weight: call dequantize() before")

    # LITERALINCLUDE END: INT8_DISPATCH

    # LITERALINCLUDE START: INT8_FLATTEN
    def __tensor_flatten__(self):
        return ["codes", "scales"], self.dynamic

    @classmethod
    def __tensor_unflatten__(cls, inner, dynamic, size, stride):
        return cls(inner["codes"], inner["scales"], dynamic)

    # LITERALINCLUDE END: INT8_FLATTEN

    def dequantize(self):
        return self.codes.to(self.dtype) * self.scales[:, None]

    def __repr__(self):  # torch's own would take views
        return f"Int8Weight({self.dequantize()})"


# LITERALINCLUDE START: QUANTIZE_MODEL
def quantize(model, dynamic=False, weight_class=Int8Weight):
    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear):
            weight = weight_class(*to_int8(layer.weight.detach()), dynamic)
            layer.weight = torch.nn.Parameter(weight, requires_grad=False)
    return model


# LITERALINCLUDE END: QUANTIZE_MODEL
