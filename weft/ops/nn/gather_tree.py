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
    times, batch, width = step_ids.shape
    _check_parents(step_ids, parent_ids, max_sequence_lengths)
    # Walks back from the last step; before a beam's last step it stays where it is.
    where = xp.broadcast_to(xp.arange(width), (batch, width))
    last = xp.minimum(max_sequence_lengths, times)[:, None] - 1
    steps: list[Array] = []
    for time in range(times - 1, -1, -1):
        ids = xp.take_along_axis(step_ids[time], where, axis=1)
        parents = xp.take_along_axis(parent_ids[time], where, axis=1)
        steps.append(xp.where(time <= last, ids, end_token))
        where = xp.where(time <= last, xp.clip(parents, 0, width - 1), where)
    if not steps:
        return step_ids
    beams = xp.stack(steps[::-1])
    # Nothing follows the first end token of a beam.
    ended = xp.cumsum((beams == end_token).astype(np.int32), axis=0) > 0
    return xp.where(ended, end_token, beams).astype(step_ids.dtype)


def _check_parents(step_ids: Array, parent_ids: Array, lengths: Array) -> None:
    times, _, width = step_ids.shape
    used = np.arange(1, times)[:, None, None] < np.minimum(lengths, times)[None, :, None]
    wrong = np.argwhere(used & ((parent_ids[1:] < 0) | (parent_ids[1:] > width)))
    if len(wrong):
        time, row, beam = wrong[0]
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Saw invalid parent id {parent_ids[time + 1, row, beam]} at (batch, time, beam) == "
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
