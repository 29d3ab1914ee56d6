"""A dimension of size 1 in a ragged tensor."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import name_scope
from weft.lib.ragged.rows import positive_axis
from weft.lib.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor
from weft.ops.array import array
from weft.ops.math import math


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """A dimension of size 1 at `axis`."""
    with name_scope(name, "RaggedExpandDims", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not isinstance(input, RaggedTensor):
            return array.expand_dims(input, axis)
        ndims = input.shape.ndims
        axis = positive_axis(axis, None if ndims is None else ndims + 1)
        if axis == 0:
            splits = array.stack([0, input.nrows()])
            return RaggedTensor.from_row_splits(input, splits, validate=False)
        if axis == 1:
            splits = math.range(input.nrows() + 1)
            return RaggedTensor.from_row_splits(input, splits, validate=False)
        return input.with_values(expand_dims(input.values, axis - 1))
