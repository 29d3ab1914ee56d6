"""The inverse and the adjoint of an operator, by what the operator itself can do."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Operation, Tensor, name_scope
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.util import Hint, adjoint_if, agreed, hints_from
from weft.ops.array import array
from weft.ops.math import math

_PROPERTIES = {
    "is_non_singular": "non-singular",
    "is_self_adjoint": "self-adjoint",
    "is_positive_definite": "positive-definite",
    "is_square": "square",
}


class DerivedOperator(LinearOperator):
    """Made of one operator, with which it shares all of the hinted properties."""

    _relation: str
    _suffix: str
    _needed: tuple[str, ...] = ()  # hints that must not be False

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        given = hints_from(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        hints = {hint: self._shared(hint, value) for hint, value in given.items()}
        name = name or operator.name + self._suffix
        with name_scope(name, values=operator.graph_parents):
            super().__init__(operator.dtype, operator.graph_parents, name=name, **hints)

    def _shared(self, hint: str, given: Hint) -> Hint:
        known, adjective = getattr(self.operator, hint), _PROPERTIES[hint]
        if hint in self._needed and (known is False or given is False):
            raise ValueError(
                f"operator and supplied hints must have `{hint}` equal to `True` or `None`. "
                f" Found {known}, {given}"
            )
        relation = self._relation
        message = f"An operator is {adjective} if and only if its {relation} is {adjective}."
        return agreed(known, given, message)

    @property
    def operator(self) -> LinearOperator:
        return self._operator

    def _assert_non_singular(self) -> Operation:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        return self.operator.assert_self_adjoint()


class LinearOperatorInversion(DerivedOperator):
    """The inverse: its products are the other's solutions."""

    _relation, _suffix = "inverse", "_inv"
    _needed = ("is_non_singular", "is_square")

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> Tensor:
        return self.operator.shape_tensor()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -1.0 * self.operator.log_abs_determinant()


def _turned(shape: Any) -> tuple[Any, list[Any]]:
    """The sizes of the batch, and the other two exchanged."""
    return shape[:-2], [shape[-1], shape[-2]]


class LinearOperatorAdjoint(DerivedOperator):
    """The conjugate transpose."""

    _relation, _suffix = "adjoint", "_adjoint"

    def _shape(self) -> TensorShape:
        batch, ends = _turned(self.operator.shape)
        return batch.concatenate(ends)

    def _shape_tensor(self) -> Tensor:
        return array.concat(list(_turned(self.operator.shape_tensor())), axis=-1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _conjugate(self, x: Any) -> Tensor:
        return x if self.is_self_adjoint else math.conj(x)

    def _determinant(self) -> Tensor:
        return self._conjugate(self.operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return self._conjugate(self.operator.trace())

    def _to_dense(self) -> Tensor:
        return adjoint_if(not self.is_self_adjoint, self.operator.to_dense())
