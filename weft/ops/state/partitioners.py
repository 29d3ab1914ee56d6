"""Partitioners: functions that say into how many parts `get_variable` should cut a variable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.ops.state.get_variable import _get_default_variable_store, get_variable_scope
from weft.ops.state.variable_scope import variable_scope

Partitioner = Callable[..., list[int]]


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """Cuts along `axis` so that no part is larger than `max_shard_bytes`."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        if not isinstance(dtype, dtypes.DType):
            raise ValueError(f"dtype is not a DType: {dtype}")
        dims = [int(d) for d in shape]
        row_bytes = math.prod(dims) / dims[axis] * _element_bytes(dtype, bytes_per_string_element)
        rows_per_shard = max(1, math.floor(max_shard_bytes / row_bytes))
        shards = math.ceil(dims[axis] / rows_per_shard)
        partitions = [1] * len(dims)
        partitions[axis] = min(max_shards, shards) if max_shards else shards
        return partitions

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """Cuts along `axis` into at most `max_partitions` parts of at least `min_slice_size` bytes."""

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        if axis >= len(shape):
            raise ValueError(
                f"Can not partition variable along axis {axis} when shape is only {shape}"
            )
        dims = shape.as_list()
        total = math.prod(dims) * _element_bytes(dtype, bytes_per_string_element)
        partitions = [1] * len(dims)
        wanted = math.ceil(total / min_slice_size)
        partitions[axis] = max(1, min(dims[axis], max_partitions, wanted))
        return partitions

    return partitioner


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Cuts along `axis` into `num_shards` parts."""

    def partitioner(shape: Any, **unused: Any) -> list[int]:
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, shape.as_list()[axis])
        return partitions

    return partitioner


def _element_bytes(dtype: dtypes.DType, bytes_per_string_element: int) -> int:
    if dtype.base_dtype == dtypes.string:
        return bytes_per_string_element
    return dtype.size


def create_partitioned_variables(
    shape: Any,
    slicing: Any,
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """Deprecated: the parts of a variable, cut into `slicing[i]` parts along axis i."""
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: "
            f"shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        whole = get_variable_scope()._get_partitioned_variable(
            _get_default_variable_store(),
            None,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable,
            partitioner=lambda **unused: slicing,
            collections=collections,
        )
        return list(whole)
