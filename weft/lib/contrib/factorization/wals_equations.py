"""The normal equations of weighted least squares for some rows of a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.ops.array import array
from weft.ops.control.check import assert_less_equal
from weft.ops.linalg.linalg import matrix_solve
from weft.ops.math import math
from weft.ops.math.reduce import trace
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.sparse.add import sparse_add
from weft.ops.sparse.convert import sparse_reduce_sum
from weft.ops.sparse.matmul import sparse_tensor_dense_matmul
from weft.ops.sparse.select import sparse_transpose
from weft.ops.trees import factorization as factorization_nodes  # noqa: F401  (registers its ops)


class Problem(NamedTuple):
    """What is solved for: rows of a matrix, by the factors of its columns.

    Weights are None where all entries count alike; `given_weights`, a number or one for each row,
    stand for those of the rows.
    """

    total_rows: int
    total_cols: int
    factors: Any
    row_weights: Any
    col_weights: Any
    given_weights: Any
    gramian: Any
    unobserved_weight: float
    regularization: float | None
    regularization_matrix: Any


class Batch(NamedTuple):
    """Some rows of a sparse matrix, numbered as they come, with the numbers they had.

    Where the matrix is transposed, the rows that are solved for are its second dimension.
    """

    entries: SparseTensor
    transposed: bool
    solved_ids: Tensor
    read_ids: Tensor
    rows: Tensor

    @classmethod
    def of(cls, given: SparseTensor, transposed: bool) -> Batch:
        found = []
        for column in array.split(given.indices, 2, axis=1):
            ids, places = array.unique(column[:, 0])
            found.append((ids, array.expand_dims(math.cast(places, dtypes.int64), 1)))
        (rows, row_places), (cols, col_places) = found
        sizes = [math.cast(array.shape(ids)[0], dtypes.int64) for ids in (rows, cols)]
        entries = SparseTensor(
            array.concat([row_places, col_places], 1), given.values, array.stack(sizes)
        )
        if transposed:
            return cls(entries, True, cols, rows, sizes[1])
        return cls(entries, False, rows, cols, sizes[0])

    def upright(self) -> SparseTensor:
        """The entries, with the rows that are solved for first."""
        return sparse_transpose(self.entries) if self.transposed else self.entries


def solve(problem: Problem, batch: Batch, update: Callable[[Tensor], Any]) -> tuple[Any, ...]:
    """(new factors, update, loss, regularization, sum of weights)"""
    right = embedding_lookup(problem.factors, batch.read_ids, partition_strategy="div")
    lhs = problem.unobserved_weight * problem.gramian
    if problem.regularization_matrix is not None:
        lhs += problem.regularization_matrix
    if problem.row_weights is None:
        found, weights = _alike(problem, batch, right, lhs), None
    else:
        weights = _row_weights(problem, batch), _col_weights(problem, batch)
        found = _weighted(problem, batch, right, lhs, *weights)
    updated = update(found)
    return found, updated, *_losses(problem, batch, right, found, weights)


def _alike(problem: Problem, batch: Batch, right: Tensor, lhs: Any) -> Tensor:
    product = sparse_tensor_dense_matmul(batch.entries, right, adjoint_a=batch.transposed)
    rhs = problem.unobserved_weight * product
    return array.transpose(matrix_solve(lhs, array.transpose(rhs)))


def _weighted(
    problem: Problem, batch: Batch, right: Tensor, lhs: Any, row_weights: Any, col_weights: Any
) -> Tensor:
    partial, rhs = raw.WALSComputePartialLhsAndRhs(
        right,
        col_weights,
        problem.unobserved_weight,
        row_weights,
        batch.entries.indices,
        batch.entries.values,
        [],
        batch.rows,
        batch.transposed,
        name="wals_compute_partial_lhs_rhs",
    )
    together = array.expand_dims(lhs, 0) + partial
    return array.squeeze(matrix_solve(together, array.expand_dims(rhs, -1)), [2])


def _row_weights(problem: Problem, batch: Batch) -> Tensor:
    ids = batch.solved_ids
    if problem.given_weights is None:
        return embedding_lookup(problem.row_weights, ids, partition_strategy="div")
    given = math.cast(problem.given_weights, dtypes.float32)
    with control_dependencies([assert_less_equal(array.rank(given), 1)]):
        # One number becomes one for each row; a vector stays as it is.
        return given * array.ones(array.shape(ids))


def _col_weights(problem: Problem, batch: Batch) -> Tensor:
    return embedding_lookup(problem.col_weights, batch.read_ids, partition_strategy="div")


def _losses(
    problem: Problem, batch: Batch, right: Tensor, found: Tensor, weights: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """(loss, regularization, sum of weights), as if all rows were like those of the batch."""
    entries = batch.upright()
    values = raw.MaskedMatmul(found, right, entries.indices, False, True)
    product: Any = SparseTensor(entries.indices, values, entries.dense_shape)
    rest = math.square(sparse_add(entries, product * (-1)))
    by_row, by_col = constant(0.0), constant(0.0)
    if weights is not None:
        by_row, by_col = array.expand_dims(weights[0], 1), array.expand_dims(weights[1], 0)
    gramian = math.matmul(found, found, transpose_a=True)
    scale = problem.total_rows / math.cast(batch.rows, dtypes.float32)
    # Entries that were not observed are in the product of the gramians alone.
    everywhere = (
        sparse_reduce_sum(rest)
        - sparse_reduce_sum(math.square(product))
        + trace(math.matmul(gramian, problem.gramian))
    )
    observed = sparse_reduce_sum(by_row * (rest * by_col))
    loss = (problem.unobserved_weight * everywhere + observed) * scale
    regularization = constant(0.0)
    if problem.regularization is not None:
        squares = trace(gramian) * scale + trace(problem.gramian)
        regularization = problem.regularization * squares
    size = problem.total_rows * problem.total_cols
    total = problem.unobserved_weight * math.cast(size, dtypes.float32)
    if weights is not None:
        ones = array.ones(array.shape(entries.values))
        each = SparseTensor(entries.indices, ones, entries.dense_shape)
        total += sparse_reduce_sum(by_row * (each * by_col)) * scale
    return loss, regularization, total
