"""Functions of one tensor, element by element, and the ops that compute their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import constant
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import OpDef, raw
from weft.graph.traits import NO_GRADIENT
from weft.ops.array.array import shape, zeros
from weft.ops.kit.declare import (
    Kernel,
    binary,
    conj,
    is_integer,
    literal,
    no_gradient,
    public,
    unary,
)
from weft.ops.kit.target import target_platform
from weft.ops.math.elementwise import (
    FLOATS,
    FLOATS_COMPLEX,
    FLOATS_INTS_COMPLEX,
    INTS,
    truncated_quotient,
)
from weft.ops.math.exponential import bounded_exp

Array = Any

# ---- arithmetic, powers, exponentials ---------------------------------------------------------

unary(
    "Abs",
    "{bfloat16, half, float, double, int8, int16, int32, int64}",
    lambda xp, x: xp.abs(x),
    gradient=lambda op, grad: grad * raw.Sign(op.inputs[0]),
)
unary("Neg", FLOATS_INTS_COMPLEX, lambda xp, x: -x, gradient=lambda op, grad: -grad)


def _sign(xp: Any, x: Array) -> Array:
    """-1, 0 or 1; what is no number is neither above nor below 0."""
    if x.dtype.kind != "f":
        return xp.sign(x)
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


unary(
    "Sign",
    FLOATS_INTS_COMPLEX,
    _sign,
    gradient=lambda op, grad: zeros(shape(op.inputs[0]), op.inputs[0].dtype.base_dtype),
)
unary("Exp", FLOATS_COMPLEX, lambda xp, x: xp.exp(x), from_y=lambda grad, y: grad * y)
unary("Expm1", FLOATS_COMPLEX, lambda xp, x: xp.expm1(x), from_x=lambda grad, x: grad * raw.Exp(x))
unary(
    "Log",
    FLOATS_COMPLEX,
    lambda xp, x: xp.log(x),
    from_x=lambda grad, x: grad * raw.Reciprocal(x),
)
unary(
    "Log1p",
    FLOATS_COMPLEX,
    lambda xp, x: xp.log1p(x),
    from_x=lambda grad, x: grad * raw.Reciprocal(1 + x),
)
unary(
    "Sqrt",
    FLOATS_COMPLEX,
    lambda xp, x: xp.sqrt(x),
    gradient=lambda op, grad: raw.SqrtGrad(op.outputs[0], grad),
)


@by_library
def _rsqrt(xp: Any, x: Array) -> Array:
    if x.dtype.kind == "c":
        return _rsqrt.on_numpy(xp, x)
    from jax import lax

    return lax.rsqrt(x)


@_rsqrt.numpy
def _(xp: Any, x: Array) -> Array:
    return literal(x, 1) / xp.sqrt(x)


unary(
    "Rsqrt",
    FLOATS_COMPLEX,
    _rsqrt,
    gradient=lambda op, grad: raw.RsqrtGrad(op.outputs[0], grad),
)
unary(
    "Square",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: x * x,
    from_x=lambda grad, x: raw.Mul(grad, raw.Mul(x, constant(2.0, dtype=x.dtype.base_dtype))),
)


def _reciprocal(xp: Any, x: Array) -> Array:
    return truncated_quotient(xp, xp.ones_like(x), x) if is_integer(x) else literal(x, 1) / x


for _name in ("Reciprocal", "Inv"):
    unary(
        _name,
        FLOATS_INTS_COMPLEX,
        _reciprocal,
        gradient=lambda op, grad: raw.ReciprocalGrad(op.outputs[0], grad),
    )


# Elements from which on a function of ours is quicker than XLA's by more than it takes to compile:
# it is one operation there, and a dozen or two here.
_MANY = 2**14


@by_library
def _sigmoid(xp: Any, x: Array) -> Array:
    if x.dtype.kind == "c":
        return _sigmoid.on_numpy(xp, x)
    if x.dtype == np.float32 and target_platform() == "cpu" and x.size >= _MANY:
        return np.float32(1) / (np.float32(1) + bounded_exp(xp, -x))
    from jax import lax

    return lax.logistic(x)


@_sigmoid.numpy
def _(xp: Any, x: Array) -> Array:
    return literal(x, 1) / (literal(x, 1) + xp.exp(-x))


unary("Sigmoid", FLOATS_COMPLEX, _sigmoid, from_y=lambda grad, y: raw.SigmoidGrad(y, grad))


# ---- trigonometry -----------------------------------------------------------------------------


def _one(like: Any) -> Tensor:
    return constant(1, dtype=like.dtype.base_dtype)


def _inverse_of_one_plus(square: Tensor, grad: Any) -> Tensor:
    return raw.Reciprocal(raw.Add(_one(grad), square))


unary("Sin", FLOATS_COMPLEX, lambda xp, x: xp.sin(x), from_x=lambda grad, x: grad * raw.Cos(x))
unary("Cos", FLOATS_COMPLEX, lambda xp, x: xp.cos(x), from_x=lambda grad, x: -grad * raw.Sin(x))
unary(
    "Tan",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: xp.tan(x),
    from_x=lambda grad, x: raw.Square(raw.Reciprocal(raw.Cos(x))) * grad,
)
unary(
    "Asin",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: xp.arcsin(x),
    from_x=lambda grad, x: grad * _inverse_root(grad, x),
)
unary(
    "Acos",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: xp.arccos(x),
    from_x=lambda grad, x: _times_negative(_inverse_root(grad, x), grad),
)
unary(
    "Atan",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: xp.arctan(x),
    from_x=lambda grad, x: grad * _inverse_of_one_plus(raw.Square(x), grad),
)
unary("Sinh", FLOATS_COMPLEX, lambda xp, x: xp.sinh(x), from_x=lambda grad, x: grad * raw.Cosh(x))
unary("Cosh", FLOATS_COMPLEX, lambda xp, x: xp.cosh(x), from_x=lambda grad, x: grad * raw.Sinh(x))
# Single-precision tanh as a quotient of polynomials in x*x, the one TensorFlow's CPU kernels use:
# XLA's own costs half as much again. Beyond the bound the result is 1 to the last bit.
_TANH_BOUND = 7.90531110763549805
_TANH_ABOVE = (
    -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
    1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03,
)  # fmt: skip
_TANH_BELOW = (
    1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03,
)  # fmt: skip


@by_library
def _tanh(xp: Any, x: Array) -> Array:
    if x.dtype != np.float32 or x.size < _MANY:
        return xp.tanh(x)
    x = xp.clip(x, -_TANH_BOUND, _TANH_BOUND)
    square = x * x
    above, below = (_polynomial(square, c) for c in (_TANH_ABOVE, _TANH_BELOW))
    return x * above / below


@_tanh.numpy
def _(xp: Any, x: Array) -> Array:
    return np.tanh(x)


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    total = x * np.float32(coefficients[0]) + np.float32(coefficients[1])
    for coefficient in coefficients[2:]:
        total = total * x + np.float32(coefficient)
    return total


unary("Tanh", FLOATS_COMPLEX, _tanh, from_y=lambda grad, y: raw.TanhGrad(y, grad))
unary(
    "Asinh",
    FLOATS_COMPLEX,
    lambda xp, x: xp.arcsinh(x),
    from_y=lambda grad, y: grad / raw.Cosh(y),
)
unary(
    "Acosh",
    FLOATS_COMPLEX,
    lambda xp, x: xp.arccosh(x),
    from_y=lambda grad, y: grad / raw.Sinh(y),
)
unary(
    "Atanh",
    FLOATS_COMPLEX,
    lambda xp, x: xp.arctanh(x),
    from_x=lambda grad, x: grad * raw.Reciprocal(_one_minus_square(grad, x)),
)


def _one_minus_square(grad: Any, x: Tensor) -> Tensor:
    square = raw.Square(x)
    return raw.Sub(_one(grad), square)


def _inverse_root(grad: Any, x: Tensor) -> Tensor:
    """1 / sqrt(1 - x^2)"""
    return raw.Reciprocal(raw.Sqrt(_one_minus_square(grad, x)))


def _times_negative(inverse: Tensor, grad: Any) -> Tensor:
    return -grad * inverse


# ---- rounding, predicates, bits ---------------------------------------------------------------


unary("Floor", FLOATS, lambda xp, x: xp.floor(x), gradient=no_gradient)
unary("Ceil", FLOATS, lambda xp, x: xp.ceil(x), gradient=no_gradient)
unary("Rint", FLOATS, lambda xp, x: xp.rint(x), gradient=no_gradient)
unary(
    "Round",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: x if is_integer(x) else xp.round(x),  # halves go to the even neighbour
    gradient=no_gradient,
)
unary("IsNan", FLOATS, lambda xp, x: xp.isnan(x), out="bool")
unary("IsInf", FLOATS, lambda xp, x: xp.isinf(x), out="bool")
unary("IsFinite", FLOATS, lambda xp, x: xp.isfinite(x), out="bool")
unary("LogicalNot", "", lambda xp, x: xp.logical_not(x), out="bool", traits=NO_GRADIENT)
unary("Invert", INTS, lambda xp, x: ~x, traits=NO_GRADIENT)
unary(
    "PopulationCount",
    INTS,
    # bitwise_count takes the absolute value of signed numbers first.
    lambda xp, x: xp.bitwise_count(x.astype(np.dtype(f"u{x.dtype.itemsize}"))),
    out="uint8",
    traits=NO_GRADIENT,
)


# ---- gradients of unary ops that are ops themselves -------------------------------------------


def _of_output(name: str, kernel: Kernel) -> OpDef:
    """An op that computes dx from the output `y` of a unary op and from `dy`."""
    return binary(name, FLOATS_COMPLEX, kernel, inputs="y, dy", shape=s.unchanged)


sigmoid_grad = _of_output("SigmoidGrad", lambda xp, y, dy: dy * y * (literal(y, 1) - y))
tanh_grad = _of_output("TanhGrad", lambda xp, y, dy: dy * (literal(y, 1) - y * y))


def _zero_for_zero(kernel: Kernel) -> Kernel:
    """As `kernel`, but 0 where `dy` is, however steep it is there."""

    def masked(xp: Any, y: Array, dy: Array) -> Array:
        found = kernel(xp, y, dy)
        return xp.where(dy == 0, literal(found, 0), found)

    return masked


sqrt_grad = _of_output(
    "SqrtGrad", _zero_for_zero(lambda xp, y, dy: literal(y, 0.5) * dy / xp.conj(y))
)
rsqrt_grad = _of_output(
    "RsqrtGrad",
    _zero_for_zero(lambda xp, y, dy: literal(y, -0.5) * dy * xp.conj(y) * xp.conj(y * y)),
)
_of_reciprocal = _zero_for_zero(lambda xp, y, dy: -dy * xp.conj(y * y))
reciprocal_grad = _of_output("ReciprocalGrad", _of_reciprocal)
inv_grad = _of_output("InvGrad", _of_reciprocal)


def _again(definition: OpDef, partial: Callable[[Any, Any, Any], Any], of: str = "") -> None:
    """The gradient of a gradient; `partial(conj(a), b, grad)` is that for a, `of` itself for b."""
    own = getattr(raw, of or definition.name)

    def gradient(op: Any, grad: Any) -> Any:
        a, b = op.inputs
        with control_dependencies([grad]):
            a = conj(a)
            return partial(a, b, grad), own(a, grad)

    definition.gradient(gradient)


def _partial_of_sigmoid(a: Any, b: Any, grad: Any) -> Any:
    product = grad * conj(b)
    return product - 2.0 * product * a


def _partial_of_reciprocal(a: Any, b: Any, grad: Any) -> Any:
    return conj(grad) * -2.0 * b * a


_again(sigmoid_grad, _partial_of_sigmoid)
_again(tanh_grad, lambda a, b, grad: grad * -2.0 * conj(b) * a)
_again(rsqrt_grad, lambda a, b, grad: -1.5 * conj(grad) * b * raw.Square(a))
_again(reciprocal_grad, _partial_of_reciprocal)
_again(inv_grad, _partial_of_reciprocal, of="ReciprocalGrad")


@sqrt_grad.gradient
def _(op: Any, grad: Any) -> Any:
    with control_dependencies([grad]):
        quotient = grad / op.inputs[0]
        return -conj(quotient) * op.outputs[0], 0.5 * quotient


# ---- public functions -------------------------------------------------------------------------

negative = public("negative", "Neg", "Minus `x`, element by element.", sparse=True)
sign = public("sign", "Sign", "-1, 0 or 1; x / |x| for complex x.", sparse=True)
exp = public("exp", "Exp", "e to the power of x.")
expm1 = public("expm1", "Expm1", "exp(x) - 1, accurate near 0.")
log = public("log", "Log", "The natural logarithm of `x`.")
log1p = public("log1p", "Log1p", "log(1 + x), accurate near 0.")
sqrt = public("sqrt", "Sqrt", "The square root of `x`.", sparse=True)
rsqrt = public("rsqrt", "Rsqrt", "One over the square root of `x`.")
square = public("square", "Square", "`x` times itself, element by element.", sparse=True)
reciprocal = public("reciprocal", "Reciprocal", "One over `x`.")
sin = public("sin", "Sin", "The sine of `x`, an angle in radians.")
cos = public("cos", "Cos", "The cosine of `x`, an angle in radians.")
tan = public("tan", "Tan", "The tangent of `x`, an angle in radians.")
asin = public("asin", "Asin", "The angle in radians whose sine is `x`.")
acos = public("acos", "Acos", "The angle in radians whose cosine is `x`.")
atan = public("atan", "Atan", "The angle in radians whose tangent is `x`.")
sinh = public("sinh", "Sinh", "The hyperbolic sine of `x`.")
cosh = public("cosh", "Cosh", "The hyperbolic cosine of `x`.")
tanh = public("tanh", "Tanh", "The hyperbolic tangent: a number between -1 and 1.", sparse=True)
asinh = public("asinh", "Asinh", "The number whose hyperbolic sine is `x`.")
acosh = public("acosh", "Acosh", "The number whose hyperbolic cosine is `x`.")
atanh = public("atanh", "Atanh", "The number whose hyperbolic tangent is `x`.")
floor = public("floor", "Floor", "The largest integer not above x.")
ceil = public("ceil", "Ceil", "The smallest integer not below x.")
rint = public("rint", "Rint", "The nearest integer, the even one of two.")
is_nan = public("is_nan", "IsNan", "Whether x is not a number.")
is_inf = public("is_inf", "IsInf", "Whether x is infinite.")
is_finite = public("is_finite", "IsFinite", "Whether x is neither infinite nor NaN.")
logical_not = public(
    "logical_not", "LogicalNot", "True where `x` is False, and the other way round."
)
invert = public("invert", "Invert", "All bits of integers turned over.")
population_count = public("population_count", "PopulationCount", "How many bits are set.")
