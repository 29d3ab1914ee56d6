"""Rows sorted into several tensors by number, and stitched together again."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.constant import constant
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.kit.row_updates import check_range
from weft.ops.kit.shared import blank, invalid, place


def _partitioned(c: ShapeContext) -> list[Dims]:
    data, partitions = c.dims(0), c.dims(1)
    if partitions is None:
        return [None] * c.num_outputs
    s.merge_prefix(data, partitions)
    part: Dims = None if data is None else (None, *data[len(partitions) :])
    return [part] * c.num_outputs


@op(
    "DynamicPartition",
    inputs="data: T, partitions: int32",
    outputs="outputs: num_partitions * T",
    attrs="num_partitions: int >= 1, T: type",
    shape=_partitioned,
    traits=HOST,
)
def dynamic_partition_(xp: Any, data: Any, partitions: Any, *, num_partitions: int) -> list[Any]:
    if data.shape[: partitions.ndim] != partitions.shape:
        raise invalid(
            f"data.shape must start with partitions.shape, got data.shape = {s.show(data.shape)},"
            f" partitions.shape = {s.show(partitions.shape)}"
        )
    check_range(
        xp,
        partitions,
        num_partitions,
        lambda index, at, limit: f"partitions{place(at)} = {index} is not in [0, {limit})",
    )
    rows = data.reshape(partitions.size, *data.shape[partitions.ndim :])
    numbers = partitions.reshape(-1)
    return [rows[numbers == i] for i in range(num_partitions)]


@dynamic_partition_.gradient
def _(op: Operation, *grads: Any) -> Any:
    data, partitions = op.inputs
    prefix = array.shape(partitions)
    with_all_axes = constant([0], dtypes.int32)
    rows = raw.Range(0, raw.Prod(prefix, with_all_axes), 1, name="range")
    places = dynamic_partition_(
        array.reshape(rows, prefix), partitions, num_partitions=op.attrs["num_partitions"]
    )
    stitched = dynamic_stitch_(places, list(grads))
    return array.reshape(stitched, array.shape(data)), None


def _stitched(c: ShapeContext) -> Dims:
    count = c.num_inputs // 2
    rest: Dims = None
    last: int | None = 0
    for i in range(count):
        indices, data, value = c.dims(i), c.dims(count + i), c.value(i)
        if value is None:
            last = None
        elif value.size and last is not None:
            last = max(last, int(value.max()) + 1)
        if indices is None:
            continue
        s.merge_prefix(data, indices)
        rest = s.merge(rest, None if data is None else data[len(indices) :])
    return None if rest is None else (last, *rest)


def _stitch(xp: Any, indices: list[Any], data: list[Any]) -> Any:
    first = data[0].shape[indices[0].ndim :]
    for i, (rows, values) in enumerate(zip(indices, data, strict=True)):
        if values.shape[: rows.ndim] != rows.shape:
            raise invalid(
                f"data[{i}].shape = {s.show(values.shape)} does not start with indices[{i}].shape"
                f" = {s.show(rows.shape)}"
            )
        if values.shape[rows.ndim :] != first:
            raise invalid(
                f"Need data[0].shape[{indices[0].ndim}:] = data[{i}].shape[{rows.ndim}:], got"
                f" data[0].shape = {s.show(data[0].shape)}, data[{i}].shape ="
                f" {s.show(values.shape)}, indices[0].shape = {s.show(indices[0].shape)},"
                f" indices[{i}].shape = {s.show(rows.shape)}"
            )
    places = np.concatenate([np.ravel(rows) for rows in indices])
    if np.any(places < 0):
        raise invalid(f"indices[{int(np.argmax(places < 0))}] is out of range")
    length = int(places.max()) + 1 if places.size else 0
    # The last value for a place wins; places that nothing was given for stay zero.
    source = np.full(length, -1, np.int64)
    source[places] = np.arange(places.size)
    flat = [xp.reshape(v, (i.size, *first)) for i, v in zip(indices, data, strict=True)]
    rows = xp.concatenate(flat, axis=0)
    if length == 0:
        return rows[:0]
    out = xp.take(rows, np.maximum(source, 0), axis=0)
    if np.all(source >= 0):
        return out
    filled = (source >= 0).reshape(-1, *[1] * len(first))
    return xp.where(filled, out, blank(rows.dtype))


_STITCH: dict[str, Any] = {
    "inputs": "indices: N * int32, data: N * T",
    "outputs": "merged: T",
    "attrs": "N: int >= 1, T: type",
    "shape": _stitched,
    "static": "indices",
}


@op("DynamicStitch", **_STITCH)
def dynamic_stitch_(xp: Any, indices: list[Any], data: list[Any]) -> Any:
    return _stitch(xp, indices, data)


@op("ParallelDynamicStitch", **_STITCH)
def parallel_dynamic_stitch_(xp: Any, indices: list[Any], data: list[Any]) -> Any:
    return _stitch(xp, indices, data)


@dynamic_stitch_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _unstitched(op, grad)


@parallel_dynamic_stitch_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _unstitched(op, grad)


def _unstitched(op: Operation, grad: Any) -> list[Any]:
    count = len(op.inputs) // 2
    if isinstance(grad, IndexedSlices):
        rows = array.shape(op.outputs[0])[0]
        grad = raw.UnsortedSegmentSum(grad.values, grad.indices, rows)
    return [None] * count + [gather(grad, indices) for indices in op.inputs[:count]]


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The rows of `data` sorted into `num_partitions` tensors as `partitions` says."""
    return dynamic_partition_(data, partitions, num_partitions=num_partitions, name=name)


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Rows of the `data` tensors put where `indices` say; later ones win."""
    return dynamic_stitch_(indices, data, name=name)


def parallel_dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """`dynamic_stitch` for indices without repetitions."""
    return parallel_dynamic_stitch_(indices, data, name=name)
