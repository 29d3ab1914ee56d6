"""Functions of two tensors, element by element.

Integers are not divided by zero, nor raised to negative powers; accelerators do not check that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import constant
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.graph.op_def import OpDef, op, raw
from weft.graph.traits import AGGREGATE, COMMUTATIVE, ELEMENTWISE, NO_GRADIENT, PLAIN, Traits
from weft.ops.array.array import ones, ones_like, shape, zeros, zeros_like
from weft.ops.kit.broadcast import (
    check_broadcast,
    same_shape,
    shape_node,
    unbroadcast,
    unbroadcast_shapes,
)
from weft.ops.kit.declare import (
    Gradient,
    Kernel,
    binary,
    cast_to,
    conj,
    is_integer,
    no_gradient,
    public,
)
from weft.ops.kit.shared import invalid
from weft.ops.kit.value_checks import require

Array = Any
FLOATS = "{bfloat16, half, float, double}"
FLOATS_COMPLEX = "{bfloat16, half, float, double, complex64, complex128}"
FLOATS_INTS = "{bfloat16, half, float, double, int32, int64}"
FLOATS_INTS_COMPLEX = "{bfloat16, half, float, double, int32, int64, complex64, complex128}"
HALF_TO_COMPLEX = "{half, float, double, complex64, complex128}"
ADDABLE = "bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128"
DIVISIBLE = (
    "{bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64,"
    " complex64, complex128}"
)
COMPARABLE = (
    "{bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, quint8, qint8,"
    " qint32, string, bool, complex128}"
)
INTS = "{int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
REMAINDERS = "{int32, int64, bfloat16, half, float, double}"


# ---- addition and multiplication --------------------------------------------------------------


def _add(xp: Any, x: Array, y: Array) -> Array:
    return np.asarray(x + y, dtype=object) if x.dtype == object else x + y


def _add_gradient(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_shape(x, y, grad):
        return grad, grad
    to_x, to_y = unbroadcast(x, y, grad)
    return to_x(grad), to_y(grad)


binary("Add", f"{{{ADDABLE}, string}}", _add, infix="+").gradient(_add_gradient)
binary("AddV2", f"{{{ADDABLE}}}", _add, infix="+", traits=COMMUTATIVE | AGGREGATE).gradient(
    _add_gradient
)
sub_op = binary("Sub", DIVISIBLE, lambda xp, x, y: x - y, infix="-")
mul_op = binary("Mul", DIVISIBLE, lambda xp, x, y: x * y, infix="*", traits=COMMUTATIVE)
mul_no_nan_op = binary("MulNoNan", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, y == 0, x * y))
squared_difference_op = binary(
    "SquaredDifference",
    FLOATS_INTS_COMPLEX,
    lambda xp, x, y: (x - y) * xp.conj(x - y),
    traits=COMMUTATIVE,
)


def _zero_where(xp: Any, condition: Array, value: Array) -> Array:
    return xp.where(condition, xp.zeros_like(value), value)


@sub_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_shape(x, y, grad):
        return grad, -grad
    to_x, to_y = unbroadcast(x, y, grad)
    return to_x(grad), to_y(-grad)


@mul_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_shape(x, y, grad) and grad.dtype in (dtypes.int32, dtypes.float32):
        return raw.Mul(grad, y), raw.Mul(grad, x)
    to_x, to_y = unbroadcast(x, y, grad)
    x, y = conj(x), conj(y)
    return to_x(raw.Mul(grad, y)), to_y(raw.Mul(x, grad))


@mul_no_nan_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_shape(x, y, grad):
        return raw.MulNoNan(grad, y), raw.MulNoNan(x, grad)
    to_x, to_y = unbroadcast(x, y)
    return to_x(raw.MulNoNan(grad, y)), to_y(raw.MulNoNan(x, grad))


@squared_difference_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    with control_dependencies([grad]):
        x_grad = raw.Mul(constant(2.0, dtype=grad.dtype.base_dtype, name="scalar"), grad) * (x - y)
    if same_shape(x, y, grad):
        return x_grad, -x_grad
    to_x, to_y = unbroadcast(x, y, grad)
    return to_x(x_grad), -to_y(x_grad)


# ---- sums of several tensors ------------------------------------------------------------------


def _sum_of(inputs: list[Array], what: str) -> Array:
    total = inputs[0]
    for i, term in enumerate(inputs[1:], start=1):
        if term.shape != total.shape:
            raise invalid(
                f"Inputs to operation of type {what} must have the same size and shape.  "
                f"Input 0: {s.show(total.shape)} != input {i}: {s.show(term.shape)}",
            )
        total = total + term
    return total


@op(
    "AddN",
    inputs="inputs: N * T",
    outputs="sum: T",
    attrs="N: int >= 1, T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8,"
    " quint8, qint32, bfloat16, uint16, complex128, half, uint32, uint64, variant}",
    shape=s.all_merged,
    traits=COMMUTATIVE | AGGREGATE,
)
def add_n_op(xp: Any, inputs: list[Array]) -> Array:
    if hasattr(inputs[0], "zeros_like"):
        return sum(inputs[1:], inputs[0])  # variants that know how to add
    return _sum_of(inputs, "AddN")


@add_n_op.gradient
def _(op: Any, grad: Any) -> Any:
    return [grad] * len(op.inputs)


@op(
    "AccumulateNV2",
    inputs="inputs: N * T",
    outputs="sum: T",
    attrs="N: int >= 1, T: numbertype, shape: shape",
    shape=lambda c: s.merge(c.attr("shape"), s.merged(c)),
    traits=COMMUTATIVE | AGGREGATE,
)
def accumulate_n_op(xp: Any, inputs: list[Array]) -> Array:
    return _sum_of(inputs, "AccumulateNV2")


@accumulate_n_op.gradient
def _(op: Any, grad: Any) -> Any:
    return [grad] * len(op.inputs)


# ---- division ---------------------------------------------------------------------------------


def _check_divisor(xp: Any, x: Array, y: Array) -> None:
    if not is_integer(y) or not x.size:
        return
    require(xp, y != 0, lambda: invalid("Integer division by zero"))


def truncated_quotient(xp: Any, x: Array, y: Array) -> Array:
    """Integer division that rounds toward zero."""
    _check_divisor(xp, x, y)
    if x.dtype.kind == "u":
        return x // y
    quotient = x // y
    toward_zero = (quotient < 0) & (quotient * y != x)
    return quotient + toward_zero.astype(x.dtype)


def _divide(xp: Any, x: Array, y: Array) -> Array:
    return truncated_quotient(xp, x, y) if is_integer(x) else x / y


def _floor_divide(xp: Any, x: Array, y: Array) -> Array:
    _check_divisor(xp, x, y)
    return x // y if is_integer(x) else xp.floor(x / y)


def _floor_remainder(xp: Any, x: Array, y: Array) -> Array:
    """The remainder that has the sign of the divisor."""
    _check_divisor(xp, x, y)
    return _adjust_remainder(xp, x, y)


@by_library
def _adjust_remainder(xp: Any, x: Array, y: Array) -> Array:
    remainder = xp.fmod(x, y)
    other_sign = (remainder != 0) & ((remainder < 0) != (y < 0))
    return xp.where(other_sign, remainder + y, remainder)


@_adjust_remainder.numpy
def _(xp: Any, x: Array, y: Array) -> Array:
    return x % y if is_integer(x) else _adjust_remainder.general(xp, x, y)


def _truncated_remainder(xp: Any, x: Array, y: Array) -> Array:
    _check_divisor(xp, x, y)
    return xp.fmod(x, y)


div_op = binary("Div", DIVISIBLE, _divide)
real_div_op = binary("RealDiv", DIVISIBLE, _divide)
div_no_nan_op = binary("DivNoNan", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, y == 0, x / y))
binary("TruncateDiv", DIVISIBLE, _divide).gradient(no_gradient)
binary("FloorDiv", DIVISIBLE, _floor_divide).gradient(no_gradient)
floor_mod_op = binary("FloorMod", REMAINDERS, _floor_remainder)
binary("Mod", "{int32, int64, half, half, bfloat16, float, double}", _truncated_remainder)
binary("TruncateMod", REMAINDERS, _truncated_remainder)


def _quotient_gradient(divide: Callable[[Any, Any], Any]) -> Gradient:
    def gradient(op: Any, grad: Any) -> Any:
        x, y = op.inputs
        to_x, to_y = unbroadcast(x, y)
        x, y = conj(x), conj(y)
        return to_x(divide(grad, y)), to_y(grad * divide(divide(-x, y), y))

    return gradient


div_op.gradient(_quotient_gradient(lambda a, b: a / b))
real_div_op.gradient(_quotient_gradient(lambda a, b: raw.RealDiv(a, b)))
div_no_nan_op.gradient(_quotient_gradient(lambda a, b: raw.DivNoNan(a, b, name="div_no_nan")))


@floor_mod_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y)
    floor_xy = raw.FloorDiv(x, y)
    return to_x(grad), to_y(grad * raw.Neg(floor_xy))


# ---- powers, logarithms, extremes -------------------------------------------------------------


def _power(xp: Any, x: Array, y: Array) -> Array:
    if is_integer(y):
        message = "Integers to negative integer powers are not allowed"
        require(xp, y >= 0, lambda: invalid(message))
    return xp.power(x, y)


pow_op = binary(
    "Pow", "{bfloat16, float, half, double, int32, int64, complex64, complex128}", _power
)
xdivy_op = binary("Xdivy", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, x == 0, x / y))
xlogy_op = binary("Xlogy", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, x == 0, x * xp.log(y)))
xlog1py_op = binary(
    "Xlog1py", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, x == 0, x * xp.log1p(y))
)
atan2_op = binary("Atan2", FLOATS, lambda xp, y, x: xp.arctan2(y, x), inputs="y, x")
maximum_op = binary("Maximum", FLOATS_INTS, lambda xp, x, y: xp.maximum(x, y))
minimum_op = binary("Minimum", FLOATS_INTS, lambda xp, x, y: xp.minimum(x, y))


@pow_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y, grad)
    x, y = conj(x), conj(y)
    gx = to_x(grad * y * raw.Pow(x, y - 1))
    # log(x) has no real value for x <= 0 (no finite one for a complex 0): its slope counts as 0.
    z = conj(op.outputs[0])
    mask = raw.NotEqual(x, 0) if x.dtype.is_complex else x > 0
    safe_x = raw.Select(mask, x, ones_like(x))
    log_x = raw.Select(mask, raw.Log(safe_x), zeros_like(x))
    return gx, to_y(grad * z * log_x)


def _x_not_zero(x: Tensor) -> Tensor:
    dtype = x.dtype.base_dtype
    with name_scope("Cast"):
        zero = constant(0.0, dtype=dtype, name="x")
    return cast_to(raw.NotEqual(x, zero), dtype)


@xdivy_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y)
    with control_dependencies([grad]):
        partial_x = raw.Xdivy(_x_not_zero(x), y)
        partial_y = raw.Xdivy(raw.Neg(x), y**2)
        return to_x(partial_x * grad), to_y(partial_y * grad)


@xlogy_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y)
    with control_dependencies([grad]):
        partial_x = raw.Xlogy(_x_not_zero(x), y)
        partial_y = raw.Xdivy(x, y)
        return to_x(partial_x * grad), to_y(partial_y * grad)


@xlog1py_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y)
    with control_dependencies([grad]):
        partial_x = raw.Xlog1py(_x_not_zero(x), y)
        partial_y = raw.Xdivy(x, y + 1)
        return to_x(partial_x * grad), to_y(partial_y * grad)


@atan2_op.gradient
def _(op: Any, grad: Any) -> Any:
    y, x = op.inputs
    with control_dependencies([grad]):
        grad_inv = grad / (raw.Square(x) + raw.Square(y))
        if s.known(x.dims) and s.known(y.dims) and x.dims != y.dims:
            to_y, to_x = unbroadcast(y, x, grad)  # TensorFlow refuses
            return to_y(x * grad_inv), to_x(-y * grad_inv)
        return x * grad_inv, -y * grad_inv


def _extreme_gradient(selected: str) -> Gradient:
    """Ties go to the first operand."""

    def gradient(op: Any, grad: Any) -> Any:
        x, y = op.inputs
        sx, sy = shape_node(x), shape_node(y)
        nothing = zeros(shape(grad), grad.dtype.base_dtype)
        mask = getattr(raw, selected)(x, y)
        to_x, to_y = unbroadcast_shapes(sx, sy)
        return to_x(raw.Select(mask, grad, nothing)), to_y(raw.Select(mask, nothing, grad))

    return gradient


maximum_op.gradient(_extreme_gradient("GreaterEqual"))
minimum_op.gradient(_extreme_gradient("LessEqual"))


# ---- comparison, logic, bits ------------------------------------------------------------------


def _comparison(
    name: str, types: str, kernel: Kernel, traits: Traits = PLAIN, infix: str | None = None
) -> OpDef:
    flat = traits | NO_GRADIENT
    return binary(name, types, kernel, out="z: bool", infix=infix, traits=flat)


_comparison("Less", "realnumbertype", lambda xp, x, y: x < y, infix="<")
_comparison("LessEqual", "realnumbertype", lambda xp, x, y: x <= y, infix="<=")
_comparison("Greater", "realnumbertype", lambda xp, x, y: x > y, infix=">")
_comparison("GreaterEqual", "realnumbertype", lambda xp, x, y: x >= y, infix=">=")
_comparison("LogicalAnd", "", lambda xp, x, y: xp.logical_and(x, y), traits=COMMUTATIVE)
_comparison("LogicalOr", "", lambda xp, x, y: xp.logical_or(x, y), traits=COMMUTATIVE)


def _compared_dims(c: s.ShapeContext) -> s.Dims:
    if c.attr("incompatible_shape_error"):
        return s.broadcast(c)
    try:
        dims = s.broadcast(c)
    except ValueError:
        return ()
    return dims if s.known(dims) else None


def _equality(name: str, compare: Callable[[Any], Kernel], otherwise: bool) -> None:
    """Declares a comparison; shapes that do not fit are `otherwise`, unless they are an error."""
    declare = op(
        name,
        inputs="x: T, y: T",
        outputs="z: bool",
        attrs=f"T: {COMPARABLE}, incompatible_shape_error: bool = true",
        shape=_compared_dims,
        traits=COMMUTATIVE | NO_GRADIENT | ELEMENTWISE,
    )

    def compared(xp: Any, x: Array, y: Array, *, incompatible_shape_error: bool) -> Array:
        try:
            return compare(xp)(x, y)
        except (TypeError, ValueError):
            if not incompatible_shape_error:
                return xp.asarray(otherwise)
            check_broadcast(x, y)
            raise

    declare(compared)


_equality("Equal", lambda xp: xp.equal, otherwise=False)
_equality("NotEqual", lambda xp: xp.not_equal, otherwise=True)


@op(
    "ApproximateEqual",
    inputs="x: T, y: T",
    outputs="z: bool",
    attrs="T: numbertype, tolerance: float = 1e-05",
    shape=s.like_first,
    traits=COMMUTATIVE | NO_GRADIENT,
)
def approximate_equal(xp: Any, x: Array, y: Array, *, tolerance: float) -> Array:
    if x.shape != y.shape:
        message = f"x and y must be of the same shape. x shape: {s.show(x.shape)}. "
        raise invalid(f"{message}y shape: {s.show(y.shape)}")
    limit = x.dtype.type(tolerance) if is_integer(x) else np.float32(tolerance)
    return xp.abs(x - y) < limit


def _shift(name: str, kernel: Kernel) -> None:
    """Shifts by less than nothing or by more than all bits are taken as none and all but one."""

    def clamped(xp: Any, x: Array, y: Array) -> Array:
        return kernel(xp, x, xp.clip(y, 0, 8 * x.dtype.itemsize - 1))

    binary(name, INTS, clamped, traits=NO_GRADIENT)


_shift("LeftShift", lambda xp, x, y: xp.left_shift(x, y))
_shift("RightShift", lambda xp, x, y: xp.right_shift(x, y))
_BITS = COMMUTATIVE | NO_GRADIENT
binary("BitwiseAnd", INTS, lambda xp, x, y: x & y, traits=_BITS)
binary("BitwiseOr", INTS, lambda xp, x, y: x | y, traits=_BITS)
binary("BitwiseXor", INTS, lambda xp, x, y: x ^ y, traits=_BITS)

next_after_op = binary(
    "NextAfter",
    "{double, float} = float",
    lambda xp, x1, x2: xp.nextafter(x1, x2),
    inputs="x1, x2",
    out="output: T",
)


@next_after_op.gradient
def _(op: Any, grad: Any) -> Any:
    x1, x2 = op.inputs
    s1, s2 = shape_node(x1), shape_node(x2)
    to_x1, to_x2 = unbroadcast_shapes(s1, s2)
    with control_dependencies([grad]):
        partial_x1 = ones(s1, dtype=x1.dtype)
        partial_x2 = zeros(s2, dtype=x2.dtype)
        return to_x1(partial_x1 * grad), to_x2(partial_x2 * grad)


# ---- public functions -------------------------------------------------------------------------

atan2 = public("atan2", "Atan2", "The angle of the point (x, y).", "y, x")
add = public("add", "Add", "The sum of `x` and `y`, element by element.", "x, y")
add_v2 = public("add_v2", "AddV2", "`add`, for numbers only.", "x, y")
subtract = public("subtract", "Sub", "`x` minus `y`, element by element.", "x, y")
multiply = public("multiply", "Mul", "The product of `x` and `y`, element by element.", "x, y")
realdiv = public("realdiv", "RealDiv", "`x` over `y`, element by element.", "x, y")
truncatediv = public("truncatediv", "TruncateDiv", "x / y, of integers rounded toward 0.", "x, y")
floor_div = public("floor_div", "FloorDiv", "x / y rounded down.", "x, y")
mod = floormod = public(
    "floormod", "FloorMod", "What is left of `x` divided by `y`; of the sign of `y`.", "x, y"
)
truncatemod = public(
    "truncatemod", "TruncateMod", "What is left of `x` divided by `y`; of the sign of `x`.", "x, y"
)
maximum = public("maximum", "Maximum", "The larger of `x` and `y`, element by element.", "x, y")
minimum = public("minimum", "Minimum", "The smaller of `x` and `y`, element by element.", "x, y")
squared_difference = public(
    "squared_difference",
    "SquaredDifference",
    "The square of `x` minus `y`, element by element.",
    "x, y",
)
xdivy = public("xdivy", "Xdivy", "x / y, and 0 where x is 0.", "x, y")
xlogy = public("xlogy", "Xlogy", "x * log(y), and 0 where x is 0.", "x, y")
nextafter = public("nextafter", "NextAfter", "The number next to x1 on the way to x2.", "x1, x2")
equal = public("equal", "Equal", "Where `x` is equal to `y`.", "x, y")
not_equal = public("not_equal", "NotEqual", "Where `x` differs from `y`.", "x, y")
less = public("less", "Less", "Where `x` is less than `y`.", "x, y")
less_equal = public("less_equal", "LessEqual", "Where `x` is at most `y`.", "x, y")
greater = public("greater", "Greater", "Where `x` is greater than `y`.", "x, y")
greater_equal = public("greater_equal", "GreaterEqual", "Where `x` is at least `y`.", "x, y")
logical_and = public("logical_and", "LogicalAnd", "Where both `x` and `y` are True.", "x, y")
logical_or = public("logical_or", "LogicalOr", "Where `x` or `y` is True, or both.", "x, y")
bitwise_and = public("bitwise_and", "BitwiseAnd", "The bits set in both.", "x, y")
bitwise_or = public("bitwise_or", "BitwiseOr", "The bits set in either.", "x, y")
bitwise_xor = public("bitwise_xor", "BitwiseXor", "The bits set in exactly one.", "x, y")
left_shift = public("left_shift", "LeftShift", "`x` with its bits moved up by `y` places.", "x, y")
right_shift = public("right_shift", "RightShift", "x / 2 ** y rounded down.", "x, y")
