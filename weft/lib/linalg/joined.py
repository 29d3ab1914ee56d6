"""Operators made of several others: their product, their direct sum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.graph.graph import Operation, Tensor, name_scope
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.util import (
    Hint,
    always,
    dynamic_batch,
    hints_from,
    product,
    same_batches,
    static_batch,
    total,
)
from weft.ops.array import array
from weft.ops.control import check, control
from weft.ops.math import math


class JoinedOperator(LinearOperator):
    """An operator made of others; it has each property of `_kept` that all of them have."""

    _join: str  # what joins the names of the operators
    _whole: str  # what the operator is of its parts
    _several = "a non-empty list of operators"
    _kept: ClassVar[dict[str, str]]  # hint -> the property

    def __init__(
        self,
        operators: Iterable[LinearOperator],
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ) -> None:
        self._operators = self._of_one_dtype(operators)
        hints = hints_from(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        for hint, adjective in self._kept.items():
            if all(getattr(operator, hint) for operator in self._operators):
                message = f"The {self._whole} of {adjective} operators is always {adjective}."
                hints[hint] = always(True, hints[hint], message)
        parents = [p for operator in self._operators for p in operator.graph_parents]
        name = name or self._join.join(operator.name for operator in self._operators)
        with name_scope(name, values=parents):
            super().__init__(self._operators[0].dtype, parents, name=name, **hints)

    @classmethod
    def _of_one_dtype(cls, operators: Iterable[LinearOperator]) -> list[LinearOperator]:
        check.assert_proper_iterable(operators)
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected {cls._several}. Found: {operators}")
        if len({operator.dtype for operator in operators}) > 1:
            found = "   ".join(str((operator.name, operator.dtype)) for operator in operators)
            raise TypeError(f"Expected all operators to have the same dtype.  Found {found}")
        return operators

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

    def _sides(self) -> tuple[list[Any], list[Any]]:
        """(the rows, the columns of all operators)"""
        rows = [operator.range_dimension for operator in self.operators]
        return rows, [operator.domain_dimension for operator in self.operators]

    def _side_tensors(self) -> tuple[list[Tensor], list[Tensor]]:
        rows = [operator.range_dimension_tensor() for operator in self.operators]
        return rows, [operator.domain_dimension_tensor() for operator in self.operators]

    def _shape_of(self, rows: Any, columns: Any) -> TensorShape:
        return static_batch(self.operators).concatenate([rows, columns])

    def _shape_tensor_of(self, rows: Any, columns: Any) -> Tensor:
        return array.concat((dynamic_batch(self.operators), array.stack([rows, columns])), 0)

    def _determinants(self) -> list[Tensor]:
        return [operator.determinant() for operator in self.operators]

    def _log_determinants(self) -> list[Tensor]:
        """All real or all complex: of complex operators, kinds differ in which they give."""
        logs = [operator.log_abs_determinant() for operator in self.operators]
        mixed = len({log.dtype for log in logs}) > 1
        return [math.cast(log, self.dtype) for log in logs] if mixed else logs


class LinearOperatorComposition(JoinedOperator):
    """The product of operators: the last one is applied first."""

    _join, _whole = "_o_", "composition"
    _kept: ClassVar = {"is_non_singular": "non-singular"}

    def _shape(self) -> TensorShape:
        rows, columns = self._sides()
        for left, right in zip(columns, rows[1:], strict=False):
            left.assert_is_compatible_with(right)
        return self._shape_of(rows[0], columns[-1])

    def _shape_tensor(self) -> Tensor:
        rows = self.operators[0].range_dimension_tensor()
        return self._shape_tensor_of(rows, self.operators[-1].domain_dimension_tensor())

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, *others = self.operators if adjoint else self.operators[::-1]
        result = first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in others:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, *others = self.operators[::-1] if adjoint else self.operators
        result = first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in others:
            result = operator.solve(result, adjoint=adjoint)
        return result

    def _determinant(self) -> Tensor:
        return product(self._determinants())

    def _log_abs_determinant(self) -> Tensor:
        return total(self._log_determinants())


class LinearOperatorBlockDiag(JoinedOperator):
    """The direct sum: square operators along the diagonal, zeros elsewhere."""

    _join, _whole = "_ds_", "direct sum"
    _kept: ClassVar = {
        "is_non_singular": "non-singular",
        "is_self_adjoint": "self-adjoint",
        "is_positive_definite": "positive definite",
    }

    @with_parameters_of(JoinedOperator.__init__, is_square=True)
    def __init__(
        self, operators: Iterable[LinearOperator], is_square: Hint, **hints_and_name: Any
    ) -> None:
        operators = self._of_one_dtype(operators)
        if not (is_square and all(operator.is_square for operator in operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")
        super().__init__(operators, is_square=is_square, **hints_and_name)

    def _shape(self) -> TensorShape:
        rows, columns = self._sides()
        return self._shape_of(total(rows), total(columns))

    def _shape_tensor(self) -> Tensor:
        rows, columns = self._side_tensors()
        return self._shape_tensor_of(total(rows), total(columns))

    def _blocks(self, x: Tensor, axis: int) -> list[Tensor]:
        sizes: Any = [operator.domain_dimension.value for operator in self.operators]
        if None in sizes:
            sizes = array.stack(self._side_tensors()[1])
        return array.split(x, sizes, axis=axis, num=len(self.operators))

    def _each(self, method: str, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        blocks = self._blocks(x, -1 if adjoint_arg else -2)
        parts = [
            getattr(operator, method)(block, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for operator, block in zip(self.operators, blocks, strict=True)
        ]
        return array.concat(same_batches(parts), axis=-2)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._each("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._each("solve", rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return product(self._determinants())

    def _log_abs_determinant(self) -> Tensor:
        return total(self._log_determinants())

    def _trace(self) -> Tensor:
        return total(operator.trace() for operator in self.operators)

    def _diag_part(self) -> Tensor:
        columns = [array.expand_dims(operator.diag_part(), -1) for operator in self.operators]
        return array.squeeze(array.concat(same_batches(columns), axis=-2), axis=[-1])

    def _to_dense(self) -> Tensor:
        rows = []
        before: Any = 0
        for block in same_batches([operator.to_dense() for operator in self.operators]):
            shape = array.shape(block)
            after = self.domain_dimension_tensor() - before - shape[-1]
            left, right = (
                array.zeros(array.concat([shape[:-1], [width]], axis=0), dtype=block.dtype)
                for width in (before, after)
            )
            rows.append(array.concat([left, block, right], axis=-1))
            before += shape[-1]
        dense = array.concat(rows, axis=-2)
        dense.set_shape(self.shape)
        return dense

    def _assert_non_singular(self) -> Operation:
        return control.group(*[operator.assert_non_singular() for operator in self.operators])

    def _assert_self_adjoint(self) -> Operation:
        return control.group(*[operator.assert_self_adjoint() for operator in self.operators])

    def _assert_positive_definite(self) -> Operation:
        return control.group(*[operator.assert_positive_definite() for operator in self.operators])
