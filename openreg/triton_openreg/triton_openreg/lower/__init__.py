# From Triton's IR to C++; see docs/modules/triton-compiler.md.
"""Lowers a module: a C++ function for each function, and the kernel's entry point.

A block of Triton becomes loops over its elements. Each module here lowers one kind of
operation; importing it adds its functions to the table of `registry.py`.
"""

import re
from dataclasses import dataclass

from ..ttir import Function, Unsupported, parse
from . import control, dot, effects, elementwise, memory, reduce, shapes
from .function import FunctionLowering
from .types import cpp_type, element_of, is_tensor
from .values import Tensor, Value

KINDS = (control, dot, effects, elementwise, memory, reduce, shapes)
GRID_SLOTS = 3
SOURCE = """\
// The kernel {name}, as triton_openreg writes it; see docs/modules/triton-compiler.md.
{includes}
using namespace triton_openreg;

namespace {{
{functions}
}}  // namespace

extern "C" OPENREG_KERNEL int kernel(void* arguments) {{
  const Slots slots(arguments);
{unpack}
  return run_grid(slots, [&](const Program& program) {{
    return {function}({arguments});
  }});
}}
"""


@dataclass(frozen=True)
class Kernel:
    """The result: C++, the kernel's name, and the memory that its blocks need."""

    name: str
    source: str
    scratch_bytes: int


def symbol_of(name: str) -> str:
    """Return a name that C++ takes."""
    return re.sub(r"\W", "_", name)


def passed_type(function: Function, type_: str) -> str:
    """Return the C++ type of a parameter: a block is passed as its buffer."""
    cpp = cpp_type(element_of(type_))
    if cpp is None:
        raise Unsupported(
            f"{function.name}: openreg cannot compile a parameter of type {type_}"
        )
    return f"{cpp}*" if is_tensor(type_) else cpp


def parameters_of(function: Function) -> list[tuple[str, str, str]]:
    """Return the value, the C++ type and the C++ name of each parameter."""
    return [
        (name, passed_type(function, type_), f"a{n}_{symbol_of(name[1:])}")
        for n, (name, type_) in enumerate(function.parameters)
    ]


def lower_function(
    function: Function, functions: dict[str, str]
) -> tuple[str, FunctionLowering]:
    """Return the C++ of a function."""
    low = FunctionLowering(function, functions)
    parameters = ["const Program& program"]
    types = [type_ for _, type_ in function.parameters]
    for (name, cpp, cpp_name), type_ in zip(
        parameters_of(function), types, strict=True
    ):
        low.env[name] = low.received(cpp_name, type_)
        parameters.append(f"{cpp} {cpp_name}")
    outputs = [f"result{n}" for n in range(len(function.results))]
    for type_, output in zip(function.results, outputs, strict=True):
        reference = "" if is_tensor(type_) else "&"
        parameters.append(f"{passed_type(function, type_)}{reference} {output}")

    def finish(values: list[Value]) -> None:
        for value, output in zip(values, outputs, strict=True):
            if isinstance(value, Tensor):
                low.copy(value, low.view(output, value.shape, value.element))
            else:
                low.do(f"{output} = {value};")
        low.do("return 0;")

    low.flow(function.blocks, 0, [], finish)
    head = f"int {functions[function.name]}({', '.join(parameters)}) {{"
    return "\n".join([head, *indented([*low.declarations(), *low.lines]), "}"]), low


def indented(lines: list[str]) -> list[str]:
    """Indent statements by the braces around them."""
    result, depth = [], 1
    for line in lines:
        depth -= line.startswith("}")
        result.append("  " * depth + line)
        depth += line.endswith("{")
    return result


def lower(ttir: str) -> Kernel:
    """Translate a module; raise `Unsupported` for what cannot be translated."""
    functions = parse(ttir)
    names = {f.name: f"f{n}_{symbol_of(f.name)}" for n, f in enumerate(functions)}
    kernel = functions[0]
    done = [lower_function(f, names) for f in functions]
    prototypes = [text.partition(" {\n")[0] + ";" for text, _ in done[1:]]
    includes = {"kernel.h"}.union(*(low.includes for _, low in done))
    unpack, arguments = [], ["program"]
    for n, (_, cpp, name) in enumerate(parameters_of(kernel), start=GRID_SLOTS):
        if cpp.endswith("*"):
            unpack.append(f"  {cpp} {name};")
            test = f"if (!slots.address({n}, {name}))"
            unpack.append(f"  {test} return bad_address({n - GRID_SLOTS});")
        else:
            unpack.append(f"  const auto {name} = slots.get<{cpp}>({n});")
        arguments.append(name)
    source = SOURCE.format(
        name=kernel.name,
        function=names[kernel.name],
        includes="\n".join(f'#include "{x}"' for x in sorted(includes)),
        functions="\n\n".join((*prototypes, *(text for text, _ in done))),
        unpack="\n".join(unpack),
        arguments=", ".join(arguments),
    )
    return Kernel(kernel.name, source, sum(low.scratch_bytes for _, low in done))


__all__ = ["KINDS", "Kernel", "lower"]
