"""Special functions of mathematical physics: error, gamma, zeta, beta and Bessel functions.

The kernels call scipy.special on NumPy arrays and its JAX twin under tracing; both are loaded with
the first use. Half precision is computed in single. Where SciPy continues a function past the
domain that TensorFlow gives it, the kernels put NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import constant
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import op, raw
from weft.graph.traits import XLA
from weft.ops.array.array import zeros_like
from weft.ops.kit.broadcast import Gradient, unbroadcast
from weft.ops.kit.declare import binary, conj, literal, public, unary
from weft.ops.kit.shared import invalid
from weft.ops.math import large_gamma
from weft.ops.math.elementwise import FLOATS

Array = Any
SINGLE_DOUBLE = "{float, double}"


@by_library
def _special_functions(xp: Any) -> Any:
    from jax.scipy import special

    return special


@_special_functions.numpy
def _(xp: Any) -> Any:
    from scipy import special

    return special


def call(xp: Any, name: str, *args: Array) -> Array:
    """`scipy.special.<name>` or `jax.scipy.special.<name>`, in the dtype of the arguments."""
    dtype = args[-1].dtype
    if dtype.itemsize == 2:
        args = tuple(a.astype(np.float32) for a in args)
    return getattr(_special_functions(xp), name)(*args).astype(dtype)


def _nan_where(xp: Any, condition: Array, value: Array) -> Array:
    return xp.where(condition, literal(value, np.nan), value)


def _is_pole(xp: Any, x: Array) -> Array:
    """Whether x is 0, -1, -2, ... or -inf."""
    return (x <= 0) & (x == xp.floor(x))


# ---- error function ---------------------------------------------------------------------------


def _gaussian(factor: float) -> Gradient:
    """grad * factor * exp(-x^2)"""

    def gradient(op: Any, grad: Any) -> Any:
        scale = constant(factor, dtype=grad.dtype.base_dtype)
        with control_dependencies([grad]):
            return grad * scale * raw.Exp(-raw.Square(conj(op.inputs[0])))

    return gradient


unary("Erf", FLOATS, lambda xp, x: call(xp, "erf", x), gradient=_gaussian(2 / np.sqrt(np.pi)))
unary("Erfc", FLOATS, lambda xp, x: call(xp, "erfc", x), gradient=_gaussian(-2 / np.sqrt(np.pi)))


# ---- gamma function and its logarithmic derivatives -------------------------------------------


def _digamma(xp: Any, x: Array) -> Array:
    return xp.where(_is_pole(xp, x), literal(x, np.inf), call(xp, "digamma", x))


def _log_gamma(xp: Any, x: Array) -> Array:
    return xp.where(xp.isinf(x), literal(x, np.inf), call(xp, "gammaln", x))


@by_library
def _order(xp: Any, a: Array) -> Array:
    return a.astype(np.int32)  # JAX wants an integer, SciPy any type


@_order.numpy
def _(xp: Any, a: Array) -> Array:
    return a


def _polygamma(xp: Any, a: Array, x: Array) -> Array:
    value = call(xp, "polygamma", _order(xp, a), x)
    is_high = (a == 0) | (xp.fmod(a, 2) == 1)
    at_pole = xp.where(is_high, literal(value, np.inf), literal(value, -np.inf))
    value = xp.where(_is_pole(xp, x), at_pole, value)
    return _nan_where(xp, (a < 0) | (a != xp.floor(a)), value)


def _zeta(xp: Any, x: Array, q: Array) -> Array:
    # At a pole JAX has infinity for the even x only, and for those below 1, too.
    at_pole = _nan_where(xp, x < 1, xp.full_like(x, np.inf))
    return xp.where(_is_pole(xp, q), at_pole, call(xp, "zeta", x, q))


unary(
    "Lgamma",
    FLOATS,
    _log_gamma,
    from_x=lambda grad, x: grad * raw.Digamma(x),
)
unary(
    "Digamma",
    FLOATS,
    _digamma,
    from_x=lambda grad, x: grad * raw.Polygamma(constant(1, dtype=x.dtype.base_dtype), x),
)
polygamma_op = binary("Polygamma", SINGLE_DOUBLE, _polygamma, inputs="a, x")
zeta_op = binary("Zeta", SINGLE_DOUBLE, _zeta, inputs="x, q")


def _second_only(
    partial: Callable[[Tensor, Tensor], Tensor],
) -> Callable[[Any, Any], tuple[None, Tensor]]:
    """The gradient with respect to the second operand; that of the first is not known."""

    def gradient(op: Any, grad: Any) -> tuple[None, Tensor]:
        a, x = op.inputs
        _, to_x = unbroadcast(a, x)
        with control_dependencies([grad]):
            return None, to_x(partial(conj(a), conj(x)) * grad)

    return gradient


polygamma_op.gradient(_second_only(lambda n, x: raw.Polygamma(n + 1, x)))
zeta_op.gradient(_second_only(lambda x, q: -x * raw.Zeta(x + 1, q)))


# ---- incomplete gamma and beta functions ------------------------------------------------------


def _gamma(xp: Any, name: str, large: Callable[..., Array], a: Array, x: Array) -> Array:
    """One of the two incomplete gamma functions; SciPy's knows what to do with large arguments."""
    if xp is np:
        return call(xp, name, a, x)
    return large_gamma.bounded(xp, lambda a, x: call(xp, name, a, x), large)(a, x)


def _igamma(xp: Any, a: Array, x: Array) -> Array:
    value = _gamma(xp, "gammainc", large_gamma.lower, a, x)
    value = _nan_where(xp, (x < 0) | (a <= 0) | xp.isnan(a) | xp.isnan(x), value)
    return xp.where(x == 0, xp.zeros_like(value), value)


def _igammac(xp: Any, a: Array, x: Array) -> Array:
    value = _gamma(xp, "gammaincc", large_gamma.upper, a, x)
    return _nan_where(xp, (x < 0) | (a <= 0) | xp.isnan(a) | xp.isnan(x), value)


igamma_op = binary("Igamma", SINGLE_DOUBLE, _igamma, inputs="a, x")
igammac_op = binary("Igammac", SINGLE_DOUBLE, _igammac, inputs="a, x")


@op(
    "IgammaGradA",
    inputs="a: T, x: T",
    outputs="z: T",
    attrs=f"T: {SINGLE_DOUBLE}",
    shape=s.broadcast,
    traits=XLA,
)
def igamma_grad_a(xp: Any, a: Array, x: Array) -> Array:
    from jax import lax

    a, x = xp.broadcast_arrays(a, x)
    slope = large_gamma.bounded(xp, lax.igamma_grad_a, large_gamma.lower_gradient)
    return xp.where(x == 0, xp.zeros_like(x), slope(a, x))


def _igamma_gradient(op: Any, grad: Any) -> tuple[Tensor, Tensor]:
    a, x = op.inputs
    to_a, to_x = unbroadcast(a, x)
    with control_dependencies([grad]):
        partial_a = raw.IgammaGradA(a, x)
        # In logarithms, since gamma(a) soon overflows.
        partial_x = raw.Exp(-x + (a - 1) * raw.Log(x) - raw.Lgamma(a))
        return to_a(partial_a * grad), to_x(partial_x * grad)


@igammac_op.gradient
def _(op: Any, grad: Any) -> Any:
    grad_a, grad_x = _igamma_gradient(op, grad)
    return -grad_a, -grad_x


igamma_op.gradient(_igamma_gradient)


def _betainc_shape(c: s.ShapeContext) -> s.Dims:
    result: s.Dims = ()
    for i in range(3):
        if c.dims(i) != ():
            result = c.dims(i) if result == () else s.merge(result, c.dims(i))
    return result


@op(
    "Betainc",
    inputs="a: T, b: T, x: T",
    outputs="z: T",
    attrs=f"T: {SINGLE_DOUBLE}",
    shape=_betainc_shape,
)
def betainc_op(xp: Any, a: Array, b: Array, x: Array) -> Array:
    for (one, v), (other, w) in itertools.combinations((("a", a), ("b", b), ("x", x)), 2):
        if v.shape and w.shape and v.shape != w.shape:
            shapes = f"{s.show(v.shape)} vs. {s.show(w.shape)}"
            raise invalid(f"Shapes of {one} and {other} are inconsistent: {shapes}")
    value = call(xp, "betainc", a, b, x)
    return _nan_where(xp, (a <= 0) | (b <= 0) | (x < 0) | (x > 1), value)


@betainc_op.gradient
def _(op: Any, grad: Any) -> Any:
    a, b, x = op.inputs
    _, to_x = unbroadcast(a, x)
    log_beta = raw.Lgamma(a) + raw.Lgamma(b) - raw.Lgamma(a + b)
    partial_x = raw.Exp((b - 1) * raw.Log(1 - x) + (a - 1) * raw.Log(x) - log_beta)
    return None, None, to_x(partial_x * grad)


# ---- Bessel functions -------------------------------------------------------------------------

bessel_i0e_op = unary("BesselI0e", FLOATS, lambda xp, x: call(xp, "i0e", x))
bessel_i1e_op = unary("BesselI1e", FLOATS, lambda xp, x: call(xp, "i1e", x))


@bessel_i0e_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        return grad * (raw.BesselI1e(x) - raw.Sign(x) * y)


@bessel_i1e_op.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        # The formula divides by x; the slope at 0 is 1/2.
        eps = float(ml_dtypes.finfo(x.dtype.as_numpy_dtype).eps)
        nothing = zeros_like(x)
        is_not_tiny = raw.Abs(x) > eps

        def unless_tiny(value: Any, instead: float) -> Any:
            return raw.Select(is_not_tiny, value, instead + nothing)

        far = unless_tiny(x, eps)
        slope = raw.BesselI0e(far) - y * (raw.Sign(far) + raw.Reciprocal(far))
        return grad * unless_tiny(slope, 0.5)


# ---- public functions -------------------------------------------------------------------------

erf = public("erf", "Erf", "The error function.", sparse=True)
erfc = public("erfc", "Erfc", "One minus the error function.")
lgamma = public("lgamma", "Lgamma", "The logarithm of the magnitude of the gamma function.")
digamma = public("digamma", "Digamma", "The derivative of lgamma.")
polygamma = public("polygamma", "Polygamma", "Derivative number `a` of digamma.", "a, x")
igamma = public("igamma", "Igamma", "The lower regularized incomplete gamma function.", "a, x")
igammac = public("igammac", "Igammac", "1 - igamma(a, x)", "a, x")
zeta = public("zeta", "Zeta", "The Hurwitz zeta function.", "x, q")
betainc = public("betainc", "Betainc", "The regularized incomplete beta function.", "a, b, x")
bessel_i0e = public("bessel_i0e", "BesselI0e", "exp(-|x|) * bessel_i0(x)", sparse=True)
bessel_i1e = public("bessel_i1e", "BesselI1e", "exp(-|x|) * bessel_i1(x)", sparse=True)
