"""An operator plus a product of thin matrices, solved by way of a small system."""

from __future__ import annotations

from typing import Any

from weft.core.properties import stored
from weft.core.shapes import TensorShape, dimension_at_index, dimension_value
from weft.graph.graph import Tensor, name_scope
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.identity import LinearOperatorIdentity
from weft.lib.linalg.util import (
    Hint,
    always,
    as_tensor_or_variable,
    cholesky_solve,
    log_determinant_from,
    matrix_solve,
)
from weft.lib.linalg.vectors import LinearOperatorDiag
from weft.lib.platform import tf_logging
from weft.ops.array import array
from weft.ops.linalg.linalg import cholesky, matrix_determinant
from weft.ops.math import math


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H, with `base_operator` L, `diag_update` the diagonal of D (default: ones) and
    V = U unless given."""

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: Hint = None,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        positive = _positive_update(base_operator.dtype, diag_update, is_diag_update_positive)
        self._is_diag_update_positive = positive
        symmetric = base_operator.is_self_adjoint and v is None
        self._use_cholesky = bool(base_operator.is_positive_definite and symmetric and positive)
        if symmetric and not base_operator.dtype.is_complex:
            message = (
                "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is"
                " self-adjoint, this must be a self-adjoint operator."
            )
            is_self_adjoint = always(True, is_self_adjoint, message)
        if self._use_cholesky:
            message = "Arguments imply this is self-adjoint positive-definite operator."
            always(True, is_non_singular, message)
            is_positive_definite = always(True, is_positive_definite, message)
            is_self_adjoint = always(True, is_self_adjoint, message)
        self._base_operator = base_operator
        parents = base_operator.graph_parents
        with name_scope(name, values=[*parents, u, diag_update, v]):
            self._u = as_tensor_or_variable(u, "u")
            self._v = self._u if v is None else as_tensor_or_variable(v, "v")
            self._diag_update = as_tensor_or_variable(diag_update, "diag_update")
            own = [x for x in (self._u, self._diag_update, self._v) if x is not None]
            super().__init__(
                base_operator.dtype,
                [*parents, *own],
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )
            self._diag_operator = self._make_diag_operator()
            self._check_shapes()

    def _make_diag_operator(self) -> LinearOperator:
        if self._diag_update is not None:
            positive = self._is_diag_update_positive
            return LinearOperatorDiag(self._diag_update, is_positive_definite=positive)
        rank = dimension_value(dimension_at_index(self.u.shape, -1))
        rank = array.shape(self.u)[-1] if rank is None else rank
        return LinearOperatorIdentity(rank, dtype=self.dtype)

    def _check_shapes(self) -> None:
        base, joined = self.base_operator, array.broadcast_static_shape
        thin = joined(self.u.shape, self.v.shape)
        batch = joined(base.batch_shape, thin[:-2])
        rows, rank = (dimension_at_index(thin, axis) for axis in (-2, -1))
        base.domain_dimension.assert_is_compatible_with(rows)
        if self._diag_update is not None:
            shape = self._diag_update.shape
            rank.assert_is_compatible_with(dimension_at_index(shape, -1))
            joined(batch, shape[:-1])

    u = stored("u", "The thin matrix U.")
    v = stored("v", "The thin matrix V.")
    is_diag_update_positive = stored(
        "is_diag_update_positive", "Whether D is known to be positive."
    )
    diag_update = stored("diag_update", "The diagonal of D, or None for the identity.")
    diag_operator = stored("diag_operator", "D as an operator.")
    base_operator = stored("base_operator", "L.")

    def _shape(self) -> TensorShape:
        base = self.base_operator
        batch = array.broadcast_static_shape(base.batch_shape, self.u.shape[:-2])
        return batch.concatenate(base.shape[-2:])

    def _shape_tensor(self) -> Tensor:
        base = self.base_operator
        batches = base.batch_shape_tensor(), array.shape(self.u)[:-2]
        batch = array.broadcast_dynamic_shape(*batches)
        sides = base.shape_tensor()[-2:]
        return array.concat([batch, sides], 0)

    def _thin(self, adjoint: bool) -> tuple[Any, Any]:
        """(U, V), which change places in the adjoint."""
        return (self.v, self.u) if adjoint else (self.u, self.v)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        u, v = self._thin(adjoint)
        leading = self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        small = math.matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg)
        return leading + math.matmul(u, self.diag_operator.matmul(small, adjoint=adjoint))

    # ---- by way of C = D^-1 + V^H L^-1 U ------------------------------------------------------
    # The inverse is L^-1 - L^-1 U C^-1 V^H L^-1 (Woodbury), the determinant that of C, D and L.

    def _capacitance(self) -> Tensor:
        product = math.matmul(self.v, self.base_operator.solve(self.u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(product)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        base = self.base_operator
        if base.is_non_singular is False:
            raise ValueError(
                "Solve not implemented unless this is a perturbation of a non-singular"
                " LinearOperator."
            )
        u, v = self._thin(adjoint)
        leading = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        small = math.matmul(v, leading, adjoint_a=True)
        if self._use_cholesky:
            small = cholesky_solve(cholesky(self._capacitance()), small)
        else:
            small = matrix_solve(self._capacitance(), small, adjoint=adjoint)
        return leading - base.solve(math.matmul(u, small), adjoint=adjoint)

    def _determinant(self) -> Tensor:
        if self.is_positive_definite:
            return math.exp(self.log_abs_determinant())
        product = matrix_determinant(self._capacitance())
        for part in (self.diag_operator, self.base_operator):
            product = product * part.determinant()
        return product

    def _log_abs_determinant(self) -> Tensor:
        if self._use_cholesky:
            small = log_determinant_from(cholesky(self._capacitance()))
        else:
            size = math.abs(matrix_determinant(self._capacitance()))
            small = math.cast(math.log(size), self.dtype)
        update = self.diag_operator.log_abs_determinant()
        return small + update + self.base_operator.log_abs_determinant()


def _positive_update(dtype: Any, diag_update: Any, hint: Hint) -> Hint:
    if diag_update is None:
        message = (
            "Default diagonal is the identity, which is positive.  However, user set"
            " 'is_diag_update_positive' to False."
        )
        return always(True, hint, message)
    if hint and dtype.is_complex:
        tf_logging.warn("is_diag_update_positive says of a complex diagonal that it is real too.")
    return hint
