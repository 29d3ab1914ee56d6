"""IndexedSlices and SparseTensor: values made of several tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, name_scope
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


class IndexedSlicesValue(NamedTuple):
    """The value of a fetched `IndexedSlices`."""

    values: Any
    indices: Any
    dense_shape: Any


class SparseTensorValue(NamedTuple):
    """The value of a `SparseTensor`, as it is fetched and fed."""

    indices: Any
    values: Any
    dense_shape: Any


class IndexedSlices:
    """Rows `values` at `indices` of a dense tensor that is zero elsewhere.

    Args:
        values: the rows.
        indices: where they are, a vector; those of an index that comes twice add up.
        dense_shape: the shape of the whole; None: unknown.

    Example:
        >>> table = tf.Variable([[1.0], [2.0], [3.0]])
        >>> (gradient,) = tf.gradients(tf.gather(table, [2]), [table])
        >>> isinstance(gradient, tf.IndexedSlices), session.run(gradient.indices)
        (True, array([2], dtype=int32))
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        return self._dense_shape

    @property
    def name(self) -> str:
        return self._values.name

    def consumers(self) -> list[Operation]:
        return list(dict.fromkeys(self._values.consumers() + self._indices.consumers()))

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        return self._values.graph

    @property
    def shape(self) -> TensorShape:
        from weft.graph.constant_value import constant_value_as_shape

        if self._dense_shape is None:
            return TensorShape(None)
        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    def _composite_components(self) -> list[Any]:
        parts = [self._values, self._indices]
        return parts if self._dense_shape is None else [*parts, self._dense_shape]

    def _from_components(self, parts: list[Any]) -> IndexedSlices:
        return IndexedSlices(*parts)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"


class SparseTensor:
    """Values at coordinates `indices` [n, rank] of a tensor of shape `dense_shape`.

    Args:
        indices: the coordinates of the values, int64 [n, rank], in order.
        values: as many values.
        dense_shape: the shape of the whole.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> sparse = tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 2])
        >>> session.run(tf.sparse.to_dense(sparse))
        array([[0, 5],
               [7, 0]], dtype=int32)
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, name="indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, dtypes.int64, name="dense_shape")
        indices_shape = self._indices.shape.with_rank(2)
        values_shape = self._values.shape.with_rank(1)
        dense_shape_shape = self._dense_shape.shape.with_rank(1)
        indices_shape[0].assert_is_compatible_with(values_shape[0])
        indices_shape[1].assert_is_compatible_with(dense_shape_shape[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        if not is_sparse(sparse_tensor_value):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        v = sparse_tensor_value
        return cls(v.indices, v.values, v.dense_shape)

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        return self._dense_shape

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        return self._indices.graph

    @property
    def shape(self) -> TensorShape:
        from weft.graph.constant_value import constant_value_as_shape

        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    def consumers(self) -> list[Operation]:
        parts = (self._indices, self._values, self._dense_shape)
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        from weft.graph.tensor import _session_for

        return _session_for(session, self.graph, "evaluate tensor", "eval").run(self, feed_dict)

    @property
    def _type_spec(self) -> Any:
        from weft.graph.type_spec import type_spec_from_value

        return type_spec_from_value(self)

    def _composite_components(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def _from_components(self, parts: list[Any]) -> SparseTensor:
        return SparseTensor(*parts)

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values},"
            f" dense_shape={self._dense_shape})"
        )


def is_sparse(x: Any) -> bool:
    return isinstance(x, (SparseTensor, SparseTensorValue))


def _fitting(value: Any, dtype: Any, mismatch: Callable[[str, str], Exception]) -> Any:
    """`value`, unless `dtype` is another type: then raises what `mismatch` makes of both names."""
    wanted = dtypes.as_dtype(dtype) if dtype else None
    if wanted is None or wanted.is_compatible_with(value.dtype):
        return value
    raise mismatch(wanted.name, value.dtype.name)


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """A SparseTensor for sparse values, a Tensor otherwise."""
    if not is_sparse(value):
        return convert_to_tensor(value, dtype=dtype, name=name)
    found = value if isinstance(value, SparseTensor) else SparseTensor.from_value(value)
    return _fitting(
        found, dtype, lambda wanted, actual: RuntimeError(
            f"Sparse dtype: requested = {wanted}, actual = {actual}"
        ),
    )  # fmt: skip


def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """IndexedSlices and SparseTensor as they are, everything else as a Tensor."""
    if not isinstance(value, (IndexedSlices, SparseTensor)):
        return convert_to_tensor(value, dtype=dtype, name=name, as_ref=as_ref)
    return _fitting(
        value, dtype, lambda wanted, actual: ValueError(
            f"Tensor conversion requested dtype {wanted} for Tensor with dtype {actual}: {value!r}"
        ),
    )  # fmt: skip
