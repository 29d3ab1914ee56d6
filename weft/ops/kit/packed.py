"""Several small numbers as one complex number, in compiled code.

A loop that XLA compiles has one result. Where it makes several numbers at once (the four words of a
random block, a sine and a cosine), they leave it as the parts of a complex number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def pack_words(x0: Array, x1: Array, x2: Array, x3: Array) -> Array:
    """Four arrays of 32-bit words as one of complex numbers."""
    from jax import lax

    pairs = (low.astype(np.uint64) | (high.astype(np.uint64) << 32)
             for low, high in ((x0, x1), (x2, x3)))  # fmt: skip
    return lax.complex(*(lax.bitcast_convert_type(pair, np.float64) for pair in pairs))


def unpack_words(xp: Any, packed: Array, words: int) -> tuple[Array, ...]:
    """The 1, 2 or 4 words of each unit, for all units of the numbers in their order."""
    from jax import lax

    if words == 4:
        pairs = [lax.bitcast_convert_type(half, np.uint64) for half in (packed.real, packed.imag)]
        return tuple(word for pair in pairs for word in _halves(pair))
    pair = lax.bitcast_convert_type(alternating(xp, packed.real, packed.imag), np.uint64)
    return _halves(pair) if words == 2 else (alternating(xp, *_halves(pair)),)


def _halves(pairs: Array) -> tuple[Array, Array]:
    return pairs.astype(np.uint32), (pairs >> 32).astype(np.uint32)


def alternating(xp: Any, first: Array, second: Array) -> Array:
    """An element of the first, one of the second, and so on."""
    is_first = xp.arange(2, dtype=np.int32) == 0
    return xp.where(is_first, first[:, None], second[:, None]).reshape(-1)
