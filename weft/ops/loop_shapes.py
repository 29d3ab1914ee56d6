"""What is promised of the shapes of loop variables, and whether the promise is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core.shapes import TensorShape, as_shape
from weft.graph.graph import Tensor
from weft.graph.slices import IndexedSlices, SparseTensor
from weft.ops.routing import is_composite


def shape_invariant(variable: Any, shape: Any = None) -> Any:
    """The shape that `variable` keeps: `shape`, or its own; of a composite, one per component."""
    if isinstance(variable, IndexedSlices):
        return _slices_invariant(variable, shape)
    if isinstance(variable, SparseTensor):
        return _sparse_invariant(variable, shape)
    if is_composite(variable):
        return [part.shape for part in variable._composite_components()]
    if shape is None:
        return variable.shape
    return getattr(shape, "shape", shape)


def _slices_invariant(slices: IndexedSlices, shape: Any) -> list[TensorShape]:
    """`shape` is that of the values."""
    if shape is None:
        rows = slices.indices.shape
        dense = slices.shape
        values = rows.concatenate(dense[1:]) if dense.ndims is not None else slices.values.shape
        rank = dense.ndims
    else:
        values = as_shape(shape)
        rows, rank = values[:1], values.ndims
    found = [values, rows]
    return found if slices.dense_shape is None else [*found, TensorShape([rank])]


def _sparse_invariant(sparse: SparseTensor, shape: Any) -> list[TensorShape]:
    """`shape` is that of `dense_shape`: a vector as long as the rank."""
    if shape is None:
        rank = sparse.shape.ndims
    else:
        shape = as_shape(shape)
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
    if not all(isinstance(shape, TensorShape) for shape in shapes):
        raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
    for value, entered, shape in zip(outside, enters, shapes, strict=True):
        if not is_at_most(value.shape, shape):
            raise ValueError(
                f"The shape invariant specified for {value.name} is not compatible with the initial"
                f" shape of the loop variable. It enters the loop with shape {value.shape}, but the"
                f" specified shape invariant is {shape}."
            )
        entered.set_shape(shape)


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
