"""Evenly spaced numbers: `Range` and `LinSpace`."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import op, raw
from weft.graph.traits import NO_GRADIENT
from weft.ops.kit.declare import public
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import invalid
from weft.ops.kit.value_checks import is_within
from weft.ops.math.casts import cast

Array = Any
_range = builtins.range
_MOST = 2**63 - 1


def _text(number: Any) -> str:
    return str(number) if isinstance(number, int) else f"{float(number):g}"


def _range_length(start: Any, limit: Any, delta: Any) -> int:
    whole = start.dtype.kind in "iu"
    if whole:  # Python's numbers are compared faster
        start, limit, delta = int(start), int(limit), int(delta)
    # What is not a number is refused by these, too: they ask for what has to be, not for what not.
    if delta == 0:
        raise ValueError(f"Requires delta != 0: {_text(delta)}")
    if delta > 0 and not start <= limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {_text(start)}/{_text(limit)}")
    if not delta > 0 and not start >= limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {_text(start)}/{_text(limit)}")
    if whole:
        count = -(-builtins.abs(limit - start) // builtins.abs(delta))
    else:
        with np.errstate(over="ignore"):
            count = np.ceil(np.abs((limit - start) / delta))
    if not count <= _MOST:
        raise ValueError(f"Requires ((limit - start) / delta) <= {_MOST}")
    return int(count)


def _range_shape(c: s.ShapeContext) -> s.Dims:
    for i, name in enumerate(("start", "limit", "delta")):
        try:
            s.with_rank(c.dims(i), 0)
        except ValueError as error:
            raise ValueError(f"{error}\n\t for '{name}'") from None
    start, limit, delta = (c.value(i) for i in _range(3))
    if start is None or limit is None or delta is None:
        return (None,)
    if delta == 0:
        raise ValueError("Requires delta != 0")
    return (_range_length(start, limit, delta),)


_MANY = 1024


@op(
    "Range",
    inputs="start: Tidx, limit: Tidx, delta: Tidx",
    outputs="output: Tidx",
    attrs="Tidx: {bfloat16, float, double, int32, int64} = int32",
    shape=_range_shape,
    static="start, limit, delta",
    traits=NO_GRADIENT,
)
def range_op(xp: Any, start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> Array:
    try:
        count = _range_length(start, limit, delta)
    except ValueError as error:
        raise invalid(str(error)) from None
    check_room([count], start.dtype)
    if start.dtype.kind in "iu":
        # Short ranges stay NumPy arrays, so that they can be axes; long ones bloat the program.
        numbers = (np if count <= _MANY else xp).arange(count, dtype=start.dtype)
        if start != 0 or delta != 1:
            return start + numbers * delta
        is_within(numbers, count)
        return numbers
    # Floats are added up one by one, with the rounding errors that programs expect.
    steps = np.full(count, delta, start.dtype)
    steps[:1] = start
    return np.cumsum(steps, dtype=start.dtype)


def _linspace_shape(c: s.ShapeContext) -> s.Dims:
    for i, name in enumerate(("start", "limit", "delta")):
        try:
            s.with_rank(c.dims(i), 0)
        except ValueError as error:
            raise ValueError(f"{error}\n\t for '{name}'") from None
    count = c.value(2)
    if count is not None and count <= 0:
        raise ValueError(f"Requires num > 0: {count}")
    return (None if count is None else int(count),)


@op(
    "LinSpace",
    inputs="start: T, stop: T, num: Tidx",
    outputs="output: T",
    attrs="T: {bfloat16, float, double}, Tidx: {int32, int64} = int32",
    shape=_linspace_shape,
    static="num",
    traits=NO_GRADIENT,
)
def lin_space_op(xp: Any, start: Array, stop: Array, num: np.ndarray) -> Array:
    count = int(num)
    if count <= 0:
        raise invalid(f"Requires num > 0: {count}")
    step = (stop - start) / max(count - 1, 1)
    values = (start + step * xp.arange(count, dtype=np.float32)).astype(start.dtype)
    if count == 1:
        return values
    return xp.concatenate([values[:-1], xp.reshape(stop, (1,))])


_WIDTHS = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: Any = None,
    name: str | None = "range",
) -> Tensor:
    """start, start + delta, ... up to but not including limit; from 0 if only one end is given.

    Args:
        start: the first number; or the limit, if it is the only one.
        limit: where to stop.
        delta: the step, which may be negative.
        dtype: the type of the result; None: the widest of the arguments.
        name: of the operation.

    Returns:
        A vector.

    Raises:
        ValueError: the step is zero, or leads away from the limit.

    Example:
        >>> session.run(tf.range(3)), session.run(tf.range(10, 4, -3))
        (array([0, 1, 2], dtype=int32), array([10,  7], dtype=int32))
    """
    ends = (0, start) if limit is None else (start, limit)
    given = dict(zip(("start", "limit", "delta"), (*ends, delta), strict=True))
    with name_scope(name, "Range", [*given.values()]) as scope:
        parts = [convert_to_tensor(value, dtype, part) for part, value in given.items()]
        if dtype is None:
            widest = max((part.dtype.base_dtype for part in parts), key=_WIDTHS.index)
            parts = [cast(part, widest) for part in parts]
        return raw.Range(*parts, name=scope)


linspace = lin_space = public(
    "linspace", "LinSpace", "`num` evenly spaced numbers, both ends included.", "start, stop, num"
)
