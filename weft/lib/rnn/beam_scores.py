"""Batches of beams, and how good a beam is."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.rnn.attention_wrapper import AttentionWrapperState
from weft.lib.rnn.helper import tensor_of_rank
from weft.ops.array import fill as array_fill
from weft.ops.array import gather
from weft.ops.array import join as array_join
from weft.ops.array import one_hot_search as select
from weft.ops.array import repeat as array_repeat
from weft.ops.array import shape as array_shape
from weft.ops.math import casts, elementwise, reduce, sequence, unary
from weft.ops.math.math import div
from weft.ops.nn.gather_tree import gather_tree

# ---- batches and beams ------------------------------------------------------------------------


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Repeats every batch entry of each tensor `multiplier` times."""

    def tiled(x: Any) -> Tensor:
        x = convert_to_tensor(x, name="t")
        if not x.shape.ndims:
            raise ValueError("t must have statically known rank")
        rows, *inner = x.shape.as_list()
        sizes = array_shape.shape(x)
        counts = [1, multiplier] + [1] * len(inner)
        repeated = array_repeat.tile(array_shape.expand_dims(x, 1), counts)
        shape = array_join.concat(([sizes[0] * multiplier], sizes[1:]), 0)
        result = array_shape.reshape(repeated, shape)
        result.set_shape([None if rows is None else rows * multiplier, *inner])
        return result

    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(tiled, t)


def gather_tree_from_array(t: Any, parent_ids: Tensor, sequence_length: Any) -> Tensor:
    """Elements of [time, batch, beam, ...] put in the order of the beams they ended up in."""
    sizes = enumerate(parent_ids.shape.as_list())
    times, batch, width = (known or array_shape.shape(parent_ids)[i] for i, known in sizes)
    beams = array_shape.expand_dims(array_shape.expand_dims(sequence.range(width), 0), 0)
    beams = array_repeat.tile(beams, [times, batch, 1])
    longest = casts.cast(reduce.reduce_max(sequence_length, axis=1), dtypes.int32)
    ordered = gather_tree(beams, parent_ids, longest, width + 1)
    inside = array_shape.transpose(
        select.sequence_mask(sequence_length, maxlen=times), perm=[2, 0, 1]
    )
    ordered = select.where(inside, x=ordered, y=beams)

    def numbers(count: Any, repeats: list[Any]) -> Tensor:
        column = array_shape.reshape(sequence.range(count), [-1, 1, 1])
        return array_repeat.tile(column, repeats)

    time_index = numbers(times, [1, batch, width])
    batch_index = array_shape.transpose(numbers(batch, [1, times, width]), perm=[1, 0, 2])
    indices = array_join.stack([time_index, batch_index, ordered], -1)
    shape = array_shape.shape(t)
    rows = array_shape.reshape(t, [times, batch, width, -1])
    return array_shape.reshape(gather.gather_nd(rows, indices), shape)


def check_rank(t: Any) -> None:
    if t.shape.ndims is None:
        raise ValueError(f"Expected tensor ({t}) to have known rank, but ndims == None.")


def gather_beams(
    indices: Any, values: Any, batch_size: Any, range_size: Any, flat: list[Any], name: Any = None
) -> Tensor:
    """Picks for every batch entry the beams (or beam and word pairs) in `indices`."""
    with name_scope(name, "tensor_gather_helper"):
        offsets = array_shape.expand_dims(sequence.range(batch_size) * range_size, 1)
        rows = array_shape.reshape(indices + offsets, [-1])
        picked = gather.gather(array_shape.reshape(values, flat), rows)
        kept = 1 + len(flat)
        output = array_shape.reshape(picked, array_shape.shape(values)[:kept], name="output")
        known = constant_value(batch_size)
        output.set_shape(
            TensorShape([None if known is None else int(known)]).concatenate(values.shape[1:kept])
        )
        return output


# ---- scores -----------------------------------------------------------------------------------


def _length_penalty(sequence_lengths: Tensor, penalty_factor: Any) -> Any:
    factor = convert_to_tensor(penalty_factor, name="penalty_factor")
    factor.set_shape(())
    if constant_value(factor) == 0:
        return 1.0
    length = 5.0 + casts.cast(sequence_lengths, dtypes.float32)
    return div(length**factor, 6.0**factor)


def _mean_of(probabilities: list[Tensor]) -> Tensor:
    if len(probabilities) > 1:
        columns = (array_shape.expand_dims(each, -1) for each in probabilities)
        return reduce.reduce_mean(array_join.concat(list(columns), -1), -1)
    return probabilities[0]


def attention_probs(state: Any, coverage_penalty_weight: Any) -> Tensor | None:
    """How much each entry of the memory was attended to, averaged over mechanisms."""
    if isinstance(coverage_penalty_weight, float) and coverage_penalty_weight == 0.0:
        return None
    if isinstance(state, AttentionWrapperState):
        states = [state]
    else:
        parts = state if isinstance(state, tuple) else ()
        states = [part for part in parts if isinstance(part, AttentionWrapperState)]
    if not states:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return _mean_of(
        [
            _mean_of(list(each.alignments))
            if isinstance(each.alignments, tuple)
            else each.alignments
            for each in states
        ]
    )


def get_scores(
    log_probs: Tensor,
    sequence_lengths: Tensor,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
    finished: Tensor,
    accumulated_attention_probs: Any,
) -> Tensor:
    penalty = _length_penalty(sequence_lengths, length_penalty_weight)
    scores = log_probs / casts.cast(penalty, dtype=log_probs.dtype)
    weight = tensor_of_rank(
        coverage_penalty_weight,
        (0,),
        "coverage_penalty_weight should be a scalar, but saw shape: {shape}",
        "coverage_penalty_weight",
    )
    if constant_value(weight) == 0.0:
        return scores
    attended = accumulated_attention_probs
    if attended is None:
        raise ValueError(
            "accumulated_attention_probs can be None only if coverage penalty is disabled."
        )
    # What was never attended to would cost infinitely much: padding is such.
    never = elementwise.equal(attended, 0.0)
    attended = select.where(never, array_fill.ones_like(attended), attended)
    shortfall = unary.log(elementwise.minimum(attended, 1.0))
    coverage = reduce.reduce_sum(shortfall, 2) * casts.cast(finished, dtypes.float32) * weight
    return scores + array_shape.expand_dims(coverage, 2)


def _for_each_beam(row: Tensor, beams: Tensor) -> Tensor:
    """`row` once for every entry of [batch, beam]."""
    one = array_shape.reshape(row, [1, 1, -1])
    return array_repeat.tile(one, array_join.concat([array_shape.shape(beams), [1]], 0))


def mask_probs(probs: Tensor, end_token: Any, finished: Tensor) -> Tensor:
    """Finished beams go on with the end token only, at no cost."""
    words, dtype = array_shape.shape(probs)[2], probs.dtype
    sure = convert_to_tensor(0.0, dtype=dtype)
    row = select.one_hot(end_token, words, on_value=sure, off_value=dtype.min, dtype=dtype)
    ended = _for_each_beam(row, finished)
    mask = array_repeat.tile(array_shape.expand_dims(finished, 2), [1, 1, words])
    return select.where(mask, ended, probs)
