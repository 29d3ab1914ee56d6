"""BipartiteMatch (tf.contrib.image): rows and columns paired greedily, the nearest first."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST_STATE, NO_GRADIENT
from weft.ops.kit.shared import invalid


def _each_way(c: ShapeContext) -> list[Dims]:
    rows, columns = s.with_rank(c.dims(0), 2)
    return [(rows,), (columns,)]


def _valid_rows(rows: int, num_valid_rows: Any) -> int:
    if np.size(num_valid_rows) != 1:
        raise invalid(
            "num_valid_rows argument should be a tensor with 1 element, but got"
            f" {np.size(num_valid_rows)}"
        )
    given = float(np.ravel(num_valid_rows)[0])
    valid = int(given + 0.1) if given >= 0 else rows
    if valid > rows:
        raise invalid(
            f"There should be at least {valid} rows in distance_mat, but only got {rows} rows."
        )
    return valid


@op(
    "BipartiteMatch", inputs="distance_mat: float, num_valid_rows: float",
    outputs="row_to_col_match_indices: int32, col_to_row_match_indices: int32",
    attrs="top_k: int = -1", shape=_each_way, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def bipartite_match_(xp: Any, distance_mat: Any, num_valid_rows: Any, *, top_k: int) -> Any:
    """The column of every row and the row of every column, -1 for what finds no partner."""
    if distance_mat.ndim != 2:
        got = s.show(distance_mat.shape)
        raise invalid(f"distance_mat should be 2-dimensional, but got {got}")
    rows, columns = distance_mat.shape
    valid = _valid_rows(rows, num_valid_rows)
    limit = top_k if top_k > 0 else valid * columns
    to_column, to_row = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    pairs = 0
    for place in np.argsort(distance_mat[:valid], axis=None, kind="stable").tolist():
        row, column = divmod(place, columns)
        if to_column[row] == -1 and to_row[column] == -1:
            to_column[row], to_row[column] = column, row
            pairs += 1
            if pairs >= limit:
                break
    return to_column, to_row
