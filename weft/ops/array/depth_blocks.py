"""Square blocks of pixels moved to the depth dimension, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array.array import divide, invalid

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
        if height % block or width % block:
            sides = f"width {width} and height {height}"
            raise invalid(f"Image {sides} should be divisible by block_size: {block}")
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
