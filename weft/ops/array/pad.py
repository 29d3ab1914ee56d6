"""Arrays padded with a value, or with a mirror image of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.constant_value import constant_value
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.array.join import stack
from weft.ops.array.shape import rank, reshape, shape
from weft.ops.kit.shared import as_array, blank, check_size, invalid, is_tensor_like, piece


def _padding_matrix(c: ShapeContext) -> tuple[Dims, np.ndarray | None]:
    """The input's dims and the paddings, each as far as known."""
    count, columns = s.with_rank(c.dims(1), 2)
    if columns not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {columns}")
    dims, paddings = c.dims(0), c.value(1)
    if paddings is not None:
        count = len(paddings)
    if count is not None:
        dims = s.with_rank(dims, count)
    if paddings is not None and np.any(paddings < 0):
        raise ValueError("Paddings must be non-negative")
    return dims, paddings


def _padded(c: ShapeContext) -> Dims:
    dims, paddings = _padding_matrix(c)
    if dims is None:
        return None
    if paddings is not None:
        added: Sequence[int | None] = [int(n) for n in paddings.sum(axis=1)]
    else:
        added = _partial_paddings(c.op.inputs[1], len(dims))
    return check_size(
        tuple(None if d is None or n is None else d + n for d, n in zip(dims, added, strict=True))
    )


def _partial_paddings(paddings: Tensor, count: int) -> list[int | None]:
    """How much each dimension grows, when only some rows of a packed matrix are constant."""
    if paddings.op.type != "Pack" or paddings.op.attrs["axis"] != 0:
        return [None] * count
    rows = [constant_value(row) for row in paddings.op.inputs]
    return [None if row is None else int(np.sum(row)) for row in rows]


def _checked_paddings(x: Any, paddings: Any) -> list[tuple[int, int]]:
    if np.ndim(paddings) != 2 or np.shape(paddings)[1] != 2:
        raise invalid(f"paddings must be a matrix with 2 columns: {s.show(np.shape(paddings))}")
    if len(paddings) != x.ndim:
        raise invalid(
            "The first dimension of paddings must be the rank of inputs"
            f"{s.show(np.shape(paddings))} {s.show(x.shape)}"
        )
    pairs = [(int(before), int(after)) for before, after in paddings]
    for before, after in pairs:
        if before < 0 or after < 0:
            raise invalid(f"Paddings must be non-negative: {before} {after}")
    return pairs


@by_library
def pad_with(xp: Any, x: Any, pairs: Sequence[tuple[int, int]], value: Any) -> Any:
    """`x` with so many `value`s before and after it along each axis."""
    from jax import lax

    around = [(before, after, 0) for before, after in pairs]
    return lax.pad(x, xp.asarray(value, x.dtype), around)


@pad_with.numpy
def _(xp: Any, x: Any, pairs: Sequence[tuple[int, int]], value: Any) -> Any:
    dims = [before + d + after for (before, after), d in zip(pairs, x.shape, strict=True)]
    out = np.full(dims, value, x.dtype)
    inner = (slice(before, before + d) for (before, _), d in zip(pairs, x.shape, strict=True))
    out[tuple(inner)] = x
    return out


@op(
    "Pad",
    inputs="input: T, paddings: Tpaddings",
    outputs="output: T",
    attrs="T: type, Tpaddings: {int32, int64} = int32",
    shape=_padded,
    static="paddings",
)
def pad_(xp: Any, input: Any, paddings: Any) -> Any:
    input = as_array(input)
    return pad_with(xp, input, _checked_paddings(input, paddings), blank(input.dtype))


@op(
    "PadV2",
    inputs="input: T, paddings: Tpaddings, constant_values: T",
    outputs="output: T",
    attrs="T: type, Tpaddings: {int32, int64} = int32",
    shape=_padded,
    static="paddings",
)
def pad_v2_(xp: Any, input: Any, paddings: Any, constant_values: Any) -> Any:
    input = as_array(input)
    pairs = _checked_paddings(input, paddings)
    if np.ndim(constant_values) != 0:
        raise invalid(
            f"constant_values must be a scalar. Found: {s.show(np.shape(constant_values))}"
        )
    return pad_with(xp, input, pairs, constant_values)


@pad_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _unpadded(op, grad), None


@pad_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _unpadded(op, grad), None, None


def _unpadded(op: Operation, grad: Any) -> Tensor:
    x, paddings = op.inputs[:2]
    before = raw.Slice(paddings, [0, 0], stack([rank(x), 1]))
    begin = reshape(before, [-1])
    return raw.Slice(grad, begin, shape(x, out_type=begin.dtype))


def _checked_mirror(
    pairs: Sequence[tuple[int, int]], sizes: Sequence[int], mode: str, what: str
) -> int:
    """How far from the edge mirroring starts: 1 leaves the edge itself out."""
    inset = 1 if mode == "REFLECT" else 0
    for (before, after), length in zip(pairs, sizes, strict=True):
        # Padding nothing asks nothing of the dimension, even of an empty one.
        if max(before, after) and max(before, after) > length - inset:
            bound = ("less than", "not less than") if inset else ("no greater than", "greater than")
            raise invalid(
                f"paddings must be {bound[0]} the {what} size: {before}, {after} {bound[1]}"
                f" {length}"
            )
    return inset


@op(
    "MirrorPad",
    inputs="input: T, paddings: Tpaddings",
    outputs="output: T",
    attrs='T: type, Tpaddings: {int32, int64} = int32, mode: {"REFLECT", "SYMMETRIC"}',
    shape=_padded,
    static="paddings",
)
def mirror_pad_(xp: Any, input: Any, paddings: Any, *, mode: str) -> Any:
    pairs = _checked_paddings(input, paddings)
    _checked_mirror(pairs, input.shape, mode, "dimension")
    if not any(map(any, pairs)):
        return input
    return xp.pad(input, pairs, mode=mode.lower())


@mirror_pad_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.MirrorPadGrad(grad, op.inputs[1], mode=op.attrs["mode"]), None


def _mirror_unpadded(c: ShapeContext) -> Dims:
    dims, paddings = _padding_matrix(c)
    if dims is None or paddings is None:
        count, _ = s.with_rank(c.dims(1), 2)
        return None if count is None else (None,) * count
    lost = [int(n) for n in paddings.sum(axis=1)]
    if any(d is not None and d < n for d, n in zip(dims, lost, strict=True)):
        raise ValueError(f"Paddings {lost} are larger than the input {s.show(dims)}")
    return tuple(None if d is None else d - n for d, n in zip(dims, lost, strict=True))


@op(
    "MirrorPadGrad",
    inputs="input: T, paddings: Tpaddings",
    outputs="output: T",
    attrs='T: type, Tpaddings: {int32, int64} = int32, mode: {"REFLECT", "SYMMETRIC"}',
    shape=_mirror_unpadded,
    static="paddings",
)
def mirror_pad_grad_(xp: Any, input: Any, paddings: Any, *, mode: str) -> Any:
    pairs = _checked_paddings(input, paddings)
    sizes = [d - before - after for (before, after), d in zip(pairs, input.shape, strict=True)]
    inset = _checked_mirror(pairs, sizes, mode, "output dimension")
    out = input
    for axis, ((before, after), length) in enumerate(zip(pairs, sizes, strict=True)):
        whole, out = out, piece(out, axis, before, before + length)
        rest = [(0, 0)] * input.ndim
        for begin, width, at in (
            (0, before, inset),
            (before + length, after, length - after - inset),
        ):
            if width:
                # What was mirrored out comes back, reversed, onto the place it was taken from.
                rest[axis] = (at, length - width - at)
                folded = xp.flip(piece(whole, axis, begin, begin + width), axis)
                out = out + pad_with(xp, folded, rest, blank(folded.dtype))
    return out


@mirror_pad_grad_.gradient
def _(op: Operation, grad: Any) -> Any:
    return mirror_pad_(grad, op.inputs[1], mode=op.attrs["mode"]), None


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """`tensor` with rows added before and after along each dimension.

    Args:
        tensor: a tensor.
        paddings: for each dimension, how many rows before and after.
        mode: "CONSTANT", "REFLECT" (the edge once) or "SYMMETRIC" (the edge twice), in any case.
        name: of the operation.
        constant_values: what to fill with in mode "CONSTANT".

    Returns:
        A larger tensor of the same type.

    Raises:
        ValueError: the mode is unknown, or the shape does not allow it.

    Example:
        >>> session.run(tf.pad([[1, 2]], [[0, 1], [1, 0]]))
        array([[0, 1, 2],
               [0, 0, 0]], dtype=int32)
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if _is_zero(constant_values):
            return pad_(tensor, paddings, name=name)
        return pad_v2_(tensor, paddings, constant_values, name=name)
    if mode in ("REFLECT", "SYMMETRIC"):
        return mirror_pad_(tensor, paddings, mode=mode, name=name)
    raise ValueError(f"Unknown padding mode: {mode}")


def _is_zero(value: Any) -> bool:
    if is_tensor_like(value) or isinstance(value, str | bytes):
        return False
    return np.ndim(value) == 0 and bool(value == 0)
