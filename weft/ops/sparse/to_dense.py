"""Sparse coordinates into dense tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.tensor import Tensor
from weft.ops.kit.shared import invalid
from weft.ops.kit.value_checks import are_within, must_hold

_OUT_OF_ORDER = (
    "out of order. Many sparse ops require sorted indices.\n"
    "  `tf.sparse.reorder` makes a copy that is in order."
)


def check_coordinates(indices: Any, shape: Any, ordered: bool) -> None:
    """TensorFlow wants coordinates inside the shape, each once, in row-major order."""
    for i, row in enumerate(indices):
        if any(not 0 <= c < d for c, d in zip(row, shape, strict=True)):
            raise invalid(
                f"indices[{i}] = {_listed(row)} is out of bounds: need 0 <= index <"
                f" {_listed(shape)}"
            )
        if ordered and i:
            before = tuple(indices[i - 1])
            if tuple(row) <= before:
                kind = "repeated" if tuple(row) == before else _OUT_OF_ORDER
                raise invalid(f"indices[{i}] = {_listed(row)} is {kind}")


def _must_ascend(indices: Any, shape: Any) -> None:
    """In a program, that coordinates inside the shape come each once, in row-major order."""
    steps = np.cumprod([1, *shape[:0:-1]], dtype=np.int64)[::-1]
    columns = [indices[:, i].astype(np.int64) * step for i, step in enumerate(steps)]
    at = sum(columns[1:], columns[0])  # a sum along an axis would be a loop of its own
    must_hold(at[1:] > at[:-1])


def _listed(numbers: Any) -> str:
    return f"[{','.join(str(int(n)) for n in numbers)}]"


def _dense_dims(c: s.ShapeContext) -> s.Dims:
    s.with_rank(c.dims(1), 1)
    return s.from_value(1)(c)


def _check_values(indices: Any, values: Any, default: Any, rank: int) -> None:
    if np.ndim(indices) > 2:
        raise invalid(
            "sparse_indices should be a scalar, vector, or matrix, got shape"
            f" {s.show(indices.shape)}"
        )
    width = indices.shape[1] if np.ndim(indices) == 2 else 1
    if width != rank:
        raise invalid(f"output_shape has incorrect number of elements: {rank} should be: {width}")
    count = indices.shape[0] if np.ndim(indices) else 1
    if np.shape(values) not in ((), (count,)):
        raise invalid(
            f"sparse_values has incorrect shape {s.show(np.shape(values))}, should be [] or"
            f" [{count}]"
        )
    if np.ndim(default):
        raise invalid("default_value should be a scalar.")


@op(
    "SparseToDense",
    inputs="sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T",
    outputs="dense: T",
    attrs="validate_indices: bool = true, T: type, Tindices: {int32, int64}",
    shape=_dense_dims,
    static="output_shape",
)
def sparse_to_dense_(
    xp: Any,
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any,
    *,
    validate_indices: bool,
) -> Any:
    shape = tuple(int(d) for d in np.asarray(output_shape))
    _check_values(sparse_indices, sparse_values, default_value, len(shape))
    indices = xp.reshape(sparse_indices, (-1, max(1, len(shape))))
    return _fill(xp, shape, indices, sparse_values, default_value, validate_indices)


@by_library
def _fill(
    xp: Any, shape: tuple[int, ...], indices: Any, values: Any, default: Any, ordered: bool
) -> Any:
    """An array of `default` with `values` at `indices`, which ascend if they are `ordered`."""
    must_hold(are_within(indices, shape))
    if ordered:
        _must_ascend(indices, shape)
    dense = xp.full(shape, default, dtype=values.dtype)
    return dense.at[tuple(indices.T)].set(values)


@_fill.numpy
def _(
    xp: Any, shape: tuple[int, ...], indices: Any, values: Any, default: Any, ordered: bool
) -> Any:
    if not ordered and not are_within(indices, shape).all():
        raise invalid(f"Indices are not valid (out of bounds).  Shape: {s.show(shape)}")
    check_coordinates(indices, shape, ordered)
    dense = np.full(shape, default, dtype=np.asarray(values).dtype)
    dense[tuple(indices.T)] = values
    return dense


@sparse_to_dense_.gradient
def _(op: Any, grad: Any) -> Any:
    from weft.ops.array import array
    from weft.ops.math import math

    indices, shape, of_values = op.inputs[:3]
    values = raw.GatherNd(grad, indices)
    rest = math.reduce_sum(grad) - math.reduce_sum(values)
    if of_values.dims == ():
        values = math.reduce_sum(values)
    return array.zeros_like(indices), array.zeros_like(shape), values, rest


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A dense tensor of `output_shape` with `sparse_values` at `sparse_indices`.

    Args:
        sparse_indices: coordinates: a scalar, a vector, or [n, rank].
        output_shape: of the result.
        sparse_values: a value for each, or one for all.
        default_value: what is elsewhere.
        validate_indices: whether to check that they are in order, and none comes twice.
        name: of the operation.

    Returns:
        A tensor.

    Raises:
        tf.errors.InvalidArgumentError: from the step: a coordinate is outside or out of order.

    Example:
        >>> session.run(tf.sparse_to_dense([1, 3], [5], 7))
        array([0, 7, 0, 7, 0], dtype=int32)
    """
    return sparse_to_dense_(
        sparse_indices,
        output_shape,
        sparse_values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )
