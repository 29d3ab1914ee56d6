"""Type specs: what is known of a value before there is one."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.slices import IndexedSlices, SparseTensor, SparseTensorValue
from weft.graph.tensor import Tensor


class TypeSpec(abc.ABC):
    """The type of a value that consists of tensors and of facts about them.

    A subclass says what it knows with `_serialize`: a tuple that its constructor takes. Two specs
    are compared part by part: shapes and nested specs by what they allow, all else by equality.
    """

    @property
    @abc.abstractmethod
    def value_type(self) -> type:
        """The Python type of values."""

    @property
    @abc.abstractmethod
    def _component_specs(self) -> Any:
        """A structure of the specs of the parts of a value."""

    @abc.abstractmethod
    def _to_components(self, value: Any) -> Any:
        """A value as the structure of its parts."""

    @abc.abstractmethod
    def _from_components(self, components: Any) -> Any:
        """A value made of its parts."""

    @abc.abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """The arguments of the constructor that make an equal spec."""

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value could be of this type and of the other (or of the other's value)."""
        other = _spec_of(spec_or_value)
        if type(self) is not type(other):
            return False
        return _compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: TypeSpec) -> Any:
        """The spec that says what both say; ValueError when they contradict."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_common(self._serialize(), other._serialize()))

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return nest.flatten(
            nest.map_structure(lambda spec: spec._flat_tensor_specs, self._component_specs)
        )

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list: list[Tensor]) -> Any:
        for spec, tensor in zip(self._flat_tensor_specs, tensor_list, strict=True):
            if not spec.is_compatible_with(tensor):
                raise ValueError(f"{tensor} is not compatible with {spec}")
        return self._from_components(nest.pack_sequence_as(self._component_specs, tensor_list))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypeSpec) or type(other) is not type(self):
            return False
        return bool(_comparable(self) == _comparable(other))

    def __hash__(self) -> int:
        return hash(_comparable(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()}"


def _comparable(part: Any) -> Any:
    """A hashable stand-in that is equal when the part is."""
    if isinstance(part, TypeSpec):
        return type(part), _comparable(part._serialize())
    if isinstance(part, TensorShape):
        return TensorShape, None if part.dims is None else tuple(part.as_list())
    if isinstance(part, Mapping):
        return Mapping, tuple(sorted((key, _comparable(value)) for key, value in part.items()))
    if isinstance(part, (list, tuple)):
        return (type(part), *map(_comparable, part))
    if isinstance(part, np.ndarray):
        return np.ndarray, part.shape, _comparable(part.tolist())
    return part


def _same_form(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, Mapping):
        return bool(a.keys() == b.keys())
    return not isinstance(a, (list, tuple)) or len(a) == len(b)


def _compatible(a: Any, b: Any) -> bool:
    if not _same_form(a, b):
        return False
    if isinstance(a, (list, tuple)):
        return all(_compatible(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Mapping):
        return all(_compatible(a[key], b[key]) for key in a)
    if isinstance(a, (TypeSpec, TensorShape)):
        return a.is_compatible_with(b)
    return bool(_comparable(a) == _comparable(b))


def _common(a: Any, b: Any) -> Any:
    if not _same_form(a, b):
        raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
    if isinstance(a, (list, tuple)):
        return type(a)([_common(x, y) for x, y in zip(a, b, strict=True)])
    if isinstance(a, Mapping):
        return {key: _common(a[key], b[key]) for key in a}
    if isinstance(a, TensorShape):
        return a.most_specific_compatible_shape(b)
    if isinstance(a, TypeSpec):
        return a.most_specific_compatible_type(b)
    if _comparable(a) != _comparable(b):
        raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")
    return a


# ---- the spec of a value -------------------------------------------------------------------------

_makers: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec], allow_subclass: bool = False
) -> None:
    """Lets `type_spec_from_value` take values of `type_object`, and of subclasses if asked to."""
    _makers.append((type_object, converter_fn, allow_subclass))


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, of something made of tensors, or of what becomes a tensor."""
    for kind, make, allow_subclass in _makers[::-1]:
        if type(value) is kind or (allow_subclass and isinstance(value, kind)):
            spec: TypeSpec = make(value)
            return spec
    own: Any = getattr(value, "_type_spec", None)
    if isinstance(own, TypeSpec):
        return own
    try:
        return TensorSpec.from_tensor(convert_to_tensor(value))
    except (ValueError, TypeError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}"
        ) from None


def _spec_of(spec_or_value: Any) -> TypeSpec:
    if isinstance(spec_or_value, TypeSpec):
        return spec_or_value
    return type_spec_from_value(spec_or_value)


# ---- specs of the graph's own values -------------------------------------------------------------


class TensorSpec(TypeSpec):
    """A tensor's shape, type and name."""

    # It has no parts: nest takes it for a leaf.
    _is_leaf = True

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A spec like `spec`, under another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor, named after its operation unless a name is given."""
        if not isinstance(tensor, Tensor):
            raise ValueError("`tensor` should be a tf.Tensor")
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def value_type(self) -> type:
        return Tensor

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor could have this shape and type and those of the other."""
        if not isinstance(spec_or_tensor, (TensorSpec, Tensor)):
            try:
                spec_or_tensor = convert_to_tensor(spec_or_tensor)
            except (ValueError, TypeError):
                return False
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and (
            self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorSpec:
        """The most specific spec that holds for both; the name only if it is the same."""
        if not isinstance(other, TensorSpec) or self._dtype != other._dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        shape = self._shape.most_specific_compatible_shape(other._shape)
        return TensorSpec(shape, self._dtype, self._name if self._name == other._name else None)

    @property
    def _component_specs(self) -> Any:
        return self

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [self]

    def _to_components(self, value: Any) -> Any:
        value = convert_to_tensor(value, self._dtype)
        if not value.shape.is_compatible_with(self._shape):
            raise ValueError(f"Value {value} is not convertible to a tensor with {self}")
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class SparseTensorSpec(TypeSpec):
    """The dense shape and the type of a SparseTensor."""

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec that a sparse tensor, or the value of one, fits."""
        if isinstance(value, SparseTensorValue):
            if isinstance(value.values, np.ndarray):
                return cls(value.dense_shape, value.values.dtype)
            value = SparseTensor.from_value(value)
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        raise TypeError("Expected SparseTensor or SparseTensorValue")

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def value_type(self) -> type:
        return SparseTensor

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.ndims
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value: Any) -> Any:
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            return SparseTensorValue(*components)
        return SparseTensor(*components)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype


class IndexedSlicesSpec(TypeSpec):
    """The dense shape and the types of IndexedSlices; `dense_shape_dtype` None: it has no shape."""

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype, self._indices_dtype = dtypes.as_dtype(dtype), dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = (
            None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        )
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        return IndexedSlices

    @property
    def _component_specs(self) -> Any:
        parts = (
            (self._indices_shape.concatenate(self._shape[1:]), self._dtype),
            (self._indices_shape, self._indices_dtype),
            ([self._shape.ndims], self._dense_shape_dtype),
        )
        return tuple(TensorSpec(shape, dtype) for shape, dtype in parts if dtype is not None)

    def _to_components(self, value: Any) -> Any:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        return IndexedSlices(*components)

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype,
            self._indices_shape,
        )  # fmt: skip


def _slices_spec(value: IndexedSlices) -> IndexedSlicesSpec:
    dense = None if value.dense_shape is None else value.dense_shape.dtype
    dims = value.values.shape.ndims
    shape = value.shape if value.dense_shape is not None or dims is None else (
        TensorShape([None]).concatenate(value.values.shape[1:])
    )  # fmt: skip
    return IndexedSlicesSpec(shape, value.dtype, value.indices.dtype, dense, value.indices.shape)


def _sparse_spec(value: Any) -> SparseTensorSpec:
    if isinstance(value, SparseTensorValue):
        kind = dtypes.as_dtype(np.asarray(value.values).dtype)
        return SparseTensorSpec(TensorShape([int(d) for d in value.dense_shape]), kind)
    return SparseTensorSpec(value.shape, value.dtype)


register_type_spec_from_value_converter(Tensor, TensorSpec.from_tensor, allow_subclass=True)
register_type_spec_from_value_converter(IndexedSlices, _slices_spec)
register_type_spec_from_value_converter(SparseTensor, _sparse_spec)
register_type_spec_from_value_converter(SparseTensorValue, _sparse_spec)
