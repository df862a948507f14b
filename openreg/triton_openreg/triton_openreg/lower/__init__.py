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
from .types import cpp_type, is_tensor
from .values import Value

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


def parameters_of(function: Function) -> list[tuple[str, str, str]]:
    """Return the value, the C++ type and the C++ name of each parameter."""
    found = []
    for n, (name, type_) in enumerate(function.parameters):
        cpp = None if is_tensor(type_) else cpp_type(type_)
        if cpp is None:
            raise Unsupported(f"{function.name}: a parameter of type {type_}")
        found.append((name, cpp, f"a{n}_{symbol_of(name[1:])}"))
    return found


def lower_function(
    function: Function, functions: dict[str, str]
) -> tuple[str, FunctionLowering]:
    """Return the C++ of a function."""
    low = FunctionLowering(function, functions)
    parameters = ["const Program& program"]
    for name, cpp, cpp_name in parameters_of(function):
        low.env[name] = cpp_name
        parameters.append(f"{cpp} {cpp_name}")
    outputs = [f"result{n}" for n in range(len(function.results))]
    for type_, output in zip(function.results, outputs, strict=True):
        parameters.append(f"{cpp_type(type_)}& {output}")

    def finish(values: list[Value]) -> None:
        for value, output in zip(values, outputs, strict=True):
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
