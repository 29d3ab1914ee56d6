"""Parts of a kernel that XLA should compile apart from what uses their result.

On the CPU, XLA puts whatever goes through elements into the loop of what uses them, once for each
use. Where an element is dear and used several times (as the words of a block of random bits are),
that is the same work several times over.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

# The names by which the compiler finds such parts (`runtime/xla/cut_fusion.py`).
PREFIX = "weft_apart_"


def apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a function of arrays, and of keywords that say which program it is."""

    @functools.lru_cache(256)
    def compiled(**settings: Any) -> Callable[..., Any]:
        import jax

        part = functools.partial(function, **settings)
        part.__name__ = PREFIX + function.__name__.strip("_")  # type: ignore[attr-defined]
        return jax.jit(part)

    @functools.wraps(function)
    def call(*arrays: Any, **settings: Any) -> Any:
        return compiled(**settings)(*arrays)

    return call
