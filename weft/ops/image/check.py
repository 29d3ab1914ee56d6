"""Checks on the shapes of images: at once where known, else in the step."""

from __future__ import annotations

from typing import Any

from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.control import check, control
from weft.ops.kit.shared import is_tensor_like

_EMPTY = "all dims of 'image.shape' must be > 0"


def require(condition: Any, message: str) -> list[Operation]:
    """Fails at once if `condition` is a plain False; else what checks it in the step."""
    if is_tensor_like(condition):
        return [control.Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def dimensions(image: Tensor, rank: int) -> list[Any]:
    """The sizes, as integers where known and as scalars of the graph elsewhere."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    sizes: list[Any] = image.shape.with_rank(rank).as_list()
    for axis, scalar in enumerate(array.unstack(array.shape(image), rank)):
        sizes[axis] = scalar if sizes[axis] is None else sizes[axis]
    return sizes


def check_at_least_3d(image: Tensor) -> list[Operation]:
    """Ops that fail unless `image` has three dimensions or more, none of them empty."""
    shape = image.shape
    try:
        shape = shape.with_rank(3) if shape.ndims is None else shape.with_rank_at_least(3)
    except ValueError:
        raise ValueError("'image' must be at least three-dimensional.") from None
    if any(d == 0 for d in shape.as_list()):
        raise ValueError(f"{_EMPTY}: {shape}")
    if shape.is_fully_defined():
        return []
    message = "'image' must be at least three-dimensional."
    return [
        check.assert_positive(array.shape(image), [f"{_EMPTY}."]),
        check.assert_greater_equal(array.rank(image), 3, message=message),
    ]


def assert_at_least_3d(image: Tensor) -> Tensor:
    """`image`, once it is checked."""
    return control.with_dependencies(check_at_least_3d(image), image)


def assert_grayscale(image: Tensor) -> Tensor:
    """`image`, once it is checked that it has one channel."""
    shape, message = image.shape, "Last dimension of a grayscale image should be size 1."
    flat = "A grayscale image must be at least two-dimensional."
    try:
        shape = shape.with_rank(2) if shape.ndims is None else shape.with_rank_at_least(2)
    except ValueError:
        raise ValueError(flat) from None
    if shape.is_fully_defined():
        if shape[-1] != 1:
            raise ValueError(message)
        return image
    checks = [
        check.assert_equal(array.shape(image)[-1], 1, message=message),
        check.assert_greater_equal(array.rank(image), 3, message=flat),
    ]
    return control.with_dependencies(checks, image)
