# Types and numbers of Triton's IR in C++; see docs/modules/triton-compiler.md.
"""How the IR writes types and constants, and how C++ does."""

import re

CPP_TYPES = {
    "i1": "bool",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "index": "int64_t",
    "f16": "half",
    "bf16": "bfloat16",
    "f32": "float",
    "f64": "double",
    "f8E5M2": "float8e5",
    "f8E4M3FN": "float8e4nv",
}
SIZES = {"i1": 1, "index": 8, "bf16": 2, "f8E5M2": 1, "f8E4M3FN": 1}


def is_tensor(type_: str) -> bool:
    """Return whether a type is a block's."""
    return type_.startswith("tensor<")


def is_pointer(element: str) -> bool:
    """Return whether a scalar type is a pointer's."""
    return element.startswith("!tt.ptr")


def shape_of(type_: str) -> tuple[int, ...]:
    """Return the shape of a type; that of a scalar is empty."""
    if not is_tensor(type_):
        return ()
    return tuple(int(n) for n in re.findall(r"(\d+)x", type_.partition("!")[0]))


def element_of(type_: str) -> str:
    """Return the type of an element, or of a scalar."""
    if is_tensor(type_):
        return re.sub(r"^tensor<(?:\d+x)*", "", type_).removesuffix(">")
    return type_


def pointee_of(type_: str) -> str:
    """Return what a pointer, or a block of pointers, points to."""
    inner = element_of(type_).removeprefix("!tt.ptr<").removesuffix(">")
    return re.sub(r", \d+$", "", inner)  # an address space


def cpp_type(element: str) -> str | None:
    """Return the C++ type of a scalar; None when there is no such type."""
    if is_pointer(element):
        pointee = cpp_type(pointee_of(element))
        return None if pointee is None else f"{pointee}*"
    return CPP_TYPES.get(element)


def size_of(element: str) -> int:
    """Return the bytes of a scalar."""
    if is_pointer(element):
        return 8
    return SIZES.get(element) or int(element[1:]) // 8


def count_of(shape: tuple[int, ...]) -> int:
    """Return the number of elements."""
    count = 1
    for n in shape:
        count *= n
    return count


def literal(text: str, element: str) -> str:
    """Return a constant as C++."""
    if element == "i1":
        return "true" if text in ("true", "-1", "1") else "false"
    if element[0] == "i":
        bits = 64 if element == "index" else int(element[1:])
        if int(text) == -(1 << (bits - 1)):
            return f"INT{bits}_MIN"  # its digits alone would be too large
        return {64: f"INT64_C({text})", 32: text}.get(bits, f"int{bits}_t({text})")
    cpp = CPP_TYPES[element]
    if text.startswith("0x"):  # infinities and NaNs
        return f"from_bits<{cpp}>({text})"
    return {"f64": text, "f32": f"{text}f"}.get(element, f"{cpp}({text}f)")
