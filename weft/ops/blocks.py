"""Ops that move blocks of pixels between the spatial, batch and depth dimensions, and patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops import array
from weft.ops.array import blank, deprecated_alias, divide, invalid, pad_with

_REAL = "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"


# ---- space and batch --------------------------------------------------------------------------


def _block_shape(c: ShapeContext) -> tuple[int | None, np.ndarray | None]:
    """How many dimensions are blocked, and the block sizes, each as far as known."""
    dims = c.dims(1)
    if dims is not None and len(dims) != 1:
        raise ValueError("block_shape must have rank 1.")
    return None if dims is None else dims[0], c.value(1)


def _to_batch(dims: Dims, count: int, blocks: Any, paddings: Any, paddings_dims: Dims) -> Dims:
    s.with_rank_at_least(dims, count + 1)
    s.merge(paddings_dims, (count, 2))
    if blocks is not None and np.any(np.less(blocks, 1)):
        raise ValueError("block_shape must be positive")
    if paddings is not None and np.any(paddings < 0):
        raise ValueError("paddings cannot be negative")
    if dims is None:
        return None
    batch = dims[0]
    if count and (blocks is None or batch is None):
        batch = None
    elif count and batch is not None:
        batch *= int(np.prod(blocks))
    space: list[int | None] = [None] * count
    if blocks is not None and paddings is not None:
        for i, (d, block) in enumerate(zip(dims[1:], blocks, strict=False)):
            space[i] = None if d is None else divide(d + int(paddings[i].sum()), int(block))
    return (batch, *space, *dims[1 + count :])


def _to_space(dims: Dims, count: int, blocks: Any, crops: Any, crops_dims: Dims) -> Dims:
    s.with_rank_at_least(dims, count + 1)
    s.merge(crops_dims, (count, 2))
    if blocks is not None and np.any(np.less(blocks, 1)):
        raise ValueError("block_shape must be positive")
    if crops is not None and np.any(crops < 0):
        raise ValueError("crops cannot be negative")
    if dims is None:
        return None
    batch = dims[0]
    if count and blocks is None:
        batch = None
    for block in () if blocks is None else blocks:
        batch = divide(batch, int(block))
    space: list[int | None] = [None] * count
    if blocks is not None and crops is not None:
        for i, (d, block) in enumerate(zip(dims[1:], blocks, strict=False)):
            if d is not None:
                cropped = d * int(block) - int(crops[i].sum())
                if cropped < 0:
                    raise ValueError(
                        f"Negative dimension size caused by subtracting {int(crops[i].sum())} from"
                        f" {d * int(block)}"
                    )
                space[i] = cropped
    return (batch, *space, *dims[1 + count :])


def _check_blocks(x: Any, block_shape: Any, margins: Any, what: str) -> int:
    if np.ndim(block_shape) != 1:
        raise invalid(f"block_shape rank should be 1 instead of {np.ndim(block_shape)}")
    count = len(block_shape)
    if x.ndim < 1 + count:
        raise invalid(f"input rank should be >= {1 + count} instead of {x.ndim}")
    if np.shape(margins) != (count, 2):
        raise invalid(
            f"{what} should have shape [{count}, 2] instead of {s.show(np.shape(margins))}"
        )
    product = int(np.prod(block_shape, dtype=np.int64))
    if product <= 0:
        raise invalid(f"Product of block sizes must be positive, got {product}")
    if np.any(np.less(margins, 0)):
        raise invalid(f"{what.capitalize()} must be non-negative")
    return product


def _space_to_batch(xp: Any, x: Any, block_shape: Any, paddings: Any) -> Any:
    product = _check_blocks(x, block_shape, paddings, "paddings")
    blocks = [int(n) for n in block_shape]
    pairs = [(0, 0), *((int(a), int(b)) for a, b in paddings)]
    pairs += [(0, 0)] * (x.ndim - len(pairs))
    x = pad_with(xp, x, pairs, blank(x.dtype)) if any(map(any, pairs)) else x
    batch, space, rest = x.shape[0], x.shape[1 : 1 + len(blocks)], x.shape[1 + len(blocks) :]
    for i, (d, block) in enumerate(zip(space, blocks, strict=True)):
        if d % block:
            raise invalid(f"padded_shape[{i}]={d} is not divisible by block_shape[{i}]={block}")
    small = [d // block for d, block in zip(space, blocks, strict=True)]
    folded = [n for pair in zip(small, blocks, strict=True) for n in pair]
    count = len(blocks)
    x = xp.reshape(x, (batch, *folded, *rest))
    inside = [2 + 2 * i for i in range(count)]
    across = [1 + 2 * i for i in range(count)]
    x = xp.transpose(x, (*inside, 0, *across, *range(1 + 2 * count, x.ndim)))
    return xp.reshape(x, (batch * product, *small, *rest))


def _batch_to_space(xp: Any, x: Any, block_shape: Any, crops: Any) -> Any:
    product = _check_blocks(x, block_shape, crops, "crops")
    blocks = [int(n) for n in block_shape]
    count = len(blocks)
    if x.shape[0] % product:
        raise invalid(
            f"Input batch dimension ({x.shape[0]}) is not divisible by product of block sizes"
            f" ({product})"
        )
    batch, space, rest = x.shape[0] // product, x.shape[1 : 1 + count], x.shape[1 + count :]
    x = xp.reshape(x, (*blocks, batch, *space, *rest))
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    x = xp.transpose(x, (count, *pairs, *range(2 * count + 1, x.ndim)))
    large = [d * block for d, block in zip(space, blocks, strict=True)]
    x = xp.reshape(x, (batch, *large, *rest))
    kept = [slice(None)]
    for i, (d, (before, after)) in enumerate(zip(large, crops, strict=True)):
        if d < before + after:
            raise invalid(f"cropped_shape[{i}]={d - before - after} must be non-negative")
        kept.append(slice(int(before), d - int(after)))
    return x[tuple(kept)]


def _space_to_batch_nd_shape(c: ShapeContext) -> Dims:
    count, blocks = _block_shape(c)
    if count is None:
        return None
    return _to_batch(c.dims(0), count, blocks, c.value(2), c.dims(2))


@op(
    "SpaceToBatchND",
    inputs="input: T, block_shape: Tblock_shape, paddings: Tpaddings",
    outputs="output: T",
    attrs="T: type, Tblock_shape: {int32, int64} = int32, Tpaddings: {int32, int64} = int32",
    shape=_space_to_batch_nd_shape,
    static="block_shape, paddings",
)
def space_to_batch_nd_(xp: Any, input: Any, block_shape: Any, paddings: Any) -> Any:
    return _space_to_batch(xp, input, block_shape, paddings)


@space_to_batch_nd_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.BatchToSpaceND(grad, op.inputs[1], op.inputs[2]), None, None


def _batch_to_space_nd_shape(c: ShapeContext) -> Dims:
    count, blocks = _block_shape(c)
    if count is None:
        return None
    return _to_space(c.dims(0), count, blocks, c.value(2), c.dims(2))


@op(
    "BatchToSpaceND",
    inputs="input: T, block_shape: Tblock_shape, crops: Tcrops",
    outputs="output: T",
    attrs="T: type, Tblock_shape: {int32, int64} = int32, Tcrops: {int32, int64} = int32",
    shape=_batch_to_space_nd_shape,
    static="block_shape, crops",
)
def batch_to_space_nd_(xp: Any, input: Any, block_shape: Any, crops: Any) -> Any:
    return _batch_to_space(xp, input, block_shape, crops)


@batch_to_space_nd_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.SpaceToBatchND(grad, op.inputs[1], op.inputs[2]), None, None


def _check_square(x: Any, block_size: int) -> None:
    if block_size < 2:
        raise invalid(f"Block size should be > 1: {block_size}")
    if x.ndim != 4:
        raise invalid(f"Input rank should be: 4instead of: {x.ndim}")


@op(
    "SpaceToBatch",
    inputs="input: T, paddings: Tpaddings",
    outputs="output: T",
    attrs="T: type, Tpaddings: {int32, int64} = int32, block_size: int >= 2",
    shape=lambda c: _to_batch(
        s.with_rank(c.dims(0), 4), 2, [c.attr("block_size")] * 2, c.value(1), c.dims(1)
    ),
    static="paddings",
)
def space_to_batch_(xp: Any, input: Any, paddings: Any, *, block_size: int) -> Any:
    _check_square(input, block_size)
    return _space_to_batch(xp, input, [block_size] * 2, paddings)


@space_to_batch_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.BatchToSpace(grad, op.inputs[1], block_size=op.attrs["block_size"]), None


@op(
    "BatchToSpace",
    inputs="input: T, crops: Tidx",
    outputs="output: T",
    attrs="T: type, block_size: int >= 2, Tidx: {int32, int64} = int32",
    shape=lambda c: _to_space(
        s.with_rank(c.dims(0), 4), 2, [c.attr("block_size")] * 2, c.value(1), c.dims(1)
    ),
    static="crops",
)
def batch_to_space_(xp: Any, input: Any, crops: Any, *, block_size: int) -> Any:
    _check_square(input, block_size)
    return _batch_to_space(xp, input, [block_size] * 2, crops)


@batch_to_space_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.SpaceToBatch(grad, op.inputs[1], block_size=op.attrs["block_size"]), None


def space_to_batch_nd(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Tensor:
    """Blocks of the padded spatial dimensions moved to the batch dimension."""
    return space_to_batch_nd_(input, block_shape, paddings, name=name)


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """The batch dimension moved back into blocks of the spatial dimensions, which are cropped."""
    return batch_to_space_nd_(input, block_shape, crops, name=name)


def space_to_batch(
    input: Any,
    paddings: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """`space_to_batch_nd` of images, with square blocks."""
    size = deprecated_alias("block_shape", block_shape, "block_size", block_size)
    result = space_to_batch_nd(input, np.array([size, size], np.int64), paddings, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space(
    input: Any,
    crops: Any,
    block_size: int | None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """`batch_to_space_nd` of images, with square blocks."""
    size = deprecated_alias("block_shape", block_shape, "block_size", block_size)
    result = batch_to_space_nd(input, np.array([size, size], np.int64), crops, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(paddings, crops) that make every spatial dimension divisible by its block."""
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        block_shape = convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        block_shape.shape.assert_is_fully_defined()
        block_shape.shape.assert_has_rank(1)
        count = block_shape.dims[0]
        if count == 0:
            return array.zeros([0, 2], dtypes.int32), array.zeros([0, 2], dtypes.int32)
        input_shape.shape.assert_is_compatible_with([count])
        if base_paddings is None:
            base_paddings = array.zeros([count, 2], dtypes.int32)
        else:
            base_paddings = convert_to_tensor(
                base_paddings, dtype=dtypes.int32, name="base_paddings"
            )
            base_paddings.shape.assert_is_compatible_with([count, 2])
        known = [constant_value(x) for x in (block_shape, input_shape, base_paddings)]
        if all(value is not None for value in known):
            block_shape, input_shape, base_paddings = known
        before, after = base_paddings[:, 0], base_paddings[:, 1]
        whole = input_shape + before + after
        extra = (block_shape - whole % block_shape) % block_shape
        total = after + extra
        paddings = array.stack([[before[i], total[i]] for i in range(count)], name="paddings")
        crops = array.stack([[0, extra[i]] for i in range(count)], name="crops")
        return paddings, crops


# ---- space and depth --------------------------------------------------------------------------

_FORMATS = '{"NHWC", "NCHW", "NCHW_VECT_C"} = "NHWC"'


def _image_dims(c: ShapeContext) -> tuple[tuple[int | None, ...], str, int]:
    layout = c.attr("data_format")
    dims = s.with_rank(c.dims(0), 5 if layout == "NCHW_VECT_C" else 4)
    return dims, layout, c.attr("block_size")


def _times(d: int | None, n: int) -> int | None:
    return None if d is None else d * n


def _image(layout: str, batch: int | None, space: Sequence[int | None], depth: int | None) -> Dims:
    if layout == "NHWC":
        return (batch, *space, depth)
    if layout == "NCHW":
        return (batch, depth, *space)
    return (batch, divide(depth, 4), *space, 4)


def _image_parts(
    dims: tuple[int | None, ...], layout: str
) -> tuple[int | None, tuple[int | None, ...], int | None]:
    """(batch, (height, width), depth)"""
    if layout == "NHWC":
        return dims[0], dims[1:3], dims[3]
    return dims[0], dims[2:4], dims[1] if layout == "NCHW" else _times(dims[1], 4)


def _space_to_depth_shape(c: ShapeContext) -> Dims:
    dims, layout, block = _image_dims(c)
    batch, space, depth = _image_parts(dims, layout)
    return _image(layout, batch, [divide(d, block) for d in space], _times(depth, block * block))


def _depth_to_space_shape(c: ShapeContext) -> Dims:
    dims, layout, block = _image_dims(c)
    batch, space, depth = _image_parts(dims, layout)
    return _image(layout, batch, [_times(d, block) for d in space], divide(depth, block * block))


def _move_depth(xp: Any, x: Any, block: int, layout: str, gather: bool) -> Any:
    """Blocks of pixels into the depth (`gather`) or back, channels last while it is done."""
    if x.ndim != (5 if layout == "NCHW_VECT_C" else 4):
        raise invalid(f"Input rank should be 4 instead of {x.ndim}")
    last = {
        "NHWC": lambda y: y,
        "NCHW": lambda y: xp.transpose(y, (0, 2, 3, 1)),
        # Channel c is stored as number c % 4 of vector c // 4.
        "NCHW_VECT_C": lambda y: xp.reshape(
            xp.transpose(y, (0, 2, 3, 1, 4)), (y.shape[0], *y.shape[2:4], y.shape[1] * 4)
        ),
    }[layout]
    back = {
        "NHWC": lambda y: y,
        "NCHW": lambda y: xp.transpose(y, (0, 3, 1, 2)),
        "NCHW_VECT_C": lambda y: xp.transpose(
            xp.reshape(y, (*y.shape[:3], y.shape[3] // 4, 4)), (0, 3, 1, 2, 4)
        ),
    }[layout]
    x = last(x)
    batch, height, width, depth = x.shape
    if gather:
        for what, d in (("height", height), ("width", width)):
            if d % block:
                raise invalid(f"Image {what} {d} should be divisible by block_size: {block}")
        x = xp.reshape(x, (batch, height // block, block, width // block, block, depth))
        x = xp.transpose(x, (0, 1, 3, 2, 4, 5))
        final = (batch, height // block, width // block, depth * block * block)
    else:
        if depth % (block * block):
            raise invalid(f"Input depth dimension {depth} should be divisible by: {block * block}")
        rest = depth // (block * block)
        x = xp.reshape(x, (batch, height, width, block, block, rest))
        x = xp.transpose(x, (0, 1, 3, 2, 4, 5))
        final = (batch, height * block, width * block, rest)
    return back(xp.reshape(x, final))


def _check_differentiable(op: Operation) -> None:
    if op.attrs["data_format"] == "NCHW_VECT_C":
        raise ValueError(
            f"Cannot compute {op.type} gradient with NCHW_VECT_C. NCHW_VECT_C requires qint8 data"
            " type."
        )


@op(
    "SpaceToDepth",
    inputs="input: T",
    outputs="output: T",
    attrs=f"T: type, block_size: int >= 2, data_format: {_FORMATS}",
    shape=_space_to_depth_shape,
)
def space_to_depth_(xp: Any, input: Any, *, block_size: int, data_format: str) -> Any:
    return _move_depth(xp, input, block_size, data_format, True)


@space_to_depth_.gradient
def _(op: Operation, grad: Any) -> Any:
    _check_differentiable(op)
    return depth_to_space(grad, op.attrs["block_size"], data_format=op.attrs["data_format"])


@op(
    "DepthToSpace",
    inputs="input: T",
    outputs="output: T",
    attrs=f"T: type, block_size: int >= 2, data_format: {_FORMATS}",
    shape=_depth_to_space_shape,
)
def depth_to_space_(xp: Any, input: Any, *, block_size: int, data_format: str) -> Any:
    return _move_depth(xp, input, block_size, data_format, False)


@depth_to_space_.gradient
def _(op: Operation, grad: Any) -> Any:
    _check_differentiable(op)
    return space_to_depth(grad, op.attrs["block_size"], data_format=op.attrs["data_format"])


def space_to_depth(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """Square blocks of pixels moved to the depth dimension."""
    return space_to_depth_(input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """The depth dimension moved into square blocks of pixels."""
    return depth_to_space_(input, block_size=block_size, data_format=data_format, name=name)


# ---- patches ----------------------------------------------------------------------------------


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
    depth = _times(dims[-1], int(np.prod(sizes)))
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
