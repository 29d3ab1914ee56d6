"""tf.RaggedTensorSpec."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec, TypeSpec


class RaggedTensorSpec(TypeSpec):
    """The shape and types of a ragged tensor, of which `ragged_rank` dimensions are ragged."""

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        levels = rank - 1 if ragged_rank is None and rank is not None else ragged_rank
        if levels is None:
            raise ValueError("Must specify ragged_rank or a shape with a known rank.")
        if not isinstance(levels, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and levels >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = levels

    @property
    def value_type(self) -> type:
        from weft.lib.ragged.tensor import RaggedTensor

        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> Any:
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        inner = TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1 :])
        rows = None if self._shape.ndims is None else self._shape.as_list()[0]
        outer = TensorSpec([None if rows is None else rows + 1], self._row_splits_dtype)
        others = [TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1)
        return [TensorSpec(inner, self._dtype), outer, *others]

    def _to_components(self, value: Any) -> Any:
        if self._ragged_rank == 0:
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: Any) -> Any:
        from weft.lib.ragged.tensor import RaggedTensor
        from weft.lib.ragged.value import ragged_value

        values, *splits = components
        if all(isinstance(part, np.ndarray) for part in components):
            return ragged_value(values, splits)
        values = convert_to_tensor(values)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)

    # ---- as tensors of variants, which is how a dataset holds them ----

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return [value._to_variant(batched_input=False)]

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        return [value._to_variant(batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list: list[Tensor]) -> Any:
        from weft.lib.ragged.tensor import RaggedTensor

        if self._ragged_rank <= 0:
            raise ValueError(f"ragged_rank must be non-negative; got {self._ragged_rank}.")
        result = RaggedTensor._from_variant(tensor_list[0], self._dtype, self._ragged_rank)
        values, splits, *_ = self._component_specs
        result.flat_values.set_shape(values.shape)
        result.row_splits.set_shape(splits.shape)
        return result

    def _from_tensor_list(self, tensor_list: list[Tensor]) -> Any:
        return self._from_compatible_tensor_list(tensor_list)

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1)

    def _unbatch(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1)

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor or of its value."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
