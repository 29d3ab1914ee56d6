"""Crosses of features: for each row, all combinations of one value from each column."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.ops.casts import cast
from weft.ops.hashing import farm_hash
from weft.ops.kernels import invalid
from weft.ops.string_arrays import strings

Array = np.ndarray
# The values of a column, by row.
Column = list[list[Any]]

_WORD = 2**64
_MULTIPLIER = 0xC6A4A7935BD1E995
_DEFAULT_KEY = 0xDECAFCAFFE


@op(
    "SparseCross",
    inputs="indices: N * int64, values: list(sparse_types), shapes: N * int64,"
    " dense_inputs: list(dense_types)",
    outputs="output_indices: int64, output_values: out_type, output_shape: int64",
    attrs="N: int >= 0, hashed_output: bool, num_buckets: int >= 0, hash_key: int,"
    " sparse_types: list({int64, string}) >= 0, dense_types: list({int64, string}) >= 0,"
    " out_type: {int64, string}, internal_type: {int64, string}",
    shape=lambda c: [(None, 2), (None,), (2,)],
    runs_on="host",
    differentiable=False,
)
def sparse_cross_(
    xp: Any, indices: list[Array], values: list[Array], shapes: list[Array],
    dense_inputs: list[Array], *, hashed_output: bool, num_buckets: int, hash_key: int,
    out_type: DType,
) -> list[Array]:  # fmt: skip
    batch = _batch_size(indices, values, shapes, dense_inputs)
    known = _numbers if hashed_output else _texts
    columns = [_sparse_column(i, known(v), batch) for i, v in zip(indices, values, strict=True)]
    columns += [np.array(known(x), object).reshape(x.shape).tolist() for x in dense_inputs]
    rows = [list(itertools.product(*row)) for row in zip(*columns, strict=True)]
    combined = [value for row in rows for value in row]
    places = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
    crossed = _hashed(combined, num_buckets, hash_key) if hashed_output else _joined(combined)
    longest = max(map(len, rows), default=0)
    return [
        np.array(places, np.int64).reshape(-1, 2),
        crossed,
        np.array([batch, longest], np.int64),
    ]


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


def _sparse_column(indices: Array, values: list[Any], batch: int) -> Column:
    column: Column = [[] for _ in range(batch)]
    for row, value in zip(indices[:, 0].tolist(), values, strict=True):
        column[row].append(value)
    return column


def _texts(values: Array) -> list[bytes]:
    flat = values.ravel().tolist()
    return flat if values.dtype == object else [str(value).encode() for value in flat]


def _numbers(values: Array) -> list[int]:
    flat = values.ravel().tolist()
    return farm_hash(flat).tolist() if values.dtype == object else flat


def _joined(combined: list[tuple[bytes, ...]]) -> Array:
    return strings([b"_X_".join(each) for each in combined])


def _hashed(combined: list[tuple[int, ...]], buckets: int, key: int) -> Array:
    limit = buckets or 2**63 - 1
    found = [_concatenated(each, key % _WORD) % limit for each in combined]
    return np.array(found, np.int64)


def _concatenated(hashes: Sequence[int], key: int) -> int:
    """TensorFlow's way to make one fingerprint of several."""
    for each in hashes:
        key ^= _MULTIPLIER
        key ^= _mixed(each * _MULTIPLIER % _WORD) * _MULTIPLIER % _WORD
        key = key * _MULTIPLIER % _WORD
        key = _mixed(_mixed(key) * _MULTIPLIER % _WORD)
    return key


def _mixed(word: int) -> int:
    return word ^ (word >> 47)


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
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, (SparseTensor, Tensor)) for i in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    values = [_as_known(i.values) for i in sparse]
    dense = [_as_known(i) for i in inputs if not isinstance(i, SparseTensor)]
    plain = all(x.dtype == dtypes.string for x in (*values, *dense))
    found = sparse_cross_(
        [i.indices for i in sparse], values, [i.dense_shape for i in sparse], dense,
        hashed_output=hashed_output, num_buckets=num_buckets, hash_key=hash_key or _DEFAULT_KEY,
        out_type=dtypes.int64 if hashed_output else dtypes.string,
        internal_type=dtypes.string if plain else dtypes.int64, name=name,
    )  # fmt: skip
    return SparseTensor(*found)


def _as_known(values: Tensor) -> Tensor:
    return values if values.dtype == dtypes.string else cast(values, dtypes.int64)
