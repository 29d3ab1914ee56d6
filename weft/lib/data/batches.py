"""Datasets of batches and windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import Dimension, TensorShape, as_shape
from weft.graph.constant_value import constant_value, constant_value_as_shape
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.lib.data import nest
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.dataset_spec import DatasetSpec
from weft.lib.data.structure import (
    batched,
    convert_legacy_structure,
    flat_tensor_shapes,
    flat_tensor_types,
    to_batched_tensor_list,
    unbatched,
)
from weft.lib.data.transform import int64


def batch(dataset: Dataset, batch_size: Any, drop_remainder: Any) -> Dataset:
    size = int64(batch_size, "batch_size")
    drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
    spec = batched(dataset.element_spec, known_size(size, drop))
    variant = raw.BatchDatasetV2(
        dataset._variant_tensor, size, drop, output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, [dataset])


def known_size(size: Tensor, drop: Tensor) -> Any:
    """The size of every batch, where the last one is not smaller."""
    if constant_value(drop) is None or not constant_value(drop):
        return None
    known = constant_value(size)
    return None if known is None else int(known)


# ---- padded batches ------------------------------------------------------------------------------


def padded_batch(
    dataset: Dataset, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any
) -> Dataset:
    if any(kind is SparseTensor for kind in nest.flatten(dataset.output_classes)):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size = int64(batch_size, "batch_size")
    fills = padding_values if padding_values is not None else _default_padding(dataset)
    shapes, types = dataset.output_shapes, dataset.output_types
    given = nest.flatten_up_to(shapes, padded_shapes)
    pairs = zip(given, nest.flatten(shapes), strict=True)
    wanted = [_shape_tensor(padded, own) for padded, own in pairs]
    values = nest.flatten(nest.map_structure_up_to(shapes, _fill_tensor, fills, types))
    drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
    known = known_size(size, drop)
    out = [TensorShape([known]).concatenate(constant_value_as_shape(s)) for s in wanted]
    spec = convert_legacy_structure(
        types, nest.pack_sequence_as(shapes, out), dataset.output_classes
    )
    variant = raw.PaddedBatchDatasetV2(
        dataset._variant_tensor, size, wanted, values, drop, output_shapes=flat_tensor_shapes(spec)
    )
    return DatasetV1Adapter(variant, spec, [dataset])


def _default_padding(dataset: Dataset) -> Any:
    def zero(dtype: Any) -> Any:
        if dtype.base_dtype == dtypes.string:
            return ""
        if dtype.base_dtype == dtypes.variant:
            raise TypeError("Unable to create padding for field of type 'variant'")
        return np.zeros((), dtype.as_numpy_dtype)

    return nest.map_structure(zero, dataset.output_types)


def _shape_tensor(padded: Any, own: TensorShape) -> Tensor:
    """A padded shape as a vector, with -1 where the largest element decides."""
    try:
        shape = as_shape(padded)
        if shape.dims is None:
            raise ValueError("an unknown rank")
        sizes = [-1 if d.value is None else d.value for d in shape.dims]
        found = convert_to_tensor(sizes, dtype=dtypes.int64)
    except (TypeError, ValueError):
        found = convert_to_tensor(padded, preferred_dtype=dtypes.int64)
        _check_shape_tensor(padded, found)
        shape = constant_value_as_shape(found)
    if not _fits(shape, own):
        raise ValueError(
            f"The padded shape {shape} is not compatible with the corresponding input component"
            f" shape {own}."
        )
    return found


def _check_shape_tensor(padded: Any, found: Tensor) -> None:
    if found.shape.ndims is not None and found.shape.ndims != 1:
        raise ValueError(
            f"Padded shape {padded} must be a 1-D tensor of tf.int64 values, but its shape was"
            f" {found.shape}."
        )
    if found.dtype != dtypes.int64:
        raise TypeError(
            f"Padded shape {padded} must be a 1-D tensor of tf.int64 values, but its element type"
            f" was {found.dtype.name}."
        )


def _fits(padded: TensorShape, own: TensorShape) -> bool:
    if own.dims is None or padded.dims is None:
        return True
    sizes: Any = zip(padded.as_list(), own.as_list(), strict=False)
    return len(own.dims) == len(padded.dims) and all(
        None in both or both[0] >= both[1] for both in sizes
    )


def _fill_tensor(value: Any, dtype: Any) -> Tensor:
    found = convert_to_tensor(value, name="padding_value")
    scalar = found.shape.is_compatible_with(())
    if scalar and found.dtype == dtype:
        return found
    if scalar:
        raise TypeError(f"Padding value tensor ({found}) does not match output type: {dtype}")
    raise ValueError(f"Padding value should be a scalar, but is not: {found}")


# ---- and back, and windows -----------------------------------------------------------------------


def unbatch(dataset: Dataset) -> Dataset:
    spec = dataset.element_spec

    def normalize(arg: Any, *rest: Any) -> Any:
        return tuple(to_batched_tensor_list(spec, (arg, *rest) if rest else arg))

    normalized = dataset.map(normalize)
    _check_rows(flat_tensor_shapes(spec))
    rows = unbatched(spec)
    found = raw.UnbatchDataset(
        normalized._variant_tensor, output_types=flat_tensor_types(rows),
        output_shapes=flat_tensor_shapes(rows),
    )  # fmt: skip
    return DatasetV1Adapter(found, rows, [normalized])


def _check_rows(shapes: list[TensorShape]) -> None:
    if any(shape.ndims == 0 for shape in shapes):
        raise ValueError("Cannot unbatch an input with scalar components.")
    size = Dimension(None)
    for shape in shapes:
        try:
            size = size.merge_with(shape.dims[0] if shape.dims else Dimension(None))
        except ValueError:
            raise ValueError(
                "Cannot unbatch an input whose components have different batch sizes."
            ) from None


def window(dataset: Dataset, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> Dataset:
    if shift is None:
        shift = size
    leaves = [DatasetSpec(leaf) for leaf in nest.flatten(dataset.element_spec)]
    spec = nest.pack_sequence_as(dataset.element_spec, leaves)
    variant = raw.WindowDataset(
        dataset._variant_tensor, int64(size, "size"), int64(shift, "shift"),
        int64(stride, "stride"),
        convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder"),
        output_types=flat_tensor_types(spec), output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, [dataset])
