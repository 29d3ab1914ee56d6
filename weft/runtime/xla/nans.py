"""NaNs in programs for x86, where the library that XLA leaves sums to takes maximum(NaN, 1) for 1.

It does so to the maxima and minima that it adds up, as in a sum of rectified numbers. Written as a
comparison and a choice they are what IEEE's rules make of them, whoever computes them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.core import machine


@functools.cache
def lowering() -> dict[str, Any]:
    """What `lower` of a program for the host is told."""
    if machine.IS_ARM:  # whose own instructions keep NaNs
        return {}
    from jax import lax
    from jax._src.interpreters import mlir

    rules: Any = tuple(
        (of_two, mlir.lower_fun(functools.partial(_choose, is_it), multiple_results=False))
        for of_two, is_it in ((lax.max_p, lax.gt), (lax.min_p, lax.lt))
    )
    return {"_private_parameters": mlir.LoweringParameters(override_lowering_rules=rules)}


def _choose(is_it: Callable[[Any, Any], Any], a: Any, b: Any, **_: Any) -> Any:
    """One of two, by a comparison; the first also if it is NaN."""
    import jax.numpy as jnp
    from jax import lax

    a, b = jnp.broadcast_arrays(a, b)
    return lax.select(lax.bitwise_or(is_it(a, b), lax.ne(a, a)), a, b)
