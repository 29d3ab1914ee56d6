"""Rows of resource variables, read without reading all of the variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.convert import IndexedSlices, constant
from weft.graph.op_def import lookup, op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import GATHERS_ROWS
from weft.ops.state.variable_nodes import READS, variable_dims, variable_input, variable_shape_op

Array = Any
Cell = Any


def _gathered(c: ShapeContext) -> Dims:
    params, indices = variable_input(c), c.dims(1)
    batch_dims = c.attr("batch_dims")
    if batch_dims < 0 and indices is not None:
        batch_dims += len(indices)
    params = s.with_rank_at_least(params, batch_dims + 1)
    return s.concat(indices, None if params is None else params[batch_dims + 1 :])


@op(
    "ResourceGather",
    inputs="resource: resource, indices: Tindices",
    outputs="output: dtype",
    attrs="batch_dims: int = 0, validate_indices: bool = true, dtype: type, Tindices: indextype",
    shape=_gathered,
    traits=GATHERS_ROWS | READS,
)
def resource_gather(xp: Any, resource: Cell, indices: Array, *, batch_dims: int) -> Array:
    axis = np.array(batch_dims % indices.ndim if indices.ndim else 0, np.int32)
    gather = lookup("GatherV2").kernel
    assert gather is not None
    return gather(xp, resource.read(), indices, axis, batch_dims=batch_dims)


@resource_gather.gradient
def _(op: Any, grad: Any) -> Any:
    from weft.ops.array import array

    handle, indices = op.inputs
    dense_shape = variable_shape(handle)
    count = array.expand_dims(array.size(indices), 0)
    values = array.reshape(grad, array.concat([count, dense_shape[1:]], 0))
    return IndexedSlices(values, array.reshape(indices, count), dense_shape), None


def variable_shape(handle: Any, out_type: Any = dtypes.int32) -> Any:
    """The shape of the variable behind `handle`: a constant when TensorFlow's graph tells it."""
    dims = variable_dims(handle)
    if s.known(dims) and handle.op.type != "Switch":
        return constant(list(dims or ()), dtype=out_type)
    return variable_shape_op(handle, out_type=out_type)


def _gathered_nd(c: ShapeContext) -> Dims:
    params, indices = variable_input(c), s.with_rank_at_least(c.dims(1), 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {s.show(indices)}"
            f" and params shape: {s.show(params)}"
        )
    return indices[:-1] + params[indices[-1] :]


@op(
    "ResourceGatherNd",
    inputs="resource: resource, indices: Tindices",
    outputs="output: dtype",
    attrs="dtype: type, Tindices: indextype",
    shape=_gathered_nd,
    traits=READS,
)
def resource_gather_nd(xp: Any, resource: Cell, indices: Array) -> Array:
    gather = lookup("GatherNd").kernel
    assert gather is not None
    return gather(xp, resource.read(), indices)


@resource_gather_nd.gradient
def _(op: Any, grad: Any) -> Any:
    from weft.ops.array import array

    handle, indices = op.inputs
    dense_shape = variable_shape_op(handle, out_type=indices.dtype)
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[-1] == 1:
        return IndexedSlices(grad, array.squeeze(indices, axis=-1), dense_shape), None
    return raw.ScatterNd(indices, grad, dense_shape), None
