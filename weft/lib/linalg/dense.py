"""Operators given by their entries: all of them, or those on and below the diagonal."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, name_scope
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.util import (
    Hint,
    adjoint_if,
    always,
    as_tensor_or_variable,
    assert_no_zeros,
    triangular_solve,
    with_rank_at_least,
)
from weft.ops.array import array
from weft.ops.array.diag import matrix_band_part, matrix_diag_part
from weft.ops.math import math

_ALLOWED = [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]


class LinearOperatorFullMatrix(LinearOperator):
    """A dense matrix."""

    def __init__(
        self,
        matrix: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        with name_scope(name, values=[matrix]):
            self._matrix = as_tensor_or_variable(matrix, "matrix")
            if self._matrix.dtype.base_dtype not in _ALLOWED:
                raise TypeError(
                    f"Argument matrix must have dtype in {_ALLOWED}.  Found: {self._matrix.dtype}"
                )
            with_rank_at_least(self._matrix, 2, "matrix")
            super().__init__(
                self._matrix.dtype,
                [self._matrix],
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return array.shape(self._matrix)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return math.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return convert_to_tensor(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """A square matrix with zeros above the diagonal; what `tril` has there is not read."""

    def __init__(
        self,
        tril: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        message = "Only square lower triangular operators supported at this time."
        is_square = always(True, is_square, message)
        with name_scope(name, values=[tril]):
            self._tril = with_rank_at_least(as_tensor_or_variable(tril, "tril"), 2, "tril")
            super().__init__(
                self._tril.dtype,
                [self._tril],
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )

    def _diag_part(self) -> Tensor:
        return matrix_diag_part(self._tril)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return array.shape(self._tril)

    def _assert_non_singular(self) -> Operation:
        message = "Singular operator:  Diagonal contained zero values."
        return assert_no_zeros(self._diag_part(), message)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return math.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _determinant(self) -> Tensor:
        return math.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return math.reduce_sum(math.log(math.abs(self._diag_part())), axis=[-1])

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return triangular_solve(self._to_dense(), adjoint_if(adjoint_arg, rhs), adjoint=adjoint)

    def _to_dense(self) -> Tensor:
        return matrix_band_part(self._tril, -1, 0)
