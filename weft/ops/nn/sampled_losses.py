"""Losses over very many classes that look at the true ones and a sample of the others."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array.array import (
    concat,
    expand_dims,
    ones,
    ones_like,
    reshape,
    shape,
    stack,
    stop_gradient,
    zeros_like,
)
from weft.ops.array.slicing import slice
from weft.ops.math.casts import cast
from weft.ops.math.matmul import matmul
from weft.ops.nn.candidate_sampling import compute_accidental_hits, log_uniform_candidate_sampler
from weft.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
)
from weft.ops.nn.embedding import embedding_lookup, table_parts


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """The softmax cross entropy over the true and the sampled classes."""
    logits, targets = sampled_logits(**locals())
    targets = stop_gradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)


@with_parameters_of(
    sampled_softmax_loss, without=("seed",), remove_accidental_hits=False, name="nce_loss"
)
def nce_loss(**arguments: Any) -> Tensor:
    """Noise-contrastive estimation: logistic losses of the true and the sampled classes.

    Args:
        weights: class vectors [classes, size], or a list of parts.
        biases: one for each class.
        labels: the true classes, an int64 tensor [batch, num_true].
        inputs: vectors [batch, size].
        num_sampled: how many classes to draw for the whole batch.
        num_classes: how many there are.
        num_true: how many true ones each row has.
        sampled_values: what a candidate sampler gave; None: log-uniform.
        remove_accidental_hits: leave out drawn classes that are true ones.
        partition_strategy: how parts make up `weights`: "mod" or "div".
        name: of the operations.

    Returns:
        The loss of each row.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> weights, biases = tf.zeros([10, 4]), tf.zeros([10])
        >>> labels = tf.constant([[1], [2]], tf.int64)
        >>> tf.nn.nce_loss(weights, biases, labels, tf.ones([2, 4]), 3, 10).shape.as_list()
        [2]
    """
    logits, targets = sampled_logits(**arguments)
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return _sum_rows(losses)


def _sum_rows(x: Tensor) -> Tensor:
    """As a product with ones: quicker than a reduction along rows."""
    columns = shape(x)[1]
    return reshape(matmul(x, ones(stack([columns, 1]), x.dtype)), [-1])


def sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Logits [batch, num_true + num_sampled], less the logarithms of expected counts; labels."""
    parts = table_parts(weights)
    values = [*parts, biases, inputs, labels]
    with name_scope(name, "compute_sampled_logits", values):
        if labels.dtype != dtypes.int64:
            labels = cast(labels, dtypes.int64)
        flat = reshape(labels, [-1])
        if sampled_values is None:
            range_max = num_classes
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, range_max, seed
            )
        sampled, *counts = (stop_gradient(v) for v in sampled_values)
        sampled = cast(sampled, dtypes.int64)
        ids = concat([flat, sampled], 0)

        def looked_up(table: Any) -> Tensor:
            return cast(embedding_lookup(table, ids, partition_strategy), inputs.dtype)

        rows = looked_up(parts)
        true_rows = slice(rows, [0, 0], stack([shape(flat)[0], -1]))
        other_rows = slice(rows, stack([shape(flat)[0], 0]), [-1, -1])
        others = matmul(inputs, other_rows, transpose_b=True)
        offsets = looked_up(biases)
        true_offsets, other_offsets = (
            slice(offsets, [0], shape(flat)),
            slice(offsets, shape(flat), [-1]),
        )
        true = _row_products(inputs, true_rows, num_true) + reshape(true_offsets, [-1, num_true])
        others = others + other_offsets
        if remove_accidental_hits:
            hits = compute_accidental_hits(labels, sampled, num_true)
            others = others + _penalties(hits, labels, others, num_sampled)
        true, others = (x - raw.Log(n) for x, n in zip((true, others), counts, strict=True))
        logits = concat([true, others], 1)
        return logits, concat([ones_like(true) / num_true, zeros_like(others)], 1)


def _row_products(inputs: Tensor, rows: Tensor, num_true: int) -> Tensor:
    """inputs[i] times each of its `num_true` rows, [batch, num_true]."""
    width = shape(rows)[1:2]

    def sizes(*outer: int) -> Tensor:
        return concat([outer, width], 0)

    grouped = sizes(-1, num_true)
    products = raw.Mul(expand_dims(inputs, 1), reshape(rows, grouped))
    return reshape(_sum_rows(reshape(products, sizes(-1))), [-1, num_true])


def _penalties(hits: Any, labels: Tensor, logits: Tensor, num_sampled: int) -> Tensor:
    """A hugely negative number wherever a sampled class is a true one, zeros elsewhere."""
    rows, ids, weights = hits

    def column(numbers: Tensor) -> Tensor:
        return reshape(numbers, [-1, 1])

    at = concat([column(rows), column(cast(ids, dtypes.int32))], 1, "sparse_indices")
    dims = concat([shape(labels)[:1], expand_dims(num_sampled, 0)], 0)
    return raw.SparseToDense(at, dims, cast(weights, logits.dtype), 0.0, validate_indices=False)
