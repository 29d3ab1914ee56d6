"""Operators given by one vector: a diagonal, or the axis of a reflection."""

from __future__ import annotations

from typing import Any

from weft.core import errors
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
    assert_real,
    with_rank_at_least,
)
from weft.ops.array import array
from weft.ops.array.diag import matrix_diag, matrix_diag_part, matrix_set_diag
from weft.ops.control import check, control
from weft.ops.linalg.linalg import norm
from weft.ops.math import math


class VectorOperator(LinearOperator):
    """Square, with a side as long as `_vector`."""

    _vector: Any

    def _shape(self) -> TensorShape:
        return self._vector.shape.concatenate(self._vector.shape[-1:])

    def _shape_tensor(self) -> Tensor:
        dims = array.shape(self._vector)
        return array.concat((dims, [dims[-1]]), 0)


class LinearOperatorDiag(VectorOperator):
    """A diagonal matrix."""

    def __init__(
        self,
        diag: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        with name_scope(name, values=[diag]):
            self._diag = with_rank_at_least(as_tensor_or_variable(diag, "diag"), 1, "diag")
            self._vector = self._diag
            if not self._vector.dtype.is_complex:
                message = "A real diagonal operator is always self adjoint."
                is_self_adjoint = always(True, is_self_adjoint, message)
            message = "Only square diagonal operators currently supported."
            is_square = always(True, is_square, message)
            super().__init__(
                self._vector.dtype,
                [self._vector],
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )

    @property
    def diag(self) -> Any:
        return self._vector

    def _assert_non_singular(self) -> Operation:
        message = "Singular operator:  Diagonal contained zero values."
        return assert_no_zeros(self.diag, message)

    def _assert_positive_definite(self) -> Operation:
        if self.dtype.is_complex:
            had = "Diagonal operator had diagonal entries with non-positive real part"
        else:
            had = "Real diagonal operator had non-positive diagonal entries"
        message = f"{had}, thus was not positive definite."
        return check.assert_positive(math.real(self.diag), message=message)

    def _assert_self_adjoint(self) -> Operation:
        message = (
            "This diagonal operator contained non-zero imaginary values. "
            "  Thus it was not self-adjoint."
        )
        return assert_real(self.diag, message)

    def _factors(self, adjoint: bool) -> Tensor:
        return math.conj(self.diag) if adjoint else convert_to_tensor(self.diag)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return array.expand_dims(self._factors(adjoint), -1) * adjoint_if(adjoint_arg, x)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self._factors(adjoint) * x

    def _determinant(self) -> Tensor:
        return math.reduce_prod(self.diag, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        logs = math.reduce_sum(math.log(math.abs(self.diag)), axis=[-1])
        return math.cast(logs, self.dtype)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        inverse = array.expand_dims(1.0 / self._factors(adjoint), -1)
        return adjoint_if(adjoint_arg, rhs) * inverse

    def _to_dense(self) -> Tensor:
        return matrix_diag(self.diag)

    def _diag_part(self) -> Tensor:
        return convert_to_tensor(self.diag)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return matrix_set_diag(x, self.diag + matrix_diag_part(x))


class LinearOperatorHouseholder(VectorOperator):
    """The reflection at the hyperplane that `reflection_axis` is perpendicular to."""

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        with name_scope(name, values=[reflection_axis]):
            axis = as_tensor_or_variable(reflection_axis, "reflection_axis")
            self._reflection_axis = with_rank_at_least(axis, 1, "reflection_axis")
            self._vector = self._reflection_axis
            is_always = "A Householder operator is always"
            super().__init__(
                self._vector.dtype,
                [self._vector],
                is_non_singular,
                always(True, is_self_adjoint, f"{is_always} self adjoint."),
                always(False, is_positive_definite, f"{is_always} non-positive definite."),
                always(True, is_square, f"{is_always} square."),
                name,
            )

    @property
    def reflection_axis(self) -> Any:
        return self._vector

    def _unit(self) -> Tensor:
        axis = convert_to_tensor(self.reflection_axis)
        return axis / norm(axis, axis=-1, keepdims=True)

    def _assert_non_singular(self) -> Operation:
        return control.no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        raise errors.InvalidArgumentError(
            None, None, "Householder operators are always non-positive definite."
        )

    def _assert_self_adjoint(self) -> Operation:
        return control.no_op("assert_self_adjoint")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = adjoint_if(adjoint_arg, x)
        column = array.expand_dims(self._unit(), -1)
        return x - 2 * column * math.matmul(column, x, adjoint_a=True)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _trace(self) -> Tensor:
        trace = math.cast(self.domain_dimension_tensor() - 2, self.dtype)
        return trace * array.ones(self._known_batch(), dtype=self.dtype)

    def _determinant(self) -> Tensor:
        return -array.ones(self._known_batch(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return array.zeros(self._known_batch(), dtype=self.dtype)

    def _to_dense(self) -> Tensor:
        column = array.expand_dims(self._unit(), -1)
        matrix = -2 * math.matmul(column, column, adjoint_b=True)
        return matrix_set_diag(matrix, 1.0 + matrix_diag_part(matrix))

    def _diag_part(self) -> Tensor:
        unit = self._unit()
        return 1.0 - 2 * unit * math.conj(unit)
