"""The identity, and multiples of it."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, name_scope
from weft.lib.linalg.sized import SizedOperator
from weft.lib.linalg.util import Hint, always, as_tensor_or_variable
from weft.ops.array import array
from weft.ops.array.diag import matrix_diag_part, matrix_set_diag
from weft.ops.control import check, control
from weft.ops.math import math


class LinearOperatorIdentity(SizedOperator):
    """The unit matrix."""

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: Hint = True,
        is_self_adjoint: Hint = True,
        is_positive_definite: Hint = True,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            is_always = "An identity operator is always"
            super().__init__(
                dtype or dtypes.float32,
                None,
                always(True, bool(is_non_singular), f"{is_always} non-singular."),
                always(True, bool(is_self_adjoint), f"{is_always} self adjoint."),
                always(True, bool(is_positive_definite), f"{is_always} positive-definite."),
                always(True, bool(is_square), f"{is_always} square."),
                name,
            )
            rows = self._size(num_rows, "num_rows")
            self._sides = (rows, rows)
            self._batch = self._batch_size(batch_shape)

    def _assert_non_singular(self) -> Operation:
        return control.no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        return control.no_op("assert_positive_definite")

    def _assert_self_adjoint(self) -> Operation:
        return control.no_op("assert_self_adjoint")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._in_batch(self._checked(x, adjoint_arg))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return self._batch_of(1)

    def _log_abs_determinant(self) -> Tensor:
        return self._batch_of(0)

    def _trace(self) -> Tensor:
        return math.cast(self._num_rows, self.dtype) * self._batch_of(1)

    def _diag_part(self) -> Tensor:
        return array.ones(self._diagonal_shape(), dtype=self.dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            return matrix_set_diag(mat, 1 + matrix_diag_part(mat))


class LinearOperatorScaledIdentity(SizedOperator):
    """The unit matrix times a number for each matrix of the batch."""

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = as_tensor_or_variable(multiplier, "multiplier")
            if not self._multiplier.dtype.is_complex:
                message = "A real diagonal operator is always self adjoint."
                is_self_adjoint = always(True, is_self_adjoint, message)
            message = "A ScaledIdentity operator is always square."
            is_square = always(True, bool(is_square), message)
            super().__init__(
                self._multiplier.dtype,
                None,
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )
            rows = self._size(num_rows, "num_rows")
            self._sides = (rows, rows)

    @property
    def multiplier(self) -> Any:
        return self._multiplier

    def _shape(self) -> TensorShape:
        return self.multiplier.shape.concatenate(super()._shape())

    def _shape_tensor(self) -> Tensor:
        return array.concat((array.shape(self.multiplier), super()._shape_tensor()), 0)

    def _assert_non_singular(self) -> Operation:
        size = math.abs(self.multiplier)
        return check.assert_positive(size, message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Operation:
        real = math.real(self.multiplier)
        message = "LinearOperator was not positive definite."
        return check.assert_positive(real, message=message)

    def _assert_self_adjoint(self) -> Operation:
        imaginary = math.imag(self.multiplier)
        message = "LinearOperator was not self-adjoint"
        return check.assert_equal(array.zeros_like(imaginary), imaginary, message=message)

    def _factor(self, adjoint: bool) -> Tensor:
        factor = array.expand_dims(array.expand_dims(self.multiplier, -1), -1)
        return math.conj(factor) if adjoint else factor

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._checked(x, adjoint_arg) * self._factor(adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._checked(rhs, adjoint_arg) / self._factor(adjoint)

    def _determinant(self) -> Tensor:
        return self.multiplier ** math.cast(self._num_rows, self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        rows = math.cast(self._num_rows, self.dtype.real_dtype)
        return rows * math.log(math.abs(self.multiplier))

    def _trace(self) -> Tensor:
        return self.multiplier * math.cast(self._num_rows, self.dtype)

    def _diag_part(self) -> Tensor:
        ones = array.ones(self._diagonal_shape(), dtype=self.dtype)
        return ones * array.expand_dims(self.multiplier, -1)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            diagonal = array.expand_dims(self.multiplier, -1) + matrix_diag_part(mat)
            return matrix_set_diag(mat, diagonal)
