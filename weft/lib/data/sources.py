"""Datasets of tensors and numbers."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import Dimension
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.data import nest
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.structure import (
    flat_tensor_shapes,
    flat_tensor_types,
    normalize_element,
    to_batched_tensor_list,
    to_tensor_list,
    type_spec_from_value,
    unbatched,
)


def from_tensors(tensors: Any) -> Dataset:
    element = normalize_element(tensors)
    spec = type_spec_from_value(element)
    variant = raw.TensorDataset(
        to_tensor_list(spec, element), output_shapes=flat_tensor_shapes(spec)
    )
    return DatasetV1Adapter(variant, spec)


def from_tensor_slices(tensors: Any) -> Dataset:
    element = normalize_element(tensors)
    batched_spec = type_spec_from_value(element)
    for value in nest.flatten(element):
        if isinstance(value, Tensor) and value.shape.ndims == 0:
            raise ValueError(f"Value {value} has insufficient rank for batching.")
    flat = to_batched_tensor_list(batched_spec, element)
    spec = nest.map_structure(unbatched, batched_spec)
    size = Dimension(flat[0].shape.dims[0] if flat[0].shape.dims else None)
    for tensor in flat[1:]:
        size = size.merge_with(Dimension(tensor.shape.dims[0] if tensor.shape.dims else None))
    variant = raw.TensorSliceDataset(flat, output_shapes=flat_tensor_shapes(spec))
    return DatasetV1Adapter(variant, spec)


def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
    if not isinstance(sparse_tensor, SparseTensor):
        raise TypeError(f"`sparse_tensor` must be a `tf.SparseTensor` object.Was {sparse_tensor}.")
    variant = raw.SparseTensorSliceDataset(
        sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
    )
    shape = sparse_tensor.indices.shape
    rank = (shape.dims[1] - 1) if shape.dims is not None else Dimension(None)
    spec = (
        TensorSpec([None, rank], dtypes.int64),
        TensorSpec([None], sparse_tensor.dtype),
        TensorSpec([rank], dtypes.int64),
    )
    return DatasetV1Adapter(variant, spec)


def range_(*args: Any) -> Dataset:
    """Numbers, as Python's `range` has them."""
    if not 1 <= len(args) <= 3:
        raise ValueError(f"Invalid arguments to RangeDataset: {args!s}")
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    tensors = [
        convert_to_tensor(value, dtype=dtypes.int64, name=name)
        for value, name in ((start, "start"), (stop, "stop"), (step, "step"))
    ]
    spec = TensorSpec([], dtypes.int64)
    variant = raw.RangeDataset(
        *tensors, output_types=flat_tensor_types(spec), output_shapes=flat_tensor_shapes(spec)
    )
    return DatasetV1Adapter(variant, spec)
