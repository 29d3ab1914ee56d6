"""tf.strings.join."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import elements, scalar, string, strings


def _joined_dims(c: ShapeContext) -> Dims:
    """The shape of the inputs that are not scalars, which must agree."""
    larger = [dims for i in range(c.num_inputs) if (dims := c.dims(i)) != ()]
    return functools.reduce(s.merge, larger) if larger else ()


@op(
    "StringJoin",
    inputs="inputs: N * string",
    outputs="output: string",
    attrs='N: int >= 1, separator: string = ""',
    shape=_joined_dims,
    traits=HOST | NO_GRADIENT,
)
def string_join_op(xp: Any, inputs: list[Any], *, separator: str) -> np.ndarray:
    if all(type(value) is bytes or not value.ndim for value in inputs):
        return scalar(separator.encode().join(map(string, inputs)))
    values = [np.asarray(value, dtype=object) for value in inputs]
    shapes = [value.shape for value in values if value.ndim]
    for shape in shapes[1:]:
        if shape != shapes[0]:
            raise invalid(f"Input shapes do not match: {s.show(shapes[0])} vs. {s.show(shape)}")
    arrays = np.broadcast_arrays(*values)
    parts = zip(*map(elements, arrays), strict=True)
    return strings(list(map(separator.encode().join, parts)), arrays[0].shape)


def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Joins tensors of strings element by element; scalars go with every element."""
    return string_join_op(inputs, separator=separator, name=name)
