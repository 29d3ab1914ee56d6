"""Gathers: rows or elements of an array, chosen by index.

An index out of range is an error, as on TensorFlow's CPU. In programs for an accelerator such rows
are zeros, as on TensorFlow's GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library, form_for_numpy
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import colocate_with, name_scope
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.graph.traits import GATHERS_ROWS, MOVES, known
from weft.ops.array import array
from weft.ops.array.coordinates import is_grid
from weft.ops.kit import native
from weft.ops.kit.operands import operands
from weft.ops.kit.row_updates import check_range
from weft.ops.kit.shared import as_array, blank, invalid, is_concrete, place
from weft.ops.kit.value_checks import are_within, is_stored, must_hold


def _check_gather(xp: Any, indices: Any, limit: int) -> bool:
    return check_range(
        xp,
        indices,
        limit,
        lambda index, at, limit: f"indices{place(at)} = {index} is not in [0, {limit})",
    )


@by_library
def take_rows(xp: Any, params: Any, indices: Any, axis: int) -> Any:
    """`params` at `indices` along `axis`; if unchecked, zeros where one is out of range."""
    is_checked = _check_gather(xp, indices, params.shape[axis])
    if params.shape[axis] == 0 or 0 in indices.shape:
        dims = params.shape[:axis] + indices.shape + params.shape[axis + 1 :]
        return xp.zeros(dims, params.dtype)
    if is_concrete(indices) and np.all((indices >= 0) & (indices < params.shape[axis])):
        return xp.take(params, indices, axis=axis, mode="clip")
    if is_checked and axis == 0 and _is_native(params, indices):
        return _native_rows(params, indices)
    if is_checked:
        return xp.asarray(params).take(indices, axis=axis, mode="clip")
    return _pick(xp, params, (slice(None),) * axis + (indices,))


# Bytes of a table that is too large for the caches, where XLA waits for one row after the other,
# of a row, and of all rows that are taken.
_LARGE_TABLE, _ROW, _MUCH = 2**23, range(128, 4097), 2**18


def _is_native(params: Any, indices: Any) -> bool:
    """Whether our own kernel may take rows of a table, which must not be there only for it."""
    if not native.offers("gather_rows") or params.nbytes < _LARGE_TABLE:
        return False
    row = params.nbytes // params.shape[0]
    return (
        row in _ROW
        and row * indices.size >= _MUCH
        and params.dtype.kind in "biufc"
        and indices.dtype.itemsize in (4, 8)
        and is_stored(params)
    )


def _native_rows(params: Any, indices: Any) -> Any:
    sizes = indices.size, params.shape[0], params.nbytes // params.shape[0], indices.dtype.itemsize
    shape = (*indices.shape, *params.shape[1:])
    return native.call("gather_rows", shape, params, indices, sizes=sizes, dtype=params.dtype)


@take_rows.numpy
def _(xp: Any, params: Any, indices: Any, axis: int) -> Any:
    try:
        if indices.item(indices.argmin()) >= 0:  # NumPy would count from the end
            return as_array(params.take(indices, axis))
    except (IndexError, ValueError):  # out of range, or there is none
        pass
    return take_rows.general(xp, params, indices, axis)


@by_library
def _pick(xp: Any, params: Any, where: tuple[Any, ...]) -> Any:
    """`params[where]`; in a program, zeros where that is out of range."""
    return params.at[where].get(mode="fill", fill_value=0, wrap_negative_indices=False)


@_pick.numpy
def _(xp: Any, params: Any, where: tuple[Any, ...]) -> Any:
    return params[where]


def _gathered(c: ShapeContext) -> Dims:
    params = s.with_rank_at_least(c.dims(0), 1)
    return s.concat(c.dims(1), None if params is None else params[1:])


@op(
    "Gather",
    inputs="params: Tparams, indices: Tindices",
    outputs="output: Tparams",
    attrs="validate_indices: bool = true, Tparams: type, Tindices: {int32, int64}",
    shape=_gathered,
    traits=GATHERS_ROWS | known("indices"),
)
def gather_(xp: Any, params: Any, indices: Any) -> Any:
    if params.ndim < 1:
        raise invalid("params must be at least 1 dimensional")
    return take_rows(xp, params, indices, 0)


@gather_.gradient
def _(op: Operation, grad: Any) -> Any:
    params, indices = op.inputs
    return _rows_gradient(_params_shape(params), indices, grad), None


def _params_shape(params: Tensor) -> Tensor:
    with colocate_with(params):
        return raw.Cast(array.shape(params, out_type=dtypes.int64), dtypes.int32)


def _rows_gradient(params_shape: Tensor, indices: Tensor, grad: Any) -> IndexedSlices:
    size = array.expand_dims(array.size(indices), 0)
    values = array.reshape(grad, array.concat([size, params_shape[1:]], 0))
    return IndexedSlices(values, array.reshape(indices, size), params_shape)


def _gathered_v2(c: ShapeContext) -> Dims:
    params, indices = s.with_rank_at_least(c.dims(0), 1), c.dims(1)
    s.with_rank(c.dims(2), 0)
    axis, batch = c.value(2), c.attr("batch_dims")
    if axis is None:
        if params is None or indices is None:
            return None
        batch = batch + len(indices) if batch < 0 else batch
        return (None,) * (len(params) + len(indices) - 1 - batch)
    at = int(axis)
    s.with_rank_at_least(params, -at if at < 0 else at + 1)
    s.with_rank_at_least(params, -batch if batch < 0 else batch + 1)
    if params is None or indices is None:
        return None
    s.with_rank_at_least(indices, -batch if batch < 0 else batch)
    at %= len(params)
    batch = batch + len(indices) if batch < 0 else batch
    lead = s.merge(params[:batch], indices[:batch]) if batch <= at else params[:batch]
    assert lead is not None
    return (*lead, *params[batch:at], *indices[batch:], *params[at + 1 :])


@op(
    "GatherV2",
    inputs="params: Tparams, indices: Tindices, axis: Taxis",
    outputs="output: Tparams",
    attrs="batch_dims: int = 0, Tparams: type, Tindices: {int32, int64}, Taxis: {int32, int64}",
    shape=_gathered_v2,
    static="axis",
    traits=MOVES | GATHERS_ROWS | known("indices"),
)
def gather_v2_(xp: Any, params: Any, indices: Any, axis: Any, *, batch_dims: int) -> Any:
    if params.ndim < 1:
        raise invalid("params must be at least 1 dimensional")
    if axis.ndim != 0:
        raise invalid("axis must be scalar")
    at, count = int(axis), params.ndim
    if not -count <= at < count:
        raise invalid(f"Expected axis in the range [{-count}, {count}), but got {at}")
    at %= count
    if not batch_dims:
        return take_rows(xp, params, indices, at)
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not 0 <= batch < indices.ndim:
        raise invalid(
            f"Expected batch_dims in the range [{-indices.ndim}, {indices.ndim}), but got {batch}"
        )
    if batch >= count:
        raise invalid(f"batch_dims ({batch}) must be less than rank(params) ({count}).")
    if at < batch:
        raise invalid(f"batch_dims ({batch}) must be less than or equal to axis ({at}).")
    return _gather_batched(xp, params, indices, at, batch)


def _gather_batched(xp: Any, params: Any, indices: Any, axis: int, batch: int) -> Any:
    dims = params.shape
    batches, outer, length, inner = (
        s.size(part) or 0
        for part in (dims[:batch], dims[batch:axis], dims[axis : axis + 1], dims[axis + 1 :])
    )
    final = dims[:axis] + indices.shape[batch:] + dims[axis + 1 :]
    _check_gather(xp, indices, length)
    if 0 in final or length == 0:
        return xp.zeros(final, params.dtype)
    rows = xp.reshape(indices, (batches, -1))[:, None, :]
    where = (np.arange(batches)[:, None, None], np.arange(outer)[None, :, None], rows)
    flat = xp.reshape(params, (batches, outer, length, inner))
    return _pick(xp, flat, where).reshape(final)


def _gather_along(c: Any) -> Any:
    """The gather along an axis that is known, of rows that are not in batches."""
    dims, axis, take = c.dims(0), c.value(2), form_for_numpy(take_rows)
    if c.attr("batch_dims") or not dims or axis.ndim or not -len(dims) <= axis < len(dims):
        return None
    at = int(axis) % len(dims)
    return lambda params, indices: take(np, params, indices, at)


gather_v2_.prepared(_gather_along, inputs=2)


@gather_v2_.gradient
def _(op: Operation, grad: Any) -> Any:
    params, indices, axis = op.inputs
    params_shape = _params_shape(params)
    batch = op.attrs["batch_dims"]
    if batch < 0:
        batch += len(indices.dims or ())
    at = constant_value(axis)
    if at is not None and int(at) == 0:
        return _rows_gradient(params_shape, indices, grad), None, None
    if at is not None and int(at) < 0:
        axis = axis + raw.Cast(array.rank(params), axis.dtype)
    array.expand_dims(array.size(indices), 0)  # nodes of TensorFlow's that nothing reads
    result = _axis_gradient(params_shape, indices, axis, batch, grad)
    result.set_shape(params.shape)
    return result, None, None


def _axis_gradient(
    params_shape: Tensor, indices: Tensor, axis: Tensor, batch: int, grad: Any
) -> Tensor:
    """Moves the gathered axis next to the batch axes, sums rows by index, moves it back."""
    outer, inner = params_shape[:axis], params_shape[axis:][1:]
    # With batch dimensions, all but those of the indices are folded into one.
    values_shape = array.concat([outer, [-1], inner], 0)
    count, place = array.size(values_shape), array.size(outer)

    def axes(first: Any, limit: Any) -> Tensor:
        return raw.Range(first, limit, 1, name="range")

    batch_axes, between, inner_axes = axes(0, batch), axes(batch, place), axes(place + 1, count)
    values = array.reshape(grad, values_shape)
    forward = array.concat([batch_axes, [place], between, inner_axes], 0)
    values = array.transpose(values, forward)
    summed = _batch_gather_gradient(params_shape, values, indices, batch, params_shape[axis])
    back = array.concat([batch_axes, between + 1, [batch], inner_axes], 0)
    return array.transpose(summed, back)


def _batch_gather_gradient(
    params_shape: Tensor, values: Tensor, indices: Tensor, batch: int, length: Tensor
) -> Tensor:
    if not batch:
        flat = array.reshape(indices, array.expand_dims(array.size(indices), 0))
        return raw.UnsortedSegmentSum(values, flat, length)
    dims = array.shape(values)
    outer, inner = dims[:batch], dims[batch:][1:]
    batches = raw.Prod(outer, [0])
    # Rows of batch b are numbered from b * length on, so that one sum serves all batches.
    each = raw.Range(0, batches, 1, name="range") * length
    shifted = array.reshape(indices, array.stack([batches, -1]))
    shifted = shifted + raw.Cast(array.expand_dims(each, 1), indices.dtype)
    flat_values = array.reshape(values, array.concat([[-1], inner], 0))
    flat = array.reshape(shifted, array.expand_dims(array.size(indices), 0))
    summed = raw.UnsortedSegmentSum(flat_values, flat, batches * length)
    return array.reshape(summed, array.concat([outer, [-1], inner], 0))


def _gathered_nd(c: ShapeContext) -> Dims:
    params, indices = c.dims(0), s.with_rank_at_least(c.dims(1), 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    depth = indices[-1]
    if depth > len(params):
        raise ValueError(
            "indices.shape[-1] must be <= params.rank, but saw indices shape:"
            f" {s.show(indices)} and params shape: {s.show(params)}"
        )
    return indices[:-1] + params[depth:]


def coordinates(indices: Any) -> tuple[Any, ...]:
    return tuple(indices[..., k] for k in range(indices.shape[-1]))


@by_library
def check_coordinates(xp: Any, indices: Any, dims: tuple[int, ...], what: str) -> None:
    must_hold(are_within(indices, dims[: indices.shape[-1]]))


@check_coordinates.numpy
def _(xp: Any, indices: Any, dims: tuple[int, ...], what: str) -> None:
    bad = np.any((indices < 0) | (indices >= np.array(dims[: indices.shape[-1]])), axis=-1)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        entry = ", ".join(str(int(i)) for i in indices[at])
        raise invalid(f"indices{place(at)} = [{entry}] does not index into {what} {s.show(dims)}")


@op(
    "GatherNd",
    inputs="params: Tparams, indices: Tindices",
    outputs="output: Tparams",
    attrs="Tparams: type, Tindices: {int32, int64}",
    shape=_gathered_nd,
    traits=MOVES,
)
def gather_nd_(xp: Any, params: Any, indices: Any) -> Any:
    if params.ndim < 1:
        raise invalid("params must be at least a vector")
    if indices.ndim < 1:
        raise invalid("indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        raise invalid(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs."
            f" {params.ndim}"
        )
    final = indices.shape[:-1] + params.shape[depth:]
    if depth == 0:
        return xp.broadcast_to(params, final)
    if 0 in indices.shape:
        return xp.full(final, blank(params.dtype), params.dtype)
    if 0 in params.shape:
        raise invalid(
            "Requested more than 0 entries, but params is empty.  Params shape:"
            f" {s.show(params.shape)}"
        )
    return _gather_slices(xp, params, indices, depth).reshape(final)


@by_library
def _gather_slices(xp: Any, params: Any, indices: Any, depth: int) -> Any:
    """Slices of `params` at coordinates, one after the other."""
    check_coordinates(xp, indices, params.shape, "param shape")
    return _pick(xp, params, coordinates(indices))


@_gather_slices.numpy
def _(xp: Any, params: Any, indices: Any, depth: int) -> Any:
    dims = params.shape[:depth]
    if is_grid(indices, dims):
        return params
    try:
        at = np.ravel_multi_index(tuple(indices.reshape(-1, depth).T), dims)
    except ValueError:
        check_coordinates(np, indices, params.shape, "param shape")
        raise
    return params.reshape(-1, *params.shape[depth:]).take(at, axis=0)


@gather_nd_.gradient
def _(op: Operation, grad: Any) -> Any:
    params, indices = op.inputs
    dims = array.shape(params, out_type=indices.dtype)
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[-1] == 1:
        return IndexedSlices(grad, array.squeeze(indices, axis=-1), dims), None
    return raw.ScatterNd(indices, grad, dims), None


def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices of `params` at `indices` along `axis`.

    With `batch_dims`, the first dimensions of both are walked together.

    Args:
        params: a tensor.
        indices: integers, in any shape.
        validate_indices: not used.
        name: of the operation.
        axis: the dimension of `params` that is indexed; None: the first after the batch.
        batch_dims: see above.

    Returns:
        A tensor in which the shape of `indices` has replaced `axis`.

    Raises:
        tf.errors.InvalidArgumentError: from the step: an index is outside.

    Example:
        >>> session.run(tf.gather([10, 20, 30], [2, 0]))
        array([30, 10], dtype=int32)
    """
    if axis is None:
        axis = batch_dims
    at = constant_value(axis) if isinstance(axis, Tensor) else axis
    if at is None or int(at) != 0:
        return gather_v2_(params, indices, axis, batch_dims=batch_dims, name=name)
    if hasattr(params, "sparse_read"):
        return params.sparse_read(indices, name=name)
    return gather_v2_(params, indices, axis, name=name)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """`gather` in which all dimensions of `indices` but the last are batch dimensions."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.dims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        batch = len(indices.dims) - 1
        if batch < 0:
            raise ValueError("batch_dims = -1 must be less than rank(indices) = 0")
        if params.dims is not None and batch >= len(params.dims):
            raise ValueError(
                f"batch_dims = {batch} must be less than rank(params) = {len(params.dims)}"
            )
        return _gathered_rows(params, indices, batch)


def _gathered_rows(params: Tensor, indices: Tensor, batch: int) -> Tensor:
    """Batches side by side as rows of one table, of which rows are taken by their number."""
    wanted, sizes, kind = array.shape(indices), array.shape(params), indices.dtype
    lead, last = params.dims and params.dims[:batch], (indices.dims or (None,))[-1]
    step = constant(1, kind, name="ones")
    lengths = raw.Cast(sizes, kind)
    for at in reversed(range(batch)):
        length = lengths[at]
        step = step * lengths[at + 1]
        numbers = raw.Range(constant(0, kind, name="zeros"), length, constant(1, kind, name="ones"))
        offsets = numbers * step
        along = array.stack([1] * at + [length] + [1] * (batch - at))
        indices = indices + array.reshape(offsets, along)
    chosen = array.reshape(indices, [-1])
    rest, count = sizes[batch + 1 :], raw.Prod(sizes[: batch + 1], [0])
    rows = array.reshape(params, array.concat([[count], rest], 0))
    result = array.reshape(gather_v2_(rows, chosen, 0), array.concat([wanted, rest], 0))
    if params.dims is not None and lead is not None:
        result.set_shape([*lead, last, *params.dims[batch + 1 :]])
    return result


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: Any = 0) -> Tensor:
    """The elements or slices of `params` at the coordinates in the last dimension of `indices`.

    Args:
        params: a tensor.
        indices: integers [..., n]: each row names the first n coordinates.
        name: of the operation.
        batch_dims: how many dimensions of both are walked together.

    Returns:
        A tensor [..., the dimensions of `params` that are not named].

    Raises:
        tf.errors.InvalidArgumentError: from the step: a coordinate is outside.

    Example:
        >>> session.run(tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
        array([2, 3], dtype=int32)
    """
    value = constant_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
    if value is not None:
        batch_dims = int(np.ravel(value)[0])
    if batch_dims:
        return _batch_gather_nd(params, indices, batch_dims, name)
    if hasattr(params, "gather_nd"):
        return params.gather_nd(indices, name=name)
    return gather_nd_(params, indices, name=name)


def _batch_gather_nd(params: Any, indices: Any, batch_dims: Any, name: str | None) -> Tensor:
    given = {"indices": indices, "params": params}
    with operands(name, "BatchGatherND", **given) as (_, indices, params):
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        for what, x in (("indices", indices), ("params", params)):
            if x.dims is not None and batch_dims >= len(x.dims):
                raise ValueError(
                    f"batch_dims = {batch_dims} must be less than rank({what}) = {len(x.dims)}"
                )
        # Fold the batch dimensions into one and put its number before each coordinate.
        params_shape, indices_shape = array.shape(params), array.shape(indices)
        batch_shape = params_shape[:batch_dims]
        batches = raw.Prod(batch_shape, [0])
        flat_params = array.reshape(params, array.concat([[batches], params_shape[batch_dims:]], 0))
        inner = indices_shape[batch_dims:]
        flat_indices = array.reshape(indices, array.concat([[batches], inner], 0))
        numbers = raw.Cast(raw.Range(0, batches, 1, name="range"), indices.dtype)
        ones = array.ones([array.rank(indices) - batch_dims], dtypes.int32)
        numbers = array.reshape(numbers, array.concat([[batches], ones], 0))
        numbers = array.tile(numbers, array.concat([[1], inner[:-1], [1]], 0))
        found = gather_nd_(flat_params, array.concat([numbers, flat_indices], axis=-1))
        final = array.concat([batch_shape, array.shape(found)[1:]], 0)
        result = array.reshape(found, final)
        if params.dims is not None and indices.dims is not None and indices.dims[-1] is not None:
            rest = params.dims[batch_dims + indices.dims[-1] :]
            result.set_shape([*params.dims[:batch_dims], *indices.dims[batch_dims:-1], *rest])
        return result


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """`a` without the rows whose indices are in `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as name:
        kept, places = array.setdiff1d(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=name), kept, a.dense_shape)
