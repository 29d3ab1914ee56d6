"""Special functions that TensorFlow gained after 1.15; graphs of later versions have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.convert import constant
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.graph.traits import HOST, PLAIN
from weft.ops.array.array import ones_like
from weft.ops.kit.declare import Gradient, literal, unary
from weft.ops.math.elementwise import FLOATS
from weft.ops.math.special import Array, call


def _scaled(value: float, x: Tensor) -> Tensor:
    return x * constant(value, dtype=x.dtype.base_dtype)


def _unless(at: float, x: Tensor, slope: float, otherwise: Tensor) -> Tensor:
    """`otherwise`, and `slope` where a formula that divides by zero has x = `at`."""
    return raw.Select(
        raw.Equal(x, _scaled(at, ones_like(x))), _scaled(slope, ones_like(x)), otherwise
    )


def _fresnel(which: int) -> Any:
    """The integral of the sine (0) or of the cosine (1)."""

    def kernel(xp: Any, x: Array) -> Array:
        from scipy import special

        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        return special.fresnel(wide)[which].astype(x.dtype)

    return kernel


def _named(name: str) -> Any:
    return lambda xp, x: call(xp, name, x)


def _named_above_zero(name: str, below: float) -> Any:
    """A function of SciPy's, and `below` for negative numbers."""
    return lambda xp, x: _replace(xp, x < 0, below, call(xp, name, x))


def _replace(xp: Any, where: Array, by: float, value: Array) -> Array:
    return xp.where(where, literal(value, by), value)


def _expint(xp: Any, x: Array) -> Array:
    # For what is not finite, or negative, JAX's series does not come to an end.
    is_usual = (x > 0) & (x < np.inf)
    value = call(xp, "expi", _replace(xp, ~is_usual, 1.0, x))
    return _replace(xp, x == 0, -np.inf, _replace(xp, ~is_usual, np.nan, value))


def _from_both(slope: Any) -> Gradient:
    """The gradient from an input and its output: `slope(x, y)`."""

    def gradient(op: Any, grad: Tensor) -> Tensor:
        return grad * slope(op.inputs[0], op.outputs[0])

    return gradient


# (name in TensorFlow, kernel, slope(x, y)); these can be compiled.
_COMPILED: list[tuple[str, Any, Any]] = [
    ("Erfinv", _named("erfinv"), lambda x, y: _scaled(np.sqrt(np.pi) / 2, raw.Exp(raw.Square(y)))),
    ("Ndtri", _named("ndtri"),
     lambda x, y: _scaled(np.sqrt(2 * np.pi), raw.Exp(_scaled(0.5, raw.Square(y))))),
    ("Expint", _expint, lambda x, y: raw.Exp(x) / x),
    ("Spence", _named("spence"),
     lambda x, y: _unless(1.0, x, -1.0, raw.Log(x) / (ones_like(x) - x))),
    ("BesselI0", _named("i0"), lambda x, y: raw.BesselI1(x)),
    ("BesselI1", _named("i1"), lambda x, y: _unless(0.0, x, 1.0, raw.BesselI0(x) - y / x)),
]  # fmt: skip
# The same, of which JAX has none.
_ON_THE_HOST: list[tuple[str, Any, Any]] = [
    ("Dawsn", _named("dawsn"), lambda x, y: ones_like(x) - _scaled(2.0, x) * y),
    ("BesselJ0", _named("j0"), lambda x, y: -raw.BesselJ1(x)),
    ("BesselJ1", _named("j1"), lambda x, y: _unless(0.0, x, 0.5, raw.BesselJ0(x) - y / x)),
    ("BesselK0", _named_above_zero("k0", np.inf), lambda x, y: -raw.BesselK1(x)),
    ("BesselK0e", _named_above_zero("k0e", np.inf), lambda x, y: y - raw.BesselK1e(x)),
    ("BesselK1", _named_above_zero("k1", np.inf), lambda x, y: -raw.BesselK0(x) - y / x),
    ("BesselK1e", _named_above_zero("k1e", np.inf),
     lambda x, y: y * (ones_like(x) - raw.Reciprocal(x)) - raw.BesselK0e(x)),
    ("BesselY0", _named_above_zero("y0", -np.inf), lambda x, y: -raw.BesselY1(x)),
    ("BesselY1", _named_above_zero("y1", -np.inf), lambda x, y: raw.BesselY0(x) - y / x),
    ("FresnelSin", _fresnel(0), lambda x, y: raw.Sin(_scaled(np.pi / 2, raw.Square(x)))),
    ("FresnelCos", _fresnel(1), lambda x, y: raw.Cos(_scaled(np.pi / 2, raw.Square(x)))),
]  # fmt: skip
for _functions, _place in ((_COMPILED, PLAIN), (_ON_THE_HOST, HOST)):
    for _name, _kernel, _slope in _functions:
        unary(_name, FLOATS, _kernel, gradient=_from_both(_slope), traits=_place)
