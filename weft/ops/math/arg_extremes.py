"""The places of the largest and the smallest along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.graph import Tensor
from weft.graph.op_def import OpDef, op, raw
from weft.ops.array.array import deprecated_alias
from weft.ops.kit.declare import is_integer, literal, public
from weft.ops.kit.describe import with_example
from weft.ops.kit.shared import invalid

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
        axis, count = int(dimension), max(input.ndim, 1)
        if not -count <= axis < count:
            raise invalid(f"Expected dimension in the range [{-count}, {count}), but got {axis}")
        if input.ndim and not input.shape[axis]:
            raise invalid(f"Reduction axis {axis} is empty in shape {s.show(input.shape)}")
        if not is_integer(input):
            input = xp.where(xp.isnan(input), literal(input, ignored), input)
        found = getattr(xp, find)(input, axis=axis) if input.ndim else xp.zeros((), np.int64)
        return found.astype(output_type.np_storage)

    position.gradient(lambda op, grad: [None, None])
    return position


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
