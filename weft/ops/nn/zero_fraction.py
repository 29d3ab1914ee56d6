"""tf.nn.zero_fraction."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import identity, size, zeros
from weft.ops.control.cond import cond
from weft.ops.math.casts import cast
from weft.ops.math.reduce import reduce_sum


def _count_nonzero(value: Tensor, dtype: Any) -> Tensor:
    """How many elements are not zero, counted in `dtype`."""
    with name_scope("count_nonzero", values=[value]):
        nonzero = cast(raw.NotEqual(value, zeros([], dtype=value.dtype)), dtype)
        return reduce_sum(nonzero, name="nonzero_count")


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of zeros in `value`; NaN if it is empty.

    Args:
        value: a tensor of numbers.
        name: of the operations.

    Returns:
        A float32 scalar.

    Raises:
        TypeError: `value` does not hold numbers.

    Example:
        >>> float(session.run(tf.nn.zero_fraction([0, 1, 0, 2])))
        0.5
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        count = size(value, out_type=dtypes.int64)
        few = count <= dtypes.int32.max
        # Many bits are only needed where there are many elements.
        others = cond(
            few,
            lambda: cast(_count_nonzero(value, dtypes.int32), dtypes.int64),
            lambda: _count_nonzero(value, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            fraction = cast(count - others, dtypes.float32) / cast(count, dtypes.float32)
        return identity(fraction, "fraction")
