"""tf.TensorArraySpec: what is known of a TensorArray."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import as_shape
from weft.graph.type_spec import (
    TensorSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
    type_spec_from_value,
)
from weft.ops.lists.eager_array import EagerTensorArray
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.lists.tensor_list_array import ListTensorArray


class TensorArraySpec(TypeSpec):
    """The shape and type of the elements, and whether the array can grow."""

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._element_shape, self._dtype = as_shape(element_shape), dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        """The spec of a TensorArray."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but saw: {type(value)}")
        return TensorArraySpec(
            value.element_shape, value.dtype, value.dynamic_size, value._infer_shape
        )

    @property
    def value_type(self) -> type:
        return TensorArray

    def is_compatible_with(self, other: Any) -> bool:
        """Whether an array could be of both types; how shapes are inferred does not count."""
        spec = other if isinstance(other, TypeSpec) else type_spec_from_value(other)
        if not isinstance(spec, TensorArraySpec) or self._dynamic_size != spec._dynamic_size:
            return False
        pairs = ((self._dtype, spec._dtype), (self._element_shape, spec._element_shape))
        return all(own.is_compatible_with(theirs) for own, theirs in pairs)

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorArraySpec:
        """The spec that says what both say; ValueError when they contradict."""
        if not isinstance(other, TensorArraySpec) or not self.is_compatible_with(other):
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        return TensorArraySpec(
            self._element_shape.most_specific_compatible_shape(other._element_shape),
            self._dtype,
            self._dynamic_size,
            self._infer_shape and other._infer_shape,
        )

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([2], dtypes.resource), TensorSpec([], dtypes.float32)]

    def _to_components(self, value: Any) -> Any:
        return [value.handle, value.flow]

    def _from_components(self, components: Any) -> Any:
        handle, flow = components
        made = TensorArray(self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape)
        made._dynamic_size = self._dynamic_size
        made._element_shape = [self._element_shape]
        return made

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape


for _kind in (TensorArray, ListTensorArray, EagerTensorArray):
    register_type_spec_from_value_converter(_kind, TensorArraySpec.from_value)
