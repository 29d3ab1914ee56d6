"""Logits by an ensemble of trees: at once, or going on from where the last layer began."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST_STATE
from weft.ops.kit.shared import invalid
from weft.ops.trees.ensemble_objects import Ensemble, node_values, split_of
from weft.protos.boosted_trees import DebugOutput

Array = np.ndarray
_ATTRS = "num_bucketized_features: int >= 1, logits_dimension: int"
_FEATURES = "bucketized_features: num_bucketized_features * int32"


def _wrong_size(what: str, wanted: str, got: str) -> errors.InternalError:
    return errors.InternalError(None, None, f"Expected {what}.size() == {wanted}, got {got}")


class _Walk:
    """A tree as arrays, so that a batch can go down it together."""

    def __init__(self, tree: Any) -> None:
        splits = [split_of(node) for node in tree.nodes]
        values = [node_values(node) for node in tree.nodes]
        self._sizes = np.array([len(each) for each in values])
        self._values = np.zeros((len(values), max(self._sizes)), np.float32)
        for i, each in enumerate(values):
            self._values[i, : len(each)] = each
        self._is_leaf = np.array([split is None for split in splits])
        self._equal = np.array([node.HasField("categorical_split") for node in tree.nodes])

        def column(name: str) -> Array:
            return np.array([getattr(split, name, 0) if split else 0 for split in splits])

        self._feature, self._left, self._right = map(column, ("feature_id", "left_id", "right_id"))
        self._threshold = np.where(self._equal, column("value"), column("threshold"))

    def leaves(self, nodes: Array, features: Array) -> Array:
        """The leaves that examples reach from `nodes`; `features` has a row for each feature."""
        while True:
            going = np.flatnonzero(~self._is_leaf[nodes])
            if not len(going):
                return nodes
            at = nodes[going]
            value, threshold = features[self._feature[at], going], self._threshold[at]
            left = np.where(self._equal[at], value == threshold, value <= threshold)
            nodes = nodes.copy()
            nodes[going] = np.where(left, self._left[at], self._right[at])

    def logits(self, nodes: Array, dimension: int, what: str) -> Array:
        """The values of nodes; of a split that never was a leaf, zeros."""
        sizes = self._sizes[nodes]
        wrong = sizes[(sizes != 0) & (sizes != dimension)]
        if len(wrong):
            raise _wrong_size(what, "logits_dimension_", f"{wrong[0]} vs {dimension}")
        found = self._values[nodes, :dimension]
        return found if found.shape[1] == dimension else np.zeros((len(nodes), dimension), "f4")


def _batch(features: list[Array]) -> Array:
    return np.stack([np.ravel(feature) for feature in features])


def _rows(c: ShapeContext, first: int) -> Dims:
    rows: Any = s.with_rank(c.dims(first), 1)
    for i in range(first, c.num_inputs):
        rows = s.merge(rows, s.with_rank(c.dims(i), 1))
    return rows


def _logits_dims(c: ShapeContext) -> Dims:
    return s.concat(_rows(c, 1), (c.attr("logits_dimension"),))


@op(
    "BoostedTreesPredict", inputs=f"tree_ensemble_handle: resource, {_FEATURES}",
    outputs="logits: float", attrs=_ATTRS, shape=_logits_dims, traits=HOST_STATE,
)  # fmt: skip
def predict(
    xp: Any, tree_ensemble_handle: Ensemble, bucketized_features: Any, *, logits_dimension: int
) -> Array:
    features = _batch(bucketized_features)
    with tree_ensemble_handle.lock:
        message = tree_ensemble_handle.message
        logits = np.zeros((features.shape[1], logits_dimension), np.float32)
        for tree, weight in zip(message.trees, message.tree_weights, strict=True):
            walk = _Walk(tree)
            leaves = walk.leaves(np.zeros(len(logits), np.int32), features)
            logits += np.float32(weight) * walk.logits(leaves, logits_dimension, "leaf_logits")
        return logits


def _training_dims(c: ShapeContext) -> list[Dims]:
    rows: Any = _rows(c, 1)
    return [s.concat(rows, (c.attr("logits_dimension"),)), rows, rows]


@op(
    "BoostedTreesTrainingPredict",
    inputs="tree_ensemble_handle: resource, cached_tree_ids: int32, cached_node_ids: int32,"
    f" {_FEATURES}",
    outputs="partial_logits: float, tree_ids: int32, node_ids: int32", attrs=_ATTRS,
    shape=_training_dims, traits=HOST_STATE,
)  # fmt: skip
def training_predict(
    xp: Any, tree_ensemble_handle: Ensemble, cached_tree_ids: Array, cached_node_ids: Array,
    bucketized_features: Any, *, logits_dimension: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """How logits changed since an example was at a node of a tree, and where it is now."""
    features = _batch(bucketized_features)
    with tree_ensemble_handle.lock:
        message = tree_ensemble_handle.message
        logits = np.zeros((features.shape[1], logits_dimension), np.float32)
        nodes = np.zeros(len(logits), np.int32)
        if not message.trees:
            return logits, cached_tree_ids, nodes
        first = int(cached_tree_ids.min(initial=len(message.trees)))
        for tree_id in range(first, len(message.trees)):
            here = np.flatnonzero(cached_tree_ids <= tree_id)
            begun = (cached_tree_ids == tree_id) & (cached_node_ids >= 0)
            walk = _Walk(message.trees[tree_id])
            starts, change = _starts(
                walk, message.tree_metadata[tree_id], np.where(begun, cached_node_ids, -1)[here],
                logits_dimension,
            )  # fmt: skip
            nodes[here] = walk.leaves(starts, features[:, here])
            change = change + walk.logits(nodes[here], logits_dimension, "leaf_logits")
            logits[here] += np.float32(message.tree_weights[tree_id]) * change
        return logits, np.full(len(nodes), len(message.trees) - 1, np.int32), nodes


def _starts(walk: _Walk, metadata: Any, cached: Array, dimension: int) -> tuple[Array, Array]:
    """Nodes to begin with, and minus what they had given; -1 is an example not seen before."""
    change = np.zeros((len(cached), dimension), np.float32)
    starts, known = np.maximum(cached, 0), cached >= 0
    updates = metadata.post_pruned_nodes_meta
    if metadata.is_finalized and updates:
        moved = np.array([update.new_node_id for update in updates], np.int32)
        changes = np.array([list(update.logit_change) for update in updates], np.float32)
        change[known] = changes[starts[known]]
        starts = np.where(known, moved[starts], starts)
    change[known] -= walk.logits(starts[known], dimension, "node_logits")
    return starts, change


def _debug_dims(c: ShapeContext) -> Dims:
    return _rows(c, 1)


@op(
    "BoostedTreesExampleDebugOutputs", inputs=f"tree_ensemble_handle: resource, {_FEATURES}",
    outputs="examples_debug_outputs_serialized: string", attrs=_ATTRS, shape=_debug_dims,
    traits=HOST_STATE,
)  # fmt: skip
def example_debug_outputs(
    xp: Any, tree_ensemble_handle: Ensemble, bucketized_features: Any, *, logits_dimension: int
) -> Array:
    """For each example the features on its way, and the logits after each step of it."""
    if logits_dimension != 1:
        raise invalid("Currently only one dimensional outputs are supported.")
    features = _batch(bucketized_features)
    out = np.empty(features.shape[1], object)
    with tree_ensemble_handle.lock:
        for i, example in enumerate(features.T):
            out[i] = _way(tree_ensemble_handle.message, example).SerializeToString()
    return out


def _only(node: Any) -> Any:
    values = node_values(node)
    if len(values) != 1:
        raise _wrong_size("tree_logits", "1", str(len(values)))
    return np.float32(values[0])


def _way(message: Any, example: Array) -> Any:
    told = DebugOutput()
    logit = np.float32(message.tree_weights[0]) * _only(message.trees[0].nodes[0])
    told.logits_path.append(logit)
    past = np.float32(0)
    for tree_id, tree in enumerate(message.trees):
        node_id, split = 0, split_of(tree.nodes[0])
        while split is not None:
            told.feature_ids.append(split.feature_id)
            node_id = _next(tree.nodes[node_id], split, example)
            logit = np.float32(message.tree_weights[tree_id]) * _only(tree.nodes[node_id])
            told.logits_path.append(logit + past)
            split = split_of(tree.nodes[node_id])
        # A tree that has only its root says nothing, except for the bias in the first.
        if tree_id == 0 or node_id > 0:
            past += logit
    return told


def _next(node: Any, split: Any, example: Array) -> int:
    value = example[split.feature_id]
    if node.HasField("categorical_split"):
        return split.left_id if value == split.value else split.right_id
    return split.left_id if value <= split.threshold else split.right_id
