"""Patches of images and volumes, flattened into the depth dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import constant
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.array import blank, deprecated_alias, invalid, pad_with

_REAL = "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"


def window_output(size: int, window: int, stride: int, padding: str) -> tuple[int, int, int]:
    """(number of windows, padding before, padding after) along one dimension."""
    if stride <= 0:
        raise ValueError(f"Stride must be > 0, but got {stride}")
    if padding == "VALID":
        count = (size - window + stride) // stride
        if count < 0:
            raise ValueError(
                f"Computed output size would be negative: {count} [input_size: {size},"
                f" effective_filter_size: {window}, stride: {stride}]"
            )
        return count, 0, 0
    count = -(-size // stride)
    total = max((count - 1) * stride + window - size, 0)
    return count, total // 2, total - total // 2


def _windows(attrs: Any, axes: int) -> tuple[list[int], list[int], list[int]]:
    """Window sizes, strides and rates of the spatial dimensions, checked."""
    found = []
    for what in ("ksizes", "strides", "rates"):
        values = attrs.get(what, [1] * (axes + 2))
        if len(values) != axes + 2:
            raise ValueError(
                f"ExtractImagePatches requires the {what} attribute to contain {axes + 2} values,"
                f" but got: {len(values)}"
            )
        if values[0] != 1 or values[-1] != 1:
            raise ValueError(
                "Only support ksizes across space."
                if what == "ksizes"
                else "Current implementation does not yet support"
                f" {what} in the batch and depth dimensions."
            )
        found.append([int(n) for n in values[1:-1]])
    return tuple(found)  # type: ignore[return-value]


def _patches_shape(c: ShapeContext, axes: int) -> Dims:
    sizes, strides, rates = _windows(c.attrs, axes)
    dims = s.with_rank(c.dims(0), axes + 2)
    depth = None if dims[-1] is None else dims[-1] * int(np.prod(sizes))
    if None in dims[1:-1]:
        return (dims[0], *[None] * axes, depth)
    counts = [
        window_output(d or 0, k + (k - 1) * (rate - 1), stride, c.attr("padding"))[0]
        for d, k, stride, rate in zip(dims[1:-1], sizes, strides, rates, strict=True)
    ]
    return (dims[0], *counts, depth)


def _patches(xp: Any, x: Any, attrs: Any, padding: str, axes: int) -> Any:
    try:
        sizes, strides, rates = _windows(attrs, axes)
        windows = [
            window_output(d, k + (k - 1) * (rate - 1), stride, padding)
            for d, k, stride, rate in zip(x.shape[1:-1], sizes, strides, rates, strict=True)
        ]
    except ValueError as error:
        raise invalid(str(error)) from None
    margins = [(0, 0), *((before, after) for _, before, after in windows), (0, 0)]
    x = pad_with(xp, x, margins, blank(x.dtype)) if any(map(any, margins)) else x
    counts = [count for count, _, _ in windows]
    if 0 in counts or 0 in x.shape:
        return xp.zeros((x.shape[0], *counts, x.shape[-1] * int(np.prod(sizes))), x.dtype)
    folded: list[int] = []
    for axis in range(axes):
        starts = np.arange(counts[axis])[:, None] * strides[axis]
        steps = np.arange(sizes[axis])[None, :] * rates[axis]
        x = xp.take(x, np.ravel(starts + steps), axis=1 + axis)
        folded += [counts[axis], sizes[axis]]
    batch, depth = x.shape[0], x.shape[-1]
    x = xp.reshape(x, (batch, *folded, depth))
    across, inside = range(1, 2 * axes, 2), range(2, 2 * axes + 1, 2)
    x = xp.transpose(x, (0, *across, *inside, 2 * axes + 1))
    return xp.reshape(x, (batch, *counts, depth * int(np.prod(sizes))))


def _patches_gradient(op: Operation, grad: Any, again: Any) -> Tensor:
    """Numbers the input's pixels from 1, takes patches of the numbers, and sums by number.

    Number 0 stands for padding, whose sum is dropped.
    """
    input = op.inputs[0]
    dims = array.shape(input, out_type=dtypes.int64)
    batch, depth = dims[:1], dims[-1:]
    space = dims[1:-1]
    pixels = raw.Prod(space, [0])
    one = array.ones([1], dtypes.int64)
    first, step = constant(1, dtypes.int64), constant(1, dtypes.int64)
    numbers = raw.Range(first, pixels + 1, step, name="range")
    grid = array.reshape(numbers, array.concat([one, space, one], 0))
    owners = array.reshape(again(grid), [-1])
    # [batch, places, depth] -> [places, batch * depth]
    rows = array.reshape(grad, array.concat([batch, [-1], depth], 0))
    rows = array.reshape(array.transpose(rows, [1, 0, 2]), array.stack([array.size(owners), -1]))
    summed = raw.UnsortedSegmentSum(rows, owners, pixels + 1)[1:]
    back = array.reshape(summed, array.concat([[-1], batch, depth], 0))
    result = array.reshape(array.transpose(back, [1, 0, 2]), dims)
    result.set_shape(input.shape)
    return result


@op(
    "ExtractImagePatches",
    inputs="images: T",
    outputs="patches: T",
    attrs="ksizes: list(int) >= 4, strides: list(int) >= 4, rates: list(int) >= 4,"
    f' T: {_REAL}, padding: {{"SAME", "VALID"}}',
    shape=lambda c: _patches_shape(c, 2),
)
def extract_image_patches_(
    xp: Any, images: Any, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str
) -> Any:
    attrs = {"ksizes": ksizes, "strides": strides, "rates": rates}
    return _patches(xp, images, attrs, padding, 2)


@extract_image_patches_.gradient
def _(op: Operation, grad: Any) -> Any:
    attrs = {k: op.attrs[k] for k in ("ksizes", "strides", "rates", "padding")}
    return _patches_gradient(op, grad, lambda x: extract_image_patches_(x, **attrs))


@op(
    "ExtractVolumePatches",
    inputs="input: T",
    outputs="patches: T",
    attrs="ksizes: list(int) >= 5, strides: list(int) >= 5,"
    f' T: {_REAL}, padding: {{"SAME", "VALID"}}',
    shape=lambda c: _patches_shape(c, 3),
)
def extract_volume_patches_(
    xp: Any, input: Any, *, ksizes: list[int], strides: list[int], padding: str
) -> Any:
    return _patches(xp, input, {"ksizes": ksizes, "strides": strides}, padding, 3)


@extract_volume_patches_.gradient
def _(op: Operation, grad: Any) -> Any:
    attrs = {k: op.attrs[k] for k in ("ksizes", "strides", "padding")}
    return _patches_gradient(op, grad, lambda x: extract_volume_patches_(x, **attrs))


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Any = None,
) -> Tensor:
    """Patches of images, flattened into the depth dimension."""
    ksizes = deprecated_alias("sizes", sizes, "ksizes", ksizes)
    return extract_image_patches_(
        images, ksizes=ksizes, strides=strides, rates=rates, padding=padding, name=name
    )


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Tensor:
    """Patches of volumes, flattened into the depth dimension."""
    return extract_volume_patches_(
        input, ksizes=ksizes, strides=strides, padding=padding, name=name
    )
