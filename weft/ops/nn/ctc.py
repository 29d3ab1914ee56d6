"""The loss of connectionist temporal classification (Graves et al., 2006), with its gradient.

Labels with a blank before, between and after them are *states*. A path goes through them as time
passes, staying or moving on; the loss is the negative logarithm of what all paths sum up to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.array.array import transpose
from weft.ops.kit.declare import public
from weft.ops.kit.shared import invalid

Array = np.ndarray
Labels = list[list[int]]


def _loss_dims(c: ShapeContext) -> list[Dims]:
    time, batch, classes = s.with_rank(c.dims(0), 3)
    rows, _ = s.with_rank(c.dims(1), 2)
    s.merge_dim(rows, s.with_rank(c.dims(2), 1)[0])
    batch = s.merge_dim(batch, s.with_rank(c.dims(3), 1)[0])
    return [(batch,), (time, batch, classes)]


@op(
    "CTCLoss",
    inputs="inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32",
    outputs="loss: T, gradient: T",
    attrs="preprocess_collapse_repeated: bool = false, ctc_merge_repeated: bool = true,"
    " ignore_longer_outputs_than_inputs: bool = false, T: {float, double} = float",
    shape=_loss_dims,
    traits=HOST,
)
def ctc_loss_(
    xp: Any, inputs: Array, labels_indices: Array, labels_values: Array, sequence_length: Array, *,
    preprocess_collapse_repeated: bool, ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> Any:  # fmt: skip
    _check_shapes(inputs, labels_indices, labels_values, sequence_length)
    classes = inputs.shape[2]
    given = _sequences(labels_indices, labels_values, inputs.shape[1])
    labels = _checked(given, classes, preprocess_collapse_repeated)
    lengths = sequence_length.astype(np.int64)
    if not ignore_longer_outputs_than_inputs:
        _check_time(given, lengths)
    ignored = [n == 0 or len(each) > n for each, n in zip(given, lengths.tolist(), strict=True)]
    lengths = np.where(ignored, 0, lengths)
    loss, gradient = _loss_and_gradient(inputs, labels, lengths, ctc_merge_repeated)
    return loss.astype(inputs.dtype), gradient.astype(inputs.dtype)


@op(
    "CTCLossV2",
    inputs="inputs: float, labels_indices: int64, labels_values: int32, sequence_length: int32",
    outputs="loss: float, gradient: float",
    attrs="preprocess_collapse_repeated: bool = false, ctc_merge_repeated: bool = true,"
    " ignore_longer_outputs_than_inputs: bool = false",
    shape=_loss_dims,
    traits=HOST,
)
def ctc_loss_v2_(
    xp: Any, inputs: Array, labels_indices: Array, labels_values: Array, sequence_length: Array, *,
    preprocess_collapse_repeated: bool, ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> Any:  # fmt: skip
    """As `CTCLoss`, with the first class for the blank one instead of the last."""
    assert ctc_loss_.kernel is not None
    loss, gradient = ctc_loss_.kernel(
        xp, np.roll(inputs, -1, axis=2), labels_indices, labels_values - 1, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )  # fmt: skip
    return loss, np.roll(gradient, 1, axis=2)


@ctc_loss_v2_.gradient
@ctc_loss_.gradient
def _(op: Any, grad_loss: Any, _: Any) -> Any:
    fixed = raw.PreventGradient(
        op.outputs[1],
        message="Currently there is no way to take the second  derivative of ctc_loss due to the"
        " fused implementation's interaction  with tf.gradients()",
    )
    return raw.ExpandDims(grad_loss, -1) * fixed, None, None, None


# ---- what is given ------------------------------------------------------------------------------


def _check_shapes(inputs: Array, indices: Array, values: Array, lengths: Array) -> None:
    if inputs.shape[0] == 0:
        raise invalid("Max time or first dimension of input cannot be 0.")
    if len(lengths) != inputs.shape[1]:
        raise invalid(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(lengths)}"
            f" batch_size: {inputs.shape[1]}"
        )
    if len(indices) != len(values):
        raise invalid(
            "labels_indices and labels_values must contain the same number of rows, but saw shapes:"
            f" {s.show(indices.shape)} vs. {s.show(values.shape)}"
        )
    if inputs.shape[1] == 0:
        raise invalid("batch_size must not be 0")
    for b, length in enumerate(lengths.tolist()):
        if length < 0:
            raise invalid(f"seq_len({b}) < 0")
        if length > inputs.shape[0]:
            raise invalid(f"seq_len({b}) > num_time_steps")


def _sequences(indices: Array, values: Array, batch: int) -> Labels:
    """The labels of each element of the batch."""
    found: Labels = [[] for _ in range(batch)]
    for (b, *_), value in zip(indices.tolist(), values.tolist(), strict=True):
        if not 0 <= b < batch:
            raise invalid(f"label SparseTensor is not valid: index {b} is outside of the batch")
        found[b].append(value)
    return found


def _checked(given: Labels, classes: int, collapse: bool) -> Labels:
    """Labels before the first that stands for nothing, without repetitions if asked for."""
    found: Labels = []
    for b, labels in enumerate(given):
        if not labels:
            raise invalid(f"Labels length is zero in batch {b}")
        kept = [x for i, x in enumerate(labels) if not (collapse and i and x == labels[i - 1])]
        end = next((i for i, x in enumerate(kept) if x >= classes - 1), len(kept))
        if any(x < classes - 1 for x in kept[end:]):
            raise invalid(
                "Saw a non-null label (index >= num_classes - 1) following a null label, batch:"
                f" {b} num_classes: {classes} labels: {_joined(labels)} labels seen so far:"
                f" {_joined(kept[:end])}"
            )
        if min(kept) < 0:
            raise invalid(
                f"All labels must be nonnegative integers, batch: {b} labels: {_joined(kept)}"
            )
        found.append(kept[:end])
    return found


def _joined(labels: list[int]) -> str:
    return ",".join(map(str, labels))


def _check_time(given: Labels, lengths: Array) -> None:
    for b, (labels, time) in enumerate(zip(given, lengths.tolist(), strict=True)):
        if len(labels) > time:
            raise invalid(
                f"Not enough time for target transition sequence (required: {len(labels)},"
                f" available: {time}){b}You can turn this error into a warning by using the flag"
                " ignore_longer_outputs_than_inputs"
            )


# ---- all paths ----------------------------------------------------------------------------------


def _loss_and_gradient(
    logits: Array, labels: Labels, lengths: Array, merge: bool
) -> tuple[Array, Array]:
    """The loss [batch], and what it does to `logits` [time, batch, class]."""
    time, batch, classes = logits.shape
    within = np.arange(time)[:, None] < lengths
    log_y = _log_softmax(np.where(within[..., None], logits, 0).astype(np.float64))
    states, sizes = _states(labels, blank=classes - 1)
    scores = np.take_along_axis(log_y, np.broadcast_to(states, (time, *states.shape)), 2)
    stay, skip = _moves(states, classes - 1, merge)
    forward = _forward(scores, sizes, stay, skip)
    both = forward + _backward(scores, sizes, lengths, stay, skip)
    log_p = np.logaddexp.reduce(both[0], axis=-1)
    # Where no path leads through, there is nothing to take away from the probabilities.
    reached = np.isfinite(log_p)
    visits = np.where(reached[:, None], np.exp(both - np.where(reached, log_p, 0)[:, None]), 0)
    gradient = np.exp(log_y)
    for u in range(states.shape[1]):
        gradient[:, np.arange(batch), states[:, u]] -= visits[:, :, u]
    empty = lengths == 0
    return np.where(empty, 0, -log_p), np.where(within[..., None], gradient, 0)


def _log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _states(labels: Labels, blank: int) -> tuple[Array, Array]:
    """Labels with blanks around them, padded with blanks, and how many states each has."""
    sizes = np.array([2 * len(each) + 1 for each in labels])
    states = np.full((len(labels), sizes.max()), blank)
    for b, each in enumerate(labels):
        states[b, 1 : sizes[b] : 2] = each
    return states, sizes


def _moves(states: Array, blank: int, merge: bool) -> tuple[Array, Array]:
    """0 or minus infinity: where a path may stay, and where it may come from two states before."""
    stays = (states == blank) | merge
    before = _shifted(states, 2, blank)
    skips = (states != blank) & ~((states == before) & merge)
    skips[:, :2] = False
    return np.where(stays, 0.0, -np.inf), np.where(skips, 0.0, -np.inf)


def _shifted(values: Array, by: int, fill: Any) -> Array:
    """`values` moved to the right along the last axis (left if negative)."""
    found = np.full_like(values, fill)
    if by > 0:
        found[..., by:] = values[..., :-by]
    else:
        found[..., :by] = values[..., -by:]
    return found


def _forward(scores: Array, sizes: Array, stay: Array, skip: Array) -> Array:
    """Of each time and state, the logarithm of all paths that lead to it, itself included."""
    states = np.arange(scores.shape[2])
    found = np.empty_like(scores)
    found[0] = np.where(states < np.minimum(sizes, 2)[:, None], scores[0], -np.inf)
    for t in range(1, len(scores)):
        before = found[t - 1]
        arrived = np.logaddexp(before + stay, _shifted(before, 1, -np.inf))
        arrived = np.logaddexp(arrived, _shifted(before, 2, -np.inf) + skip)
        found[t] = arrived + scores[t]
    return found


def _backward(scores: Array, sizes: Array, lengths: Array, stay: Array, skip: Array) -> Array:
    """Of each time and state, the logarithm of all paths that lead from it to the end."""
    states = np.arange(scores.shape[2])
    last = (states < sizes[:, None]) & (states >= sizes[:, None] - 2)
    end = np.where(last, 0.0, -np.inf)
    found = np.empty_like(scores)
    found[-1] = end
    for t in range(len(scores) - 2, -1, -1):
        after = found[t + 1] + scores[t + 1]
        left = np.logaddexp(after + stay, _shifted(after, -1, -np.inf))
        left = np.logaddexp(left, _shifted(after + skip, -2, -np.inf))
        found[t] = np.where(np.equal(lengths - 1, t)[:, None], end, left)
    return found


ctc_loss_v2 = public(
    "ctc_loss_v2",
    "CTCLossV2",
    "(loss, gradient) where the first class is the blank one.",
    "inputs, labels_indices, labels_values, sequence_length, preprocess_collapse_repeated,"
    " ctc_merge_repeated, ignore_longer_outputs_than_inputs",
)


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """The negative log probability of `labels` given `inputs`; the last class is the blank."""
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    if logits is not None:
        if inputs is not None:
            raise ValueError("Cannot specify both 'inputs' and 'logits'")
        inputs = logits
    if not time_major:
        inputs = transpose(inputs, [1, 0, 2])
    loss, _ = ctc_loss_(
        inputs, labels.indices, labels.values, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )  # fmt: skip
    return loss
