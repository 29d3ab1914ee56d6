"""Datasets as values: components of elements, arguments and results of functions."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.structure import DataSpec


class DatasetSpec(DataSpec):
    """The type of datasets of a structure."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec, self._dataset_shape = element_spec, TensorShape(dataset_shape)

    @property
    def value_type(self) -> type:
        return DatasetV1Adapter

    @property
    def _component_specs(self) -> Any:
        return TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Any:
        if self._dataset_shape.ndims == 0:
            return from_variant(components, self._element_spec)
        return _NestedVariant(components, self._element_spec, self._dataset_shape)

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    def _variant_shape(self) -> TensorShape:
        return self._dataset_shape

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        if isinstance(value, list):
            return [raw.Pack([each._variant_tensor for each in value])]
        return [value._variant_tensor]

    def _from_tensors(self, tensors: list[Tensor]) -> Any:
        return self._from_components(tensors[0])

    def _batched(self, size: Any) -> DatasetSpec:
        shape = TensorShape([size]).concatenate(self._dataset_shape)
        return DatasetSpec(self._element_spec, shape)

    def _unbatched(self) -> DatasetSpec:
        if self._dataset_shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)


class _NestedVariant:
    """Several datasets of one structure: a tensor of variants."""

    def __init__(self, variant_tensor: Tensor, element_spec: Any, dataset_shape: Any) -> None:
        self._variant_tensor = variant_tensor
        self._element_spec, self._dataset_shape = element_spec, dataset_shape

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self._element_spec, self._dataset_shape)


def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """The dataset that a variant tensor holds."""
    return DatasetV1Adapter(variant, structure)


def to_variant(dataset: Dataset) -> Tensor:
    """A variant tensor that holds the dataset."""
    return dataset._variant_tensor
