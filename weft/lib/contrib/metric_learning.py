"""tf.contrib.losses.metric_learning: losses on embeddings, which bring equal labels together.

`labels` are one integer for each embedding, `embeddings` a matrix of one row each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.slices import SparseTensor
from weft.ops.array import array, diag
from weft.ops.array import one_hot_search as select
from weft.ops.control import printing
from weft.ops.kit.seed_counts import count_further
from weft.ops.math import math
from weft.ops.math.matmul import matmul
from weft.ops.nn import cross_entropy
from weft.ops.sparse.convert import sparse_tensor_to_dense


def pairwise_distance(feature: Any, squared: bool = False) -> Tensor:
    """The distance of every row from every row; at 0 its gradient is 0."""
    feature = convert_to_tensor(feature)
    sizes = math.reduce_sum(math.square(feature), axis=[1], keepdims=True)
    products = matmul(feature, feature, transpose_b=True)
    squares = math.maximum(sizes + array.transpose(sizes) - 2.0 * products, 0.0)
    equal = math.cast(math.less_equal(squares, 0.0), feature.dtype)
    # The root has no gradient at 0.
    distances = squares if squared else math.sqrt(squares + equal * 1e-16)
    return distances * (1.0 - equal) * _others(distances)


def _others(matrix: Tensor) -> Tensor:
    """1 off the diagonal."""
    return array.ones_like(matrix) - diag.diag(array.ones([array.shape(matrix)[0]], matrix.dtype))


def _same(labels: Any) -> Tensor:
    """Whether each pair has equal labels."""
    labels = convert_to_tensor(labels)
    if labels.dims is not None and len(labels.dims) != 1:
        raise ValueError("labels must be a vector")
    return math.equal(array.expand_dims(labels, 1), array.expand_dims(labels, 0))


def _largest(values: Tensor, mask: Tensor) -> Tensor:
    """Of each row, among those that the mask picks; the smallest of all when there are none."""
    least = math.reduce_min(values, -1, keepdims=True)
    return math.reduce_max((values - least) * mask, -1, keepdims=True) + least


def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> Tensor:
    """Pairs of label 1 are to be close, those of label 0 at least `margin` apart."""
    difference = math.squared_difference(embeddings_anchor, embeddings_positive)
    distances = math.sqrt(math.reduce_sum(difference, 1))
    together = math.cast(labels, distances.dtype)
    apart = math.square(math.maximum(margin - distances, 0.0))
    losses = together * math.square(distances) + (1.0 - together) * apart
    count_further(1)
    return math.reduce_mean(losses, name="contrastive_loss")


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Tensor:
    """For each pair of equal labels, the nearest other that is farther away than the pair.

    Where there is none, the farthest other. (FaceNet, arXiv:1503.03832.)
    """
    distances = pairwise_distance(embeddings, squared=True)
    same = _same(labels)
    other = math.logical_not(same)
    # anchor, positive, negative
    negative = array.expand_dims(distances, 1)
    farther = math.logical_and(
        array.expand_dims(other, 1), math.greater(negative, array.expand_dims(distances, 2))
    )
    mask = math.cast(farther, distances.dtype)
    outside = -_largest(-negative + array.zeros_like(mask), mask)
    inside = _largest(distances, math.cast(other, distances.dtype))
    chosen = select.where(
        math.reduce_any(farther, 2),
        array.squeeze(outside, [2]),
        inside + array.zeros_like(distances),
    )
    pairs = math.cast(same, distances.dtype) * _others(distances)
    losses = math.maximum((margin + distances - chosen) * pairs, 0.0)
    total = math.reduce_sum(losses)
    count_further(13)
    return math.truediv(total, math.reduce_sum(pairs), name="triplet_semihard_loss")


def npairs_loss(
    labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:
    """Each anchor is to be most like its positive, among those of all pairs."""
    count_further(6)
    return _of_pairs(
        lambda: _same(labels), embeddings_anchor, embeddings_positive, reg_lambda, print_losses
    )


def npairs_loss_multilabel(
    sparse_labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:
    """`npairs_loss` of pairs that have several labels each: the more they share, the more alike.

    `sparse_labels` are a list of a sparse tensor [1, classes] for each pair.
    """
    if not all(isinstance(each, SparseTensor) for each in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")

    def shared() -> Tensor:
        dense = [array.reshape(sparse_tensor_to_dense(each), [1, -1]) for each in sparse_labels]
        labels = math.cast(math.cast(array.concat(dense, 0), dtypes.bool), dtypes.float32)
        return matmul(labels, labels, transpose_b=True)

    return _of_pairs(shared, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def _of_pairs(
    alike: Callable[[], Tensor], anchor: Any, positive: Any, reg_lambda: float, print_losses: bool
) -> Tensor:
    """The cross entropy of how alike pairs are and shall be, and the size of their vectors."""
    sizes = [math.reduce_mean(math.reduce_sum(math.square(each), 1)) for each in (anchor, positive)]
    l2loss = math.multiply(0.25 * reg_lambda, sizes[0] + sizes[1], name="l2loss")
    similarity = matmul(anchor, positive, transpose_b=True)
    wanted = math.cast(alike(), similarity.dtype)
    wanted = wanted / math.reduce_sum(wanted, 1, keepdims=True)
    losses = cross_entropy.softmax_cross_entropy_with_logits(logits=similarity, labels=wanted)
    loss = math.reduce_mean(losses, name="xentropy")
    if print_losses:
        loss = printing.Print(loss, ["cross entropy:", loss, "l2loss:", l2loss])
    return l2loss + loss


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Tensor:
    """Pairs of equal labels against all others of both (arXiv:1511.06452)."""
    distances = pairwise_distance(embeddings)
    same = _same(labels)
    other = math.cast(math.logical_not(same), distances.dtype)
    nearness = margin - distances
    nearest = _largest(nearness, other)
    both = math.maximum(nearest, array.transpose(nearest))
    # What is left of each row's sum of exponentials, as seen from the larger of the two.
    sums = math.reduce_sum(math.exp(nearness - nearest) * other, 1, keepdims=True)
    own = sums * math.exp(nearest - both)
    losses = both + math.log(own + array.transpose(own)) + distances
    pairs = math.cast(same, distances.dtype) * _others(distances)
    total = 0.25 * math.reduce_sum(math.square(math.maximum(losses * pairs, 0.0)))
    count_further(12)
    return math.truediv(total, math.reduce_sum(pairs) / 2.0, name="liftedstruct_loss")
