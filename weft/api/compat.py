"""tf.compat: text and bytes, and names for code that must run on more than one TensorFlow."""

from __future__ import annotations

import contextlib
import datetime
import sys
from collections.abc import Iterator
from typing import Any

from weft.core.compat import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    integral_types,
    path_to_str,
    real_types,
)
from weft.core.shapes import dimension_at_index, dimension_value

# A program may say `import weft.compat.v1 as tf`.
__path__: list[str] = []
# TensorFlow 2's names; looked up below when they are first asked for.
v2: Any
# The day TensorFlow 1.15's graphs were frozen at; a program can move it.
_horizon = datetime.date(2019, 8, 21)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether graphs may use what became available after this day."""
    return _horizon > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Inside the block, `forward_compatible` answers as on this day."""
    global _horizon
    saved, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = saved


def __getattr__(name: str) -> Any:
    if name == "v1":  # the package itself, which is being loaded when this module is
        return sys.modules[__name__.partition(".")[0]]
    if name == "v2":
        from weft.api.compat_v2 import Namespace

        globals()["v2"] = Namespace("", sys.modules[__name__.partition(".")[0]])
        return globals()["v2"]
    raise AttributeError(f"module 'tf.compat' has no attribute {name!r}")


__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatibility_horizon",
    "forward_compatible",
    "integral_types",
    "path_to_str",
    "real_types",
    "v2",
]
