"""Arrays repeated, padded, reversed or rolled along their dimensions."""

from __future__ import annotations

from collections.abc import Sequence
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
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.ops.array_fill import broadcast_to, ones
from weft.ops.array_join import concat, stack
from weft.ops.array_shape import all_axes, expand_dims, rank, reshape, shape, size, transpose
from weft.ops.kernels import (
    as_array,
    blank,
    check_size,
    deprecated_alias,
    invalid,
    is_tensor_like,
    piece,
    shape_argument,
)


def _tiled(c: ShapeContext) -> Dims:
    dims, multiples = c.dims(0), shape_argument(c, 1)
    if dims is not None:
        multiples = s.with_rank(multiples, len(dims))
        s.merge(c.dims(1), (len(dims),))
    if multiples is None:
        return None
    dims = s.with_rank(dims, len(multiples))
    return tuple(
        0 if 0 in (d, n) else None if d is None or n is None else d * n
        for d, n in zip(dims, multiples, strict=True)
    )


def _checked_multiples(x: Any, multiples: Any, least: int) -> tuple[int, ...]:
    if np.ndim(multiples) != 1:
        raise invalid(f"Expected multiples to be 1-D, but got shape {s.show(np.shape(multiples))}")
    if len(multiples) != x.ndim:
        raise invalid(
            f"Expected multiples argument to be a vector of length {x.ndim} but got length"
            f" {len(multiples)}"
        )
    for i, n in enumerate(multiples):
        if n < least:
            bound = ">= 0" if least == 0 else "> 0"
            raise invalid(f"Expected multiples[{i}] {bound}, but got {n}")
    return tuple(map(int, multiples))


@op(
    "Tile",
    inputs="input: T, multiples: Tmultiples",
    outputs="output: T",
    attrs="T: type, Tmultiples: {int32, int64} = int32",
    shape=_tiled,
    static="multiples",
)
def tile_(xp: Any, input: Any, multiples: Any) -> Any:
    input = as_array(input)
    counts = _checked_multiples(input, multiples, 0)
    tiled = tuple(d * n for d, n in zip(input.shape, counts, strict=True))
    try:
        check_size(tiled)
    except ValueError as error:
        raise invalid(str(error)) from None
    if xp is not np and all(d == 1 or n == 1 for d, n in zip(input.shape, counts, strict=True)):
        return xp.broadcast_to(input, tiled)
    return xp.tile(input, counts)


@tile_.gradient
def _(op: Operation, grad: Any) -> Any:
    input, multiples = op.inputs
    dims = shape(input, out_type=multiples.dtype)
    # Fold every tiled dimension into (multiple, size) and sum over the multiples.
    folded = reshape(transpose(stack([multiples, dims])), [-1])
    axes = raw.Range(0, size(folded), 2, name="range")
    if isinstance(grad, IndexedSlices):
        rows = raw.Cast(dims[0], grad.indices.dtype)
        grad = raw.UnsortedSegmentSum(grad.values, raw.FloorMod(grad.indices, rows), rows)
        folded = concat([[1], folded[1:]], axis=0)
    result = raw.Sum(reshape(grad, folded), axes)
    result.set_shape(input.shape)
    return result, None


@op(
    "TileGrad",
    inputs="input: T, multiples: int32",
    outputs="output: T",
    attrs="T: type",
    shape=s.unknown,
    static="multiples",
    deprecated=True,
)
def tile_grad_(xp: Any, input: Any, multiples: Any) -> Any:
    counts = _checked_multiples(input, multiples, 1)
    folded: list[int] = []
    for i, (d, n) in enumerate(zip(input.shape, counts, strict=True)):
        if d % n:
            raise invalid(
                f"Expected input_dim[{i}] to be divisible by multiples[{i}], but {d} % {n} != 0"
            )
        folded += [n, d // n]
    axes = tuple(range(0, len(folded), 2))
    return xp.sum(xp.reshape(input, folded), axis=axes, dtype=input.dtype)


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


def pad_with(xp: Any, x: Any, pairs: Sequence[tuple[int, int]], value: Any) -> Any:
    """`x` with so many `value`s before and after it along each axis."""
    if xp is not np:
        from jax import lax

        around = [(before, after, 0) for before, after in pairs]
        return lax.pad(x, xp.asarray(value, x.dtype), around)
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
    if np.ndim(constant_values) != 0:
        raise invalid(
            f"constant_values must be a scalar. Found: {s.show(np.shape(constant_values))}"
        )
    return pad_with(xp, input, _checked_paddings(input, paddings), constant_values)


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
        return None if dims is None else (None,) * len(dims)
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


def _reversed_by_flags(c: ShapeContext) -> Dims:
    (count,) = s.with_rank(c.dims(1), 1)
    dims = c.dims(0) if count is None else s.with_rank(c.dims(0), count)
    return _reversible(dims)


def _reversible(dims: Dims) -> Dims:
    if dims is not None and len(dims) > 8:
        raise ValueError("reverse does not work on tensors with more than 8 dimensions")
    return dims


def _flip(xp: Any, x: Any, axes: Sequence[int]) -> Any:
    return xp.flip(x, tuple(axes)) if axes else x


@op(
    "Reverse",
    inputs="tensor: T, dims: bool",
    outputs="output: T",
    attrs="T: {uint8, int8, uint16, int16, int32, int64, bool, half, float, double, complex64,"
    " complex128, string}",
    shape=_reversed_by_flags,
    static="dims",
)
def reverse_(xp: Any, tensor: Any, dims: Any) -> Any:
    if len(dims) != tensor.ndim:
        raise invalid(
            "'dims' must have the same number of values as 'input' has dimensions. 'input' has"
            f" {tensor.ndim}'dims' has {len(dims)} values"
        )
    return _flip(xp, tensor, [i for i, flag in enumerate(dims) if flag])


@reverse_.gradient
def _(op: Operation, grad: Any) -> Any:
    return reverse_(grad, op.inputs[1]), None


def _distinct_axes(axes: Any, count: int) -> list[int]:
    found: list[int] = []
    for i, axis in enumerate(map(int, axes)):
        if not -count <= axis < count:
            raise ValueError(f"'axis'[{i}] = {axis} is out of valid range [0, {count - 1}")
        if axis % count in found:
            raise ValueError(f"axis {axis % count} specified more than once.")
        found.append(axis % count)
    return found


def _reversed(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(1), 1)
    dims, axes = _reversible(c.dims(0)), c.value(1)
    if axes is not None and dims is not None:
        _distinct_axes(axes, len(dims))
    return dims


@op(
    "ReverseV2",
    inputs="tensor: T, axis: Tidx",
    outputs="output: T",
    attrs="Tidx: {int32, int64} = int32, T: {uint8, int8, uint16, int16, int32, int64, bool,"
    " bfloat16, half, float, double, complex64, complex128, string}",
    shape=_reversed,
    static="axis",
)
def reverse_v2_(xp: Any, tensor: Any, axis: Any) -> Any:
    tensor = as_array(tensor)
    if np.ndim(axis) != 1:
        raise invalid(f"'dims' must be 1-dimension, not {np.ndim(axis)}")
    try:
        return _flip(xp, tensor, _distinct_axes(axis, tensor.ndim))
    except ValueError as error:
        raise invalid(str(error)) from None


@reverse_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    return reverse_v2_(grad, op.inputs[1]), None


def _sequences(c: ShapeContext) -> Dims:
    (length,) = s.with_rank(c.dims(1), 1)
    dims, batch, seq = c.dims(0), c.attr("batch_dim"), c.attr("seq_dim")
    if dims is None:
        return None
    for what, axis in (("batch_dim", batch), ("seq_dim", seq)):
        if axis >= len(dims):
            raise ValueError(f"{what} must be < input rank: {axis} vs. {len(dims)}")
    if batch < 0:
        raise ValueError(f"batch_dim must be >=0, got {batch}")
    return (*dims[:batch], s.merge_dim(dims[batch], length), *dims[batch + 1 :])


@op(
    "ReverseSequence",
    inputs="input: T, seq_lengths: Tlen",
    outputs="output: T",
    attrs="seq_dim: int, batch_dim: int = 0, T: type, Tlen: {int32, int64} = int64",
    shape=_sequences,
)
def reverse_sequence_(
    xp: Any, input: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int
) -> Any:
    if batch_dim == seq_dim:
        raise invalid(f"batch_dim == seq_dim == {seq_dim}")
    for what, axis in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if axis >= input.ndim:
            raise invalid(f"{what} must be < input.dims()( {axis} vs. {input.ndim})")
    if len(seq_lengths) != input.shape[batch_dim]:
        raise invalid(
            f"len(seq_lens) != input.dims({batch_dim}), ({len(seq_lengths)} vs."
            f" {input.shape[batch_dim]})"
        )
    if xp is np:
        for i, length in enumerate(seq_lengths):
            if length < 0:
                raise invalid(f"seq_lens({i}) < 0")
            if length > input.shape[seq_dim]:
                raise invalid(f"seq_lens({i}) > input.dims({seq_dim})")
    steps = np.arange(input.shape[seq_dim]).reshape(_column(input.ndim, seq_dim))
    lengths = seq_lengths.astype(np.int64).reshape(_column(input.ndim, batch_dim))
    order = xp.where(steps < lengths, lengths - 1 - steps, steps)
    return xp.take_along_axis(input, order, axis=seq_dim)


def _column(count: int, axis: int) -> list[int]:
    return [-1 if i == axis else 1 for i in range(count)]


@reverse_sequence_.gradient
def _(op: Operation, grad: Any) -> Any:
    seq, batch = op.attrs["seq_dim"], op.attrs["batch_dim"]
    return reverse_sequence_(grad, op.inputs[1], seq_dim=seq, batch_dim=batch), None


def _rolled(c: ShapeContext) -> Dims:
    s.with_rank_at_most(c.dims(1), 1)
    s.with_rank_at_most(c.dims(2), 1)
    s.merge(c.dims(1), c.dims(2))
    return s.with_rank_at_least(c.dims(0), 1)


@op(
    "Roll",
    inputs="input: T, shift: Tshift, axis: Taxis",
    outputs="output: T",
    attrs="T: type, Tshift: {int32, int64}, Taxis: {int32, int64}",
    shape=_rolled,
    static="axis",
)
def roll_(xp: Any, input: Any, shift: Any, axis: Any) -> Any:
    if input.ndim < 1:
        raise invalid("input must be 1-D or higher")
    for what, value in (("shift", shift), ("axis", axis)):
        if np.ndim(value) > 1:
            raise invalid(
                f"{what} must be a scalar or a 1-D vector. Found: {s.show(np.shape(value))}"
            )
    if np.size(axis) != s.size(np.shape(shift)):
        raise invalid("shift and axis must have the same size")
    axes = [int(a) for a in np.ravel(axis)]
    for a in axes:
        if not -input.ndim <= a < input.ndim:
            raise invalid(f"axis {a} is out of range")
    if not axes:
        return input
    shifts = xp.reshape(shift, (-1,))
    return xp.roll(input, shifts, axis=tuple(axes))


@roll_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, shift, axis = op.inputs
    return roll_(grad, -shift, axis), None, None


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along each dimension i."""
    return tile_(input, multiples, name=name)


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """`tensor` with rows added before and after along each dimension."""
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


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` with its elements in reverse order along each dimension in `axis`."""
    return reverse_v2_(tensor, axis, name=name)


reverse_v2 = reverse


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """`input` with the first `seq_lengths[i]` steps of each sequence i reversed."""
    seq = deprecated_alias("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = deprecated_alias("batch_axis", batch_axis, "batch_dim", batch_dim)
    return reverse_sequence_(
        input, seq_lengths, seq_dim=seq, batch_dim=0 if batch is None else batch, name=name
    )


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` moved by `shift` along `axis`; what falls off the end comes in at the start."""
    return roll_(input, shift, axis, name=name)


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinate arrays of a grid whose axes are the given vectors."""
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        lines = [
            reshape(stack(x), [-1 if j == i else 1 for j in range(count)])
            for i, x in enumerate(args)
        ]
        sizes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            rest = (1,) * (count - 2)
            lines[0] = reshape(lines[0], (1, -1, *rest))
            lines[1] = reshape(lines[1], (-1, 1, *rest))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        grid = ones(sizes, dtype)
        return [line * grid for line in lines]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """`input` with each element repeated `repeats` times along `axis` (flattened if None)."""
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        counts = convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
        if not counts.dtype.is_integer:
            raise TypeError(f"repeats must be an integer tensor; dtype={counts.dtype}")
        counts = raw.Cast(counts, dtypes.int32)
        counts.shape.with_rank_at_most(1)
        if data.dims == ():
            data = stack([data])
        at = _positive_axis(axis, None if data.dims is None else len(data.dims))
        if counts.dims is not None and len(counts.dims) == 1 and data.dims is not None:
            s.merge_dim(data.dims[at], counts.dims[0])
        dims = shape(data)
        result_shape = concat([dims[:at], [-1], dims[at + 1 :]], axis=0)
        if counts.dims == ():
            return reshape(_repeat_all(data, at, counts), result_shape)
        return _repeat_each(data, at, counts, dims, result_shape)


def _positive_axis(axis: int, count: int | None) -> int:
    if count is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -count <= axis < count:
        raise ValueError(f"axis={axis} out of bounds: expected {-count}<=axis<{count}")
    return axis % count


def _repeat_all(data: Tensor, axis: int, count: Any) -> Tensor:
    """A new dimension after `axis` that repeats `data` `count` times."""
    expanded = expand_dims(data, axis + 1)
    if expanded.dims is not None:
        multiples: Any = [1] * len(expanded.dims)
        multiples[axis + 1] = count
    else:
        once = ones([rank(expanded)], dtypes.int32)
        multiples = concat([once[: axis + 1], [count], once[axis + 2 :]], axis=0)
    return tile(expanded, multiples)


def _repeat_each(
    data: Tensor, axis: int, counts: Tensor, dims: Tensor, result_shape: Tensor
) -> Tensor:
    """Repeats by the largest count, then keeps of each element what it asks for."""
    from weft.ops import select

    if counts.dims is None or len(counts.dims) != axis + 1:
        lead = dims[: axis + 1 - rank(counts)]
        counts = broadcast_to(counts, concat([lead, shape(counts)], axis=0))
        counts.set_shape([None] * (axis + 1))
    most = raw.Maximum(0, raw.Max(counts, all_axes(counts)))
    mask = select.sequence_mask(counts, most)
    result = select.boolean_mask(_repeat_all(data, axis, most), mask)
    if axis:
        result = reshape(result, result_shape)
    if data.dims is not None:
        result.set_shape([*data.dims[:axis], None, *data.dims[axis + 1 :]])
    return result
