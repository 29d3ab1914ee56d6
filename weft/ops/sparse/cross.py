"""Crosses of features: for each row, all combinations of one value from each column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.array.coordinates import all_coordinates, is_grid
from weft.ops.kit.hashing import farm_hash
from weft.ops.kit.shared import counts_up, invalid
from weft.ops.kit.string_arrays import strings
from weft.ops.math.casts import cast

Array = np.ndarray

# As arrays: NumPy is called faster with them than with scalars.
_MULTIPLIER, _SHIFT = np.array(0xC6A4A7935BD1E995, np.uint64), np.array(47, np.uint64)
_DEFAULT_KEY = 0xDECAFCAFFE


class Column(NamedTuple):
    """The values of all rows, one row after the other, and how many each has (None: one)."""

    values: Array
    counts: Array | None


@op(
    "SparseCross",
    inputs="indices: N * int64, values: list(sparse_types), shapes: N * int64,"
    " dense_inputs: list(dense_types)",
    outputs="output_indices: int64, output_values: out_type, output_shape: int64",
    attrs="N: int >= 0, hashed_output: bool, num_buckets: int >= 0, hash_key: int,"
    " sparse_types: list({int64, string}) >= 0, dense_types: list({int64, string}) >= 0,"
    " out_type: {int64, string}, internal_type: {int64, string}",
    shape=lambda c: [(None, 2), (None,), (2,)],
    traits=HOST,
)
def sparse_cross_(
    xp: Any, indices: list[Array], values: list[Array], shapes: list[Array],
    dense_inputs: list[Array], *, hashed_output: bool, num_buckets: int, hash_key: int,
    out_type: DType,
) -> list[Array]:  # fmt: skip
    return crossed_rows(
        indices, values, shapes, dense_inputs, hashed_output, num_buckets,
        concatenated, hash_key,
    )  # fmt: skip


Combine = Callable[[Array, Array], Array]


def crossed_rows(
    indices: list[Array], values: list[Array], shapes: list[Array], dense_inputs: list[Array],
    hashed_output: bool, num_buckets: int, combine: Combine, seed: int,
) -> list[Array]:  # fmt: skip
    """The cross of the columns; `combine` makes one hash of two, starting with `seed`."""
    batch = _batch_size(indices, values, shapes, dense_inputs)
    known = _numbers if hashed_output else _texts
    pairs = zip(indices, values, strict=True)
    columns = [_sparse_column(at, known(v), batch) for at, v in pairs]
    columns += [_dense_column(known(x), *x.shape) for x in dense_inputs]
    found, longest, picked = _combinations(columns, batch)
    crossed = joined(picked, len(found), hashed_output, num_buckets, combine, seed)
    return [found, crossed, np.array([batch, longest], np.int64)]


def joined(
    picked: list[Array], count: int, hashed_output: bool, num_buckets: int, combine: Combine,
    seed: int,
) -> Array:  # fmt: skip
    """The string or bucket of each combination of values, which are given by column."""
    if not hashed_output:
        return strings([b"_X_".join(each) for each in zip(*picked, strict=True)])
    crossed = np.full(count, seed % 2**64, np.uint64)
    for each in picked:
        crossed = combine(crossed, each)
    return (crossed % np.uint64(num_buckets or 2**63 - 1)).astype(np.int64)


def _batch_size(
    indices: list[Array], values: list[Array], shapes: list[Array], dense: list[Array]
) -> int:
    batch = int(shapes[0][0]) if shapes else dense[0].shape[0]
    for i, (index, value, shape) in enumerate(zip(indices, values, shapes, strict=True)):
        if index.ndim != 2 or index.shape[1] != 2:
            raise invalid(
                "Input indices should be a matrix but received shape"
                f" {s.show(index.shape)} at position {i}"
            )
        if len(value) != len(index):
            raise invalid(
                f"Expected size of values to be {len(index)} got {len(value)} at position {i}"
            )
        if len(shape) != 2:
            raise invalid(f"shape should imply a 2D tensor, but got {shape} at position {i}")
        if shape[0] != batch:
            raise invalid(f"Expected batch size {batch} got {shape[0]} at position {i}")
    for i, x in enumerate(dense):
        if x.ndim != 2:
            raise invalid(
                f"Dense inputs should be a matrix but received shape {s.show(x.shape)} at"
                f" position {i}"
            )
        if len(x) != batch:
            raise invalid(f"Expected batch size {batch} got {len(x)} at dense tensor {i}")
    return batch


def _sparse_column(indices: Array, values: Array, batch: int) -> Column:
    rows = indices[:, 0]
    if is_grid(indices, (batch, 1)) or counts_up(rows, batch):
        return Column(values, None)
    if len(rows) and (rows.min() < 0 or rows.max() >= batch):
        # np.bincount would write beyond its memory for the largest of all numbers.
        outside = rows[(rows < 0) | (rows >= batch)][0]
        raise invalid(f"Row {outside} is not in [0, {batch})")
    if np.any(rows[1:] < rows[:-1]):
        values = values[np.argsort(rows, kind="stable")]
    return Column(values, np.bincount(rows, minlength=batch))


def _dense_column(values: Array, batch: int, width: int) -> Column:
    return Column(values, np.full(batch, width) if width != 1 else None)


def _combinations(columns: list[Column], batch: int) -> tuple[Array, int, list[Array]]:
    """Row and number of every combination, the most of a row, and the values, by column.

    The last column changes fastest.
    """
    if all(column.counts is None for column in columns):
        return all_coordinates((batch, 1)), min(batch, 1), [c.values for c in columns]
    one = after = np.ones(batch, np.int64)
    counts = [one if c.counts is None else c.counts for c in columns]
    strides = []  # combinations of the columns that come later
    for count in reversed(counts):
        strides.append(after)
        after = after * count
    rows = np.repeat(np.arange(batch), after)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(after) - after, after)
    picked = []
    for column, count, stride in zip(columns, counts, reversed(strides), strict=True):
        starts = np.cumsum(count) - count
        at = starts[rows] + places // stride[rows] % count[rows]
        picked.append(column.values[at])
    return np.stack([rows, places], 1), int(after.max(initial=0)), picked


def _texts(values: Array) -> Array:
    flat = values.ravel()
    return flat if flat.dtype == object else strings([str(v).encode() for v in flat.tolist()])


def _numbers(values: Array) -> Array:
    flat = values.ravel()
    return farm_hash(flat) if flat.dtype == object else flat.astype(np.uint64)


def concatenated(found: Array, each: Array) -> Array:
    """TensorFlow's FingerprintCat64."""
    found = found ^ _MULTIPLIER ^ _mixed(each * _MULTIPLIER) * _MULTIPLIER
    return _mixed(_mixed(found * _MULTIPLIER) * _MULTIPLIER)


def _mixed(words: Array) -> Array:
    return words ^ (words >> _SHIFT)


def sparse_cross(inputs: Any, name: str | None = None) -> SparseTensor:
    """All combinations of values of each row, joined by `_X_`."""
    return _crossed(inputs, hashed_output=False, num_buckets=0, hash_key=None, name=name)


def sparse_cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """The hashes of all combinations of values of each row."""
    return _crossed(inputs, True, num_buckets, hash_key, name)


def _crossed(
    inputs: Any, hashed_output: bool, num_buckets: int, hash_key: int | None, name: str | None
) -> SparseTensor:
    known, internal_type = cross_inputs(inputs)
    return SparseTensor(*sparse_cross_(
        *known, hashed_output=hashed_output, num_buckets=num_buckets,
        hash_key=hash_key or _DEFAULT_KEY,
        out_type=dtypes.int64 if hashed_output else dtypes.string,
        internal_type=internal_type, name=name,
    ))  # fmt: skip


def cross_inputs(inputs: Any) -> tuple[list[list[Tensor]], DType]:
    """Indices, values and shapes of sparse columns, dense columns; what they are crossed as."""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, (SparseTensor, Tensor)) for i in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    values = [_as_known(i.values) for i in sparse]
    dense = [_as_known(i) for i in inputs if not isinstance(i, SparseTensor)]
    plain = all(x.dtype == dtypes.string for x in (*values, *dense))
    known = [[i.indices for i in sparse], values, [i.dense_shape for i in sparse], dense]
    return known, dtypes.string if plain else dtypes.int64


def _as_known(values: Tensor) -> Tensor:
    return values if values.dtype == dtypes.string else cast(values, dtypes.int64)
