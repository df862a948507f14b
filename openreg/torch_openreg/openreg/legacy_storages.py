# Typed storages, the names of old programs; see docs/runtime/storage.md.
"""``torch.openreg.FloatStorage`` and similar classes, as in ``torch.cuda``.

Torch has replaced typed storages by ``torch.UntypedStorage``. It makes objects of
``torch.TypedStorage`` only; these classes are what ``Tensor.storage_type()`` returns
and what ``isinstance`` compares such an object with. Their use warns, as elsewhere.
"""

from typing import Any, NoReturn

import torch
from torch._utils import classproperty
from torch.storage import _LegacyStorage, _warn_typed_storage_removal

__all__ = [
    "BFloat16Storage",
    "BoolStorage",
    "ByteStorage",
    "CharStorage",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DoubleStorage",
    "FloatStorage",
    "HalfStorage",
    "IntStorage",
    "LongStorage",
    "ShortStorage",
]


# LITERALINCLUDE START: LEGACY_STORAGE
class _OpenRegLegacyStorage(_LegacyStorage):
    @classmethod
    def from_buffer(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise RuntimeError: a buffer is memory of the host."""
        _warn_typed_storage_removal()
        raise RuntimeError("from_buffer: Not available for openreg storage")


def _make(name: str, dtype: torch.dtype) -> type[_OpenRegLegacyStorage]:
    def with_warning(cls: type) -> torch.dtype:
        _warn_typed_storage_removal()
        return dtype

    members = {
        "__doc__": f"A storage of {dtype} on an openreg device; deprecated.",
        "__module__": "torch.openreg",  # (1)
        "dtype": classproperty(with_warning),
        "_dtype": classproperty(lambda cls: dtype),  # (2)
    }
    return type(name, (_OpenRegLegacyStorage,), members)


BFloat16Storage = _make("BFloat16Storage", torch.bfloat16)
# LITERALINCLUDE END: LEGACY_STORAGE
BoolStorage = _make("BoolStorage", torch.bool)
ByteStorage = _make("ByteStorage", torch.uint8)
CharStorage = _make("CharStorage", torch.int8)
ComplexDoubleStorage = _make("ComplexDoubleStorage", torch.complex128)
ComplexFloatStorage = _make("ComplexFloatStorage", torch.complex64)
DoubleStorage = _make("DoubleStorage", torch.float64)
FloatStorage = _make("FloatStorage", torch.float32)
HalfStorage = _make("HalfStorage", torch.float16)
IntStorage = _make("IntStorage", torch.int32)
LongStorage = _make("LongStorage", torch.int64)
ShortStorage = _make("ShortStorage", torch.int16)
