"""Steps of examples: how many there are, and a row for each."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.ops.array import array
from weft.ops.control import check
from weft.ops.math import casts, segment, unary


def sequence_length_from_sparse_tensor(sp_tensor: Any, num_elements: int = 1) -> Tensor:
    """The last step of every example that is there; `num_elements` columns are one step."""
    with name_scope(None, "sequence_length") as scope:
        rows, columns = (sp_tensor.indices[:, axis] for axis in (0, 1))
        ends = segment.segment_max(columns + array.ones_like(columns), rows)
        steps = casts.cast(unary.ceil(ends / num_elements), dtypes.int64)
        # Empty examples at the end of the batch have no entry to name their segment.
        examples, seen = (array.shape(each)[:1] for each in (sp_tensor, steps))
        return array.concat([steps, array.zeros(examples - seen, steps.dtype)], 0, scope)


def as_steps(column: Any, tensor: Tensor) -> Tensor:
    """The tensor of a column with its elements in a row per step of each example."""
    shape = array.shape(tensor)
    return array.reshape(tensor, (shape[0], shape[1], column.variable_shape.num_elements()))


def all_equal(tensors: list[Tensor]) -> Tensor:
    """The first tensor, once the others are known to be equal to it."""
    with name_scope(None, "assert_all_equal", values=tensors):
        first, *others = tensors
        if not others:
            return first
        with control_dependencies([check.assert_equal(first, other) for other in others]):
            return array.identity(first)
