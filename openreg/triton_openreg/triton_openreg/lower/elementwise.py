# Operations on each element: arithmetic, comparisons, conversions, libdevice; see
# docs/modules/triton-compiler.md.
"""A table of expressions, and the few operations that need more than one."""

import re

from ..ttir import Operation
from .affine import affine_tensor, combine_affine, limits_of
from .registry import Lowering, lowers
from .types import cpp_type, element_of, is_pointer, is_tensor, literal, shape_of
from .values import Affine, Tensor, Value, reads_of

# {0}, {1}, {2}: operands; {T}: the type of the result, {U} its unsigned counterpart;
# {S}: the type of the first operand.
EXPRESSIONS = {
    **{f"arith.{name}": f"{{0}} {sign} {{1}}" for name, sign in (
        ("addf", "+"), ("subf", "-"), ("mulf", "*"), ("divf", "/"), ("addi", "+"),
        ("subi", "-"), ("muli", "*"), ("andi", "&"), ("ori", "|"), ("xori", "^"))},
    # LITERALINCLUDE START: TRITON_EXPRESSIONS
    "arith.remf": "remainder_of({0}, {1})",
    "arith.negf": "-{0}",
    "arith.divsi": "divide({0}, {1})",
    "arith.remsi": "remainder_of({0}, {1})",
    "arith.divui": "divide(to_unsigned({0}), to_unsigned({1}))",
    "arith.remui": "remainder_of(to_unsigned({0}), to_unsigned({1}))",
    "arith.floordivsi": "floor_divide({0}, {1})",
    # LITERALINCLUDE END: TRITON_EXPRESSIONS
    "arith.ceildivsi": "-floor_divide(-{0}, {1})",
    "arith.shli": "shift_left({0}, {1})",
    "arith.shrsi": "shift_right({0}, {1})",
    "arith.shrui": "shift_right(to_unsigned({0}), {1})",
    "arith.maxsi": "{0} > {1} ? {0} : {1}",
    "arith.minsi": "{0} < {1} ? {0} : {1}",
    "arith.maxui": "to_unsigned({0}) > to_unsigned({1}) ? {0} : {1}",
    "arith.minui": "to_unsigned({0}) < to_unsigned({1}) ? {0} : {1}",
    "arith.maxnumf": "max_number({0}, {1})",
    "arith.minnumf": "min_number({0}, {1})",
    "arith.maximumf": "max_or_nan({0}, {1})",
    "arith.minimumf": "min_or_nan({0}, {1})",
    "arith.select": "{0} ? {1} : {2}",
    "arith.extsi": "sign_extend<{T}>({0})",
    "arith.extui": "static_cast<{T}>(to_unsigned({0}))",
    "arith.trunci": "truncate<{T}>({0})",
    "arith.index_cast": "static_cast<{T}>({0})",
    "arith.sitofp": "float_from<{T}>(sign_extend<int64_t>({0}))",
    "arith.uitofp": "float_from<{T}>(to_unsigned({0}))",
    "arith.fptosi": "integer_from<{T}>({0})",
    "arith.fptoui": "unsigned_from<{T}>({0})",
    "arith.extf": "convert<{T}>({0})",
    "arith.truncf": "convert<{T}>({0})",
    "arith.bitcast": "from_bits<{T}>({0})",
    "tt.bitcast": "from_bits<{T}>({0})",
    "tt.mulhiui": "multiply_high(to_unsigned({0}), to_unsigned({1}))",
    "tt.precise_divf": "{0} / {1}",
    "tt.precise_sqrt": "sqrt_({0})",
    "tt.int_to_ptr": "pointer_from<{T}>({0})",
    "tt.ptr_to_int": "integer_from_pointer({0})",
    "math.absi": "{0} < 0 ? -{0} : {0}",
    "math.fma": "fma_({0}, {1}, {2})",
    **{f"math.{name}": f"{name}_({{0}})" for name in
       ("ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log1p", "log2", "rsqrt",
        "sin", "sqrt", "tan", "tanh", "trunc", "cbrt", "atan", "expm1")},
    **{f"math.{name}": f"{name}_({{0}}, {{1}})" for name in ("atan2", "copysign")},
    "math.absf": "fabs_({0})",
    "math.roundeven": "nearbyint_({0})",
    "math.powf": "pow_({0}, {1})",
    "math.ctpop": "popcount_({0})",
}  # fmt: skip
COMPARISONS = {
    **{"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="},
}
COSTLY = 8  # a function, in additions
WORTH_A_BUFFER = 8  # of a value with several uses
BOOLEAN = {"arith.addi": "^", "arith.subi": "^", "arith.muli": "&"}


def comparison(op: Operation) -> str:
    """Return the expression of ``arith.cmpi slt`` and the like."""
    kind = op.text.split(",")[0].split()[0]
    if op.name == "arith.cmpi":
        sign = COMPARISONS[kind[-2:]]
        wrap = {"s": "as_signed({})", "u": "to_unsigned({})"}.get(kind[0], "{}")
        if len(kind) == 2:  # eq, ne
            wrap = "{}"
        return f"{wrap.format('{0}')} {sign} {wrap.format('{1}')}"
    if kind in ("ord", "uno"):
        sign = "&" if kind == "ord" else "|"
        equal = "==" if kind == "ord" else "!="
        return f"({{0}} {equal} {{0}}) {sign} ({{1}} {equal} {{1}})"
    if kind in ("true", "false"):
        return kind
    sign = COMPARISONS[kind[1:]]
    # Ordered: false for a NaN; unordered: true for a NaN. C++ has `!=` unordered.
    if (kind[0] == "o") == (sign != "!="):
        return f"{{0}} {sign} {{1}}"
    if kind == "one":
        return "({0} < {1}) | ({0} > {1})"
    if kind == "ueq":
        return "!(({0} < {1}) | ({0} > {1}))"
    opposite = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}[sign]
    return f"!({{0}} {opposite} {{1}})"


def expression_of(op: Operation, first: str, result: str) -> str | None:
    """Return the C++ of an operation, with places for operands."""
    if op.name in ("arith.cmpi", "arith.cmpf"):
        return comparison(op)
    if op.name in BOOLEAN and result == "i1":
        return f"{{0}} {BOOLEAN[op.name]} {{1}}"
    if op.name == "tt.addptr":
        return "{0} + {1}"
    if op.name == "tt.fp_to_fp":
        toward_zero = "rounding = rtz" in op.text
        return f"{'convert_toward_zero' if toward_zero else 'convert'}<{{T}}>({{0}})"
    if op.name == "tt.clampf":
        kind = "or_nan" if "propagateNan = all" in op.text else "number"
        return f"min_{kind}(max_{kind}({{0}}, {{1}}), {{2}})"
    if op.name == "tt.extern_elementwise":
        symbol = op.attribute("symbol")
        if not symbol.startswith("__nv_"):
            raise op.unsupported(
                f"the function {symbol}", "use those of triton.language.extra.libdevice"
            )
        places = ", ".join(f"{{{n}}}" for n in range(len(op.operands)))
        return f"libdevice::{symbol.removeprefix('__nv_')}({places})"
    if op.name == "arith.bitcast" and first == result:
        return "{0}"
    return EXPRESSIONS.get(op.name)


def result_type(op: Operation) -> str:
    """Return the type of the result, which some operations do not print."""
    type_ = op.type_list[0] if op.name == "tt.addptr" else op.type_list[-1]
    if op.name in ("arith.cmpi", "arith.cmpf"):
        element = element_of(type_)
        return type_.replace(f"x{element}>", "xi1>") if is_tensor(type_) else "i1"
    return type_


@lowers(*EXPRESSIONS, "arith.cmpi", "arith.cmpf", "tt.addptr", "tt.fp_to_fp")
@lowers("tt.clampf", "tt.extern_elementwise")
def elementwise(low: Lowering, op: Operation) -> Value:
    """Write a scalar now; make a recipe of a block."""
    args = [low.value(x) for x in op.operands]
    type_ = result_type(op)
    first, result = element_of(op.type_list[0]), element_of(type_)
    template = expression_of(op, first, result)
    assert template is not None
    if "libdevice::" in template:
        low.includes.add("libdevice.h")
    places = {"T": cpp_type(result), "S": cpp_type(first)}

    def compute(*elements: str) -> str:
        return low.emit(result, template.format(*elements, **places))

    if not is_tensor(type_):
        return compute(*(low.at(a, ()) for a in args))
    shape = shape_of(type_)
    uniform = [a if isinstance(a, str) else uniform_base(a) for a in args]
    if all(a is not None for a in uniform):  # computed once, not in a loop
        return uniform_tensor(shape, result, compute(*(str(a) for a in uniform)))
    affine = combine_affine(low, op, args)
    cost = 1 + sum(a.cost for a in args if isinstance(a, Tensor))
    if re.search(r"\w_\(|libdevice|divide|remainder", template):
        cost += COSTLY

    def at(indices: tuple[str, ...]) -> str:
        return compute(*(low.at(a, indices) for a in args))

    if affine is not None and is_pointer(result):
        return affine_tensor(low, shape, result, affine)
    limits = limits_of(low, op, args, shape)
    tensor = Tensor(shape, result, at, reads_of(*args), cost, None, affine, limits)
    several = low.uses.get(op.results[0], 0) > 1
    if several and cost >= WORTH_A_BUFFER and affine is None:
        return low.buffered(tensor)
    return tensor


def uniform_base(value: Tensor) -> str | None:
    """Return the one element that all elements of a block are equal to."""
    affine = value.affine
    return affine.base if affine is not None and affine.uniform else None


def uniform_tensor(shape: tuple[int, ...], element: str, scalar: str) -> Tensor:
    """Return a block of equal elements."""
    affine = Affine(scalar, ("0",) * len(shape))
    return Tensor(shape, element, lambda _: scalar, {}, 0, None, affine)


@lowers("arith.constant")
def constant(low: Lowering, op: Operation) -> Value:
    """A number, or a block of equal ones."""
    text = op.text.strip()
    if text in ("true", "false"):
        return text
    text = re.sub(r"^\{.*\} ", "", text)  # attributes
    type_ = op.types
    element, dense = element_of(type_), re.match(r"dense<(.*)>", text)
    if dense is None:
        return literal(text, element)
    if "[" in dense[1] or '"' in dense[1]:
        raise op.unsupported("a block of several constants", "load them from memory")
    return uniform_tensor(shape_of(type_), element, literal(dense[1], element))
