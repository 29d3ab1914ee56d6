"""The incomplete gamma function of a large first argument, where series would take forever.

There it is the normal distribution's: with l = x / a, P(a, x) = erfc(-s sqrt(f)) / 2, where
f = a (l - 1 - log l) and s is the sign of x - a.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
# Above, the series of float32 stands still, and that of float64 takes too long.
_LARGE = {4: 1e7, 8: 1e10}
_FAR = 1e4  # of f: exp(-f) is 0


def bounded(xp: Any, function: Callable[..., Array], large: Callable[..., Array]) -> Callable:
    """`function(a, x)` in a program, or `large(xp, a, x)` where `a` is large."""

    def either(a: Array, x: Array) -> Array:
        a, x = xp.broadcast_arrays(a, x)
        is_large = a > _LARGE[a.dtype.itemsize]
        ones = xp.ones_like(a)
        small = function(xp.where(is_large, ones, a), xp.where(is_large, ones, x))
        return xp.where(is_large, large(xp, a, x), small)

    return either


def _distance(xp: Any, a: Array, x: Array) -> tuple[Array, Array, Array]:
    """d = x / a - 1, log(1 + d), and f."""
    d = (x - a) / a
    logarithm = xp.where(abs(d) < 0.5, xp.log1p(d), xp.log(x / a))
    series = d * d * (0.5 - d / 3 + d * d / 4)
    return d, logarithm, a * xp.where(abs(d) < 1e-3, series, d - logarithm)


def lower(xp: Any, a: Array, x: Array) -> Array:
    """P(a, x)."""
    return _tail(xp, a, x, -1)


def upper(xp: Any, a: Array, x: Array) -> Array:
    """1 - P(a, x)."""
    return _tail(xp, a, x, 1)


def _tail(xp: Any, a: Array, x: Array, side: int) -> Array:
    from jax import lax

    d, _, f = _distance(xp, a, x)
    found = lax.erfc(side * xp.sign(d) * xp.sqrt(f)) / 2
    # Of an infinite `a`, nothing is below.
    return xp.where(xp.isinf(a) & ~xp.isnan(x), xp.full_like(x, side > 0), found)


def lower_gradient(xp: Any, a: Array, x: Array) -> Array:
    """dP / da."""
    _, _, f = _distance(xp, a, x)
    found = -xp.exp(-f) * _slope(xp, a, x) / xp.sqrt(2 * np.pi * a)
    is_far = ~(f < _FAR) & ~xp.isnan(x)
    return xp.where(is_far, xp.zeros_like(x), found).astype(x.dtype)


def sample_gradient(xp: Any, a: Array, x: Array) -> Array:
    """dx / da of a sample x whose P(a, x) stays as it is."""
    return (x / a * _slope(xp, a, x)).astype(x.dtype)


def _slope(xp: Any, a: Array, x: Array) -> Array:
    """s log(x / a) sqrt(a / (2 f)): 1 where x is a."""
    d, logarithm, f = _distance(xp, a, x)
    found = xp.sign(d) * logarithm * xp.sqrt(a / (2 * f))
    return xp.where(d == 0, xp.ones_like(d), found)
