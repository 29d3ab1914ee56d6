"""Tensors whose shapes are checked, and small helpers of tf.contrib.framework about tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, control_dependencies, name_scope
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.tensor_util import is_tensor
from weft.ops.array import array
from weft.ops.control.check import Assert
from weft.ops.math import math
from weft.ops.scores import confusion_matrix


def assert_scalar_int(tensor: Any, name: str | None = None) -> Tensor:
    """`tensor`, or a ValueError if it is no scalar of an integer type."""
    with name_scope(name, "assert_scalar_int", [tensor]):
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype}."
            )
        if tensor.shape.ndims != 0:
            raise ValueError(f"Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}.")
        return tensor


def reduce_sum_n(tensors: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of all elements of all tensors."""
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [math.reduce_sum(each, name=each.op.name + "/sum") for each in tensors]
        match sums:
            case []:
                raise ValueError("No tensors provided.")
            case [only]:
                return only
            case _:
                return math.add_n(sums, name=scope)


def remove_squeezable_dimensions(
    predictions: Any, labels: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Both, without a last dimension of 1 that only one of them has.

    `tf.confusion_matrix.remove_squeezable_dimensions` has labels first.
    """
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(
        labels, predictions, name=name or "remove_squeezable_dimensions"
    )
    return predictions, labels


def get_placeholders(graph: Graph) -> list[Tensor]:
    """The placeholders of a graph, in the order they were made."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


# ---- shapes that must be so ----


def with_same_shape(expected_tensor: Tensor, tensor: Tensor) -> Tensor:
    """`tensor`, known (or checked when it is computed) to have the other one's shape."""
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        known = expected_tensor.shape
        if known.is_fully_defined():
            return with_shape(known.as_list(), tensor)
        return with_shape(array.shape(expected_tensor, name="expected_shape"), tensor)


def with_shape(expected_shape: Any, tensor: Any) -> Tensor:
    """`tensor`, known (or checked when it is computed) to have this shape.

    A shape of one element may be expected of a scalar; then it is reshaped.

    Raises:
        ValueError: the shape is no vector of integers, or is known to be another one.
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    expected = _as_shape(expected_shape, tensor)
    computed = is_tensor(expected)
    actual = tensor.shape
    scalar_wanted = not computed and len(expected) < 1
    if computed or not actual.is_fully_defined():
        with name_scope(f"{tensor.op.name}/", values=[tensor]):
            return array.reshape(tensor, []) if scalar_wanted else _checked(expected, tensor)
    if actual.is_compatible_with(expected):
        return tensor
    if scalar_wanted and actual.is_compatible_with([1]):
        with name_scope(f"{tensor.op.name}/", values=[tensor]):
            return array.reshape(tensor, [])
    raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected}, got {actual}.")


def _as_shape(shape: Any, tensor: Tensor) -> Any:
    """A shape as a tensor or vector of int32; a TensorShape stays one."""
    if isinstance(shape, (list, tuple)):
        shape = np.asarray(shape, np.int32 if not len(shape) else None)
        shape = shape.astype(np.int32) if shape.dtype == np.int64 else shape
    rank = shape.ndim if isinstance(shape, np.ndarray) else 1
    if rank > 1:
        raise ValueError(f"Invalid rank {rank} for shape {shape} expected of tensor {tensor.name}.")
    dtype = shape.dtype if isinstance(shape, np.ndarray) or is_tensor(shape) else dtypes.int32
    if dtypes.as_dtype(dtype).base_dtype != dtypes.int32:
        raise ValueError(
            f"Invalid dtype {dtype} for shape {shape} expected of tensor {tensor.name}."
        )
    return shape


def _checked(expected: Any, tensor: Tensor) -> Tensor:
    sizes = expected
    if isinstance(expected, TensorShape):
        sizes = [-1 if size is None else size for size in expected.as_list()]
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = array.shape(tensor, name="actual")
        wanted = convert_to_tensor(sizes, dtypes.int32)
        ranks = math.equal(array.size(wanted), array.rank(tensor))
        free = math.less(wanted, 0)
        fits = math.reduce_all(math.logical_or(free, math.equal(wanted, actual)))
        message = f"Wrong shape for {tensor.name} [expected] [actual]."
        check = Assert(math.logical_and(ranks, fits), [message, wanted, actual], name=scope)
    with control_dependencies([check]):
        result = array.identity(tensor)
    if not is_tensor(expected):
        result.set_shape(TensorShape([None if size < 0 else int(size) for size in sizes]))
    return result
