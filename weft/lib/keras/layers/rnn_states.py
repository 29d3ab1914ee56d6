"""Sizes of states, and states of zeros."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape, as_shape
from weft.lib.keras.engine.base_layer import Layer
from weft.ops.array import fill as array_fill
from weft.ops.array import shape as array_shape


def is_multiple_state(state_size: Any) -> bool:
    """Whether there is one size for each of several states; a shape is one size."""
    return hasattr(state_size, "__len__") and not isinstance(state_size, TensorShape)


def size_list(state_size: Any) -> list[Any]:
    return list(state_size) if is_multiple_state(state_size) else [state_size]


def output_size_of(cell: Any) -> Any:
    """The output size that the cell declares, or the size of its first state."""
    said = getattr(cell, "output_size", None)
    return size_list(cell.state_size)[0] if said is None else said


def zero_state(batch_size: Any, state_size: Any, dtype: Any) -> Any:
    """Zeros of shape [batch_size, ...] for every size."""
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}"
        )

    def zeros(size: Any) -> Any:
        return array_fill.zeros([batch_size, *as_shape(size).as_list()], dtype=dtype)

    if nest.is_nested(state_size):
        return nest.map_structure(zeros, state_size)
    return zeros(state_size)


def zero_state_of(cell: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for `cell`, for a batch like `inputs` or as large as said."""
    if inputs is not None:
        batch_size, dtype = array_shape.shape(inputs)[0], inputs.dtype
    return zero_state(batch_size, cell.state_size, dtype)


def build_cell(cell: Any, shape: Any, dtype: Any) -> None:
    """Lets a cell that is a layer make its weights, of the type of what is around it."""
    if isinstance(cell, Layer) and not cell.built:
        if cell.dtype is None and dtype is not None:
            cell._dtype = dtype
        cell.build(shape)


def check_state_specs(sizes: list[Any], specs: Any) -> None:
    """Raises ValueError unless initial states of these `specs` suit a cell with these `sizes`."""
    flat_sizes, flat_specs = nest.flatten(sizes), nest.flatten(specs)
    fits = len(flat_sizes) == len(flat_specs) and all(
        TensorShape(spec.shape[1:]).is_compatible_with(as_shape(size))
        for spec, size in zip(flat_specs, flat_sizes, strict=True)
    )
    if not fits:
        raise ValueError(
            "An `initial_state` was passed that is not compatible with `cell.state_size`. "
            f"Received `state_spec`={specs}; however `cell.state_size` is {sizes}"
        )
