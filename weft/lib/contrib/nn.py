"""tf.contrib.nn: lesser functions, and losses with their arguments the old way round."""

from __future__ import annotations

import numbers
from typing import Any

from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.kit.seed_counts import count_further
from weft.ops.math import casts, math
from weft.ops.nn import activations, cross_entropy
from weft.ops.nn.activations import nth_element as nth_element
from weft.ops.nn.candidate_sampling import log_uniform_candidate_sampler
from weft.ops.nn.conv import conv1d_transpose as conv1d_transpose
from weft.ops.nn.sampled_losses import sampled_logits, sampled_softmax_loss
from weft.ops.random import random

# What dropped units become: the value that a scaled exponential unit tends to on the left.
_DROPPED = -1.7580993408473766


def alpha_dropout(
    x: Any,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Dropout that keeps a mean of 0 and a variance of 1, as `selu` makes them."""
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        keep = _probability(keep_prob, x.dtype)
        if constant_value(keep) == 1:
            return x
        drawn = random.random_uniform(
            array.shape(x) if noise_shape is None else noise_shape, dtype=x.dtype, seed=seed
        )
        count_further(1)
        stays = casts.cast(math.greater_equal(drawn, 1 - keep), x.dtype)
        return _restored(x * stays + _DROPPED * (1 - stays), keep)


def _restored(mixed: Tensor, keep: Tensor) -> Tensor:
    """The result of dropout, moved and scaled back to a mean of 0 and a variance of 1."""
    scale = (keep + keep * (1 - keep) * _DROPPED**2) ** -0.5
    return scale * mixed - scale * _DROPPED * (1 - keep)


def _probability(given: Any, dtype: Any) -> Tensor:
    """A probability that is not zero, as a scalar."""
    if isinstance(given, numbers.Real) and not 0 < float(given) <= 1.0:
        allowed = "a scalar tensor or a float in the range (0, 1]"
        raise ValueError(f"keep_prob must be {allowed}, got {float(given):g}")
    scalar = convert_to_tensor(given, dtype=dtype, name="keep_prob")
    scalar.get_shape().assert_has_rank(0)
    return scalar


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> Tensor:
    """`tf.nn.softmax_cross_entropy_with_logits` with logits before labels."""
    return cross_entropy.softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, dim=dim, name=name
    )


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: str | None = None
) -> Tensor:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits` with logits before labels."""
    return cross_entropy.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, name=name
    )


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: str | None = None
) -> Tensor:
    """`tf.nn.sigmoid_cross_entropy_with_logits` with logits before labels."""
    return cross_entropy.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> Tensor:
    """`alpha * log(1 + exp(x / alpha))`, at most `clip`: nearer to `relu` as alpha is smaller."""
    with name_scope(name, "scaled_softplus", [x, alpha] + ([] if clip is None else [clip])):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        smooth = alpha * activations.softplus(x / alpha)
        count_further(1)
        if clip is None:
            return smooth
        return math.minimum(smooth, convert_to_tensor(clip, dtype=x.dtype, name="clip"))


def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Tensor:
    """`tf.nn.sampled_softmax_loss` of one true class for each example."""
    return sampled_softmax_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values,
        remove_accidental_hits, partition_strategy, name,
    )  # fmt: skip


def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.sampled_softmax_loss` of the sampled classes that the inputs are nearest to.

    Of `num_sampled` classes, `num_resampled` stay: those of the largest logits of all inputs,
    taken together the more softly the higher the temperature is.
    """
    if num_sampled > num_classes:
        raise ValueError(
            f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})"
        )
    if num_sampled <= num_resampled:
        raise ValueError(
            f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})"
        )
    settings: dict[str, Any] = {
        "num_true": num_true,
        "remove_accidental_hits": remove_accidental_hits,
        "partition_strategy": partition_strategy,
    }
    with name_scope(name, "rank_sampled_softmax_loss", [weights, biases, labels, inputs]):
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes
            )
        logits, _ = sampled_logits(
            weights, biases, labels, inputs, num_sampled, num_classes,
            sampled_values=sampled_values, name=None, **settings,
        )  # fmt: skip
        heated = logits[:, num_true:] / convert_to_tensor(resampling_temperature, logits.dtype)
        nearest = activations.top_k(math.reduce_logsumexp(heated, axis=0), num_resampled).indices
        classes, true_counts, counts = sampled_values
        kept = gather(classes, nearest), true_counts, gather(counts, nearest)
        return sampled_softmax_loss(
            weights, biases, labels, inputs, num_resampled, num_classes, sampled_values=kept,
            **settings,
        )  # fmt: skip
