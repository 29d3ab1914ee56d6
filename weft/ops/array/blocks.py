"""Blocks of the spatial dimensions moved to the batch dimension, and back.

Ops on depth are in `depth_blocks.py`, patches in `patches.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.array import blank, deprecated_alias, divide, invalid, pad_with
from weft.ops.kit.operands import tensors_of


def _block_shape(c: ShapeContext) -> tuple[int, np.ndarray | None]:
    """How many dimensions are blocked, and the block sizes if they are known."""
    dims = c.dims(1)
    if dims is None or len(dims) != 1:
        raise ValueError("block_shape must have rank 1.")
    if dims[0] is None:
        raise ValueError("block_shape must have known size.")
    return dims[0], c.value(1)


def _moved(
    what: str,
    batch_of: Callable[[int, list[int]], int | None],
    size_of: Callable[[int, int, int], int | None],
) -> Callable[..., Dims]:
    """The dims after blocks were moved, from those before; `what` are the margins of the space.

    `batch_of` makes the new batch from the old and the blocks, `size_of` a new size from the old,
    its block and both its margins.
    """

    def moved(dims: Dims, count: int, blocks: Any, margins: Any, margins_dims: Dims) -> Dims:
        s.with_rank_at_least(dims, count + 1)
        s.merge(margins_dims, (count, 2))
        if blocks is not None and np.any(np.less(blocks, 1)):
            raise ValueError("block_shape must be positive")
        if margins is not None and np.any(margins < 0):
            raise ValueError(f"{what} cannot be negative")
        if dims is None:
            return None
        batch = dims[0]
        if count and batch is not None:
            batch = None if blocks is None else batch_of(batch, [int(n) for n in blocks])
        space: list[int | None] = [None] * count
        if blocks is not None and margins is not None:
            for i, (d, block) in enumerate(zip(dims[1:], blocks, strict=False)):
                if d is not None:
                    space[i] = size_of(d, int(block), int(margins[i].sum()))
        return (batch, *space, *dims[1 + count :])

    return moved


def _divided(batch: int | None, blocks: list[int]) -> int | None:
    for block in blocks:
        batch = divide(batch, block)
    return batch


def _cropped(size: int, block: int, crop: int) -> int:
    if size * block < crop:
        raise ValueError(
            f"Negative dimension size caused by subtracting {crop} from {size * block}"
        )
    return size * block - crop


_to_batch = _moved(
    "paddings",
    lambda batch, blocks: batch * math.prod(blocks),
    lambda size, block, padding: divide(size + padding, block),
)
_to_space = _moved("crops", _divided, _cropped)


def _by_block_shape(moved: Callable[..., Dims]) -> s.Rule:
    """The rule of an op whose input 1 gives the blocks and input 2 the margins."""

    def rule(c: ShapeContext) -> Dims:
        count, blocks = _block_shape(c)
        return moved(c.dims(0), count, blocks, c.value(2), c.dims(2))

    return rule


def _by_block_size(moved: Callable[..., Dims]) -> s.Rule:
    """The rule of an op on images in square blocks, whose input 1 gives the margins."""

    def rule(c: ShapeContext) -> Dims:
        blocks = [c.attr("block_size")] * 2
        return moved(s.with_rank(c.dims(0), 4), 2, blocks, c.value(1), c.dims(1))

    return rule


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


@op(
    "SpaceToBatchND",
    inputs="input: T, block_shape: Tblock_shape, paddings: Tpaddings",
    outputs="output: T",
    attrs="T: type, Tblock_shape: {int32, int64} = int32, Tpaddings: {int32, int64} = int32",
    shape=_by_block_shape(_to_batch),
    static="block_shape, paddings",
)
def space_to_batch_nd_(xp: Any, input: Any, block_shape: Any, paddings: Any) -> Any:
    return _space_to_batch(xp, input, block_shape, paddings)


@space_to_batch_nd_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.BatchToSpaceND(grad, op.inputs[1], op.inputs[2]), None, None


@op(
    "BatchToSpaceND",
    inputs="input: T, block_shape: Tblock_shape, crops: Tcrops",
    outputs="output: T",
    attrs="T: type, Tblock_shape: {int32, int64} = int32, Tcrops: {int32, int64} = int32",
    shape=_by_block_shape(_to_space),
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
    shape=_by_block_size(_to_batch),
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
    shape=_by_block_size(_to_space),
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
    return _of_images(space_to_batch_nd, input, size, paddings, name)


def _of_images(
    compute: Callable[..., Tensor], images: Any, side: Any, margins: Any, name: str | None
) -> Tensor:
    result = compute(images, np.array([side, side], np.int64), margins, name=name)
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
    return _of_images(batch_to_space_nd, input, size, crops, name)


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(paddings, crops) that make every spatial dimension divisible by its block."""
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        given = {"input_shape": input_shape, "block_shape": block_shape}
        sizes, blocks = tensors_of(dtypes.int32, **given)
        blocks.shape.assert_is_fully_defined()
        blocks.shape.assert_has_rank(1)
        count = blocks.shape.as_list()[0] or 0
        if count == 0:
            return array.zeros([0, 2], dtypes.int32), array.zeros([0, 2], dtypes.int32)
        sizes.shape.assert_is_compatible_with([count])
        numbers: Any = (blocks, sizes, _base(base_paddings, count))
        known = [constant_value(x) for x in numbers]
        block, size, base = numbers if any(value is None for value in known) else known
        return _evened(size, block, base[:, 0], base[:, 1], range(count))


def _base(paddings: Any, count: int) -> Tensor:
    if paddings is None:
        return array.zeros([count, 2], dtypes.int32)
    given = convert_to_tensor(paddings, dtypes.int32, "base_paddings")
    given.shape.assert_is_compatible_with([count, 2])
    return given


def _evened(size: Any, block: Any, before: Any, after: Any, axes: range) -> tuple[Tensor, Tensor]:
    whole = size + before + after
    extra = (block - whole % block) % block
    sides = {"paddings": (before, after + extra), "crops": ([0] * len(axes), extra)}
    paddings, crops = (
        array.stack([[low[axis], high[axis]] for axis in axes], name=name)
        for name, (low, high) in sides.items()
    )
    return paddings, crops
