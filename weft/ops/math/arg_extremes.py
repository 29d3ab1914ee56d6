"""The places of the largest and the smallest along an axis."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.graph import Tensor
from weft.graph.op_def import OpDef, op, raw
from weft.ops.array.array import deprecated_alias
from weft.ops.kit import native
from weft.ops.kit.declare import is_integer, literal, public
from weft.ops.kit.describe import with_example
from weft.ops.kit.shared import invalid
from weft.ops.kit.target import target_platform

Array = Any


def _without_axis(c: s.ShapeContext) -> s.Dims:
    dims, axis = c.dims(0), c.value(1)
    s.with_rank(c.dims(1), 0)
    if dims is None or len(dims) <= 1:
        return None if dims is None else ()
    if axis is None:
        return (None,) * (len(dims) - 1)
    count, at = len(dims), int(axis)
    if not -count <= at < count:
        raise ValueError(
            f"Dimension ({at}) must be in the range [{-count}, {count}), where {count}"
            " is the number of dimensions in the input."
        )
    at %= count
    return dims[:at] + dims[at + 1 :]


def _position(name: str, find: str, ignored: float) -> OpDef:
    """The first position of an extreme; `ignored` stands in for NaN, which is never chosen."""

    @op(
        name,
        inputs="input: T, dimension: Tidx",
        outputs="output: output_type",
        attrs="T: numbertype, Tidx: {int32, int64} = int32, output_type: {int32, int64} = int64",
        shape=_without_axis,
        static="dimension",
    )
    def position(xp: Any, input: Array, dimension: np.ndarray, *, output_type: DType) -> Array:
        axis, count = int(dimension), input.ndim
        if not -count <= axis < count:
            raise invalid(f"Expected dimension in the range [{-count}, {count}), but got {axis}")
        if not input.shape[axis]:
            raise invalid(f"Reduction axis {axis} is empty in shape {s.show(input.shape)}")
        found = _place(xp, input, axis % count, find, ignored)
        return found.astype(output_type.np_storage)

    position.gradient(lambda op, grad: [None, None])
    return position


def _numbers(xp: Any, input: Array, ignored: float) -> Array:
    if is_integer(input):
        return input
    return xp.where(xp.isnan(input), literal(input, ignored), input)


@by_library
def _place(xp: Any, input: Array, axis: int, find: str, ignored: float) -> Array:
    if axis == input.ndim - 1 and _is_native(find, input):
        sizes = prod(input.shape[:-1]), input.shape[axis]
        return native.call(_NATIVE[find], input.shape[:-1], input, sizes=sizes, dtype=np.int64)
    is_long = axis == input.ndim - 1 and input.shape[axis] >= _LONG
    if is_long and input.dtype.kind != "c" and target_platform() == "cpu":
        rows = input.reshape(prod(input.shape[:-1]), input.shape[axis])
        return _place_in_blocks(xp, rows, find, ignored).reshape(input.shape[:-1])
    return _place.on_numpy(xp, input, axis, find, ignored)


@_place.numpy
def _(xp: Any, input: Array, axis: int, find: str, ignored: float) -> Array:
    return getattr(xp, find)(_numbers(xp, input, ignored), axis=axis)


_NATIVE = {"argmax": "place_of_largest", "argmin": "place_of_smallest"}
_SHORT, _FEW = 32, 2**12  # of a row, and of all, numbers for which they do not pay


def _is_native(find: str, rows: Array) -> bool:
    """Whether our own kernel is there for the places of extremes of these rows."""
    there = native.offers(_NATIVE[find], rows)
    return there and rows.shape[-1] > _SHORT and rows.size >= _FEW


_BLOCK, _LONG = 64, 512


def _place_in_blocks(xp: Any, rows: Array, find: str, ignored: float) -> Array:
    """Looks for the place only in the block that has the extreme.

    XLA finds extremes several elements at a time, and places one after the other. The last block
    may share elements with the one before it, which then is the one that is found.
    """
    from_rows, count = getattr(xp, find), rows.shape[1]
    extreme = getattr(xp, find.removeprefix("arg"))
    numbers, whole = _numbers(xp, rows, ignored), count // _BLOCK * _BLOCK
    ends = [extreme(numbers[:, :whole].reshape(len(rows), count // _BLOCK, _BLOCK), axis=2)]
    if whole < count:
        ends.append(extreme(numbers[:, -_BLOCK:], axis=1, keepdims=True))
    start = xp.minimum(from_rows(xp.concatenate(ends, axis=1), axis=1) * _BLOCK, count - _BLOCK)
    block = xp.take_along_axis(rows, start[:, None] + xp.arange(_BLOCK), axis=1)
    return start + from_rows(_numbers(xp, block, ignored), axis=1)


_position("ArgMax", "argmax", -np.inf)
_position("ArgMin", "argmin", np.inf)


_POSITION = """\
The first position of the {extreme} along `axis`.

Args:
    input: a tensor of numbers.
    axis: the dimension; None: the first.
    name: of the operation.
    dimension: an older name of `axis`.
    output_type: `tf.int64` or `tf.int32`.

Returns:
    A tensor of positions, without the dimension `axis`.

Raises:
    ValueError: there is no such dimension, or it goes by both its names."""


def _public(name: str, op_name: str, extreme: str) -> Callable[..., Tensor]:
    def function(
        input: Any,
        axis: Any = None,
        name: str | None = None,
        dimension: Any = None,
        output_type: Any = dtypes.int64,
    ) -> Tensor:
        axis = deprecated_alias("axis", axis, "dimension", dimension)
        axis = 0 if axis is None else axis
        return getattr(raw, op_name)(input, axis, output_type=output_type, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_example(_POSITION.format(extreme=extreme), name)
    return function


argmax = _public("argmax", "ArgMax", "maximum")
argmin = _public("argmin", "ArgMin", "minimum")


arg_max = public(
    "arg_max", "ArgMax", "`argmax` by its older name.", "input, dimension, output_type"
)
arg_min = public(
    "arg_min", "ArgMin", "`argmin` by its older name.", "input, dimension, output_type"
)
