"""Products of tensors, in the conventions of Theano that Keras kept."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.lib.keras.backend.variables import int_shape, is_sparse, ndim
from weft.ops.array import array
from weft.ops.array import gather as gathering
from weft.ops.math import math, matmul, reduce
from weft.ops.sparse import matmul as sparse_matmul


def dot(x: Any, y: Any) -> Tensor:
    """The product over the last axis of `x` and the last but one of `y`."""
    if is_sparse(x):
        return sparse_matmul.sparse_tensor_dense_matmul(x, y)
    if ndim(x) is None or (ndim(x) <= 2 and ndim(y) <= 2):
        return matmul.matmul(x, y)
    x_shape, y_shape = _sizes(x), _sizes(y)
    axes = list(range(len(y_shape)))
    x = array.reshape(x, [-1, x_shape[-1]])
    y = array.transpose(y, perm=[axes.pop(-2), *axes])
    product = matmul.matmul(x, array.reshape(y, [y_shape[-2], -1]))
    return array.reshape(product, x_shape[:-1] + y_shape[:-2] + y_shape[-1:])


def _sizes(x: Any) -> list[Any]:
    """The sizes of `x`, as tensors where they are not known."""
    given = int_shape(x) or ()
    return [
        dynamic if known is None else known
        for known, dynamic in zip(given, array.unstack(array.shape(x)), strict=True)
    ]


def batch_dot(x: Any, y: Any, axes: Any = None) -> Tensor:
    """The product over one axis of each, example by example."""
    x_ndim, y_ndim = ndim(x), ndim(y)
    if isinstance(axes, int):
        axes = (axes, axes)
    axes = [x_ndim - 1, y_ndim - 2] if axes is None else axes
    x, y = _with_ones(x, y_ndim - x_ndim), _with_ones(y, x_ndim - y_ndim)
    out = _of_same_rank(x, y, axes)
    if x_ndim != y_ndim:
        first = x_ndim + y_ndim - 3 if x_ndim > y_ndim else x_ndim - 1
        out = array.squeeze(out, list(range(first, first + abs(x_ndim - y_ndim))))
    return array.expand_dims(out, 1) if ndim(out) == 1 else out


def _with_ones(x: Any, count: int) -> Any:
    """`x` with `count` axes of size 1 at its end."""
    if count <= 0:
        return x
    return array.reshape(x, array.concat([array.shape(x), [1] * count], axis=0))


def _of_same_rank(x: Any, y: Any, axes: Any) -> Tensor:
    rank = ndim(x)
    if rank == 2 and axes[0] == axes[1]:
        return reduce.reduce_sum(math.multiply(x, y), axes[0])
    if rank == 2:
        return reduce.reduce_sum(math.multiply(array.transpose(x, [1, 0]), y), axes[1])
    return matmul.matmul(x, y, adjoint_a=axes[0] != rank - 1, adjoint_b=axes[1] == rank - 1)


def transpose(x: Any) -> Tensor:
    """A tensor with its dimensions in reverse order."""
    return array.transpose(x)


def gather(reference: Any, indices: Any) -> Tensor:
    """The rows of `reference` that `indices` name."""
    return gathering.gather(reference, indices)
