"""tf.linalg.LinearOperator: a matrix, or a batch of them, known by what it does."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from weft.core.shapes import dimension_at_index
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, name_scope
from weft.lib.linalg import algebra
from weft.lib.linalg.description import OperatorDescription
from weft.lib.linalg.util import adjoint_if, cholesky_solve, log_determinant_from, matrix_solve
from weft.lib.platform import tf_logging
from weft.ops.array import array
from weft.ops.array.diag import matrix_diag_part
from weft.ops.control import check
from weft.ops.linalg.linalg import cholesky, matrix_determinant, slogdet, svd
from weft.ops.linalg.matrices import eye
from weft.ops.math import math


def _slow(what: str) -> None:
    tf_logging.warn(f"The default {what} makes the matrix dense, which may be slow.")


class LinearOperator(OperatorDescription):
    """Subclasses define `_matmul`, and whatever else they can do better than by a dense matrix."""

    # ---- products -----------------------------------------------------------------------------

    @abc.abstractmethod
    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "matmul"
    ) -> Any:
        """This operator, or its adjoint, times matrices; or times another operator."""
        is_operator = isinstance(x, LinearOperator)
        pair = self._pair_with(x, adjoint, adjoint_arg, "x") if is_operator else ()
        with self._name_scope(name):
            if pair:
                return algebra.matmul(*pair)
            matrix = self._argument(x, "x", -2 if adjoint else -1, -1 if adjoint_arg else -2)
            return self._matmul(matrix, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return array.squeeze(self.matmul(array.expand_dims(x, -1), adjoint=adjoint), axis=[-1])

    def matvec(self, x: Any, adjoint: bool = False, name: str | None = "matvec") -> Tensor:
        with self._name_scope(name):
            x = self._argument(x, "x", -2 if adjoint else -1, -1)
            return self._matvec(x, adjoint=adjoint)

    def _pair_with(self, other: Any, adjoint: bool, adjoint_arg: bool, what: str) -> Any:
        pairs = (self, adjoint), (other, adjoint_arg)
        left, right = (each.adjoint() if turned else each for each, turned in pairs)
        if right.range_dimension != left.domain_dimension:
            raise ValueError(
                f"Operators are incompatible. Expected `{what}` to have dimension"
                f" {left.domain_dimension} but got {right.range_dimension}."
            )
        return left, right

    def _argument(self, x: Any, name: str, own_axis: int, axis: int) -> Tensor:
        """`x` as a tensor of the right type whose `axis` fits this operator's `own_axis`."""
        x = convert_to_tensor(x, name=name)
        self._check_input_dtype(x)
        dimension_at_index(self.shape, own_axis).assert_is_compatible_with(x.shape[axis])
        return x

    def _check_input_dtype(self, arg: Tensor) -> None:
        if arg.dtype.base_dtype != self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype}.  Found: {arg.dtype} in tensor {arg}"
            )

    # ---- solving ------------------------------------------------------------------------------

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        if self.is_square is False:
            raise NotImplementedError("Solve is not yet implemented for non-square operators.")
        _slow("solve")
        rhs, dense = adjoint_if(adjoint_arg, rhs), self.to_dense()
        if self._can_use_cholesky():
            return cholesky_solve(cholesky(dense), rhs)
        return matrix_solve(dense, rhs, adjoint=adjoint)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "solve"
    ) -> Any:
        """X with this operator, or its adjoint, times X = `rhs`: matrices or an operator."""
        for hint, problem in (
            (self.is_non_singular, "be singular"),
            (self.is_square, "not be square"),
        ):
            if hint is False:
                raise NotImplementedError(
                    f"Exact solve not implemented for an operator that is expected to {problem}."
                )
        if isinstance(rhs, LinearOperator):
            pair = self._pair_with(rhs, adjoint, adjoint_arg, "rhs")
            with self._name_scope(name):
                return algebra.solve(*pair)
        with self._name_scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return array.squeeze(self.solve(array.expand_dims(rhs, -1), adjoint=adjoint), axis=[-1])

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str | None = "solve") -> Tensor:
        with self._name_scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1)
            return self._solvevec(rhs, adjoint=adjoint)

    # ---- other operators ----------------------------------------------------------------------

    def adjoint(self, name: str | None = "adjoint") -> Any:
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return algebra.adjoint(self)

    @property
    def H(self) -> Any:
        return self.adjoint()

    def inverse(self, name: str | None = "inverse") -> Any:
        for hint, problem in ((self.is_square, "non square"), (self.is_non_singular, "singular")):
            if hint is False:
                raise ValueError(
                    f"Cannot take the Inverse: This operator represents a {problem} matrix."
                )
        with self._name_scope(name):
            return algebra.inverse(self)

    def cholesky(self, name: str | None = "cholesky") -> Any:
        """The lower triangular operator that times its adjoint is this one."""
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint"
                " matrix."
            )
        with self._name_scope(name):
            return algebra.cholesky(self)

    # ---- numbers ------------------------------------------------------------------------------

    def _determinant(self) -> Tensor:
        _slow("determinant")
        if self._can_use_cholesky():
            return math.exp(self.log_abs_determinant())
        return matrix_determinant(self.to_dense())

    def determinant(self, name: str | None = "det") -> Tensor:
        self._need_square()
        with self._name_scope(name):
            return self._determinant()

    def _log_abs_determinant(self) -> Tensor:
        _slow("log_abs_determinant")
        if self._can_use_cholesky():
            return log_determinant_from(cholesky(self.to_dense()))
        return slogdet(self.to_dense())[1]

    def log_abs_determinant(self, name: str | None = "log_abs_det") -> Tensor:
        self._need_square()
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _need_square(self) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                "Determinant not implemented for an operator that is expected to not be square."
            )

    def _trace(self) -> Tensor:
        return math.reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name: str | None = "trace") -> Tensor:
        with self._name_scope(name):
            return self._trace()

    # ---- tensors ------------------------------------------------------------------------------

    def _to_dense(self) -> Tensor:
        unit = eye(self._known_columns(), batch_shape=self._known_batch(), dtype=self.dtype)
        return self.matmul(unit)

    def to_dense(self, name: str = "to_dense") -> Tensor:
        with self._name_scope(name):
            return self._to_dense()

    def _diag_part(self) -> Tensor:
        return matrix_diag_part(self.to_dense())

    def diag_part(self, name: str | None = "diag_part") -> Tensor:
        with self._name_scope(name):
            return self._diag_part()

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        with self._name_scope(name):
            summand = convert_to_tensor(x, name="x")
            self._check_input_dtype(summand)
            return self._add_to_tensor(summand)

    # ---- checks in the graph ------------------------------------------------------------------

    def _assert_non_singular(self) -> Operation:
        _slow("assert_non_singular")
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        largest, smallest = (each(values, axis=-1) for each in (math.reduce_max, math.reduce_min))
        message = "Singular matrix up to precision epsilon."
        return check.assert_less(largest / smallest, self._largest_condition(), message=message)

    def _largest_condition(self) -> Tensor:
        """The condition number from which on a matrix counts as singular."""
        with name_scope("max_nonsingular_condition_number"):
            real = self.dtype.real_dtype
            sides = [self.range_dimension_tensor(), self.domain_dimension_tensor()]
            size = math.reduce_max([100.0, *(math.cast(side, real) for side in sides)])
            return 1.0 / (size * float(np.finfo(real.as_numpy_dtype).eps))

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        _slow("assert_positive_definite")
        if self.is_self_adjoint:
            diagonal = math.real(matrix_diag_part(cholesky(self.to_dense())))
            return check.assert_positive(diagonal, message="Matrix was not positive definite.")
        raise NotImplementedError("assert_positive_definite is not implemented.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        _slow("assert_self_adjoint")
        dense = self.to_dense()
        message = "Matrix was not equal to its adjoint."
        return check.assert_equal(dense, adjoint_if(True, dense), message=message)

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        with self._name_scope(name):
            return self._assert_self_adjoint()
