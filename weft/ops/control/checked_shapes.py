"""Tensors whose shapes are checked: as far as they are known at once, and else when computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.tensor_util import is_tensor
from weft.ops.array import array
from weft.ops.control.check import Assert
from weft.ops.math import math


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
    if isinstance(expected, TensorShape) and not expected.is_fully_defined():
        sizes = np.array([-1 if size is None else size for size in expected.as_list()], np.int32)
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = array.shape(tensor, name="actual")
        fits = _is_shape(sizes, actual, tensor)
        message = f"Wrong shape for {tensor.name} [expected] [actual]."
        check = Assert(fits, [message, sizes, actual], name=scope)
    with control_dependencies([check]):
        result = array.identity(tensor)
    if not is_tensor(expected):
        result.set_shape(expected)
    return result


def _is_shape(sizes: Any, actual: Tensor, tensor: Tensor) -> Tensor:
    """Whether a tensor has as many dimensions, and each its size where that is not -1."""
    with name_scope("is_shape") as scope:
        rank = array.size(sizes)
        with name_scope("is_rank") as inner:
            ranks = math.equal(rank, array.rank(tensor, name="actual"), name=inner)
        with name_scope("shape_tensor_equal") as inner:
            free, same = math.equal(sizes, -1), math.equal(sizes, actual, name="equal")
            either = math.logical_or(free, same, name="exclude_partial_shape")
            fits = math.reduce_all(either, name=inner)
        return math.logical_and(ranks, fits, name=scope)
