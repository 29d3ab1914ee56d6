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

    rules: Any = (
        (lax.max_p, _rule(lax.gt, mlir.max_hlo)),
        (lax.min_p, _rule(lax.lt, mlir.min_hlo)),
    )
    return {"_private_parameters": mlir.LoweringParameters(override_lowering_rules=rules)}


def _rule(is_it: Callable[[Any, Any], Any], of_numbers: Callable[[Any, Any], Any]) -> Any:
    """How a maximum or minimum is lowered. One of two numbers stays: processes reduce by it."""
    import jax.numpy as jnp
    from jax import lax
    from jax._src.interpreters import mlir

    def choose(a: Any, b: Any, **_: Any) -> Any:
        a, b = jnp.broadcast_arrays(a, b)
        return lax.select(lax.bitwise_or(is_it(a, b), lax.ne(a, a)), a, b)

    of_arrays = mlir.lower_fun(choose, multiple_results=False)

    def rule(context: Any, a: Any, b: Any, **settings: Any) -> Any:
        if any(each.shape for each in context.avals_in):
            return of_arrays(context, a, b, **settings)
        return [of_numbers(a, b)]

    return rule
