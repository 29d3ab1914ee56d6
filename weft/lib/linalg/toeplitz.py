"""Toeplitz operators: the same entry all along each diagonal."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape, dimension_at_index
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, name_scope
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.util import Hint, always, with_rank_at_least
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.control import check
from weft.ops.math import math


class LinearOperatorToeplitz(LinearOperator):
    """A square matrix given by its first column and its first row; `col` has the corner."""

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        with name_scope(name, values=[row, col]):
            self._row = with_rank_at_least(convert_to_tensor(row, name="row"), 1, "row")
            self._col = with_rank_at_least(convert_to_tensor(col, name="col"), 1, "col")
            if dimension_at_index(self.row.shape, -1) != dimension_at_index(self.col.shape, -1):
                raise ValueError(
                    "Expected square matrix, got row and col with mismatched dimensions."
                )
            message = "Only square Toeplitz operators currently supported."
            super().__init__(
                self._row.dtype,
                [self._row, self._col],
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                always(True, is_square, message),
                name,
            )

    @property
    def col(self) -> Tensor:
        return self._col

    @property
    def row(self) -> Tensor:
        return self._row

    def _shape(self) -> TensorShape:
        shape = array.broadcast_static_shape(self.row.shape, self.col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Tensor:
        shapes = array.shape(self.row), array.shape(self.col)
        shape = array.broadcast_dynamic_shape(*shapes)
        return array.concat((shape, shape[-1:]), 0)

    def _assert_self_adjoint(self) -> Operation:
        message = "row and col are not the same, and so this operator is not self-adjoint."
        return check.assert_equal(self.row, self.col, message=message)

    def _to_dense(self) -> Tensor:
        """Entry (i, j) is that of the diagonal i - j; the diagonals lie from right to left in the
        row, then down the column."""
        side = self._known_columns()
        diagonals = self._diagonals()
        index = math.range(side)
        below = array.expand_dims(index, -1) - array.expand_dims(index, 0) + (side - 1)
        dense = gather(diagonals, below, axis=-1)
        dense.set_shape(self.shape)
        return dense

    def _diagonals(self) -> Tensor:
        right = array.reverse(self.row[..., 1:], axis=[-1])
        column = array.zeros_like(self.row) + self.col  # in the batch that both make
        right += array.zeros_like(self.col[..., 1:])
        return array.concat([right, column], axis=-1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return math.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _trace(self) -> Tensor:
        return math.cast(self.domain_dimension_tensor(), self.dtype) * self._diag_part()[..., 0]

    def _diag_part(self) -> Tensor:
        corner = self.col[..., 0:1] + array.zeros_like(self.row[..., 0:1])
        return corner * array.ones([self._known_columns()], self.dtype)
