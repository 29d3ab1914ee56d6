"""tf.data.experimental: older names of type specs, and small objects."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.graph.type_spec import SparseTensorSpec, TensorSpec
from weft.graph.type_spec import TypeSpec as Structure
from weft.lib.data.dataset import Dataset
from weft.lib.data.dataset_spec import DatasetSpec as DatasetStructure
from weft.lib.data.optional import OptionalSpec as OptionalStructure
from weft.lib.ragged.spec import RaggedTensorSpec
from weft.ops.lists.tensor_array_spec import TensorArraySpec

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "DatasetStructure",
    "OptionalStructure", "RaggedTensorStructure", "SparseTensorStructure", "StatsAggregator",
    "Structure", "TFRecordWriter", "TensorArrayStructure", "TensorStructure",
]  # fmt: skip

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def TensorStructure(dtype: Any, shape: Any) -> TensorSpec:
    """The type and shape of a dense part of an element: a `tf.TensorSpec`."""
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: Any, shape: Any) -> SparseTensorSpec:
    """The type and shape of a sparse part of an element: a `tf.SparseTensorSpec`."""
    return SparseTensorSpec(shape, dtype)


def TensorArrayStructure(
    dtype: Any, element_shape: Any, dynamic_size: bool, infer_shape: bool
) -> TensorArraySpec:
    """`tf.TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)`."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


def RaggedTensorStructure(dtype: Any, shape: Any, ragged_rank: int) -> RaggedTensorSpec:
    """`tf.RaggedTensorSpec(shape, dtype, ragged_rank)`."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


class StatsAggregator:
    """Gathers what datasets measure. `StatsOptions.aggregator` gives it to a pipeline."""

    def __init__(self) -> None:
        self._resource = raw.StatsAggregatorHandle()

    def get_summary(self) -> Tensor:
        """The gathered statistics, as a serialized Summary."""
        found: Tensor = raw.StatsAggregatorSummary(self._resource)
        return found


class TFRecordWriter:
    """Writes the elements of a dataset, scalar strings, to a record file."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression_type = convert_to_tensor(
            compression_type or "", dtypes.string, name="compression_type"
        )

    def write(self, dataset: Dataset) -> Operation:
        """An operation that writes the whole dataset."""
        if not isinstance(dataset, Dataset):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        if dataset.output_types != dtypes.string or not dataset.output_shapes.is_compatible_with(
            []
        ):
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape"
                f" {dataset.output_shapes} and types {dataset.output_types}"
            )
        made: Operation = raw.DatasetToTFRecord(
            dataset._variant_tensor, self._filename, self._compression_type
        )
        return made
