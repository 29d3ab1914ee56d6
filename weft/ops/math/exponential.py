"""The exponential function of 32-bit floats in programs for CPUs.

XLA's own looks after every case that floats have, and takes a third longer. Here the argument is
kept within what has a normal result; nearer the result is just as exact (8e-8, relatively).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

_LOWEST, _HIGHEST = np.float32(-87.3), np.float32(88.3)
_PER_TWO = np.float32(1.44269504)  # 1 / log(2)
# log(2) in two parts: a small integer times the first has no rounding error.
_LOG_TWO, _REST = np.float32(0.693359375), np.float32(-2.12194440e-4)
# (exp(t) - 1 - t) / t**2 for |t| <= log(2) / 2, fitted by least squares at Chebyshev's points.
_TERMS = tuple(map(np.float32, (0.00137512793, 0.0083689522, 0.0416695401, 0.16666518, 0.49999988)))
# Adding it leaves an integer in the low bits of a float.
_INTEGER = np.float32(1.5 * 2**23)
_EXPONENT, _BIAS = np.int32(23), np.int32(127 << 23)


def bounded_exp(xp: Any, x: Array) -> Array:
    """exp(x), of arguments beyond -87.3 and 88.3 as of these."""
    from jax import lax

    x = xp.minimum(xp.maximum(x, _LOWEST), _HIGHEST)
    twos = lax.round(x * _PER_TWO, lax.RoundingMethod.TO_NEAREST_EVEN)
    t = x - twos * _LOG_TWO - twos * _REST
    series = _TERMS[0]
    for term in _TERMS[1:]:
        series = series * t + term
    bits = (lax.bitcast_convert_type(twos + _INTEGER, np.int32) << _EXPONENT) + _BIAS
    return (series * (t * t) + t + np.float32(1)) * lax.bitcast_convert_type(bits, np.float32)
