"""Shapes of samples: what is asked for, then the batch, then the event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array
from weft.ops.array.one_hot_search import where, where_v2
from weft.ops.array.slicing import slice as slice_op
from weft.ops.math import math


def static(x: Any) -> Any:
    """The value of a tensor if it is known, else the tensor."""
    known = constant_value(x)
    return x if known is None else known


def static_rank(x: Tensor) -> Any:
    return static(array.rank(x))


def static_shape(x: Tensor) -> Any:
    return static(array.shape(x))


def pick_vector(condition: Any, if_true: Any, if_false: Any, name: str = "pick_vector") -> Any:
    """One of two vectors, which need not be equally long."""
    with name_scope(name, values=[condition, if_true, if_false]):
        condition = convert_to_tensor(condition, name="cond")
        if condition.dtype.name != "bool":
            raise TypeError(f"{condition}.dtype={condition.dtype} which is not <dtype: 'bool'>")
        known = constant_value(condition)
        if known is not None:
            return if_true if known else if_false
        first = convert_to_tensor(if_true, name="true_vector")
        second = convert_to_tensor(if_false, name="false_vector")
        if first.dtype != second.dtype:
            raise TypeError(
                f"{first}.dtype={first.dtype} does not match {second}.dtype={second.dtype}"
            )
        n = array.shape(first)[0]
        begin, size = where_v2(condition, 0, n), where(condition, n, -1)
        return slice_op(array.concat([first, second], 0), [begin], [size])


def as_vector(sizes: Any, name: str) -> tuple[Tensor, Any]:
    """A sample shape as a vector, and how many samples it asks for."""
    shape = convert_to_tensor(sizes, dtype=dtypes.int32, name=name)
    known = constant_value(shape)
    kind = shape.dtype.as_numpy_dtype
    count = math.reduce_prod(shape) if known is None else np.prod(known, dtype=kind)
    rank = shape.shape.ndims
    if rank is None:
        one = np.array([1], np.int32)
        size = pick_vector(math.equal(array.rank(shape), 0), one, array.shape(shape))
        return array.reshape(shape, size), count
    if rank == 0 and known is not None:
        return convert_to_tensor(np.array([known], kind), name=name), count
    if rank == 0:
        return array.reshape(shape, [1]), count
    if rank != 1:
        raise ValueError("Input is neither scalar nor vector.")
    return shape, count


def unflattened(samples: Tensor, shape: Tensor) -> Tensor:
    """Samples that are counted by their first axis, in the shape that was asked for."""
    return array.reshape(samples, array.concat([shape, array.shape(samples)[1:]], 0))


def set_static_shape(distribution: Any, samples: Tensor, sample_shape: Tensor) -> Tensor:
    """Tells `samples` what is known of their shape."""
    wanted = TensorShape(constant_value(sample_shape))
    ranks = [wanted.ndims, distribution.batch_shape.ndims, distribution.event_shape.ndims]
    parts = [wanted, distribution.batch_shape, distribution.event_shape]
    total = samples.shape.ndims
    if total is not None and ranks.count(None) == 1:
        at = ranks.index(None)
        ranks[at] = total - sum(rank or 0 for rank in ranks)
        parts[at] = TensorShape([None] * ranks[at])
    if None not in ranks:
        samples.set_shape(parts[0].concatenate(parts[1]).concatenate(parts[2]))
    elif total is not None and ranks[2] is not None:
        samples.set_shape(TensorShape([None] * (total - ranks[2])).concatenate(parts[2]))
    return samples


def is_scalar(known: TensorShape, build: Callable[[], Tensor], name: str) -> Tensor:
    if known.ndims is not None:
        return convert_to_tensor(known.ndims == 0, name=name)
    shape = build()
    size = shape.dims[0] if shape.dims else None
    if size is not None:
        return convert_to_tensor(size == 0, name=name)
    return convert_to_tensor(math.equal(array.shape(shape)[0], 0), name=name)
