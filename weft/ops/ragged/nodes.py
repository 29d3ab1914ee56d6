"""Ops on rows of different lengths, given as flat values and the places where rows begin and end.

`splits` of n rows are n + 1 ascending numbers: row i is `values[splits[i]:splits[i + 1]]`. Rows of
rows have a list of splits, outermost first. Results depend on values, so all run on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices
from weft.graph.traits import HOST
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import invalid
from weft.ops.ragged.copying import gathered_rows

_SPLITS = "Tsplits: {int32, int64} = int64"


_MOST = 2**63 - 1


def ranges(starts: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """All numbers from each start up to its limit, one range after the other."""
    lengths = np.maximum(limits - starts, 0)
    ends = np.cumsum(lengths)
    numbers = np.repeat(starts - (ends - lengths), lengths)
    numbers += np.arange(len(numbers), dtype=starts.dtype)
    return numbers


def splits_of(lengths: Any, dtype: Any) -> np.ndarray:
    """The row splits of rows of these lengths."""
    most = np.iinfo(dtype).max
    # Splits that have wrapped around would have others write where nothing is.
    if most < 1 << 32 and np.sum(lengths, dtype=np.int64) > most:
        raise invalid(f"Rows hold more than {most} values, which their splits cannot tell")
    splits = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def uniform_splits(shape: tuple[int, ...], dtype: Any) -> list[np.ndarray]:
    """The splits that say of all dimensions but the first what `shape` says."""
    return [
        splits_of(np.full(int(np.prod(shape[:axis])), shape[axis]), dtype)
        for axis in range(1, len(shape))
    ]


# ---- RaggedRange --------------------------------------------------------------------------------


def _range_dims(c: ShapeContext) -> list[Dims]:
    known: list[int] = []
    unknown = False
    for i in range(3):
        dims = c.dims(i)
        if dims is not None and len(dims) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(dims)}")
        if dims is None or dims == (None,):
            unknown = True
        elif dims:
            known.append(dims[0])  # type: ignore[arg-type]
    if len(set(known)) > 1:
        raise ValueError(f"Dimensions must be equal, but are {known[0]} and {known[1]}")
    rows = known[0] if known else None if unknown else 1
    return [(None if rows is None else rows + 1,), (None,)]


def _range_sizes(starts: Any, limits: Any, deltas: Any) -> np.ndarray:
    none = ((deltas > 0) & (starts > limits)) | ((deltas < 0) & (starts < limits))
    if np.issubdtype(starts.dtype, np.integer):
        # Differences of signed numbers may need a bit more than these have.
        a, b, d = (v.astype(np.int64).astype(np.uint64) for v in (starts, limits, deltas))
        span, step = np.where(limits >= starts, b - a, a - b), np.where(deltas < 0, 0 - d, d)
        count = span // step + (span % step != 0)
    else:
        count = np.ceil(np.abs(limits - starts).astype(np.float64) / np.abs(deltas))
    count = np.where(none, 0, count)
    if not (count <= _MOST).all():
        raise invalid(f"Requires ((limit - start) / delta) <= {_MOST}")
    check_room([int(count.sum(dtype=np.float64))], starts.dtype)
    return count.astype(np.int64)


@op(
    "RaggedRange",
    inputs="starts: T, limits: T, deltas: T",
    outputs="rt_nested_splits: Tsplits, rt_dense_values: T",
    attrs=f"T: {{bfloat16, float, double, int32, int64}} = int32, {_SPLITS}",
    shape=_range_dims,
    traits=HOST,
)
def ragged_range_(xp: Any, starts: Any, limits: Any, deltas: Any, *, Tsplits: Any) -> list[Any]:
    named = {"starts": starts, "limits": limits, "deltas": deltas}
    for name, value in named.items():
        if np.ndim(value) > 1:
            raise invalid(f"{name} must be a scalar or vector")
    if len({np.shape(v) for v in named.values() if np.ndim(v)}) > 1:
        raise invalid("starts, limits, and deltas must have the same shape")
    if not np.all(deltas):
        raise invalid("Requires delta != 0")
    starts, limits, deltas = np.broadcast_arrays(*(np.atleast_1d(v) for v in named.values()))
    sizes = _range_sizes(starts, limits, deltas)
    splits = splits_of(sizes, Tsplits.as_numpy_dtype)
    steps = np.arange(splits[-1]) - np.repeat(splits[:-1].astype(np.int64), sizes)
    values = np.repeat(starts, sizes) + steps.astype(starts.dtype) * np.repeat(deltas, sizes)
    return [splits, values.astype(starts.dtype)]


# ---- RaggedGather -------------------------------------------------------------------------------


def _gather_dims(c: ShapeContext) -> list[Dims]:
    indices = c.dims(c.num_inputs - 1)
    values = s.with_rank_at_least(c.dims(c.num_inputs - 2), 1)
    count = c.num_outputs - 1
    if indices is not None and count != len(indices) + c.num_inputs - 3:
        raise ValueError(
            "Shape must be rank "
            f"{count - c.num_inputs + 3} but is rank {len(indices)}: OUTPUT_RAGGED_RANK must be"
            " PARAMS_RAGGED_RANK + indices.ndims - 1"
        )
    splits: list[Dims] = [(None,)] * count
    return [*splits, None if values is None else (None, *values[1:])]


def _check_splits(nested: list[np.ndarray], size: int) -> None:
    for i, splits in enumerate(nested):
        limit = len(nested[i + 1]) - 1 if i + 1 < len(nested) else size
        if not len(splits):
            raise invalid("Ragged splits may not be empty")
        if splits[0] < 0:
            raise invalid("Ragged splits must be non-negative")
        if splits[-1] > limit:
            raise invalid("Ragged splits must not point past values")
        if (splits[1:] < splits[:-1]).any():
            raise invalid("Ragged splits must be sorted")


@op(
    "RaggedGather",
    inputs="params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues,"
    " indices: Tindices",
    outputs="output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues",
    attrs=f"Tvalues: type, Tindices: {{int32, int64}}, {_SPLITS}, PARAMS_RAGGED_RANK: int >= 1,"
    " OUTPUT_RAGGED_RANK: int >= 0",
    shape=_gather_dims,
    traits=HOST,
)
def ragged_gather_(
    xp: Any, params_nested_splits: Any, params_dense_values: Any, indices: Any
) -> list[Any]:
    count = len(params_nested_splits[0]) - 1
    rows = np.ravel(indices)
    if rows.size and (rows.min() < 0 or rows.max() >= count):
        wrong = np.flatnonzero((rows < 0) | (rows >= count))
        place = ",".join(map(str, np.unravel_index(wrong[0], np.shape(indices))))
        at = f"[{place}]" if place else ""
        raise invalid(f"indices{at} = {rows[wrong[0]]} is not in [0, {count})")
    _check_splits(params_nested_splits, len(params_dense_values))
    found = uniform_splits(np.shape(indices), params_nested_splits[0].dtype)
    *outer, inner = params_nested_splits
    for splits in outer:
        starts, limits = splits.take(rows), splits[1:].take(rows)
        found.append(splits_of(limits - starts, splits.dtype))
        rows = ranges(starts, limits)
    lengths = inner[1:] - inner[:-1]
    found.append(splits_of(lengths.take(rows), inner.dtype))
    values = gathered_rows(params_dense_values, inner, rows, found[-1])
    if not np.ndim(indices):
        del found[0]  # of one row
    return [*found, values]


@ragged_gather_.gradient
def _(op: Operation, *grads: Any) -> list[Any]:
    *nested, values, indices = op.inputs
    splits = nested[0]
    for inner in nested[1:]:
        splits = raw.GatherV2(inner, splits, 0)
    flat = raw.Reshape(indices, [-1])
    starts, limits = raw.GatherV2(splits, flat, 0), raw.GatherV2(splits[1:], flat, 0)
    rows = raw.RaggedRange(starts, limits, raw.Cast(1, starts.dtype)).rt_dense_values
    slices = IndexedSlices(grads[-1], rows, raw.Shape(values))
    return [*[None] * len(nested), slices, None]
