"""tf.data.experimental.Optional: a value that may be missing."""

from __future__ import annotations

import abc
from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.data.structure import (
    DataSpec,
    flat_tensor_shapes,
    flat_tensor_types,
    from_tensor_list,
    to_tensor_list,
    type_spec_from_value,
)


class Optional(abc.ABC):
    """Something, or nothing."""

    @abc.abstractmethod
    def has_value(self, name: str | None = None) -> Tensor:
        """Whether there is something."""

    @abc.abstractmethod
    def get_value(self, name: str | None = None) -> Any:
        """The value; an error in the step if there is none."""

    @property
    @abc.abstractmethod
    def value_structure(self) -> Any:
        """The type specs of what may be there."""

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional that holds `value`."""
        with name_scope("optional") as scope:
            spec, parts = _held(value)
            return _OptionalImpl(raw.OptionalFromValue(parts, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """An optional of this structure that holds nothing."""
        return _OptionalImpl(raw.OptionalNone(), value_structure)


def _held(value: Any) -> tuple[Any, list[Tensor]]:
    """The structure of what an optional is to hold, and its tensors in a scope of their own."""
    with name_scope("value"):
        spec = type_spec_from_value(value)
        return spec, to_tensor_list(spec, value)


class _OptionalImpl(Optional):
    """An optional that is a variant tensor."""

    def __init__(self, variant_tensor: Tensor, value_structure: Any) -> None:
        self._variant_tensor, self._value_structure = variant_tensor, value_structure

    def has_value(self, name: str | None = None) -> Tensor:
        found: Tensor = raw.OptionalHasValue(self._variant_tensor, name=name)
        return found

    def get_value(self, name: str | None = None) -> Any:
        spec = self._value_structure
        found = raw.OptionalGetValue(
            self._variant_tensor, flat_tensor_types(spec), flat_tensor_shapes(spec), name=name
        )
        return from_tensor_list(spec, found if isinstance(found, (list, tuple)) else [found])

    @property
    def value_structure(self) -> Any:
        return self._value_structure

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._value_structure)


class OptionalSpec(DataSpec):
    """The type of optionals of a structure."""

    def __init__(self, value_structure: Any) -> None:
        self._value_structure = value_structure

    @property
    def value_type(self) -> type:
        return _OptionalImpl

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec((), dtypes.variant)]

    def _to_components(self, value: Any) -> Any:
        return [value._variant_tensor]

    def _from_components(self, components: Any) -> Any:
        return _OptionalImpl(components[0], self._value_structure)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return [value._variant_tensor]

    def _from_tensors(self, tensors: list[Tensor]) -> Any:
        return _OptionalImpl(tensors[0], self._value_structure)

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        return OptionalSpec(value.value_structure)
