# Assertions, prints and what has no effect here; see docs/modules/triton-compiler.md.
"""Operations for their effect, and the grid."""

import re

from ..ttir import Operation
from .elementwise import uniform_tensor
from .registry import Lowering, lowers
from .types import element_of, is_tensor, shape_of
from .values import Indices, Value


def c_string(text: str) -> str:
    """Return a string of MLIR, which escapes bytes as two digits, as one of C++."""
    decoded = re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), text)
    escaped = decoded.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def string_of(op: Operation) -> tuple[str, str]:
    """Return the string of an operation, and the text behind it."""
    found = re.search(r'"((?:[^"\\]|\\.)*)"(.*)', op.text)
    assert found is not None
    return found[1], found[2]


@lowers("tt.get_program_id", "tt.get_num_programs")
def program(low: Lowering, op: Operation) -> Value:
    """Where a program is in the grid, and how large that is."""
    field = "count" if "num" in op.name else "id"
    axis = "xyz".index(op.text.strip()[0])
    return low.emit("i32", f"program.{field}[{axis}]")


# LITERALINCLUDE START: TRITON_ASSERT
@lowers("tt.assert")
def assert_(low: Lowering, op: Operation) -> None:
    """A device fault, with the line of the kernel."""
    message, _ = string_of(op)
    what = c_string(f"{op.location}: device_assert failed: {message}")
    condition = low.value(op.operands[0])
    with low.loops(shape_of(op.type_list[0]), parallel=False) as i:
        low.do(f"if (!{low.at(condition, i)}) return fault(program, {what});")


# LITERALINCLUDE END: TRITON_ASSERT


@lowers("tt.print")
def print_(low: Lowering, op: Operation) -> None:
    """A line for each element, as on GPUs."""
    prefix, rest = string_of(op)
    found = re.search(r"isSigned = array<i32: ([\d, ]+)>", rest)
    signs = found[1].split(",") if found else []
    names = re.findall(r"%[\w$.-]+(?:#\d+)?", re.sub(r"\{.*?\}", "", rest))
    as_hex = str("hex = true" in rest).lower()
    low.includes.add("print.h")
    if not names:
        low.do(f"print_text(program, {c_string(prefix)});")
    for name, sign, type_ in zip(names, signs, op.type_list, strict=True):
        value = low.value(name)
        unsigned = element_of(type_)[0] == "i" and sign.strip() == "0"
        wrap = "to_unsigned({})" if unsigned else "{}"

        def write(i: Indices, value: Value = value, wrap: str = wrap) -> None:
            place = "{" + ", ".join(i) + "}"
            text = wrap.format(low.at(value, i))
            low.do(f"print(program, {c_string(prefix)}, {place}, {text}, {as_hex});")

        with low.loops(shape_of(type_) if is_tensor(type_) else (), False) as i:
            write(i)
    low.do("std::fflush(stdout);")


@lowers("llvm.intr.assume", "gpu.barrier", "ttg.barrier")
def nothing(low: Lowering, op: Operation) -> None:
    """A program is one thread: it has nothing to wait for."""


@lowers("ub.poison")
def poison(low: Lowering, op: Operation) -> Value:
    """A value that is never used, behind a return."""
    element, shape = element_of(op.types), shape_of(op.types)
    zero = f"{low.cpp(element)}{{}}"
    return uniform_tensor(shape, element, zero) if shape else zero


INSTEAD = {
    "tt.elementwise_inline_asm": "write it in triton.language: the device has no PTX",
    "tt.make_tensor_ptr": "use a tensor of pointers, or a tensor descriptor",
    "tt.atomic_poll": "load in a loop, with tl.atomic_add(pointer, 0)",
}
