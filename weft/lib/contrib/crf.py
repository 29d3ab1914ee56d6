"""tf.contrib.crf: linear-chain conditional random fields over the steps of sequences.

A sequence of tags scores the sum of its unary scores (`inputs`, [batch, steps, tags]) and of the
transitions between neighbours (`transition_params`, [from, to]).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import dimension_value
from weft.graph.convert import constant
from weft.graph.graph import Tensor
from weft.lib.rnn.cells import RNNCell
from weft.lib.rnn.dynamic import dynamic_rnn
from weft.ops.array import array, gather
from weft.ops.array import one_hot_search as select
from weft.ops.array.slicing import slice
from weft.ops.control.cond import smart_cond
from weft.ops.math import casts, math, reduce, sequence
from weft.ops.math.arg_extremes import argmax
from weft.ops.state import variable_scope as vs


def _by_length(inputs: Tensor, one_step: Callable[[], Any], more: Callable[[], Any]) -> Any:
    """Sequences of one step have no transitions, and nothing to loop over."""
    steps = dimension_value(inputs.shape[1]) or array.shape(inputs)[1]
    return smart_cond(math.equal(steps, 1), one_step, more)


def _none_where_empty(values: Tensor, sequence_lengths: Any) -> Tensor:
    return select.where(math.less_equal(sequence_lengths, 0), array.zeros_like(values), values)


def _first(inputs: Tensor) -> Tensor:
    return array.squeeze(slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])


def _all_but_first(inputs: Tensor) -> Tensor:
    return slice(inputs, [0, 1, 0], [-1, -1, -1])


def _transition_counts(sequence_lengths: Any) -> Tensor:
    return math.maximum(constant(0, sequence_lengths.dtype), sequence_lengths - 1)


# ---- scores --------------------------------------------------------------------------------------


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Tensor:
    """The score of the given tags of each example, not normalized."""

    def one_step() -> Tensor:
        kind = tag_indices.dtype
        count = array.shape(inputs, out_type=kind)[0]
        rows = array.reshape(sequence.range(count, dtype=kind), [-1, 1])
        scores = array.squeeze(inputs, [1])
        places = array.concat([rows, tag_indices], 1)
        return _none_where_empty(gather.gather_nd(scores, places), sequence_lengths)

    def more() -> Tensor:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return _by_length(inputs, one_step, more)


def crf_multitag_sequence_score(
    inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any
) -> Tensor:
    """The log of the summed scores of all tag sequences that the bitmap allows."""

    def allowed() -> Tensor:
        nothing = array.fill(array.shape(inputs), float("-inf"))
        return select.where(tag_bitmap, inputs, nothing)

    return _by_length(
        inputs,
        lambda: reduce.reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False),
        lambda: crf_log_norm(allowed(), sequence_lengths, transition_params),
    )


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """The log of the summed scores of all tag sequences."""
    first = _first(inputs)

    def one_step() -> Tensor:
        return _none_where_empty(reduce.reduce_logsumexp(first, [1]), sequence_lengths)

    def more() -> Tensor:
        rest = _all_but_first(inputs)
        _, alphas = dynamic_rnn(
            CrfForwardRnnCell(transition_params),
            rest,
            sequence_length=_transition_counts(sequence_lengths),
            initial_state=first,
            dtype=dtypes.float32,
        )
        return _none_where_empty(reduce.reduce_logsumexp(alphas, [1]), sequence_lengths)

    return _by_length(inputs, one_step, more)


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Tensor, Any]:
    """The log of the probability of the given tags, and the transitions: a variable by default."""
    transitions = transition_params
    if transitions is None:
        transitions = vs.get_variable("transitions", [dimension_value(inputs.shape[2])] * 2)
    log_score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transitions)
    return log_score - crf_log_norm(inputs, sequence_lengths, transitions), transitions


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Tensor:
    """The sum of the scores of the given tags by themselves."""
    batch, steps, tags = (array.shape(inputs)[axis] for axis in range(3))
    flat = array.reshape(inputs, [-1])
    offsets = array.expand_dims(sequence.range(batch) * steps * tags, 1)
    offsets += array.expand_dims(sequence.range(steps) * tags, 0)
    places = array.reshape(casts.cast(offsets, tag_indices.dtype) + tag_indices, [-1])
    scores = array.reshape(gather.gather(flat, places), [batch, steps])
    return reduce.reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """The sum of the scores of the transitions between the given tags."""
    tags = dimension_value(transition_params.get_shape()[0])
    count = array.shape(tag_indices)[1] - 1
    origins, ends = (slice(tag_indices, [0, at], [-1, count]) for at in range(2))
    places = origins * tags + ends
    scores = gather.gather(array.reshape(transition_params, [-1]), places)
    mask = slice(_mask(tag_indices, sequence_lengths), [0, 1], [-1, -1])
    return reduce.reduce_sum(scores * mask, 1)


def _mask(tag_indices: Any, sequence_lengths: Any) -> Tensor:
    steps = array.shape(tag_indices)[1]
    return select.sequence_mask(sequence_lengths, maxlen=steps, dtype=dtypes.float32)


class _TransitionCell(RNNCell):
    """A cell whose state has a score for every tag."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transition_params = array.expand_dims(transition_params, 0)
        self._num_tags = dimension_value(transition_params.shape[0])

    @property
    def state_size(self) -> int:
        return self._num_tags

    @property
    def output_size(self) -> int:
        return self._num_tags

    def _transitions(self, state: Tensor) -> Tensor:
        return array.expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(_TransitionCell):
    """Sums over all ways to reach each tag."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        alphas = inputs + reduce.reduce_logsumexp(self._transitions(state), [1])
        return alphas, alphas


# ---- the best sequence ---------------------------------------------------------------------------


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[Any], Any]:
    """The best tags of one sequence, in NumPy: scores are [steps, tags]."""
    best, ways = score[0], []
    for unary in score[1:]:
        reached = np.expand_dims(best, 1) + transition_params
        best = unary + np.max(reached, 0)
        ways.append(np.argmax(reached, 0).astype(np.int32))
    tags = [np.argmax(best)]
    for way in reversed(ways):
        tags.append(way[tags[-1]])
    return tags[::-1], np.max(best)


class CrfDecodeForwardRnnCell(_TransitionCell):
    """Keeps the best way to reach each tag; its outputs say where that came from."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        reached = self._transitions(state)
        best = inputs + reduce.reduce_max(reached, [1])
        return casts.cast(argmax(reached, 1), dtypes.int32), best


class CrfDecodeBackwardRnnCell(RNNCell):
    """Follows the best way back, from tag to tag."""

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        return 1

    @property
    def output_size(self) -> int:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        before = _of_each_row(inputs, array.squeeze(state, axis=[1]))
        return (array.expand_dims(before, axis=-1),) * 2


def _of_each_row(values: Tensor, columns: Tensor) -> Tensor:
    """One element of each row, that of its column."""
    numbers = sequence.range(array.shape(values)[0])
    return gather.gather_nd(values, array.stack([numbers, columns], axis=1))


def _best_column(scores: Tensor, axis: int) -> Tensor:
    return array.expand_dims(argmax(scores, axis), axis)


def crf_decode(
    potentials: Any, transition_params: Any, sequence_length: Any
) -> tuple[Tensor, Tensor]:
    """The best tags of each example, [batch, steps], and their score."""

    def one_step() -> tuple[Tensor, Tensor]:
        only = array.squeeze(potentials, [1])
        tags, best = (find(only, 1) for find in (_best_column, reduce.reduce_max))
        return casts.cast(tags, dtypes.int32), best

    def more() -> tuple[Tensor, Tensor]:
        cell = CrfDecodeForwardRnnCell(transition_params)
        first, rest = _first(potentials), _all_but_first(potentials)
        counts = _transition_counts(sequence_length)
        ways, last = dynamic_rnn(
            cell,
            rest,
            sequence_length=counts,
            initial_state=first,
            dtype=dtypes.int32,
        )
        ways = array.reverse_sequence(ways, counts, seq_dim=1)
        end = array.expand_dims(casts.cast(argmax(last, axis=1), dtypes.int32), axis=-1)
        tags, _ = dynamic_rnn(
            CrfDecodeBackwardRnnCell(dimension_value(potentials.shape[2])),
            ways,
            sequence_length=counts,
            initial_state=end,
            dtype=dtypes.int32,
        )
        tags = array.concat([end, array.squeeze(tags, axis=[2])], axis=1)
        tags = array.reverse_sequence(tags, sequence_length, seq_dim=1)
        return tags, reduce.reduce_max(last, axis=1)

    return _by_length(potentials, one_step, more)
