"""Max pooling that also tells where each maximum is: a position in the flattened image."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import XLA, costs
from weft.ops.kit.row_updates import add_at
from weft.ops.kit.shared import invalid
from weft.ops.kit.value_checks import are_within, require
from weft.ops.nn.pool_nodes import gradient_of, pool_flops, pooled
from weft.ops.nn.pool_windows import first_largest, lowest, spatial_windows
from weft.ops.nn.windows import taps

Array = Any
_ARGMAX_ATTRS = (
    "ksize: list(int) >= 4, strides: list(int) >= 4, "
    'Targmax: {int32, int64}%s, padding: {"SAME", "VALID"}, '
    "include_batch_in_index: bool = false, T: realnumbertype"
)


def _with_positions(c: ShapeContext) -> list[Dims]:
    dims = pooled("MaxPool")(c)
    return [dims, dims]


@op(
    "MaxPoolWithArgmax",
    inputs="input: T",
    outputs="output: T, argmax: Targmax",
    attrs=_ARGMAX_ATTRS % " = int64",
    shape=_with_positions,
    traits=XLA | costs(pool_flops),
)
def max_pool_with_argmax_(
    xp: Any,
    input: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    include_batch_in_index: bool,
    Targmax: DType,
) -> tuple[Array, Array]:
    window = spatial_windows(input.shape, ksize, strides, padding, "NHWC")
    index_type = Targmax.as_numpy_dtype
    batch, _, width, channels = input.shape
    if 0 in input.shape or 0 in window.output:
        empty = (batch, *window.output, channels)
        return xp.zeros(empty, input.dtype), xp.zeros(empty, index_type)
    best, tap = first_largest(taps(input, window, lowest(input.dtype)), window)
    tap_row, tap_column = xp.divmod(tap.astype(index_type), index_type(window.size[1]))
    rows, columns = (
        np.arange(window.output[i], dtype=index_type) * window.stride[i] - window.before[i]
        for i in (0, 1)
    )
    row = tap_row + rows.reshape(-1, 1, 1)
    column = tap_column + columns.reshape(-1, 1)
    index = (row * width + column) * channels + np.arange(channels, dtype=index_type)
    if include_batch_in_index:
        size = int(np.prod(input.shape[1:]))
        index = index + np.arange(batch, dtype=index_type).reshape(-1, 1, 1, 1) * size
    return best, index.astype(index_type)


@max_pool_with_argmax_.gradient
def _(op: Operation, grad: Any, _: Any) -> Any:
    names = ("ksize", "strides", "padding", "include_batch_in_index")
    attrs = {name: op.attrs[name] for name in names}
    return raw.MaxPoolGradWithArgmax(op.inputs[0], grad, op.outputs[1], **attrs)


def _flat_positions(xp: Any, argmax: Array, input: Array, include_batch: bool) -> Array:
    """Indices into the whole flattened input."""
    found = argmax
    if not include_batch:
        size = int(np.prod(input.shape[1:]))
        found = argmax + np.arange(argmax.shape[0], dtype=argmax.dtype).reshape(-1, 1, 1, 1) * size
    message = f"An index of a maximum is not in [0, {input.size})"
    require(xp, are_within(found, input.size), lambda: invalid(message))
    return found.reshape(-1)


def _pooled_dims(
    input: Array, ksize: list[int], strides: list[int], padding: str
) -> tuple[int, ...]:
    window = spatial_windows(input.shape, ksize, strides, padding, "NHWC")
    return (input.shape[0], *window.output, input.shape[3])


def _check_dims(name: str, array: Array, dims: tuple[int, ...]) -> None:
    if array.shape != dims:
        wanted, given = s.show(dims), s.show(array.shape)
        raise invalid(f"Expected {name} shape to be {wanted}, but got {given}")


@op(
    "MaxPoolGradWithArgmax",
    inputs="input: T, grad: T, argmax: Targmax",
    outputs="output: T",
    attrs=_ARGMAX_ATTRS % "",
    shape=gradient_of(4),
    traits=costs(pool_flops),
)
def max_pool_grad_with_argmax_(
    xp: Any,
    input: Array,
    grad: Array,
    argmax: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    include_batch_in_index: bool,
) -> Array:
    dims = _pooled_dims(input, ksize, strides, padding)
    _check_dims("grad", grad, dims)
    _check_dims("argmax", argmax, dims)
    at = _flat_positions(xp, argmax, input, include_batch_in_index)
    return add_at(xp, xp.zeros(input.size, grad.dtype), at, grad.reshape(-1)).reshape(input.shape)


def _gathered_by_argmax(c: ShapeContext) -> Dims:
    s.merge(c.dims(0), c.dims(1))
    return s.merge(pooled("MaxPool")(c), c.dims(2))


@op(
    "MaxPoolGradGradWithArgmax",
    inputs="input: T, grad: T, argmax: Targmax",
    outputs="output: T",
    attrs=_ARGMAX_ATTRS % "",
    shape=_gathered_by_argmax,
)
def max_pool_grad_grad_with_argmax_(
    xp: Any,
    input: Array,
    grad: Array,
    argmax: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    include_batch_in_index: bool,
) -> Array:
    _check_dims("argmax", argmax, _pooled_dims(input, ksize, strides, padding))
    _check_dims("grad", grad, input.shape)
    at = _flat_positions(xp, argmax, input, include_batch_in_index)
    return xp.take(grad.reshape(-1), at).reshape(argmax.shape)
