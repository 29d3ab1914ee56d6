"""The operator that is zero."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, errors
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, name_scope
from weft.lib.linalg.sized import SizedOperator
from weft.lib.linalg.util import Hint, always
from weft.ops.array import array
from weft.ops.control import control


class LinearOperatorZeros(SizedOperator):
    """The matrix of zeros, which need not be square."""

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: Hint = False,
        is_self_adjoint: Hint = True,
        is_positive_definite: Hint = False,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            if not is_self_adjoint and is_square:
                raise ValueError("A zero operator is always self adjoint.")
            always(False, bool(is_non_singular), "A zero operator is always singular.")
            message = "A zero operator is always not positive-definite."
            always(False, bool(is_positive_definite), message)
            super().__init__(
                dtype or dtypes.float32,
                None,
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )
            rows = self._size(num_rows, "num_rows")
            columns = rows if num_columns is None else self._size(num_columns, "num_columns")
            self._sides = (rows, columns)
            if is_square and None not in (rows[1], columns[1]) and rows[1] != columns[1]:
                raise ValueError(
                    "LinearOperatorZeros initialized as is_square=True, but got"
                    f" num_rows({rows[1]}) != num_columns({columns[1]})"
                )
            self._batch = self._batch_size(batch_shape)

    def _assert_non_singular(self) -> Operation:
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Operation:
        raise errors.InvalidArgumentError(
            None, None, "Zero operators are always non-positive definite."
        )

    def _assert_self_adjoint(self) -> Operation:
        return control.no_op("assert_self_adjoint")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = self._checked(x, adjoint_arg)
        if self.is_square:
            return self._in_batch(array.zeros_like(x))
        tensor, known = self._sides[1 if adjoint else 0]
        if x.shape.is_fully_defined() and known is not None:
            sizes = x.shape.as_list()
            return self._in_batch(array.zeros([*sizes[:-2], int(known), sizes[-1]], x.dtype))
        dims = array.shape(x)
        shape = array.concat([dims[:-2], [tensor, dims[-1]]], axis=0)
        return self._in_batch(array.zeros(shape, dtype=x.dtype))

    def _determinant(self) -> Tensor:
        return self._batch_of(0)

    def _trace(self) -> Tensor:
        return self._batch_of(0)

    def _diag_part(self) -> Tensor:
        return array.zeros(self._diagonal_shape(), dtype=self.dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        with self._name_scope(name):
            return self._in_batch(convert_to_tensor(mat, name="mat"))
