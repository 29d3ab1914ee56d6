"""Windows: weights of the samples of a frame that fall off towards its ends."""

from __future__ import annotations

from math import pi
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.math import math


def _raised_cosine(
    name: str | None, default: str, length: Any, periodic: Any, dtype: DType, a: float, b: float
) -> Tensor:
    """a - b cos(2 pi k / n), where n is the length if periodic, else one less."""
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with name_scope(name, default, [length, periodic]):
        length = convert_to_tensor(length, dtypes.int32, name="window_length")
        length.shape.assert_has_rank(0)
        known = constant_value(length)

        def single() -> Tensor:
            return array.ones([1], dtype)

        if known == 1:
            return single()
        n = _period(length, periodic, dtype)
        angle = convert_to_tensor(2 * pi, dtype) * math.cast(math.range(length), dtype) / n

        def curve() -> Tensor:
            return math.cast(a - b * math.cos(angle), dtype)

        return cond(math.equal(length, 1), single, curve) if known is None else curve()


def _period(length: Tensor, periodic: Any, dtype: DType) -> Tensor:
    """How many samples a whole turn has."""
    flag = convert_to_tensor(periodic, dtypes.bool, name="periodic")
    flag.shape.assert_has_rank(0)
    # Odd windows have their peak in the middle either way.
    longer, even = math.cast(flag, dtypes.int32), 1 - math.mod(length, 2)
    turn = length + longer * even - 1
    return math.cast(turn, dtype)


def hann_window(
    window_length: Any, periodic: Any = True, dtype: DType = dtypes.float32, name: str | None = None
) -> Tensor:
    """Hann's window: a raised cosine that begins at zero."""
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: Any, periodic: Any = True, dtype: DType = dtypes.float32, name: str | None = None
) -> Tensor:
    """Hamming's window: a raised cosine that begins a little above zero."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)
