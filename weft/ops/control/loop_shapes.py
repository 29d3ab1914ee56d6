"""Shape invariants of loop variables, and the checks that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.graph.slices import IndexedSlices, SparseTensor
from weft.graph.type_spec import TensorSpec, TypeSpec, type_spec_from_value
from weft.ops.control.routing import is_composite


def shape_invariant(variable: Any, shape: Any = None) -> Any:
    """The shape that `variable` keeps: `shape`, or its own; of a composite, one per component.

    `shape` is a TensorShape or a TypeSpec.
    """
    if isinstance(shape, TypeSpec):
        wrong = not isinstance(shape, TensorSpec) and not is_composite(variable)
        if wrong or not shape.is_compatible_with(type_spec_from_value(variable)):
            raise TypeError(f"{type(shape).__name__} {shape!r} is not compatible with {variable!r}")
        return shape.shape if isinstance(shape, TensorSpec) else _component_shapes(shape)
    if not is_composite(variable):
        return variable.shape if shape is None else shape
    if shape is None:
        return _component_shapes(type_spec_from_value(variable))
    if not isinstance(shape, TensorShape):
        raise TypeError(f"Expected shape to be a TypeSpec or TensorShape, got {shape!r}")
    if isinstance(variable, IndexedSlices):
        return _slices_invariant(variable, shape)
    if isinstance(variable, SparseTensor):
        return _sparse_invariant(shape)
    if hasattr(variable, "_shape_invariant_to_type_spec"):
        return _component_shapes(variable._shape_invariant_to_type_spec(shape))
    kind, spec = type(variable).__name__, type(type_spec_from_value(variable)).__name__
    raise TypeError(f"To describe or constrain a {kind}, use a {spec} instead of a TensorShape.")


def _component_shapes(spec: TypeSpec) -> list[TensorShape]:
    return [each.shape for each in nest.flatten(spec._component_specs)]


def _slices_invariant(slices: IndexedSlices, values: TensorShape) -> list[TensorShape]:
    """`values` is the shape of the values."""
    found = [values, values[:1]]
    return found if slices.dense_shape is None else [*found, TensorShape([values.ndims])]


def _sparse_invariant(shape: TensorShape) -> list[TensorShape]:
    """`shape` is that of `dense_shape`: a vector as long as the rank."""
    if shape.ndims is not None and shape.ndims != 1:
        raise ValueError("Expected a shape with 1 dimension")
    rank = None if shape.ndims is None else shape.as_list()[0]
    return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]


def is_at_most(shape: TensorShape, limit: TensorShape) -> bool:
    """Whether everything of shape `shape` also has shape `limit`."""
    if limit.ndims is None:
        return True
    if shape.ndims != limit.ndims:
        return False
    pairs = zip(shape.as_list(), limit.as_list(), strict=True)
    return all(wanted is None or size == wanted for size, wanted in pairs)


def set_invariants(
    outside: Sequence[Tensor], enters: Sequence[Tensor], shapes: Sequence[Any]
) -> None:
    """Gives the Enters the promised shapes, which the values that enter must have."""
    if any(not isinstance(promised, TensorShape) for promised in shapes):
        raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
    for i, promised in enumerate(shapes):
        _check_initial(outside[i], promised)
        enters[i].set_shape(promised)


def _check_initial(value: Tensor, invariant: TensorShape) -> None:
    if not is_at_most(value.shape, invariant):
        raise ValueError(
            f"The shape invariant specified for {value.name} is not compatible with the initial"
            f" shape of the loop variable. It enters the loop with shape {value.shape}, but the"
            f" specified shape invariant is {invariant}."
        )


def check_invariant(merge: Tensor, following: Tensor) -> None:
    """The value after an iteration must have the shape that the loop variable keeps."""
    if not is_at_most(following.shape, merge.shape):
        value = merge.op.inputs[0].op.inputs[0]
        raise ValueError(
            f"Input tensor '{value.name}' enters the loop with shape {value.shape}, but has shape"
            f" {following.shape} after one iteration. To allow the shape to vary across iterations,"
            " use the `shape_invariants` argument of tf.while_loop to specify a less-specific"
            " shape."
        )
