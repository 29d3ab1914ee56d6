"""An ensemble of trees as an object: the message, and what is done with it.

A tree grows by layers. Its nodes are leaves, or splits that keep in their metadata the leaf they
once were, so that a prediction can go on from where an earlier one ended.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from weft.core import errors
from weft.ops.kit.shared import invalid
from weft.protos.boosted_trees import TreeEnsemble

NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)
DEFAULT_LEFT, DEFAULT_RIGHT = "INEQUALITY_DEFAULT_LEFT", "INEQUALITY_DEFAULT_RIGHT"
EQUALITY = "EQUALITY_DEFAULT_RIGHT"


@dataclass(frozen=True)
class Split:
    """A candidate: by which feature a node is split, where, and what its children add."""

    feature_id: int
    dimension_id: int
    threshold: int
    gain: float
    left: Any
    right: Any
    kind: str


def split_of(node: Any) -> Any:
    """The split of a node, None for a leaf."""
    kind = node.WhichOneof("node")
    return None if kind == "leaf" else getattr(node, kind)


def leaf_values(leaf: Any) -> list[float]:
    return list(leaf.vector.value) if leaf.HasField("vector") else [leaf.scalar]


def node_values(node: Any) -> list[float]:
    """The logits of a node: those it had as a leaf if it is none any more, or nothing."""
    if node.WhichOneof("node") == "leaf":
        return leaf_values(node.leaf)
    if node.HasField("metadata") and node.metadata.HasField("original_leaf"):
        return leaf_values(node.metadata.original_leaf)
    return []


class Ensemble:
    """The object behind an ensemble's handle; it has no message before it is created."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.stamp = -1
        self._message: Any = None

    @property
    def initialized(self) -> bool:
        return self._message is not None

    @property
    def message(self) -> Any:
        if self._message is None:
            raise errors.NotFoundError(
                None, None, f"Resource {self.name}/BoostedTreesEnsembleResource does not exist."
            )
        return self._message

    def load(self, serialized: bytes, stamp: int) -> None:
        message = TreeEnsemble()
        try:
            message.ParseFromString(serialized)
        except DecodeError:
            raise invalid("Unable to parse tree ensemble proto.") from None
        self._message, self.stamp = message, stamp

    def add_tree(self, logits: float = 0.0) -> None:
        self.message.trees.add().nodes.add().leaf.scalar = logits
        self.message.tree_weights.append(1.0)
        self.message.tree_metadata.add()

    def count_attempt(self) -> None:
        message = self.message
        growing, trees = message.growing_metadata, message.trees
        growing.num_layers_attempted += 1
        before_is_done = len(trees) < 2 or message.tree_metadata[-2].is_finalized
        if not trees or (before_is_done and len(trees[-1].nodes) == 1):
            growing.num_trees_attempted += 1

    def grow(self, splits: dict[int, Split], max_depth: int, pruning: int) -> None:
        """Adds a layer to the last tree: `splits` are the best ones of its leaves."""
        message = self.message
        self.count_attempt()
        if not message.trees:
            self.add_tree()
        nodes, metadata = message.trees[-1].nodes, message.tree_metadata[-1]
        chosen = {i: x for i, x in splits.items() if pruning != PRE_PRUNING or x.gain >= 0}
        if not chosen:
            return
        start = len(nodes)
        for node_id in sorted(chosen):
            _split(nodes, node_id, chosen[node_id])
        end = len(nodes)
        metadata.num_layers_grown += 1
        if metadata.num_layers_grown >= max_depth:
            start, end = 0, 1
            metadata.is_finalized = True
            if pruning == POST_PRUNING:
                prune(message.trees[-1], metadata)
            self.add_tree()
        message.growing_metadata.last_layer_node_start = start
        message.growing_metadata.last_layer_node_end = end


def _split(nodes: Any, node_id: int, split: Split) -> None:
    node = nodes[node_id]
    before = np.float32(node.leaf.scalar)
    if node_id != 0 or before != 0:
        node.metadata.original_leaf.CopyFrom(node.leaf)
    node.metadata.gain = split.gain
    made = node.categorical_split if split.kind == EQUALITY else node.bucketized_split
    made.feature_id, made.dimension_id = split.feature_id, split.dimension_id
    made.left_id, made.right_id = len(nodes), len(nodes) + 1
    if split.kind == EQUALITY:
        made.value = split.threshold
    else:
        made.threshold = split.threshold
        made.default_direction = int(split.kind == DEFAULT_RIGHT)
    nodes.add().leaf.scalar = before + split.left
    nodes.add().leaf.scalar = before + split.right


# ---- pruning -------------------------------------------------------------------------------------


def prune(tree: Any, metadata: Any) -> None:
    """Takes away splits at the ends of a finished tree that gained nothing.

    The metadata keeps, for each node there was, where it went and how the logits changed: cached
    predictions know nodes by their old numbers.
    """
    parents: dict[int, tuple[int, Any]] = {}
    _prune_below(tree.nodes, 0, parents)
    if not parents:
        return
    kept = [i for i in range(len(tree.nodes)) if i not in parents]
    new_ids = {old: new for new, old in enumerate(kept)}
    for i in range(len(tree.nodes)):
        where, change = i, np.float32(0)
        while where in parents:
            where, step = parents[where]
            change += step
        update = metadata.post_pruned_nodes_meta.add()
        update.new_node_id = new_ids[where]
        update.logit_change.append(change)
    nodes = [tree.nodes[i] for i in kept]
    for node in nodes:
        split = split_of(node)
        if split is not None:
            split.left_id, split.right_id = new_ids[split.left_id], new_ids[split.right_id]
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del tree.nodes[:]
    tree.nodes.extend(copies)


def _prune_below(nodes: Any, node_id: int, parents: dict[int, tuple[int, Any]]) -> None:
    node = nodes[node_id]
    split = split_of(node)
    if split is None:
        return
    children = (split.left_id, split.right_id)
    for child in children:
        _prune_below(nodes, child, parents)
    if node.metadata.gain >= 0 or any(split_of(nodes[child]) is not None for child in children):
        return
    node.leaf.SetInParent()
    node.leaf.CopyFrom(node.metadata.original_leaf)
    own = np.float32(node.leaf.scalar)
    for child in children:
        parents[child] = (node_id, own - np.float32(nodes[child].leaf.scalar))
    node.ClearField("metadata")
