"""The structure of a dataset's elements: type specs, and tensors that stand for values.

A tensor stands for itself, three variants for a sparse tensor, a variant for a dataset or an
optional, so that datasets know tensors only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape, as_shape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor, SparseTensorValue
from weft.graph.tensor import Tensor
from weft.graph.type_spec import SparseTensorSpec, TensorSpec, TypeSpec
from weft.graph.type_spec import type_spec_from_value as spec_of_leaf
from weft.lib.data import nest


class DataSpec(TypeSpec):
    """A type spec that is one variant in a dataset."""

    def _variant_shape(self) -> TensorShape:
        return TensorShape([])

    def _from_tensors(self, tensors: list[Tensor]) -> Any:
        """The value that variants stand for."""
        raise NotImplementedError

    def _batched(self, size: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be batched")

    def _unbatched(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be unbatched")


# ---- values -> specs -----------------------------------------------------------------------------


def type_spec_from_value(element: Any) -> Any:
    """The specs of the leaves of `element`, in its form."""
    if isinstance(element, dict):
        found = element.copy()
        found.update({key: type_spec_from_value(value) for key, value in element.items()})
        return found
    if isinstance(element, tuple) and not isinstance(element, SparseTensorValue):
        parts = [type_spec_from_value(each) for each in element]
        return type(element)(*parts) if hasattr(element, "_fields") else tuple(parts)
    if hasattr(type(element), "__attrs_attrs__"):
        return nest.map_structure(type_spec_from_value, element)
    if isinstance(element, np.ndarray):
        return TensorSpec(element.shape, dtypes.as_dtype(element.dtype))
    spec = _leaf_spec(element)
    if spec is not None:
        return spec
    try:
        return _leaf_spec(convert_to_tensor(element))
    except (ValueError, TypeError):
        raise TypeError(
            f"Could not build a TypeSpec for {element!r} with type {type(element).__name__}"
        ) from None


def _leaf_spec(value: Any) -> Any:
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, SparseTensorValue):
        if isinstance(value.values, Tensor):
            return _leaf_spec(SparseTensor.from_value(value))
        return SparseTensorSpec(value.dense_shape, dtypes.as_dtype(value.values.dtype))
    if isinstance(value, list) and value:
        return _batch_of(value)
    own = getattr(value, "_type_spec", None)
    if isinstance(own, TypeSpec):
        return own
    if isinstance(value, (SparseTensor,)) or _is_registered(value):
        return spec_of_leaf(value)
    return None


def _batch_of(values: list[Any]) -> Any:
    """The spec of a list of datasets or optionals: such a list is one component."""
    specs = [_leaf_spec(value) for value in values]
    if not isinstance(specs[0], DataSpec):
        return None
    return reduce(lambda a, b: a.most_specific_compatible_type(b), specs)._batched(len(specs))


def _is_registered(value: Any) -> bool:
    from weft.lib.ragged.tensor import RaggedTensor
    from weft.lib.ragged.value import RaggedTensorValue
    from weft.ops.lists.tensor_array import TensorArray

    return isinstance(value, (TensorArray, RaggedTensor, RaggedTensorValue))


def _is_ragged(spec: Any) -> bool:
    """Whether a spec knows itself how its values become variants."""
    return hasattr(spec, "_from_compatible_tensor_list")


def normalize_element(element: Any) -> Any:
    """`element` with its leaves as tensors, sparse tensors or datasets."""
    with name_scope("normalize_element"):
        leaves = [_normalized(value, i) for i, value in enumerate(nest.flatten(element))]
    return nest.pack_sequence_as(element, leaves)


def _normalized(value: Any, i: int) -> Any:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    spec = None if isinstance(value, Tensor) else _leaf_spec(value)
    if _is_ragged(spec):
        from weft.lib.ragged.tensor import convert_to_tensor_or_ragged_tensor

        return convert_to_tensor_or_ragged_tensor(value, name=f"component_{i}")
    if _leaf_spec(value) is not None and not isinstance(value, Tensor):
        return value
    return convert_to_tensor(value, name=f"component_{i}")


# ---- legacy: types, shapes and classes -----------------------------------------------------------


class OfElements:
    """An object with elements: their type specs, also by the older properties."""

    _element_spec: Any

    @property
    def element_spec(self) -> Any:
        """The type specs of an element."""
        return self._element_spec

    @property
    def output_types(self) -> Any:
        """The types of an element's components."""
        return nest.map_structure(legacy_type, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element's components."""
        return nest.map_structure(legacy_shape, self.element_spec)

    @property
    def output_classes(self) -> Any:
        """The Python types of an element's components."""
        return nest.map_structure(legacy_class, self.element_spec)


def legacy_type(spec: Any) -> Any:
    if isinstance(spec, DataSpec):
        return spec
    return spec._dtype if _is_array(spec) or _is_ragged(spec) else spec.dtype


def legacy_shape(spec: Any) -> Any:
    if _is_array(spec):
        head = TensorShape([spec._dynamic_size, spec._infer_shape])
        return head.concatenate(spec._element_shape)
    if _is_ragged(spec):
        return spec._shape
    return spec if isinstance(spec, DataSpec) else spec.shape


def legacy_class(spec: Any) -> Any:
    """The Python type of values; where that does not say enough, the spec."""
    return spec if isinstance(spec, DataSpec) or _is_ragged(spec) else spec.value_type


def _is_array(spec: Any) -> bool:
    return type(spec).__name__ == "TensorArraySpec"


def convert_legacy_structure(output_types: Any, output_shapes: Any, output_classes: Any) -> Any:
    """Specs from the older triple of structures."""
    leaves = zip(
        nest.flatten(output_types), nest.flatten(output_shapes), nest.flatten(output_classes),
        strict=False,
    )  # fmt: skip
    return nest.pack_sequence_as(output_classes, [_from_legacy(*leaf) for leaf in leaves])


def _from_legacy(dtype: Any, shape: Any, kind: Any) -> Any:
    if isinstance(kind, TypeSpec):
        return kind
    if isinstance(kind, type) and issubclass(kind, SparseTensor):
        return SparseTensorSpec(shape, dtype)
    if isinstance(kind, type) and issubclass(kind, Tensor):
        return TensorSpec(shape, dtype)
    if isinstance(kind, type) and kind.__name__ == "TensorArray":
        from weft.ops.lists.tensor_array_spec import TensorArraySpec

        return TensorArraySpec(shape[2:], dtype, bool(shape[0]), bool(shape[1]))
    raise TypeError(f"Could not build a structure for output class {kind!r}")


# ---- specs and tensors ---------------------------------------------------------------------------


def flat_tensor_specs(spec: Any) -> list[TensorSpec]:
    """The specs of the tensors that stand for an element."""
    return [each for leaf in nest.flatten(spec) for each in _tensor_specs(leaf)]


def _tensor_specs(spec: Any) -> list[TensorSpec]:
    if isinstance(spec, TensorSpec):
        return [spec]
    if isinstance(spec, SparseTensorSpec):
        return [TensorSpec(None, dtypes.variant)]
    if isinstance(spec, DataSpec):
        return [TensorSpec(spec._variant_shape(), dtypes.variant)]
    if _is_ragged(spec):
        return spec._flat_tensor_specs
    return [TensorSpec([], dtypes.variant)]


def flat_tensor_shapes(spec: Any) -> list[TensorShape]:
    """The shapes of the tensors that an element of this structure consists of."""
    return [each.shape for each in flat_tensor_specs(spec)]


def flat_tensor_types(spec: Any) -> list[Any]:
    """The types of the tensors that an element of this structure consists of."""
    return [each.dtype for each in flat_tensor_specs(spec)]


def to_tensor_list(spec: Any, element: Any) -> list[Tensor]:
    """The tensors that stand for `element`."""
    nest.assert_same_structure(spec, element)
    pairs = zip(nest.flatten(spec), nest.flatten(element), strict=True)
    return [tensor for leaf, value in pairs for tensor in _to_tensors(leaf, value)]


def _to_tensors(spec: Any, value: Any) -> list[Tensor]:
    if isinstance(spec, TensorSpec):
        return [convert_to_tensor(value)]
    if isinstance(spec, SparseTensorSpec):
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return [
            raw.SerializeSparse(
                value.indices, value.values, value.dense_shape, out_type=dtypes.variant
            )
        ]
    if isinstance(spec, DataSpec) or _is_ragged(spec):
        return spec._to_tensor_list(value)
    return [_as_list(value)] if _is_array(spec) else list(nest.flatten(spec._to_components(value)))


def _as_list(array: Any) -> Tensor:
    """A TensorArray as a list of tensors, which is a value."""
    if array.flow.dtype == dtypes.variant:
        return array.flow
    with name_scope("convert_tensor_array"):
        shape = array.element_shape
        known = -1 if shape.ndims is None else [-1 if d is None else d for d in shape.as_list()]
        return raw.TensorListFromTensor(
            array.stack(), convert_to_tensor(known, dtype=dtypes.int32, name="element_shape")
        )


def _from_list(spec: Any, tensor: Tensor) -> Any:
    from weft.ops.lists.tensor_list_array import ListTensorArray

    return ListTensorArray(
        spec._dtype, flow=_with_shape(tensor, TensorShape([])), dynamic_size=spec._dynamic_size,
        infer_shape=spec._infer_shape, element_shape=spec._element_shape,
    )  # fmt: skip


def to_batched_tensor_list(spec: Any, element: Any) -> list[Tensor]:
    """As `to_tensor_list`, for elements that are batches: the first axis is kept."""
    nest.assert_same_structure(spec, element)
    pairs = zip(nest.flatten(spec), nest.flatten(element), strict=True)
    found = []
    for leaf, value in pairs:
        if isinstance(leaf, SparseTensorSpec):
            found.append(
                raw.SerializeManySparse(
                    value.indices, value.values, value.dense_shape, out_type=dtypes.variant
                )
            )
        elif _is_ragged(leaf):
            found += leaf._to_batched_tensor_list(value)
        else:
            found += _to_tensors(leaf, value)
    if any(tensor.shape.ndims == 0 for tensor in found):
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return found


def from_tensor_list(spec: Any, tensors: Sequence[Tensor]) -> Any:
    """The element that tensors stand for."""
    leaves = nest.flatten(spec)
    counts = [len(_tensor_specs(leaf)) for leaf in leaves]
    if sum(counts) != len(tensors):
        raise ValueError(f"Expected {sum(counts)} tensors but got {len(tensors)}.")
    given = iter(tensors)
    found = [
        _from_tensors(leaf, [next(given) for _ in range(n)])
        for leaf, n in zip(leaves, counts, strict=True)
    ]
    return nest.pack_sequence_as(spec, found)


def _from_tensors(spec: Any, tensors: list[Tensor]) -> Any:
    if isinstance(spec, TensorSpec):
        return _with_shape(tensors[0], spec.shape)
    if isinstance(spec, SparseTensorSpec):
        return _sparse(spec, tensors[0])
    if isinstance(spec, DataSpec):
        return spec._from_tensors(tensors)
    if _is_ragged(spec):
        return spec._from_compatible_tensor_list(tensors)
    return _from_list(spec, tensors[0]) if _is_array(spec) else spec._from_components(tensors)


def _with_shape(tensor: Tensor, shape: TensorShape) -> Tensor:
    tensor.set_shape(shape)
    return tensor


def _sparse(spec: SparseTensorSpec, tensor: Tensor) -> SparseTensor:
    parts, rank = raw.DeserializeSparse(tensor, spec.dtype), spec.shape.ndims
    indices, values, shape = parts
    for part, dims in ((indices, [None, rank]), (shape, [rank])):
        part.set_shape(dims)
    return SparseTensor(indices, values, shape)


def shapes_of(types: Any, shapes: Any) -> Any:
    """A shape for each type of a structure: those given, or unknown ones."""
    if shapes is None:
        return nest.map_structure(lambda _: TensorShape(None), types)
    return nest.map_structure_up_to(types, as_shape, shapes)


# ---- batches -------------------------------------------------------------------------------------


def batched(spec: Any, size: Any) -> Any:
    """The spec of batches of `size` (None: unknown) elements."""
    return nest.map_structure(lambda leaf: _batched(leaf, size), spec)


def _batched(spec: Any, size: Any) -> Any:
    if isinstance(spec, TensorSpec):
        return TensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)
    if isinstance(spec, DataSpec):
        return spec._batched(size)
    if _is_ragged(spec):
        return spec._batch(size)
    raise TypeError(f"Batching of {type(spec).__name__} is not supported")


def unbatched(spec: Any) -> Any:
    """The spec of the rows of batches."""
    return nest.map_structure(_unbatched, spec)


def _unbatched(spec: Any) -> Any:
    if isinstance(spec, DataSpec):
        return spec._unbatched()
    if _is_ragged(spec):
        return spec._unbatch()
    if isinstance(spec, (TensorSpec, SparseTensorSpec)):
        if spec.shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return type(spec)(spec.shape[1:], spec.dtype)
    raise TypeError(f"Unbatching of {type(spec).__name__} is not supported")


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Whether two structures of specs allow the same element."""
    try:
        nest.assert_same_structure(spec1, spec2)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(spec1), nest.flatten(spec2), strict=True)
    return all(a.is_compatible_with(b) and b.is_compatible_with(a) for a, b in pairs)
