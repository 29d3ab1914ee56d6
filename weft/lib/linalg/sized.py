"""The base of operators that are given by their size."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.util import adjoint_if, size_argument, with_matching_rows
from weft.ops.array import array
from weft.ops.math import math


class SizedOperator(LinearOperator):
    """An operator of shape `_batch` (None: no batch) and `_sides`: (tensor, value or None) each."""

    _assert_proper_shapes: bool
    _batch: tuple[Tensor, Any] | None = None
    _sides: tuple[tuple[Tensor, Any], tuple[Tensor, Any]]

    def _size(self, value: Any, what: str) -> tuple[Tensor, Any]:
        return size_argument(value, what, 0, self._assert_proper_shapes, what)

    def _batch_size(self, value: Any) -> tuple[Tensor, Any] | None:
        if value is None:
            return None
        asserts = self._assert_proper_shapes
        return size_argument(value, "batch_shape", 1, asserts, "batch_shape_arg")

    @property
    def _num_rows(self) -> Tensor:
        return self._sides[0][0]

    def _shape(self) -> TensorShape:
        matrix = TensorShape([side for _, side in self._sides])
        return matrix if self._batch is None else TensorShape(self._batch[1]).concatenate(matrix)

    def _shape_tensor(self) -> Tensor:
        matrix = array.stack([side for side, _ in self._sides], axis=0)
        return matrix if self._batch is None else array.concat((self._batch[0], matrix), 0)

    def _checked(self, x: Tensor, adjoint_arg: bool) -> Tensor:
        x = adjoint_if(adjoint_arg, x)
        return with_matching_rows(self, x) if self._assert_proper_shapes else x

    def _in_batch(self, x: Tensor) -> Tensor:
        """`x` repeated for each matrix of this operator."""
        if self._batch is None:
            return x
        matrices = self.batch_shape.concatenate([1, 1])
        together = array.broadcast_static_shape(x.shape, matrices)
        if matrices.is_fully_defined():
            if together.dims is not None and together.as_list() == x.shape.as_list():
                return x
            return x + array.zeros(matrices, dtype=self.dtype)
        shape = array.concat((self.batch_shape_tensor(), [1, 1]), 0)
        return x + array.zeros(shape, dtype=self.dtype)

    def _diagonal_shape(self) -> Any:
        if self.shape.is_fully_defined():
            return self.batch_shape.concatenate([min(self.shape.as_list()[-2:])])  # type: ignore[type-var]
        side = math.reduce_min(self.shape_tensor()[-2:], keepdims=True)
        return array.concat([self.batch_shape_tensor(), side], axis=0)

    def _batch_of(self, value: float) -> Tensor:
        fill = array.ones if value else array.zeros
        return fill(self._known_batch(), dtype=self.dtype)
