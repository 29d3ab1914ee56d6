"""Sums of gradients and hessians for each node, feature and bucket."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid

Array = np.ndarray


def _check_rows(node_ids: Array, gradients: Array, hessians: Array, max_splits: int) -> None:
    for what, array in (("gradients", gradients), ("hessians", hessians)):
        if len(node_ids) != len(array):
            raise invalid(
                f"node_ids size should match 0th dim of {what}. node ids size:"
                f" {len(node_ids)}, {what} dim0: {len(array)}"
            )
    for i, node in enumerate(node_ids.tolist()):
        if node < 0:
            raise invalid(f"node_ids {i}th entry should be >=0, got: {node}")
        if node >= max_splits:
            raise invalid(
                f"Nodes in node_ids must be at most max_splits. Node {i} is {node} which is"
                f" greater than {max_splits}"
            )


def _summary_dims(c: ShapeContext) -> Dims:
    rows = s.with_rank(c.dims(0), 1)
    for i in (1, 2):
        s.merge(rows, s.with_rank(c.dims(i), 2)[:1])
    for i in range(3, c.num_inputs):
        s.merge(rows, s.with_rank(c.dims(i), 1))
    return (c.attr("num_features"), c.attr("max_splits"), c.attr("num_buckets"), 2)


@op(
    "BoostedTreesMakeStatsSummary",
    inputs="node_ids: int32, gradients: float, hessians: float,"
    " bucketized_features_list: num_features * int32",
    outputs="stats_summary: float",
    attrs="max_splits: int >= 1, num_buckets: int >= 1, num_features: int >= 1",
    shape=_summary_dims, traits=HOST,
)  # fmt: skip
def make_stats_summary(
    xp: Any, node_ids: Array, gradients: Array, hessians: Array, bucketized_features_list: Any,
    *, max_splits: int, num_buckets: int, num_features: int,
) -> Array:  # fmt: skip
    _check_rows(node_ids, gradients, hessians, max_splits)
    stats = np.zeros((num_features, max_splits, num_buckets, 2))
    values = np.concatenate([gradients[:, :1], hessians[:, :1]], axis=1)
    for i, feature in enumerate(bucketized_features_list):
        if len(feature) != len(node_ids):
            raise invalid(
                f"feature {i} should have same size as node_ids, got {len(feature)} and"
                f" {len(node_ids)}"
            )
        np.add.at(stats[i], (node_ids, feature), values)
    return stats.astype(np.float32)


def _aggregate_dims(c: ShapeContext) -> Dims:
    rows = s.with_rank(c.dims(0), 1)
    columns = []
    for i in (1, 2, 3):
        dims = s.with_rank(c.dims(i), 2)
        s.merge(rows, dims[:1])
        columns.append(dims[1])
    logits, hessians, features = columns
    both = None if logits is None or hessians is None else logits + hessians
    return (c.attr("max_splits"), features, c.attr("num_buckets") + 1, both)


@op(
    "BoostedTreesAggregateStats",
    inputs="node_ids: int32, gradients: float, hessians: float, feature: int32",
    outputs="stats_summary: float",
    attrs="max_splits: int >= 1, num_buckets: int >= 1", shape=_aggregate_dims, traits=HOST,
)  # fmt: skip
def aggregate_stats(
    xp: Any, node_ids: Array, gradients: Array, hessians: Array, feature: Array,
    *, max_splits: int, num_buckets: int,
) -> Array:  # fmt: skip
    """Values of -1 are missing; they have the bucket after the last."""
    _check_rows(node_ids, gradients, hessians, max_splits)
    values = np.concatenate([gradients, hessians], axis=1)
    columns = feature.shape[1]
    stats = np.zeros((max_splits, columns, num_buckets + 1, values.shape[1]))
    buckets = np.where(feature == -1, num_buckets, feature)
    np.add.at(stats, (node_ids[:, None], np.arange(columns), buckets), values[:, None])
    return stats.astype(np.float32)


def _sparse_dims(c: ShapeContext) -> list[Dims]:
    rows = s.with_rank(c.dims(0), 1)
    for i in (1, 2):
        s.merge(rows, s.with_rank(c.dims(i), 2)[:1])
    entries = s.with_rank(c.dims(3), 2)
    s.merge(entries[1:], (2,))
    s.merge(entries[:1], s.with_rank(c.dims(4), 1))
    s.merge(s.with_rank(c.dims(5), 1), (2,))
    return [(None, 4), (None,), (4,)]


@op(
    "BoostedTreesSparseAggregateStats",
    inputs="node_ids: int32, gradients: float, hessians: float, feature_indices: int32,"
    " feature_values: int32, feature_shape: int32",
    outputs="stats_summary_indices: int32, stats_summary_values: float,"
    " stats_summary_shape: int32",
    attrs="max_splits: int >= 1, num_buckets: int >= 1", shape=_sparse_dims, traits=HOST,
)  # fmt: skip
def sparse_aggregate_stats(
    xp: Any, node_ids: Array, gradients: Array, hessians: Array, feature_indices: Array,
    feature_values: Array, feature_shape: Array, *, max_splits: int, num_buckets: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Only what is there, by node, feature and bucket; values that are not given are missing."""
    _check_rows(node_ids, gradients, hessians, max_splits + 1)
    columns = int(feature_shape[1])
    buckets = np.full((len(node_ids), columns), num_buckets, np.int32)
    _check_sparse(feature_indices, feature_values, buckets.shape, num_buckets)
    buckets[feature_indices[:, 0], feature_indices[:, 1]] = feature_values
    features = np.broadcast_to(np.arange(columns), buckets.shape)
    nodes = np.broadcast_to(node_ids[:, None], buckets.shape)
    keys = np.stack([nodes, features, buckets], axis=-1).reshape(-1, 3)
    values = np.repeat(np.concatenate([gradients, hessians], axis=1), columns, axis=0)
    found, which = np.unique(keys, axis=0, return_inverse=True)
    width = values.shape[1]
    stats = np.zeros((len(found), width), np.float32)
    np.add.at(stats, which.reshape(-1), values)
    last = np.tile(np.arange(width), len(found))[:, None]
    indices = np.concatenate([np.repeat(found, width, axis=0), last], axis=1)
    shape = np.array([max_splits, columns, num_buckets + 1, width], np.int32)
    return indices.astype(np.int32), stats.reshape(-1), shape


def _check_sparse(indices: Array, values: Array, shape: tuple[int, ...], num_buckets: int) -> None:
    rows, columns = shape
    before = (0, -1)
    for i, (row, column) in enumerate(indices.tolist()):
        if values[i] > num_buckets:
            raise invalid(
                f"Features in feature_values must be at most num_buckets. Node {i} is"
                f" {values[i]} which is greater than {num_buckets}"
            )
        if not 0 <= column < columns:
            raise invalid(
                f"Got invalid feature index feature_indices({i}1) = {column} which is above"
                f" {columns}"
            )
        if not 0 <= row < rows:
            raise invalid(
                f"feature_indices({i}0) is not a valid index in the node_ids vector (must be"
                f" less than {rows}, got {row})"
            )
        if (row, column) <= before:
            raise invalid(
                f"feature_indices should be increasing but got feature_indices({i}, 0) <"
                f" {before[0]} (feature_indices({i - 1}0))"
            )
        before = (row, column)
