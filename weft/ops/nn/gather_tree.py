"""The GatherTree op: whole beams from the ids and parents of each step of a beam search."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.graph import Tensor
from weft.graph.op_def import op
from weft.graph.traits import HOST

Array = Any


def _shape(c: s.ShapeContext) -> s.Dims:
    dims = s.merge(s.with_rank(c.dims(0), 3), s.with_rank(c.dims(1), 3))
    lengths = s.with_rank(c.dims(2), 1)
    s.with_rank(c.dims(3), 0)
    if dims is None or lengths is None:
        return dims
    return s.merge(dims, (None, lengths[0], None))


@op(
    "GatherTree",
    inputs="step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T",
    outputs="beams: T",
    attrs="T: {int32}",
    shape=_shape,
    traits=HOST,
)
def gather_tree_(
    xp: Any, step_ids: Array, parent_ids: Array, max_sequence_lengths: Array, end_token: Array
) -> Array:
    _check_shapes(step_ids, parent_ids, max_sequence_lengths, end_token)
    times, batch, width = step_ids.shape
    # Walks back from the last step; before a beam's last step it stays where it is.
    where = xp.broadcast_to(xp.arange(width), (batch, width))
    last = xp.minimum(max_sequence_lengths, times)[:, None] - 1
    steps: list[Array] = []
    for time in range(times - 1, -1, -1):
        ids = xp.take_along_axis(step_ids[time], where, axis=1)
        parents = xp.take_along_axis(parent_ids[time], where, axis=1)
        if time:
            _check_parents(parents, time <= last, time - 1)
        steps.append(xp.where(time <= last, ids, end_token))
        where = xp.where(time <= last, xp.clip(parents, 0, width - 1), where)
    if not steps:
        return step_ids
    beams = xp.stack(steps[::-1])
    # Nothing follows the first end token of a beam.
    ended = xp.cumsum((beams == end_token).astype(np.int32), axis=0) > 0
    return xp.where(ended, end_token, beams).astype(step_ids.dtype)


def _check_shapes(step_ids: Array, parent_ids: Array, lengths: Array, end_token: Array) -> None:
    inputs = step_ids, parent_ids, lengths, end_token
    steps, parents, ends, token = (s.show(np.shape(x)) for x in inputs)
    fault = None
    if np.ndim(step_ids) != 3:
        fault = f"step_ids must be a 3-tensor, saw shape: {steps}"
    elif np.ndim(lengths) != 1:
        fault = f"max_sequence_lengths must be a vector, saw shape: {ends}"
    elif np.ndim(end_token):
        fault = f"end_token must be a scalar, saw shape: {token}"
    elif steps != parents:
        fault = (
            f"step_ids.shape must match parent_ids.shape.  but shapes are: {steps} and {parents}"
        )
    elif step_ids.shape[1] != len(lengths):
        fault = (
            "batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] must match. "
            f" but shapes are: {steps} and {ends}"
        )
    if fault is not None:
        raise errors.InvalidArgumentError(None, None, fault)


def _check_parents(parents: Array, used: Array, time: int) -> None:
    """Those that a beam follows must be beams; others may be anything."""
    wrong = np.argwhere(used & ((parents < 0) | (parents > parents.shape[1])))
    if len(wrong):
        row, beam = wrong[0]
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Saw invalid parent id {parents[row, beam]} at (batch, time, beam) == "
            f"({row}, {time}, {beam})",
        )


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: str | None = None,
) -> Tensor:
    """Follows each beam back through its parents; [time, batch, beam] in and out."""
    return gather_tree_(step_ids, parent_ids, max_sequence_lengths, end_token, name=name)
