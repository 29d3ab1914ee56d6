"""K-means as a graph: centers that are chosen from the first points and then move.

Comes in: matrices of points. Goes out: for each of them distances and nearest centers, and
operations that begin and train.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.op_def import raw
from weft.lib.estimator.canned.clustering import Centers, Clustering
from weft.lib.estimator.canned.first_centers import FirstCenters
from weft.ops.array import array, gather
from weft.ops.array.placeholders import identity
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op
from weft.ops.math import math
from weft.ops.math.casts import cast
from weft.ops.math.matmul import matmul
from weft.ops.math.moments import l2_normalize
from weft.ops.math.reduce import reduce_sum
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.state.updates import assign, assign_sub, scatter_add


@dataclass(frozen=True)
class Clustered:
    """The operations of one model; the first three are one for each matrix of points."""

    all_distances: tuple[Any, ...]
    cluster_index: tuple[Any, ...]
    distances: tuple[Any, ...]
    is_initialized: Any
    init_op: Any
    train_op: Any


def cluster(inputs: list[Any], how: Clustering) -> Clustered:
    """The graph of k-means over all points of `inputs`."""
    begin, count = how.initial_clusters, how.num_clusters
    if not isinstance(begin, str) and not callable(begin):
        begin = convert_to_tensor(begin)
        count = array.shape(begin)[0]
    count = convert_to_tensor(count)
    centers = Centers(how, count)
    init_op = FirstCenters(inputs, how, begin, count, centers).op()
    where: Any = centers.now
    if how.cosine:
        inputs = [l2_normalize(points, dim=1) for points in inputs]
        if not how.keeps_length:
            where = l2_normalize(where, dim=1)
    found = [_nearest(points, where, how) for points in inputs]
    all_distances, index, distances = zip(*found, strict=True)
    if how.use_mini_batch:
        with control_dependencies([_new_round(how, centers)]):
            moves = [_move_some(*each, centers) for each in zip(inputs, index, strict=True)]
            train_op = group(*moves)
    else:
        train_op = _move_all(inputs, index, count, centers, how)
    return Clustered(all_distances, index, distances, centers.initialized, init_op, train_op)


def _nearest(points: Any, centers: Any, how: Clustering) -> tuple[Any, Any, Any]:
    """(distances to all centers, the nearest center, the distance to it)"""
    products = matmul(points, centers, transpose_b=True)
    if how.cosine:
        everywhere = 1 - products
    else:
        lengths = reduce_sum(math.square(points), 1, keepdims=True)
        others = array.transpose(reduce_sum(math.square(centers), 1, keepdims=True))
        everywhere = lengths - 2 * products + others
    if how.cosine and not how.keeps_length:
        centers = l2_normalize(centers, dim=1)
    index, distances = raw.NearestNeighbors(points, centers, 1)
    if how.cosine:
        distances = distances * 0.5
    return everywhere, array.squeeze(index, [-1]), array.squeeze(distances, [-1])


def _new_round(how: Clustering, centers: Centers) -> Any:
    """Counts down to the step in which the centers take their new places."""
    if not how.in_rounds:
        return no_op()
    wait, counts = centers.wait, centers.counts

    def move() -> Any:
        with control_dependencies([assign(wait, how.steps_per_iteration - 1)]):
            places = l2_normalize(centers.next, dim=1) if how.cosine else centers.next
            with control_dependencies([assign(centers.now, places)]):
                with control_dependencies([assign(counts, array.zeros_like(counts))]):
                    return identity(wait)

    return cond(math.less_equal(wait, 0), move, lambda: assign_sub(wait, 1))


def _move_some(points: Any, index: Any, centers: Centers) -> Any:
    """Centers move towards the points of a batch, the less the more they have seen."""
    counts = centers.counts
    ids, places = array.unique(array.reshape(index, [-1]))
    number = array.size(ids)
    before, seen = gather.gather(centers.next, ids), gather.gather(counts, ids)
    new = unsorted_segment_sum(array.ones_like(places, dtype=counts.dtype), places, number)
    column = array.concat([array.reshape(number, [1]), [1]], 0)
    total = unsorted_segment_sum(points, places, number)
    change = total - cast(array.reshape(new, column), points.dtype) * before
    rate = array.reshape(math.reciprocal(cast(seen + new, points.dtype)), column)
    return group(scatter_add(counts, ids, new), scatter_add(centers.next, ids, change * rate))


def _move_all(
    inputs: list[Any], index: tuple[Any, ...], count: Any, centers: Centers, how: Clustering
) -> Any:
    """Centers move to the middle of the points that are nearest to them."""
    pairs = list(zip(inputs, index, strict=True))
    total = math.add_n([unsorted_segment_sum(points, where, count) for points, where in pairs])
    ones = [array.ones([array.shape(points)[0], 1]) for points in inputs]
    number = math.add_n(
        [unsorted_segment_sum(one, where, count) for one, where in zip(ones, index, strict=True)]
    )
    middle = total / (cast(number, total.dtype) + 1e-6)
    if how.keeps_length:
        middle = l2_normalize(middle, dim=1)
    return assign(centers.now, middle)
