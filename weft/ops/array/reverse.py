"""Arrays reversed or rolled along their dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.kit.shared import as_array, deprecated_alias, invalid
from weft.ops.kit.value_checks import must_be_within


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
    _check_lengths(xp, seq_lengths, input.shape[seq_dim], seq_dim)
    steps = np.arange(input.shape[seq_dim]).reshape(_column(input.ndim, seq_dim))
    lengths = seq_lengths.astype(np.int64).reshape(_column(input.ndim, batch_dim))
    order = xp.where(steps < lengths, lengths - 1 - steps, steps)
    return xp.take_along_axis(input, order, axis=seq_dim)


@by_library
def _check_lengths(xp: Any, lengths: Any, limit: int, seq_dim: int) -> None:
    must_be_within(lengths, limit + 1)


@_check_lengths.numpy
def _(xp: Any, lengths: Any, limit: int, seq_dim: int) -> None:
    for i, length in enumerate(lengths):
        if length < 0:
            raise invalid(f"seq_lens({i}) < 0")
        if length > limit:
            raise invalid(f"seq_lens({i}) > input.dims({seq_dim})")


def _column(count: int, axis: int) -> list[int]:
    return [-1 if i == axis else 1 for i in range(count)]


@reverse_sequence_.gradient
def _(op: Operation, grad: Any) -> Any:
    seq, batch = op.attrs["seq_dim"], op.attrs["batch_dim"]
    return reverse_sequence_(grad, op.inputs[1], seq_dim=seq, batch_dim=batch), None


def _rolled(c: ShapeContext) -> Dims:
    s.with_rank_at_least(c.dims(0), 1)
    s.with_rank_at_most(c.dims(1), 1)
    s.with_rank_at_most(c.dims(2), 1)
    s.merge(c.dims(1), c.dims(2))
    return c.dims(0)


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
            raise invalid(f"axis {a + input.ndim if a < 0 else a} is out of range")
    if not axes:
        return input
    shifts = xp.reshape(shift, (-1,))
    return xp.roll(input, shifts, axis=tuple(axes))


@roll_.gradient
def _(op: Operation, grad: Any) -> Any:
    _, shift, axis = op.inputs
    return roll_(grad, -shift, axis), None, None


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
