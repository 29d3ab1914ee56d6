"""The Kronecker product of operators, which is never made dense to be applied."""

from __future__ import annotations

from typing import Any, ClassVar

from weft.core import errors
from weft.core.shapes import TensorShape
from weft.graph.graph import Operation, Tensor
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.joined import JoinedOperator
from weft.lib.linalg.util import adjoint_if, product, total
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.math import math


class LinearOperatorKronecker(JoinedOperator):
    """A x B x ...: each entry of A times B, and so on."""

    _join, _whole = "_x_", "Kronecker product"
    _several = "a list of >=1 operators"
    _kept: ClassVar = {
        "is_non_singular": "non-singular",
        "is_self_adjoint": "self-adjoint",
        "is_positive_definite": "positive-definite",
    }

    def _shape(self) -> TensorShape:
        rows, columns = self._sides()
        return self._shape_of(product(rows), product(columns))

    def _shape_tensor(self) -> Tensor:
        rows, columns = self._side_tensors()
        return self._shape_tensor_of(product(rows), product(columns))

    # ---- products -----------------------------------------------------------------------------
    # A row index of x is an index per operator, the last one running fastest. Rows are unfolded
    # along the first of them, its operator applied, and that index moved behind all others; after
    # the last operator the indices are in order again, behind the column's.

    def _each(self, method: str, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        result = x = adjoint_if(adjoint_arg, x)
        columns = _size(x, -1)
        for operator in self.operators:
            known = (operator.range_dimension if adjoint else operator.domain_dimension).value
            rows = _side(operator, adjoint) if known is None else known
            result = getattr(operator, method)(_with_rows(result, rows), adjoint=adjoint)
            result = array.matrix_transpose(result)
        result = array.matrix_transpose(_with_rows(result, columns))
        if x.dims is not None and self.shape.ndims is not None:
            height = self.domain_dimension if adjoint else self.range_dimension
            batch = array.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            result.set_shape(batch.concatenate([height, x.shape[-1]]))
        return result

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._each("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._each("solve", rhs, adjoint, adjoint_arg)

    # ---- numbers and tensors ------------------------------------------------------------------

    def _repeats(self) -> list[Tensor]:
        """How often each operator occurs along the diagonal, in the operators' type."""
        whole, sides = self.domain_dimension_tensor(), self._side_tensors()[1]
        return [math.cast(whole / side, self.dtype) for side in sides]

    def _determinant(self) -> Tensor:
        pairs = zip(self._determinants(), self._repeats(), strict=True)
        return product(determinant**times for determinant, times in pairs)

    def _log_abs_determinant(self) -> Tensor:
        pairs = zip(self._log_determinants(), self._repeats(), strict=True)
        return total(log * math.cast(times, log.dtype) for log, times in pairs)

    def _has_slanted_factors(self) -> bool:
        """Then diagonals of the factors do not make up that of the product."""
        return any(operator.is_square is False for operator in self.operators)

    def _trace(self) -> Tensor:
        if self._has_slanted_factors():
            return super()._trace()
        return product(operator.trace() for operator in self.operators)

    def _diag_part(self) -> Tensor:
        if self._has_slanted_factors():
            return super()._diag_part()
        first, *others = [operator.diag_part() for operator in self.operators]
        for other in others:
            both = array.expand_dims(first, -1) * array.expand_dims(other, -2)
            shape = array.shape(both)
            first = array.reshape(both, array.concat([shape[:-2], [-1]], axis=0))
        if self.is_square:
            first.set_shape(self.batch_shape.concatenate([self.domain_dimension]))
        return first

    def _to_dense(self) -> Tensor:
        first, *others = [operator.to_dense() for operator in self.operators]
        for other in others:
            left = array.expand_dims(array.expand_dims(first, -1), -3)
            both = left * array.expand_dims(array.expand_dims(other, -2), -4)
            shape = array.shape(both)
            sides = [shape[-4] * shape[-3], shape[-2] * shape[-1]]
            first = array.reshape(both, array.concat([shape[:-4], sides], axis=0))
        first.set_shape(self.shape)
        return first

    # ---- checks in the graph ------------------------------------------------------------------

    def _need_square_factors(self, outcome: str) -> None:
        if not all(operator.is_square for operator in self.operators):
            raise errors.InvalidArgumentError(
                None, None, f"All Kronecker factors must be square for the product to be {outcome}."
            )

    def _assert_non_singular(self) -> Operation:
        self._need_square_factors("invertible")
        return control.group(*[operator.assert_non_singular() for operator in self.operators])

    def _assert_self_adjoint(self) -> Operation:
        self._need_square_factors("self adjoint")
        return control.group(*[operator.assert_self_adjoint() for operator in self.operators])


def _side(operator: LinearOperator, adjoint: bool) -> Tensor:
    return operator.range_dimension_tensor() if adjoint else operator.domain_dimension_tensor()


def _size(x: Tensor, axis: int) -> Any:
    known = None if x.dims is None else x.dims[axis]
    return array.shape(x)[axis] if known is None else known


def _with_rows(x: Tensor, rows: Any) -> Tensor:
    """Matrices with the same entries, in the same order, in this many rows."""
    if x.shape.is_fully_defined() and isinstance(rows, int) and rows:
        *batch, height, width = x.shape.as_list()
        return array.reshape(x, [*batch, rows, height * width // rows])  # type: ignore[operator]
    return array.reshape(x, array.concat([array.shape(x)[:-2], [rows, -1]], axis=0))
