"""Ragged tensors become sparse, dense, or one variant, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.array.one_hot_search import boolean_mask, sequence_mask
from weft.ops.kit.shared import Variant, invalid
from weft.ops.ragged.nodes import splits_of, uniform_splits

# ---- to sparse and dense tensors ----------------------------------------------------------------


def _sparse_dims(c: ShapeContext) -> list[Dims]:
    values = c.dims(c.num_inputs - 1)
    rank = None if values is None else c.num_inputs - 1 + len(values)
    return [(s.size(values), rank), (s.size(values),), (rank,)]


def _coordinates(nested: list[np.ndarray], values: np.ndarray) -> np.ndarray:
    """For each element of `values`, its row at every level and its place in the dense part."""
    inner = values.shape[1:]
    size = int(np.prod(inner))
    found = np.empty((len(values), size, len(nested) + 1 + len(inner)), np.int64)
    rows = None  # of every value, in the level below
    for level in range(len(nested) - 1, -1, -1):
        splits = nested[level]
        lengths = np.diff(splits)
        place = np.arange(splits[-1]) - np.repeat(splits[:-1], lengths)
        above = np.repeat(np.arange(len(lengths)), lengths)
        found[:, :, level + 1] = (place if rows is None else place[rows])[:, None]
        rows = above if rows is None else above[rows]
    assert rows is not None
    found[:, :, 0] = rows[:, None]
    found[:, :, len(nested) + 1 :] = np.indices(inner).reshape(len(inner), size).T
    return found.reshape(-1, found.shape[-1])


@op(
    "RaggedTensorToSparse",
    inputs="rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T",
    outputs="sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64",
    attrs="RAGGED_RANK: int >= 1, T: type, Tsplits: {int32, int64} = int64",
    shape=_sparse_dims,
    traits=HOST,
)
def ragged_tensor_to_sparse_(xp: Any, rt_nested_splits: Any, rt_dense_values: Any) -> list[Any]:
    values = np.asarray(rt_dense_values)
    for i, splits in enumerate(rt_nested_splits):
        if len(splits) == 0:
            raise invalid("ragged splits may not be empty.")
        if splits[0] != 0:
            raise invalid("First value of ragged splits must be 0.")
        back = np.flatnonzero(np.diff(splits) < 0)
        if back.size:
            raise invalid(
                "Ragged splits should be non decreasing, but we got"
                f" {splits[back[0]]} followed by {splits[back[0] + 1]}"
            )
        last = i + 1 == len(rt_nested_splits)
        limit = len(values) if last else len(rt_nested_splits[i + 1]) - 1
        if splits[-1] != limit:
            raise invalid("Final value of ragged splits must match the length the corresponding"
                          " ragged values.")  # fmt: skip
    widths = [int(np.max(np.diff(splits), initial=0)) for splits in rt_nested_splits]
    shape = np.array([len(rt_nested_splits[0]) - 1, *widths, *values.shape[1:]], np.int64)
    return [_coordinates(rt_nested_splits, values), values.reshape(-1), shape]


@ragged_tensor_to_sparse_.gradient
def _(op: Operation, indices_grad: Any, values_grad: Any, shape_grad: Any) -> list[Any]:
    values = op.inputs[-1]
    nothing = [None] * (len(op.inputs) - 1)
    return [*nothing, raw.Reshape(values_grad, raw.Shape(values))]


def _all_row_ids(
    kinds: list[str], parts: list[np.ndarray], rows: int, size: int
) -> list[np.ndarray]:
    """For each level, outermost first, the row of each of its `size` values."""
    found = []
    for i, (kind, part) in enumerate(zip(kinds, parts, strict=True)):
        inner = size if i + 1 == len(parts) else len(parts[i + 1]) - (kinds[i + 1] == "ROW_SPLITS")
        found.append(_row_ids(kind, part, rows, inner))
        rows = inner
    return found


def _row_ids(kind: str, partition: np.ndarray, rows: int, size: int) -> np.ndarray:
    """The row of each value."""
    if kind == "VALUE_ROWIDS":
        outside = np.flatnonzero((partition < 0) | (partition >= rows))
        if outside.size:
            which = "next" if outside[0] else "current"
            wrong = partition[outside[0]]
            raise invalid(f"Got {which}_value_rowid={wrong} which is not less than {rows}")
        if len(partition) > size or (partition[1:] < partition[:-1]).any():
            raise invalid("Invalid value rowids: they must be sorted, and no more than values")
        return partition
    if kind == "ROW_SPLITS":
        _check_splits(partition, size)
        return np.repeat(np.arange(len(partition) - 1), np.diff(partition))
    raise invalid(f"Unsupported row partition type: {kind}")


def _check_splits(splits: np.ndarray, size: int) -> None:
    if not len(splits):
        raise invalid("Invalid first partition input. Tensor requires at least one element.")
    if splits[0] or (splits[1:] < splits[:-1]).any() or splits[-1] > size:
        raise invalid("Invalid row split size.")


def _too_deep(default: tuple[int, ...], values: tuple[int, ...]) -> str:
    return (
        f"default_value.shape={s.show(default)} and rt_input.flat_values.shape={s.show(values)} are"
        f" incompatible: default_value.rank = {len(default)}  must be less than"
        f" rt_input.flat_values.rank = {len(values)}"
    )


def _to_tensor_dims(c: ShapeContext) -> Dims:
    wanted, values = c.partial(0) if c.dims(0) != () else None, c.dims(1)
    kinds = c.attr("row_partition_types")
    levels = len(kinds) - (1 if kinds[:1] == ["FIRST_DIM_SIZE"] else 0)
    splits = c.dims(3) if kinds[:1] == ["ROW_SPLITS"] and c.dims(0) == () else None
    rows = splits[0] - 1 if splits and splits[0] else None
    columns: list[int | None] = [None] * levels
    known = c.value(3) if rows is not None and levels == 1 else None
    if known is not None:
        columns = [int(np.diff(known).max(initial=0))]
    found = None if values is None else (rows, *columns, *values[1:])
    if wanted is None:
        return found
    wanted = tuple(None if d is None or d < 0 else d for d in wanted)
    return s.merge(wanted, found)


@op(
    "RaggedTensorToTensor",
    inputs="shape: Tshape, values: T, default_value: T,"
    " row_partition_tensors: num_row_partition_tensors * Tindex",
    outputs="result: T",
    attrs="T: type, Tindex: {int64, int32}, Tshape: {int64, int32},"
    " num_row_partition_tensors: int >= 1, row_partition_types: list(string)",
    shape=_to_tensor_dims,
    traits=HOST,
)
def ragged_tensor_to_tensor_(
    xp: Any, shape: Any, values: Any, default_value: Any, row_partition_tensors: Any,
    *, row_partition_types: Any,
) -> Any:  # fmt: skip
    kinds, parts = list(row_partition_types), list(row_partition_tensors)
    if np.ndim(default_value) >= values.ndim:
        raise invalid(_too_deep(np.shape(default_value), values.shape))
    if kinds == ["ROW_SPLITS"] and not np.ndim(shape):
        _check_splits(parts[0], len(values))
        return _padded(parts[0], values[: parts[0][-1]], default_value)
    if kinds[0] == "FIRST_DIM_SIZE":
        count = int(parts[0])
        if count < 0:
            raise invalid(f"Dimension {count} must be >= 0")
        kinds, parts = kinds[1:], parts[1:]
    else:
        count = len(parts[0]) - 1
    ids = _all_row_ids(kinds, parts, count, len(values))
    values = values[: len(ids[-1])]
    sizes = [count, *(_longest(rows) for rows in ids), *values.shape[1:]]
    if np.ndim(shape):
        if len(shape) != len(sizes):
            raise invalid(f"Shape must be of rank {len(sizes)} but is of rank {len(shape)}")
        for wanted, found in zip(shape[len(ids) + 1 :], values.shape[1:], strict=True):
            if wanted not in (-1, found):
                raise invalid(f"Value and shape dimension are inconsistent: {found} vs. {wanted}")
        sizes = [int(w) if w >= 0 else d for w, d in zip(shape, sizes, strict=True)]
    result = np.empty(sizes, values.dtype)
    result[...] = np.broadcast_to(default_value, sizes[len(ids) + 1 :])
    _fill(result, ids, values)
    return result


def _padded(splits: np.ndarray, values: np.ndarray, default: Any) -> np.ndarray:
    """Rows as long as the longest one, with `default` behind what the others have."""
    lengths = np.diff(splits)
    width = int(lengths.max(initial=0))
    result = np.empty((len(lengths), width, *values.shape[1:]), values.dtype)
    result[...] = default
    if len(values):
        kind = np.min_scalar_type(width)  # the smallest numbers are compared fastest
        result[np.arange(width, dtype=kind) < lengths.astype(kind)[:, None]] = values
    return result


@ragged_tensor_to_tensor_.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    shape, _, default, splits, *more = op.inputs
    if more or shape.dims != () or op.attrs["row_partition_types"] != ["ROW_SPLITS"]:
        raise LookupError("The gradient is known of rows of one level that are kept whole.")
    has = sequence_mask(splits[1:] - splits[:-1], maxlen=raw.Shape(grad, out_type=splits.dtype)[1])
    rest = boolean_mask(grad, raw.LogicalNot(has))
    spread = raw.Sub(raw.Rank(rest), raw.Rank(default))
    total = raw.Sum(rest, raw.Range(0, spread, 1))
    return [None, boolean_mask(grad, has), total, None]


def _longest(rows: np.ndarray) -> int:
    return int(np.bincount(rows).max(initial=0)) if len(rows) else 0


def _fill(result: np.ndarray, ids: list[np.ndarray], values: np.ndarray) -> None:
    """Puts each value at its coordinates; what lies outside of `result` is left out."""
    at = np.arange(len(values))
    places: list[np.ndarray] = []
    for rows in reversed(ids):
        first = np.searchsorted(rows, rows)
        places.insert(0, (np.arange(len(rows)) - first)[at])
        at = np.asarray(rows)[at]
    places.insert(0, at)
    inside = np.all([p < d for p, d in zip(places, result.shape, strict=False)], axis=0)
    result[tuple(p[inside] for p in places)] = values[inside]


# ---- as one value -------------------------------------------------------------------------------


class RaggedVariant(Variant):
    """A ragged tensor as one element of a tensor of variants."""

    def __init__(self, splits: list[np.ndarray], values: np.ndarray) -> None:
        self.splits, self.values = splits, values

    @property
    def rows(self) -> int:
        return len(self.splits[0]) - 1 if self.splits else len(self.values)


def _row_of(splits: list[np.ndarray], values: np.ndarray, row: int) -> RaggedVariant:
    start, limit = int(splits[0][row]), int(splits[0][row + 1])
    inner = []
    for each in splits[1:]:
        part = each[start : limit + 1]
        inner.append(part - part[0])
        start, limit = int(part[0]), int(part[-1])
    return RaggedVariant(inner, values[start:limit])


@op(
    "RaggedTensorToVariant",
    inputs="rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues",
    outputs="encoded_ragged: variant",
    attrs="RAGGED_RANK: int >= 1, Tvalues: type, Tsplits: {int32, int64}, batched_input: bool",
    shape=lambda c: (None,) if c.attr("batched_input") else (),
    traits=HOST,
)
def ragged_tensor_to_variant_(
    xp: Any, rt_nested_splits: Any, rt_dense_values: Any, *, batched_input: bool
) -> Any:
    splits, values = list(rt_nested_splits), np.asarray(rt_dense_values)
    if not batched_input:
        return RaggedVariant(splits, values)
    result = np.empty(len(splits[0]) - 1, object)
    for row in range(len(result)):
        result[row] = _row_of(splits, values, row)
    return result


@op(
    "RaggedTensorFromVariant",
    inputs="encoded_ragged: variant",
    outputs="output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues",
    attrs="input_ragged_rank: int >= -1, output_ragged_rank: int >= 1, Tvalues: type,"
    " Tsplits: {int32, int64}",
    shape=lambda c: [*[(None,)] * (c.num_outputs - 1), None],
    traits=HOST,
)
def ragged_tensor_from_variant_(
    xp: Any, encoded_ragged: Any, *, input_ragged_rank: int, output_ragged_rank: int,
    Tvalues: Any, Tsplits: Any,
) -> list[Any]:  # fmt: skip
    shape = np.shape(encoded_ragged)
    if not shape:
        one = encoded_ragged.item() if isinstance(encoded_ragged, np.ndarray) else encoded_ragged
        return [*one.splits, one.values]
    depth = output_ragged_rank - len(shape) if input_ragged_rank < 0 else input_ragged_rank
    if output_ragged_rank != depth + len(shape):
        raise invalid(
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims();"
            f" output_ragged_rank: {output_ragged_rank}, input_ragged_rank: {depth},"
            f" encoded_ragged.dims(): {len(shape)}"
        )
    return _joined(list(encoded_ragged.ravel()), shape, depth, Tvalues, Tsplits.as_numpy_dtype)


def _joined(
    items: list[RaggedVariant], shape: tuple[int, ...], depth: int, values: Any, splits: Any
) -> list[Any]:
    found = uniform_splits(shape, splits)
    found.append(splits_of([item.rows for item in items], splits))
    for level in range(depth):
        lengths = [np.diff(item.splits[level]) for item in items]
        found.append(splits_of(np.concatenate([np.zeros(0, splits), *lengths]), splits))
    empty = np.zeros(0, values.np_storage)
    parts = [item.values for item in items]
    return [*found, np.concatenate(parts) if parts else empty]
