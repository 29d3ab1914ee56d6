"""CTC on padded labels, as operations that compile and differentiate like any others."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.ops.array.array import (
    concat,
    expand_dims,
    ones_like,
    pad,
    reshape,
    shape,
    stack,
    transpose,
)
from weft.ops.array.distinct import unique as unique_of
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import boolean_mask, one_hot, sequence_mask, where, where_v2
from weft.ops.functions.functional import foldl, map_fn
from weft.ops.kit.operands import operands
from weft.ops.math.casts import cast
from weft.ops.math.reduce import reduce_logsumexp, reduce_max, reduce_sum
from weft.ops.math.sequence import range as range_
from weft.ops.nn.activations import log_softmax
from weft.ops.nn.ctc import ctc_loss

# The logarithm of nothing: with infinity, gradients of sums would be NaN.
_NEVER = -1e30


def ctc_loss_padded(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The negative log probability of sparse or padded `labels`; by default, class 0 is the blank.

    `unique` is accepted, but what it saves elsewhere is not spent here.
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("blank_index must be given when using SparseTensor labels.")
        before, blank, after, index = _around(convert_to_tensor(logits), blank_index)
        values = where(labels.values < index, labels.values, labels.values - 1)
        return ctc_loss(
            SparseTensor(labels.indices, values, labels.dense_shape),
            concat([before, after, blank], axis=2), logit_length, time_major=logits_time_major,
        )  # fmt: skip
    given = [logits, labels, label_length, logit_length]
    with name_scope(name, "ctc_loss_dense", given):
        logits, labels, label_length, logit_length = map(convert_to_tensor, given)
        if not logits_time_major:
            logits = transpose(logits, [1, 0, 2])
        if blank_index:
            before, blank, after, index = _around(logits, blank_index)
            labels = where(labels < cast(index, labels.dtype), labels + 1, labels)
            logits = concat([blank, before, after], axis=2)
        return _dense_loss(logits, labels, label_length, logit_length)


def _around(logits: Tensor, index: Any) -> tuple[Tensor, Tensor, Tensor, Any]:
    """The classes before the blank, the blank, those after it, and its index from the front."""
    if index < 0:
        index = index + _size(logits, 2)
    return logits[:, :, :index], logits[:, :, index : index + 1], logits[:, :, index + 1 :], index


def _size(tensor: Tensor, axis: int) -> Any:
    known = None if tensor.dims is None else tensor.dims[axis]
    return shape(tensor)[axis] if known is None else known


def _dense_loss(logits: Tensor, labels: Tensor, label_length: Tensor, length: Tensor) -> Tensor:
    """Sums all paths through the labels, each of which may have blanks, class 0, around it."""
    within = transpose(sequence_mask(length, _size(logits, 0)), [1, 0])
    # After its end a sequence may hold anything, NaN too.
    logits = where_v2(expand_dims(within, 2), logits, 0.0)
    # Whatever labels are padded with is no part of them.
    states = _with_blanks(raw.Maximum(cast(labels, dtypes.int32), 0))
    count = _size(states, 1)
    log_y = transpose(log_softmax(logits), [1, 0, 2])
    scores = transpose(gather(log_y, states, axis=2, batch_dims=1), [1, 0, 2])
    skip = _skips(states)

    def step(paths: Tensor, frame: tuple[Tensor, Tensor]) -> Tensor:
        score, alive = frame
        moves = stack([paths, _right(paths, 1), _right(paths, 2) + skip])
        return where_v2(expand_dims(alive, 1), reduce_logsumexp(moves, axis=0) + score, paths)

    start = one_hot(0 * states[:, 0], count, 0.0, _NEVER)
    paths = foldl(step, (scores, within), start)
    last = 2 * cast(label_length, dtypes.int32)
    ends = stack([one_hot(last, count, 0.0, _NEVER), one_hot(last - 1, count, 0.0, _NEVER)])
    loss = -reduce_logsumexp(paths + reduce_max(ends, axis=0), axis=1)
    return where_v2(loss < -_NEVER / 2, loss, float("inf"))


def _with_blanks(labels: Tensor) -> Tensor:
    """0 a 0 b 0 for a b."""
    pairs = stack([0 * labels, labels], axis=2)
    flat = reshape(pairs, [_size(labels, 0), 2 * _size(labels, 1)])
    return pad(flat, [[0, 0], [0, 1]])


def _skips(states: Tensor) -> Tensor:
    """0 where a path may come from the label before, past the blank between; else never."""
    before = pad(states, [[0, 0], [2, 0]])[:, : _size(states, 1)]
    may = raw.LogicalAnd(raw.NotEqual(states, 0), raw.NotEqual(states, before))
    return where_v2(may, 0.0, _NEVER)


def _right(paths: Tensor, by: int) -> Tensor:
    return pad(paths, [[0, 0], [by, 0]], constant_values=_NEVER)[:, : _size(paths, 1)]


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> Any:
    """`labels` without repetitions, padded with 0, and the new lengths."""
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = ones_like(labels[:, :1], dtypes.bool)
        kept = concat([first, raw.NotEqual(labels[:, 1:], labels[:, :-1])], axis=1)
        kept = raw.LogicalAnd(kept, sequence_mask(seq_length, _size(labels, 1)))
        lengths = reduce_sum(cast(kept, dtypes.int32), axis=1)
        longest = reduce_max(lengths)
        filled = reshape(sequence_mask(lengths, longest), [-1])
        places = boolean_mask(range_(shape(filled)[0]), filled)
        values = boolean_mask(reshape(labels, [-1]), reshape(kept, [-1]))
        flat = raw.ScatterNd(expand_dims(places, 1), values, shape(filled))
        dense = reshape(flat, [_size(labels, 0), longest])
        return dense, cast(lengths, seq_length.dtype)


def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """The first `length` elements of each row."""
    dense, length = convert_to_tensor(dense), convert_to_tensor(length)
    mask = sequence_mask(length, shape(dense)[1])
    values = cast(boolean_mask(dense, mask), dtypes.int32)
    rows, columns = cast(shape(dense)[0], dtypes.int64), cast(reduce_max(length), dtypes.int64)
    return SparseTensor(raw.Where(mask), values, stack([rows, columns]))


def ctc_unique_labels(labels: Any, name: str | None = None) -> Any:
    """For each row its distinct labels, padded with 0, and where each label is among them."""
    with operands(name, "ctc_unique_labels", labels=labels) as (_, labels):
        return map_fn(_unique_and_places, labels, [dtypes.int64, dtypes.int32])


def _unique_and_places(row: Tensor) -> list[Tensor]:
    found, places = unique_of(row)
    missing = _size(places, 0) - _size(found, 0)
    return [cast(pad(found, [[0, missing]]), dtypes.int64), places]
