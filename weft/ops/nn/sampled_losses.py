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
    logits, targets = _sampled_logits(**locals())
    targets = stop_gradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)


@with_parameters_of(
    sampled_softmax_loss, without=("seed",), remove_accidental_hits=False, name="nce_loss"
)
def nce_loss(**arguments: Any) -> Tensor:
    """Noise-contrastive estimation: logistic losses of the true and the sampled classes."""
    logits, targets = _sampled_logits(**arguments)
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return _sum_rows(losses)


def _sum_rows(x: Tensor) -> Tensor:
    """As a product with ones: quicker than a reduction along rows."""
    columns = shape(x)[1]
    return reshape(matmul(x, ones(stack([columns, 1]), x.dtype)), [-1])


def _sampled_logits(
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
            sampled_values = log_uniform_candidate_sampler(
                true_classes=labels,
                num_true=num_true,
                num_sampled=num_sampled,
                unique=True,
                range_max=num_classes,
                seed=seed,
            )
        sampled, true_count, sampled_count = (stop_gradient(v) for v in sampled_values)
        sampled = cast(sampled, dtypes.int64)
        ids = concat([flat, sampled], 0)
        rows = _looked_up(parts, ids, partition_strategy, inputs)
        true_rows = slice(rows, [0, 0], stack([shape(flat)[0], -1]))
        sampled_rows = slice(rows, stack([shape(flat)[0], 0]), [-1, -1])
        sampled_logits = matmul(inputs, sampled_rows, transpose_b=True)
        offsets = _looked_up(biases, ids, partition_strategy, inputs)
        true_offsets = slice(offsets, [0], shape(flat))
        sampled_offsets = slice(offsets, shape(flat), [-1])
        true_logits = _row_products(inputs, true_rows, num_true)
        true_logits += reshape(true_offsets, [-1, num_true])
        sampled_logits += sampled_offsets
        if remove_accidental_hits:
            hits = compute_accidental_hits(labels, sampled, num_true=num_true)
            sampled_logits += _penalties(hits, labels, sampled_logits, num_sampled)
        true_logits -= raw.Log(true_count)
        sampled_logits -= raw.Log(sampled_count)
        logits = concat([true_logits, sampled_logits], 1)
        shares = ones_like(true_logits) / num_true
        return logits, concat([shares, zeros_like(sampled_logits)], 1)


def _looked_up(params: Any, ids: Tensor, strategy: str, inputs: Tensor) -> Tensor:
    rows = embedding_lookup(params, ids, partition_strategy=strategy)
    return rows if rows.dtype == inputs.dtype else cast(rows, inputs.dtype)


def _row_products(inputs: Tensor, rows: Tensor, num_true: int) -> Tensor:
    """inputs[i] times each of its `num_true` rows, [batch, num_true]."""
    width = shape(rows)[1:2]
    grouped = reshape(rows, concat([[-1, num_true], width], 0))
    products = raw.Mul(expand_dims(inputs, 1), grouped)
    matrix = reshape(products, concat([[-1], width], 0))
    return reshape(_sum_rows(matrix), [-1, num_true])


def _penalties(hits: Any, labels: Tensor, logits: Tensor, num_sampled: int) -> Tensor:
    """A hugely negative number wherever a sampled class is a true one, zeros elsewhere."""
    indices, ids, weights = hits
    rows = reshape(indices, [-1, 1])
    columns = reshape(cast(ids, dtypes.int32), [-1, 1])
    at = concat([rows, columns], 1, "sparse_indices")
    dims = concat([shape(labels)[:1], expand_dims(num_sampled, 0)], 0)
    if logits.dtype != weights.dtype:
        weights = cast(weights, logits.dtype)
    return raw.SparseToDense(at, dims, weights, 0.0, validate_indices=False)
