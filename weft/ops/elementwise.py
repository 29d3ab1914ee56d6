"""Ops that work element by element: one entry each, kernel and gradient side by side.

`unary` and `binary` declare the regular ones. A kernel is `f(xp, x)` or `f(xp, x, y)` and keeps the
dtype of its inputs; binary kernels broadcast. Integer division is checked only where values are at
hand (`xp is numpy`). Special functions (gamma, Bessel, ...) are in special.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.convert import constant
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import OpDef, op, raw
from weft.graph.slices import SparseTensor
from weft.ops.array import invalid, ones, ones_like, shape, zeros, zeros_like

Array = Any
Kernel = Callable[..., Array]
Gradient = Callable[..., Any]

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


# ---- what the declarations below are made with ------------------------------------------------


def unary(
    name: str,
    types: str,
    kernel: Kernel,
    *,
    from_x: Gradient | None = None,
    from_y: Gradient | None = None,
    gradient: Gradient | None = None,
    out: str = "T",
    differentiable: bool | None = None,
) -> OpDef:
    """Declares `y = kernel(xp, x)`.

    `from_x(grad, x)` and `from_y(grad, y)` give the gradient from the conjugated input or output,
    computed no earlier than `grad`; `gradient(op, grad)` is the general form.
    """
    attrs = f"T: {types}" if types else ""
    inputs = "x: T" if types else "x: bool"
    declare = op(
        name,
        inputs=inputs,
        outputs=f"y: {out}",
        attrs=attrs,
        shape=s.unchanged,
        differentiable=differentiable,
    )
    definition = declare(kernel)
    if from_x is not None or from_y is not None:

        def gradient(op: Any, grad: Any) -> Any:
            with control_dependencies([grad]):
                if from_x is not None:
                    return from_x(grad, conj(op.inputs[0]))
                return from_y(grad, conj(op.outputs[0]))  # type: ignore[misc]

    if gradient is not None:
        definition.gradient(gradient)
    return definition


def binary(
    name: str,
    types: str,
    kernel: Kernel,
    *,
    inputs: str = "x, y",
    out: str = "z: T",
    attrs: str = "",
    **options: Any,
) -> OpDef:
    """Declares `z = kernel(xp, x, y)` with broadcasting."""
    first, second = inputs.split(", ")
    kind = "T" if types else "bool"
    declared = ", ".join(part for part in (f"T: {types}" if types else "", attrs) if part)
    declare = op(
        name,
        inputs=f"{first}: {kind}, {second}: {kind}",
        outputs=out,
        attrs=declared,
        shape=s.broadcast,
        **options,
    )

    def checked(xp: Any, *operands: Array) -> Array:
        try:
            return kernel(xp, *operands)
        except (TypeError, ValueError):
            check_broadcast(*operands)
            raise

    return declare(checked)


def check_broadcast(*arrays: Array) -> None:
    """InvalidArgumentError unless the arrays can be broadcast against each other."""
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = " vs. ".join(s.show(a.shape) for a in arrays)
        raise invalid(f"Incompatible shapes: {shapes}") from None


def literal(like: Array, value: complex) -> Any:
    """`value` as a scalar of `like`'s dtype: bfloat16 arrays widen when they meet a float."""
    return like.dtype.type(value)


def is_integer(x: Array) -> bool:
    return x.dtype.kind in "iu"


def conj(x: Tensor) -> Tensor:
    """The complex conjugate; real tensors are returned as they are."""
    return raw.Conj(x) if x.dtype.is_complex else x


def cast_to(x: Tensor, dtype: DType) -> Tensor:
    return x if x.dtype.base_dtype is dtype else raw.Cast(x, DstT=dtype)


def unbroadcast(x: Tensor, y: Tensor, grad: Any = None) -> tuple[Gradient, Gradient]:
    """Two functions that sum a gradient of a broadcast result back to the shape of `x` and of `y`.

    Given `grad`, known shapes are compared here and a side that was not broadcast adds no nodes.
    """
    if grad is None:
        sx, sy = shape(x), shape(y)
    elif isinstance(grad, Tensor) and s.known(x.dims) and s.known(y.dims):
        rx, ry = broadcast_axes(x.dims, y.dims)
        return _sum_to(x.dims, rx, x.dims != grad.dims), _sum_to(y.dims, ry, y.dims != grad.dims)
    else:
        sx, sy = raw.Shape(x), raw.Shape(y)
    rx, ry = raw.BroadcastGradientArgs(sx, sy)
    return _sum_to(sx, rx, True), _sum_to(sy, ry, True)


def _sum_to(shape: Any, axes: Any, needed: bool) -> Gradient:
    if isinstance(shape, tuple):
        shape, axes = np.array(shape, np.int32), np.array(axes, np.int32)
    return lambda grad: raw.Reshape(raw.Sum(grad, axes), shape) if needed else grad


def same_shape(x: Tensor, y: Tensor, grad: Any) -> bool:
    """Whether all three are known to have one shape, so that nothing was broadcast."""
    return isinstance(grad, Tensor) and s.known(x.dims) and x.dims == y.dims == grad.dims


def public(
    name: str, op_name: str, doc: str, parameters: str = "x", sparse: bool = False
) -> Callable[..., Any]:
    """The op as a function with TensorFlow's parameters, the op's inputs under the same names.

    With `sparse`, a SparseTensor argument has the function applied to its values.
    """
    definition = getattr(raw, op_name)
    assert definition.params[: len(parameters.split(", "))] == parameters.split(", "), op_name

    def function(*args: Any, **kwargs: Any) -> Any:
        if sparse and args and isinstance(args[0], SparseTensor):
            x, *rest = args
            return SparseTensor(x.indices, definition(x.values, *rest, **kwargs), x.dense_shape)
        return definition(*args, **kwargs)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    listed = [inspect.Parameter(p, kind) for p in parameters.split(", ")]
    listed.append(inspect.Parameter("name", kind, default=None))
    function.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


# ---- unary: arithmetic, powers, exponentials --------------------------------------------------

unary(
    "Abs",
    FLOATS_INTS,
    lambda xp, x: xp.abs(x),
    gradient=lambda op, grad: grad * raw.Sign(op.inputs[0]),
)
unary("Neg", FLOATS_INTS_COMPLEX, lambda xp, x: -x, gradient=lambda op, grad: -grad)
unary(
    "Sign",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: xp.sign(x),
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


def _rsqrt(xp: Any, x: Array) -> Array:
    if xp is np or x.dtype.kind == "c":
        return literal(x, 1) / xp.sqrt(x)
    from jax import lax

    return lax.rsqrt(x)


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
    return _truncated_quotient(xp, xp.ones_like(x), x) if is_integer(x) else literal(x, 1) / x


for _name in ("Reciprocal", "Inv"):
    unary(
        _name,
        FLOATS_INTS_COMPLEX,
        _reciprocal,
        gradient=lambda op, grad: raw.ReciprocalGrad(op.outputs[0], grad),
    )


def _sigmoid(xp: Any, x: Array) -> Array:
    if xp is np or x.dtype.kind == "c":
        return literal(x, 1) / (literal(x, 1) + xp.exp(-x))
    from jax import lax

    return lax.logistic(x)


unary("Sigmoid", FLOATS_COMPLEX, _sigmoid, from_y=lambda grad, y: raw.SigmoidGrad(y, grad))


# ---- unary: trigonometry ----------------------------------------------------------------------


def _one(like: Any) -> Tensor:
    return constant(1, dtype=like.dtype.base_dtype)


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
    from_x=lambda grad, x: -grad * _inverse_root(grad, x),
)
unary(
    "Atan",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: xp.arctan(x),
    from_x=lambda grad, x: grad * raw.Reciprocal(raw.Add(_one(grad), raw.Square(x))),
)
unary("Sinh", FLOATS_COMPLEX, lambda xp, x: xp.sinh(x), from_x=lambda grad, x: grad * raw.Cosh(x))
unary("Cosh", FLOATS_COMPLEX, lambda xp, x: xp.cosh(x), from_x=lambda grad, x: grad * raw.Sinh(x))
unary(
    "Tanh", FLOATS_COMPLEX, lambda xp, x: xp.tanh(x), from_y=lambda grad, y: raw.TanhGrad(y, grad)
)
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
    from_x=lambda grad, x: grad * raw.Reciprocal(raw.Sub(_one(grad), raw.Square(x))),
)


def _inverse_root(grad: Any, x: Tensor) -> Tensor:
    """1 / sqrt(1 - x^2)"""
    return raw.Reciprocal(raw.Sqrt(raw.Sub(_one(grad), raw.Square(x))))


# ---- unary: rounding, predicates, bits --------------------------------------------------------


def _no_gradient(op: Any, grad: Any) -> Any:
    # Registered, so that asking for it is no error; the derivative is zero almost everywhere.
    return [None] * len(op.inputs)


unary("Floor", FLOATS, lambda xp, x: xp.floor(x), gradient=_no_gradient)
unary("Ceil", FLOATS, lambda xp, x: xp.ceil(x), gradient=_no_gradient)
unary("Rint", FLOATS, lambda xp, x: xp.rint(x), gradient=_no_gradient)
unary(
    "Round",
    FLOATS_INTS_COMPLEX,
    lambda xp, x: x if is_integer(x) else xp.round(x),  # halves go to the even neighbour
    gradient=_no_gradient,
)
unary("IsNan", FLOATS, lambda xp, x: xp.isnan(x), out="bool", differentiable=False)
unary("IsInf", FLOATS, lambda xp, x: xp.isinf(x), out="bool", differentiable=False)
unary("IsFinite", FLOATS, lambda xp, x: xp.isfinite(x), out="bool", differentiable=False)
unary("LogicalNot", "", lambda xp, x: xp.logical_not(x), out="bool", differentiable=False)
unary("Invert", INTS, lambda xp, x: ~x, differentiable=False)
unary(
    "PopulationCount",
    INTS,
    # bitwise_count takes the absolute value of signed numbers first.
    lambda xp, x: xp.bitwise_count(x.astype(np.dtype(f"u{x.dtype.itemsize}"))),
    out="uint8",
    differentiable=False,
)


# ---- gradients of unary ops that are ops themselves -------------------------------------------


def _of_output(name: str, kernel: Kernel) -> OpDef:
    """An op that computes dx from the output `y` of a unary op and from `dy`."""
    return binary(name, FLOATS_COMPLEX, kernel, inputs="y, dy")


sigmoid_grad = _of_output("SigmoidGrad", lambda xp, y, dy: dy * y * (literal(y, 1) - y))
tanh_grad = _of_output("TanhGrad", lambda xp, y, dy: dy * (literal(y, 1) - y * y))
sqrt_grad = _of_output("SqrtGrad", lambda xp, y, dy: literal(y, 0.5) * dy / xp.conj(y))
rsqrt_grad = _of_output(
    "RsqrtGrad", lambda xp, y, dy: literal(y, -0.5) * dy * xp.conj(y) * xp.conj(y * y)
)
reciprocal_grad = _of_output("ReciprocalGrad", lambda xp, y, dy: -dy * xp.conj(y * y))
inv_grad = _of_output("InvGrad", lambda xp, y, dy: -dy * xp.conj(y * y))


@sigmoid_grad.gradient
def _(op: Any, grad: Any) -> Any:
    with control_dependencies([grad]):
        a, b = conj(op.inputs[0]), conj(op.inputs[1])
        gb = grad * b
        return gb - 2.0 * gb * a, raw.SigmoidGrad(a, grad)


@tanh_grad.gradient
def _(op: Any, grad: Any) -> Any:
    with control_dependencies([grad]):
        a, b = conj(op.inputs[0]), conj(op.inputs[1])
        return grad * -2.0 * b * a, raw.TanhGrad(a, grad)


@sqrt_grad.gradient
def _(op: Any, grad: Any) -> Any:
    a, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        ga = grad / a
        return -conj(ga) * y, 0.5 * ga


@rsqrt_grad.gradient
def _(op: Any, grad: Any) -> Any:
    a, b = op.inputs
    with control_dependencies([grad]):
        ca, cg = conj(a), conj(grad)
        return -1.5 * cg * b * raw.Square(ca), raw.RsqrtGrad(ca, grad)


def _reciprocal_grad_grad(op: Any, grad: Any) -> Any:
    b = op.inputs[1]
    with control_dependencies([grad]):
        ca, cg = conj(op.inputs[0]), conj(grad)
        return cg * -2.0 * b * ca, raw.ReciprocalGrad(ca, grad)


reciprocal_grad.gradient(_reciprocal_grad_grad)
inv_grad.gradient(_reciprocal_grad_grad)


# ---- binary: addition and multiplication ------------------------------------------------------


def _add(xp: Any, x: Array, y: Array) -> Array:
    return np.asarray(x + y, dtype=object) if x.dtype == object else x + y


def _add_gradient(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_shape(x, y, grad):
        return grad, grad
    to_x, to_y = unbroadcast(x, y, grad)
    return to_x(grad), to_y(grad)


binary("Add", f"{{{ADDABLE}, string}}", _add).gradient(_add_gradient)
binary("AddV2", f"{{{ADDABLE}}}", _add, commutative=True, aggregate=True).gradient(_add_gradient)
sub = binary("Sub", DIVISIBLE, lambda xp, x, y: x - y)
mul = binary("Mul", DIVISIBLE, lambda xp, x, y: x * y, commutative=True)
mul_no_nan = binary("MulNoNan", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, y == 0, x * y))
squared_difference = binary(
    "SquaredDifference",
    FLOATS_INTS_COMPLEX,
    lambda xp, x, y: (x - y) * xp.conj(x - y),
    commutative=True,
)


def _zero_where(xp: Any, condition: Array, value: Array) -> Array:
    return xp.where(condition, xp.zeros_like(value), value)


@sub.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_shape(x, y, grad):
        return grad, -grad
    to_x, to_y = unbroadcast(x, y, grad)
    return to_x(grad), to_y(-grad)


@mul.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_shape(x, y, grad) and grad.dtype in (dtypes.int32, dtypes.float32):
        return raw.Mul(grad, y), raw.Mul(grad, x)
    to_x, to_y = unbroadcast(x, y, grad)
    x, y = conj(x), conj(y)
    return to_x(raw.Mul(grad, y)), to_y(raw.Mul(x, grad))


@mul_no_nan.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_shape(x, y, grad):
        return raw.MulNoNan(grad, y), raw.MulNoNan(x, grad)
    to_x, to_y = unbroadcast(x, y)
    return to_x(raw.MulNoNan(grad, y)), to_y(raw.MulNoNan(x, grad))


@squared_difference.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    with control_dependencies([grad]):
        x_grad = raw.Mul(constant(2.0, dtype=grad.dtype.base_dtype, name="scalar"), grad) * (x - y)
    if same_shape(x, y, grad):
        return x_grad, -x_grad
    to_x, to_y = unbroadcast(x, y, grad)
    return to_x(x_grad), -to_y(x_grad)


# ---- binary: division -------------------------------------------------------------------------


def _check_divisor(xp: Any, x: Array, y: Array) -> None:
    if xp is np and is_integer(y) and x.size and not np.all(y):
        raise invalid("Integer division by zero")


def _truncated_quotient(xp: Any, x: Array, y: Array) -> Array:
    """Integer division that rounds toward zero."""
    _check_divisor(xp, x, y)
    if x.dtype.kind == "u":
        return x // y
    quotient = x // y
    toward_zero = (quotient < 0) & (quotient * y != x)
    return quotient + toward_zero.astype(x.dtype)


def _divide(xp: Any, x: Array, y: Array) -> Array:
    return _truncated_quotient(xp, x, y) if is_integer(x) else x / y


def _truncate_divide(xp: Any, x: Array, y: Array) -> Array:
    return _truncated_quotient(xp, x, y) if is_integer(x) else xp.trunc(x / y)


def _floor_divide(xp: Any, x: Array, y: Array) -> Array:
    _check_divisor(xp, x, y)
    return x // y if is_integer(x) else xp.floor(x / y)


def _floor_remainder(xp: Any, x: Array, y: Array) -> Array:
    """The remainder that has the sign of the divisor."""
    _check_divisor(xp, x, y)
    remainder = xp.fmod(x, y)
    other_sign = (remainder != 0) & ((remainder < 0) != (y < 0))
    return xp.where(other_sign, remainder + y, remainder)


def _truncated_remainder(xp: Any, x: Array, y: Array) -> Array:
    _check_divisor(xp, x, y)
    return xp.fmod(x, y)


div = binary("Div", DIVISIBLE, _divide)
real_div = binary("RealDiv", DIVISIBLE, _divide)
div_no_nan = binary("DivNoNan", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, y == 0, x / y))
binary("TruncateDiv", DIVISIBLE, _truncate_divide).gradient(_no_gradient)
binary("FloorDiv", DIVISIBLE, _floor_divide).gradient(_no_gradient)
floor_mod = binary("FloorMod", REMAINDERS, _floor_remainder)
binary("Mod", "{int32, int64, half, half, bfloat16, float, double}", _truncated_remainder)
binary("TruncateMod", REMAINDERS, _truncated_remainder)


def _quotient_gradient(divide: Callable[[Any, Any], Any]) -> Gradient:
    def gradient(op: Any, grad: Any) -> Any:
        x, y = op.inputs
        to_x, to_y = unbroadcast(x, y)
        x, y = conj(x), conj(y)
        return to_x(divide(grad, y)), to_y(grad * divide(divide(-x, y), y))

    return gradient


div.gradient(_quotient_gradient(lambda a, b: a / b))
real_div.gradient(_quotient_gradient(lambda a, b: raw.RealDiv(a, b)))
div_no_nan.gradient(_quotient_gradient(lambda a, b: raw.DivNoNan(a, b, name="div_no_nan")))


@floor_mod.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y)
    floor_xy = raw.FloorDiv(x, y)
    return to_x(grad), to_y(grad * raw.Neg(floor_xy))


# ---- binary: powers, logarithms, extremes -----------------------------------------------------


def _power(xp: Any, x: Array, y: Array) -> Array:
    if xp is np and is_integer(y) and np.any(y < 0):
        message = "Integers to negative integer powers are not allowed"
        raise invalid(message)
    return xp.power(x, y)


pow_ = binary("Pow", "{bfloat16, float, half, double, int32, int64, complex64, complex128}", _power)
xdivy = binary("Xdivy", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, x == 0, x / y))
xlogy = binary("Xlogy", HALF_TO_COMPLEX, lambda xp, x, y: _zero_where(xp, x == 0, x * xp.log(y)))
atan2 = binary("Atan2", FLOATS, lambda xp, y, x: xp.arctan2(y, x), inputs="y, x")
maximum = binary("Maximum", FLOATS_INTS, lambda xp, x, y: xp.maximum(x, y))
minimum = binary("Minimum", FLOATS_INTS, lambda xp, x, y: xp.minimum(x, y))


@pow_.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y, grad)
    x, y = conj(x), conj(y)
    gx = to_x(grad * y * x ** (y - 1))
    # log(x) has no real value for x <= 0 (no finite one for a complex 0): its slope counts as 0.
    z = conj(op.outputs[0])
    mask = raw.NotEqual(x, 0) if x.dtype.is_complex else x > 0
    safe_x = raw.Select(mask, x, ones_like(x))
    log_x = raw.Select(mask, raw.Log(safe_x), zeros_like(x))
    return gx, to_y(grad * z * log_x)


def _x_not_zero(x: Tensor) -> Tensor:
    return cast_to(raw.NotEqual(x, constant(0.0, dtype=x.dtype.base_dtype)), x.dtype.base_dtype)


@xdivy.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y)
    with control_dependencies([grad]):
        partial_x = raw.Xdivy(_x_not_zero(x), y)
        partial_y = raw.Xdivy(raw.Neg(x), y**2)
        return to_x(partial_x * grad), to_y(partial_y * grad)


@xlogy.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    to_x, to_y = unbroadcast(x, y)
    with control_dependencies([grad]):
        partial_x = raw.Xlogy(_x_not_zero(x), y)
        partial_y = raw.Xdivy(x, y)
        return to_x(partial_x * grad), to_y(partial_y * grad)


@atan2.gradient
def _(op: Any, grad: Any) -> Any:
    y, x = op.inputs
    to_y, to_x = unbroadcast(y, x, grad)
    with control_dependencies([grad]):
        grad_inv = grad / (raw.Square(x) + raw.Square(y))
        return to_y(x * grad_inv), to_x(-y * grad_inv)


def _extreme_gradient(selected: str) -> Gradient:
    """Ties go to the first operand."""

    def gradient(op: Any, grad: Any) -> Any:
        x, y = op.inputs
        nothing = zeros(shape(grad), grad.dtype.base_dtype)
        mask = getattr(raw, selected)(x, y)
        to_x, to_y = unbroadcast(x, y)
        return to_x(raw.Select(mask, grad, nothing)), to_y(raw.Select(mask, nothing, grad))

    return gradient


maximum.gradient(_extreme_gradient("GreaterEqual"))
minimum.gradient(_extreme_gradient("LessEqual"))


# ---- binary: comparison, logic, bits ----------------------------------------------------------


def _comparison(name: str, types: str, kernel: Kernel, **options: Any) -> OpDef:
    return binary(name, types, kernel, out="z: bool", differentiable=False, **options)


_comparison("Less", "realnumbertype", lambda xp, x, y: x < y)
_comparison("LessEqual", "realnumbertype", lambda xp, x, y: x <= y)
_comparison("Greater", "realnumbertype", lambda xp, x, y: x > y)
_comparison("GreaterEqual", "realnumbertype", lambda xp, x, y: x >= y)
_comparison("Equal", COMPARABLE, lambda xp, x, y: xp.equal(x, y), commutative=True)
_comparison("NotEqual", COMPARABLE, lambda xp, x, y: xp.not_equal(x, y), commutative=True)
_comparison("LogicalAnd", "", lambda xp, x, y: xp.logical_and(x, y), commutative=True)
_comparison("LogicalOr", "", lambda xp, x, y: xp.logical_or(x, y), commutative=True)


@op(
    "ApproximateEqual",
    inputs="x: T, y: T",
    outputs="z: bool",
    attrs="T: numbertype, tolerance: float = 1e-05",
    shape=s.merged,
    commutative=True,
    differentiable=False,
)
def approximate_equal(xp: Any, x: Array, y: Array, *, tolerance: float) -> Array:
    if x.shape != y.shape:
        message = f"x and y must be of the same shape. x shape: {s.show(x.shape)}. "
        raise invalid(f"{message}y shape: {s.show(y.shape)}")
    return xp.abs(x - y) < np.float32(tolerance)


def _shift(name: str, kernel: Kernel) -> None:
    """Shifts by less than nothing or by more than all bits are taken as none and all but one."""

    def clamped(xp: Any, x: Array, y: Array) -> Array:
        return kernel(xp, x, xp.clip(y, 0, 8 * x.dtype.itemsize - 1))

    binary(name, INTS, clamped, differentiable=False)


_shift("LeftShift", lambda xp, x, y: xp.left_shift(x, y))
_shift("RightShift", lambda xp, x, y: xp.right_shift(x, y))
_bits = {"commutative": True, "differentiable": False}
binary("BitwiseAnd", INTS, lambda xp, x, y: x & y, **_bits)
binary("BitwiseOr", INTS, lambda xp, x, y: x | y, **_bits)
binary("BitwiseXor", INTS, lambda xp, x, y: x ^ y, **_bits)

next_after = binary(
    "NextAfter",
    "{double, float} = float",
    lambda xp, x1, x2: xp.nextafter(x1, x2),
    inputs="x1, x2",
    out="output: T",
)


@next_after.gradient
def _(op: Any, grad: Any) -> Any:
    x1, x2 = op.inputs
    to_x1, to_x2 = unbroadcast(x1, x2)
    with control_dependencies([grad]):
        partial_x1 = ones(shape(x1), dtype=x1.dtype)
        partial_x2 = zeros(shape(x2), dtype=x2.dtype)
        return to_x1(partial_x1 * grad), to_x2(partial_x2 * grad)


# ---- choosing ---------------------------------------------------------------------------------


def _select_shape(c: s.ShapeContext) -> s.Dims:
    condition, dims = c.dims(0), s.merge(c.dims(1), c.dims(2))
    if condition is None or not condition or dims is None:
        return dims
    if len(condition) == 1 and len(dims) > 1:
        return (s.merge_dim(dims[0], condition[0]), *dims[1:])
    return s.merge(dims, condition)


@op(
    "Select",
    inputs="condition: bool, t: T, e: T",
    outputs="output: T",
    attrs="T: type",
    shape=_select_shape,
)
def select(xp: Any, condition: Array, t: Array, e: Array) -> Array:
    if t.shape != e.shape:
        raise invalid(
            "'then' and 'else' must have the same size.  but received: "
            f"{s.show(t.shape)} vs. {s.show(e.shape)}",
        )
    if condition.ndim == 1 and t.ndim > 1 and condition.shape[0] == t.shape[0]:
        condition = condition.reshape(condition.shape + (1,) * (t.ndim - 1))
    elif condition.ndim and condition.shape != t.shape:
        raise invalid(
            "'cond' must be a scalar, a vector or of the shape of 'then'  but received: "
            f"{s.show(condition.shape)} vs. {s.show(t.shape)}",
        )
    return xp.where(condition, t, e)


@select.gradient
def _(op: Any, grad: Any) -> Any:
    condition, x, _ = op.inputs
    nothing = zeros_like(x)
    return None, raw.Select(condition, grad, nothing), raw.Select(condition, nothing, grad)


@op(
    "SelectV2",
    inputs="condition: bool, t: T, e: T",
    outputs="output: T",
    attrs="T: type",
    shape=lambda c: s.broadcast_dims(s.broadcast_dims(c.dims(1), c.dims(2)), c.dims(0)),
)
def select_v2(xp: Any, condition: Array, t: Array, e: Array) -> Array:
    check_broadcast(condition, t, e)
    return xp.where(condition, t, e)


@select_v2.gradient
def _(op: Any, grad: Any) -> Any:
    condition, x, y = op.inputs
    nothing = zeros([], dtype=grad.dtype.base_dtype)
    gx = raw.SelectV2(condition, grad, nothing)
    x_shape, output_shape = shape(x), shape(op.outputs[0])
    x_axes, _ = raw.BroadcastGradientArgs(x_shape, output_shape)
    gx = raw.Reshape(raw.Sum(gx, x_axes, keep_dims=True), x_shape)
    gy = raw.SelectV2(condition, nothing, grad)
    y_shape = shape(y)
    y_axes, _ = raw.BroadcastGradientArgs(y_shape, output_shape)
    gy = raw.Reshape(raw.Sum(gy, y_axes, keep_dims=True), y_shape)
    return None, gx, gy


def _clip_shape(c: s.ShapeContext) -> s.Dims:
    dims = c.dims(0)
    for i in (1, 2):
        if c.dims(i) != ():
            dims = s.merge(dims, None if c.dims(i) is None else dims)
    return dims


@op(
    "ClipByValue",
    inputs="t: T, clip_value_min: T, clip_value_max: T",
    outputs="output: T",
    attrs="T: numbertype",
    shape=_clip_shape,
)
def clip_by_value_op(xp: Any, t: Array, clip_value_min: Array, clip_value_max: Array) -> Array:
    for limit in (clip_value_min, clip_value_max):
        if limit.shape not in ((), t.shape):
            message = "clip_value_min and clip_value_max must be either of the same shape as input,"
            raise invalid(f"{message} or a scalar.")
    # The lower limit wins where the limits cross.
    return xp.where(
        t < clip_value_min, clip_value_min, xp.where(t > clip_value_max, clip_value_max, t)
    )


@clip_by_value_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, low, high = op.inputs
    nothing = zeros(shape(grad), grad.dtype.base_dtype)
    below, above = raw.Less(x, low), raw.Greater(x, high)
    _, to_low = unbroadcast(x, low)
    _, to_high = unbroadcast(x, high)
    gx = raw.Select(raw.LogicalOr(below, above), nothing, grad)
    return gx, to_low(raw.Select(below, grad, nothing)), to_high(raw.Select(above, grad, nothing))


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
    shape=s.merged,
    commutative=True,
    aggregate=True,
)
def add_n_op(xp: Any, inputs: list[Array]) -> Array:
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
    commutative=True,
    aggregate=True,
)
def accumulate_n_op(xp: Any, inputs: list[Array]) -> Array:
    return _sum_of(inputs, "AccumulateNV2")


@accumulate_n_op.gradient
def _(op: Any, grad: Any) -> Any:
    return [grad] * len(op.inputs)


# ---- shapes of broadcasts ---------------------------------------------------------------------


def broadcast_axes(x: s.Dims, y: s.Dims) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of the broadcast result to sum over to get back to shape `x`, and to `y`.

    Axes of size 1 on both sides are listed for both, unless the shapes are equal.
    """
    assert x is not None and y is not None
    if x == y:
        return (), ()
    rank = max(len(x), len(y))
    x, y = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
    if any(a != b and a != 1 and b != 1 for a, b in zip(x, y, strict=True)):
        message = f"Incompatible shapes: {s.show(x)} vs. {s.show(y)}"
        raise invalid(message)
    return tuple(i for i in range(rank) if x[i] == 1), tuple(i for i in range(rank) if y[i] == 1)


def _as_dims(shape: np.ndarray) -> tuple[int, ...]:
    return tuple(int(d) for d in shape)


def _axes_shape(c: s.ShapeContext) -> list[s.Dims]:
    s.with_rank(c.dims(0), 1)
    s.with_rank(c.dims(1), 1)
    return [(None,), (None,)]


@op(
    "BroadcastGradientArgs",
    inputs="s0: T, s1: T",
    outputs="r0: T, r1: T",
    attrs="T: {int32, int64} = int32",
    shape=_axes_shape,
    static="s0, s1",
    differentiable=False,
)
def broadcast_gradient_args(xp: Any, s0: np.ndarray, s1: np.ndarray) -> list[Array]:
    axes = broadcast_axes(_as_dims(s0), _as_dims(s1))
    return [np.array(a, s0.dtype) for a in axes]


def _broadcast_args_shape(c: s.ShapeContext) -> s.Dims:
    x, y = s.with_rank(c.dims(0), 1)[0], s.with_rank(c.dims(1), 1)[0]
    return (None if x is None or y is None else max(x, y),)


@op(
    "BroadcastArgs",
    inputs="s0: T, s1: T",
    outputs="r0: T",
    attrs="T: {int32, int64} = int32",
    shape=_broadcast_args_shape,
    static="s0, s1",
    differentiable=False,
)
def broadcast_args(xp: Any, s0: np.ndarray, s1: np.ndarray) -> Array:
    try:
        result = np.broadcast_shapes(_as_dims(s0), _as_dims(s1))
    except ValueError:
        message = f"Incompatible shapes: {s.show(_as_dims(s0))} vs. {s.show(_as_dims(s1))}"
        raise invalid(message) from None
    return np.array(result, s0.dtype)


# ---- the rest ---------------------------------------------------------------------------------


def _cross_shape(c: s.ShapeContext) -> s.Dims:
    dims = s.merge(s.with_rank_at_least(c.dims(0), 1), s.with_rank_at_least(c.dims(1), 1))
    if dims is not None:
        dims = (*dims[:-1], s.merge_dim(dims[-1], 3))
    return dims


@op(
    "Cross",
    inputs="a: T, b: T",
    outputs="product: T",
    attrs="T: realnumbertype",
    shape=_cross_shape,
)
def cross_op(xp: Any, a: Array, b: Array) -> Array:
    if a.shape != b.shape:
        message = f"Both inputs must be of same shape: {s.show(a.shape)} vs. {s.show(b.shape)}"
        raise invalid(message)
    if not a.ndim or a.shape[-1] != 3:
        message = f"Cross-products are only defined for 3-element vectors, not {s.show(a.shape)}"
        raise invalid(message)
    return xp.cross(a, b)


@cross_op.gradient
def _(op: Any, grad: Any) -> Any:
    u, v = op.inputs
    return raw.Cross(v, grad), raw.Cross(grad, u)
