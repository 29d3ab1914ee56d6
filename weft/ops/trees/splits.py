"""The best split of each node, by the sums that `boosted_trees_stats` makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid
from weft.ops.trees.ensemble_objects import DEFAULT_LEFT, DEFAULT_RIGHT, EQUALITY
from weft.ops.trees.gains import first_best, weights_and_gains

Array = np.ndarray
_PENALTIES = "l1: float, l2: float, tree_complexity: float, min_node_weight: float"


class _Found:
    """Splits of nodes, as the columns that the operations give."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows: list[tuple[Any, ...]] = []

    def add(self, *row: Any) -> None:
        """node, gain, dimension of the feature, threshold, left, right, kind"""
        self._rows.append(row)

    def columns(self) -> list[Array]:
        node, gain, feature, threshold, left, right, kind = (
            list(each) for each in (zip(*self._rows, strict=True) if self._rows else [()] * 7)
        )
        kinds = np.empty(len(kind), object)
        kinds[:] = [each.encode() for each in kind]
        shape = (len(node), self._dimension)
        return [
            np.array(node, np.int32), np.array(gain, np.float32), np.array(feature, np.int32),
            np.array(threshold, np.int32), np.array(left, np.float32).reshape(shape),
            np.array(right, np.float32).reshape(shape), kinds,
        ]  # fmt: skip


class _Candidates:
    """Ways to split one node: sums of what goes left and of what goes right."""

    def __init__(self, total: Array, dimension: int, l1: Any, l2: Any) -> None:
        self._total, self._dimension, self._penalties = total, dimension, (l1, l2)
        self._left: list[Array] = []
        self._right: list[Array] = []
        self._where: list[tuple[int, int, str]] = []

    def add(self, left: Array, right: Array, feature: int, bucket: int, kind: str) -> None:
        self._left.append(left)
        self._right.append(right)
        self._where.append((feature, bucket, kind))

    def _judge(self, sums: Array) -> tuple[Array, Array]:
        return weights_and_gains(
            sums[:, : self._dimension], sums[:, self._dimension :], *self._penalties
        )

    def put_best(self, found: _Found, node: int, tree_complexity: Any) -> None:
        if not self._left:
            return
        left_weights, left_gains = self._judge(np.array(self._left, np.float32))
        right_weights, right_gains = self._judge(np.array(self._right, np.float32))
        gains = left_gains + right_gains
        best = first_best(gains)
        if best < 0:
            return
        feature, bucket, kind = self._where[best]
        _, parent = self._judge(self._total[None])
        gain = gains[best] - parent[0] - np.float32(tree_complexity)
        found.add(node, gain, feature, bucket, left_weights[best], right_weights[best], kind)


def _check_range(node_id_range: Array) -> None:
    if node_id_range.shape != (2,):
        raise invalid("node_id_range argument must have shape [2]")


# ---- many features, one bucket each --------------------------------------------------------------


def _gains_dims(c: ShapeContext) -> list[Dims]:
    count = c.attr("num_features")
    s.merge(s.with_rank(c.dims(0), 1), (2,))
    for i in range(1, count + 1):
        s.with_rank(c.dims(i), 3)
    for i in range(count + 1, count + 5):
        s.with_rank(c.dims(i), 0)
    vectors: list[Dims] = [(None,)] * (3 * count)
    return vectors + [(None, 1)] * (2 * count)


@op(
    "BoostedTreesCalculateBestGainsPerFeature",
    inputs=f"node_id_range: int32, stats_summary_list: num_features * float, {_PENALTIES}",
    outputs="node_ids_list: num_features * int32, gains_list: num_features * float,"
    " thresholds_list: num_features * int32, left_node_contribs_list: num_features * float,"
    " right_node_contribs_list: num_features * float",
    attrs="max_splits: int >= 1, num_features: int >= 1", shape=_gains_dims, traits=HOST,
)  # fmt: skip
def best_gains_per_feature(
    xp: Any, node_id_range: Array, stats_summary_list: Any, l1: Any, l2: Any,
    tree_complexity: Any, min_node_weight: Any,
) -> list[Array]:  # fmt: skip
    _check_range(node_id_range)
    features = []
    for stats in stats_summary_list:
        found = _Found(1)
        for node in range(*node_id_range.tolist()):
            sums = np.cumsum(stats[node], axis=0, dtype=np.float32)
            total = sums[-1]
            if total[1] < min_node_weight:
                continue
            candidates = _Candidates(total, 1, l1, l2)
            for bucket, left in enumerate(sums):
                candidates.add(left, total - left, 0, bucket, DEFAULT_LEFT)
            candidates.put_best(found, node, tree_complexity)
        node_ids, gains, _, thresholds, left, right, _ = found.columns()
        features.append((node_ids, gains, thresholds, left, right))
    return [array for group in zip(*features, strict=True) for array in group]


# ---- one feature of several dimensions -----------------------------------------------------------


def _split_dims(c: ShapeContext) -> list[Dims]:
    s.merge(s.with_rank(c.dims(0), 1), (2,))
    for i in range(c.num_inputs - 4, c.num_inputs):
        s.with_rank(c.dims(i), 0)
    matrix = (None, c.attr("logits_dimension"))
    return [(None,), (None,), (None,), (None,), matrix, matrix, (None,)]


def _dense_dims(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(1), 4)
    return _split_dims(c)


_SPLIT_OUTPUTS = (
    "node_ids: int32, gains: float, feature_dimensions: int32, thresholds: int32,"
    " left_node_contribs: float, right_node_contribs: float,"
    " split_with_default_directions: string"
)


@op(
    "BoostedTreesCalculateBestFeatureSplit",
    inputs=f"node_id_range: int32, stats_summary: float, {_PENALTIES}",
    outputs=_SPLIT_OUTPUTS,
    attrs='logits_dimension: int >= 1, split_type: {"inequality", "equality"} = "inequality"',
    shape=_dense_dims, traits=HOST,
)  # fmt: skip
def best_feature_split(
    xp: Any, node_id_range: Array, stats_summary: Array, l1: Any, l2: Any, tree_complexity: Any,
    min_node_weight: Any, *, logits_dimension: int, split_type: str,
) -> list[Array]:  # fmt: skip
    _check_range(node_id_range)
    _check_penalties(stats_summary.shape[3] - logits_dimension, logits_dimension, l1, l2)
    add = _add_inequalities if split_type == "inequality" else _add_equalities
    found = _Found(logits_dimension)
    for node in range(*node_id_range.tolist()):
        stats = stats_summary[node]
        total = stats[0].sum(axis=0, dtype=np.float32)
        if np.linalg.norm(total[logits_dimension:]) < min_node_weight:
            continue
        candidates = _Candidates(total, logits_dimension, l1, l2)
        add(candidates, stats, total)
        candidates.put_best(found, node, tree_complexity)
    return found.columns()


def _check_penalties(hessians: int, logits: int, l1: Any, l2: Any) -> None:
    if hessians <= 0:
        raise invalid(f"hessian dim should be < 0, got {hessians}")
    if hessians > logits * logits:
        raise invalid(f"hessian dim should be <= {logits * logits} but got: {hessians}")
    for name, value in (("l1", l1), ("l2", l2)):
        if value < 0:
            raise invalid(f"{name} = {value:g} but it should be >= 0")
    if logits > 1 and l1 != 0:
        raise invalid("l1 != 0 is not yet supported for multi-class regularization")


def _add_inequalities(candidates: _Candidates, stats: Array, total: Array) -> None:
    """Missing values, which have the last bucket, may go to either side."""
    for feature, buckets in enumerate(stats):
        sums = np.cumsum(buckets, axis=0, dtype=np.float32)
        for bucket, left in enumerate(sums[:-1]):
            more = left + buckets[-1]
            candidates.add(more, sums[-1] - more, feature, bucket, DEFAULT_LEFT)
            candidates.add(left, sums[-1] - left, feature, bucket, DEFAULT_RIGHT)


def _add_equalities(candidates: _Candidates, stats: Array, total: Array) -> None:
    for feature, buckets in enumerate(stats):
        for bucket, left in enumerate(buckets[:-1]):
            candidates.add(left, total - left, feature, bucket, EQUALITY)


# ---- the same where most buckets are empty -------------------------------------------------------


def _sparse_dims(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(1), 2)
    s.with_rank(c.dims(2), 1)
    s.merge(s.with_rank(c.dims(3), 1), (4,))
    return _split_dims(c)


@op(
    "BoostedTreesSparseCalculateBestFeatureSplit",
    inputs="node_id_range: int32, stats_summary_indices: int32, stats_summary_values: float,"
    f" stats_summary_shape: int32, {_PENALTIES}",
    outputs=_SPLIT_OUTPUTS,
    attrs='logits_dimension: int >= 1, split_type: {"inequality"} = "inequality"',
    shape=_sparse_dims, traits=HOST,
)  # fmt: skip
def sparse_best_feature_split(
    xp: Any, node_id_range: Array, stats_summary_indices: Array, stats_summary_values: Array,
    stats_summary_shape: Array, l1: Any, l2: Any, tree_complexity: Any, min_node_weight: Any,
) -> list[Array]:  # fmt: skip
    first, last = node_id_range.tolist()
    found = _Found(1)
    nodes = _by_node(stats_summary_indices, stats_summary_values, int(stats_summary_shape[3]))
    missing_bucket = int(stats_summary_shape[2]) - 1
    for node, features in nodes:
        if not first <= node < last:
            raise invalid(f"node_id = {node} which is not in [{first}, {last})")
        total = _total(features[min(features)])[:2]
        if total[1] < min_node_weight:
            continue
        candidates = _Candidates(total, 1, l1, l2)
        for feature in sorted(features):
            _add_sparse(candidates, features[feature], total, feature, missing_bucket)
        candidates.put_best(found, node, tree_complexity)
    return found.columns()


def _total(buckets: dict[int, Array]) -> Array:
    rows = [buckets[bucket] for bucket in sorted(buckets)]
    return np.cumsum(rows, axis=0, dtype=np.float32)[-1]


def _by_node(indices: Array, values: Array, width: int) -> list[tuple[int, dict[int, Any]]]:
    """Node by node, as they follow each other: feature -> bucket -> sums."""
    nodes: list[tuple[int, dict[int, Any]]] = []
    for i, (node, feature, bucket, stat) in enumerate(indices.tolist()):
        if not 0 <= stat < width:
            raise _no_such_stat(i, stat, width)
        if not nodes or nodes[-1][0] != node:
            nodes.append((node, {}))
        buckets = nodes[-1][1].setdefault(feature, {})
        buckets.setdefault(bucket, np.zeros(width, np.float32))[stat] = values[i]
    return nodes


def _no_such_stat(i: int, stat: int, width: int) -> errors.InvalidArgumentError:
    what = "Stat dim, the sum of logits dim and hessian dim in stats_summary_indices,"
    if stat < 0:
        return invalid(f"{what} should be >= 0, which was {stat} at index {i}")
    return invalid(
        f"{what} cannot be greater than stats dims, the last value in stats_summary_shape,"
        f" which was {width}. At index ({i}, 4), stats_summary_indices contains value {stat}"
    )


def _add_sparse(
    candidates: _Candidates, buckets: dict[int, Array], total: Array, feature: int, missing: int
) -> None:
    by_default = buckets.get(missing, np.zeros(2, np.float32))[:2]
    left = np.zeros(2, np.float32)
    for bucket in sorted(buckets):
        if bucket == missing:
            break
        left = left + buckets[bucket][:2]
        candidates.add(left, total - left, feature, bucket, DEFAULT_RIGHT)
        rest = total - by_default - left
        candidates.add(left + by_default, rest, feature, bucket, DEFAULT_LEFT)
