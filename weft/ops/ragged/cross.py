"""Crosses of ragged, sparse and dense columns: the combinations of the values of each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid
from weft.ops.sparse.cross import (
    Column,
    _combinations,
    _dense_column,
    _numbers,
    _sparse_column,
    _texts,
    concatenated,
    joined,
)


def _splits_shape(c: s.ShapeContext) -> list[s.Dims]:
    ragged, sparse = len(c.attr("ragged_splits_types")), c.attr("Nsparse")
    rows: int | None = None
    for i in range(ragged):
        (length,) = s.with_rank(c.dims(ragged + i), 1)
        rows = s.merge_dim(rows, None if length is None else length - 1)
    for i in range(2 * ragged + 2 * sparse, 2 * ragged + 3 * sparse):
        shape = c.partial(i)
        rows = s.merge_dim(rows, shape[0] if shape else None)
    for i in range(2 * ragged + 3 * sparse, c.num_inputs):
        rows = s.merge_dim(rows, s.with_rank(c.dims(i), 2)[0])
    return [(None,), (None if rows is None else rows + 1,)]


def _batch_of(row_splits: list[Any], shapes: list[Any], dense: list[Any]) -> int:
    found = {len(splits) - 1 for splits in row_splits}
    found |= {int(shape[0]) for shape in shapes} | {len(x) for x in dense}
    if len(found) != 1:
        raise invalid(f"inputs must all have the same batch dimension size: {sorted(found)}")
    return found.pop()


@op(
    "RaggedCross",
    inputs="ragged_values: list(ragged_values_types), ragged_row_splits: list(ragged_splits_types),"
    " sparse_indices: Nsparse * int64, sparse_values: list(sparse_values_types),"
    " sparse_shape: Nsparse * int64, dense_inputs: list(dense_types)",
    outputs="output_values: out_values_type, output_row_splits: out_row_splits_type",
    attrs="Nsparse: int >= 0, input_order: string, hashed_output: bool, num_buckets: int >= 0,"
    " hash_key: int, ragged_values_types: list({int64, string}) >= 0,"
    " ragged_splits_types: list({int32, int64}) >= 0, sparse_values_types: list({int64, string})"
    " >= 0, dense_types: list({int64, string}) >= 0, out_values_type: {int64, string},"
    " out_row_splits_type: {int32, int64}",
    shape=_splits_shape,
    traits=HOST | NO_GRADIENT,
)
def ragged_cross_(
    xp: Any, ragged_values: list[Any], ragged_row_splits: list[Any], sparse_indices: list[Any],
    sparse_values: list[Any], sparse_shape: list[Any], dense_inputs: list[Any], *,
    input_order: str, hashed_output: bool, num_buckets: int, hash_key: int,
    out_row_splits_type: DType,
) -> list[Any]:  # fmt: skip
    batch = _batch_of(ragged_row_splits, sparse_shape, dense_inputs)
    known = _numbers if hashed_output else _texts
    ragged = zip(ragged_values, ragged_row_splits, strict=True)
    sparse = zip(sparse_indices, sparse_values, strict=True)
    kinds = {
        "R": iter([Column(known(v), np.diff(at)) for v, at in ragged]),
        "S": iter([_sparse_column(at, known(v), batch) for at, v in sparse]),
        "D": iter([_dense_column(known(x), *x.shape) for x in dense_inputs]),
    }
    columns = [next(kinds[letter]) for letter in input_order]
    found, _, picked = _combinations(columns, batch)
    crossed = joined(picked, len(found), hashed_output, num_buckets, concatenated, hash_key)
    counts = np.bincount(found[:, 0], minlength=batch)
    splits = np.concatenate([[0], np.cumsum(counts)])
    return [crossed, splits.astype(out_row_splits_type.as_numpy_dtype)]
