"""Properties of a linear operator that need no computation: type, shape, names, hints."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.core import dtypes
from weft.core.shapes import Dimension, TensorShape, dimension_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.tensor_util import is_tensor
from weft.lib.linalg.util import Hint, always, is_reference, shape_tensor
from weft.lib.platform.module import Module
from weft.ops.array import array


class OperatorDescription(Module, abc.ABC):
    """Subclasses define `_shape` and, for shapes not known statically, `_shape_tensor`."""

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ) -> None:
        if is_positive_definite:
            message = "A positive definite matrix is always non-singular."
            is_non_singular = always(True, is_non_singular, message)
        if is_non_singular:
            is_square = always(True, is_square, "A non-singular matrix is always square.")
        if is_self_adjoint:
            is_square = always(True, is_square, "A self-adjoint matrix is always square.")
        parents = [] if graph_parents is None else graph_parents
        for i, parent in enumerate(parents):
            if parent is None or not (is_reference(parent) or is_tensor(parent)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = parents
        self._is_square_hint = is_square
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__

    @contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[str]:
        with name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that this operator was made from."""
        return self._graph_parents

    # ---- hints --------------------------------------------------------------------------------

    @property
    def is_non_singular(self) -> Hint:
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> Hint:
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> Hint:
        return self._is_positive_definite

    @property
    def is_square(self) -> Hint:
        """The hint, or what the shape says."""
        same = self.domain_dimension == self.range_dimension
        if self._is_square_hint is False and same:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return same if self._is_square_hint is None else self._is_square_hint

    def _can_use_cholesky(self) -> Hint:
        return self.is_self_adjoint and self.is_positive_definite

    # ---- shape --------------------------------------------------------------------------------

    @abc.abstractmethod
    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    @abc.abstractmethod
    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        return self._shape()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        return self._sizes_tensor(name, self.shape, self._shape_tensor)

    def _sizes_tensor(
        self, scope: str, known: TensorShape, otherwise: Callable[[], Tensor], **named: str
    ) -> Tensor:
        """The sizes as a tensor: a constant where all are known."""
        with self._name_scope(scope):
            if known.is_fully_defined():
                return shape_tensor(known.as_list(), **named)
            return otherwise()

    @property
    def batch_shape(self) -> TensorShape:
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        batch = self.batch_shape
        return self._sizes_tensor(name, batch, lambda: self.shape_tensor()[:-2], name="batch_shape")

    @property
    def tensor_rank(self) -> int | None:
        return self.shape.ndims

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return convert_to_tensor(self.tensor_rank)
            return array.size(self.shape_tensor())

    def _dimension(self, axis: int) -> Dimension:
        dims = self.shape.dims
        return dims[axis] if dims else Dimension(None)

    def _dimension_tensor(self, axis: int, name: str) -> Tensor:
        with self._name_scope(name):
            known = dimension_value(self._dimension(axis))
            return self.shape_tensor()[axis] if known is None else convert_to_tensor(known)

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns."""
        return self._dimension(-1)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        return self._dimension_tensor(-1, name)

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows."""
        return self._dimension(-2)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        return self._dimension_tensor(-2, name)

    def _known_batch(self) -> Any:
        """The batch shape, as a number per dimension where possible, else as a tensor."""
        if self.batch_shape.is_fully_defined():
            return self.batch_shape
        return self.batch_shape_tensor()

    def _known_columns(self) -> Any:
        columns = dimension_value(self.domain_dimension)
        return self.domain_dimension_tensor() if columns is None else columns
