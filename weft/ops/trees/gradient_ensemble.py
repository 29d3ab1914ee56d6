"""The object behind the handle of tf.contrib.boosted_trees: an ensemble that grows by layers."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from weft.ops.kit.shared import invalid
from weft.ops.trees import gradient_splits as splits
from weft.ops.trees.gradient_splits import Examples, Layer, Rule, Split
from weft.protos.contrib_trees import DecisionTreeEnsembleConfig, LearnerConfig

Array = np.ndarray
CENTERED = 0.01  # a bias that changes by less is found
_STRATEGIES = {
    LearnerConfig.TREE_PER_CLASS: "scalar",
    LearnerConfig.FULL_HESSIAN: "full",
    LearnerConfig.DIAGONAL_HESSIAN: "diagonal",
}


def rule_of(config: Any) -> Rule:
    """The rule by which a learner judges splits."""
    regular = config.regularization
    strategy = _STRATEGIES[config.multi_class_strategy]
    least = config.constraints.min_node_weight
    return Rule(strategy, regular.l1, regular.l2, regular.tree_complexity, least)


def parse(kind: Any, serialized: bytes, what: str) -> Any:
    """A message out of its bytes."""
    try:
        return kind.FromString(serialized)
    except DecodeError:
        raise invalid(f"Unable to parse {what}.") from None


class Columns:
    """The features of a batch: columns of numbers by (column, dimension), and columns of ids."""

    def __init__(self, dense: Any, sparse: Any, ids: Any) -> None:
        self.places = [(i, 0) for i in range(len(dense))]
        tables = [
            np.asarray(column, np.float32).reshape(len(column), -1)[:, :1] for column in dense
        ]
        for i, (indices, values, shape) in enumerate(sparse):
            width = int(shape[1]) if len(shape) > 1 else 1
            table = np.full((int(shape[0]), width), np.nan, np.float32)
            table[indices[:, 0], indices[:, 1] if indices.shape[1] > 1 else 0] = values
            tables.append(table)
            self.places += [(i, dimension) for dimension in range(width)]
        self.dense = len(dense)
        self.ids = [(indices[:, 0], values) for indices, values, _ in ids]
        count = len(tables[0]) if tables else int(ids[0][2][0])
        self.numbers = np.concatenate(tables, 1) if tables else np.zeros((count, 0), np.float32)
        self._numbers_at = {
            place: i for i, place in enumerate(self.places[self.dense :], self.dense)
        }

    def goes_left(self, kind: str, split: Any) -> Array:
        """Which examples go left at a split."""
        if kind == splits.CATEGORY:
            return self._has(split.feature_column, [split.feature_id])
        if kind == "categorical_id_set_membership_binary_split":
            return self._has(split.feature_column, list(split.feature_ids))
        if kind == splits.DENSE:
            found: Array = self.numbers[:, split.feature_column] <= split.threshold
            return found
        inner = split.split
        column = self.numbers[:, self._numbers_at[inner.feature_column, inner.dimension_id]]
        missing = np.isnan(column) & (kind == splits.MISSING_LEFT)
        return missing | (column <= inner.threshold)

    def _has(self, column: int, wanted: list[int]) -> Array:
        rows, values = self.ids[column]
        found = np.zeros(len(self.numbers), bool)
        found[rows[np.isin(values, wanted)]] = True
        return found


def leaf_value(leaf: Any, width: int) -> Array:
    """What a leaf adds to each logit."""
    value = np.zeros(width, np.float32)
    if leaf.HasField("sparse_vector"):
        value[list(leaf.sparse_vector.index)] = leaf.sparse_vector.value
    elif leaf.vector.value:
        value[:] = leaf.vector.value
    return value


def _inner(node: Any) -> tuple[str, Any, Any]:
    """(kind, split, the message that has its children) of a node; of a leaf, its kind."""
    kind = node.WhichOneof("node")
    split: Any = getattr(node, kind) if kind else None
    return kind, split, split.split if kind and kind.startswith("sparse_float") else split


def leaves_of(tree: Any, columns: Columns) -> Array:
    """The leaf of a tree at which each example arrives. Children come after their parents."""
    at = np.zeros(len(columns.numbers), np.int32)
    for number, node in enumerate(tree.nodes):
        kind, split, children = _inner(node)
        here = at == number
        if kind != "leaf" and here.any():
            left = columns.goes_left(kind, split)
            at[here] = np.where(left, children.left_id, children.right_id)[here]
    return at


class Ensemble:
    """Trees, and the examples that the next layer will grow from."""

    def __init__(self, name: str) -> None:
        self.name, self.lock = name, threading.RLock()
        self.message: Any = None
        self.stamp = 0
        self._clear()

    def _clear(self) -> None:
        self.is_centered = False  # whether the first tree is a bias
        self.waiting: Examples | None = None
        self.batches = 0
        self.limits: list[Array] | None = None

    def load(self, stamp: int, serialized: bytes) -> None:
        """Begins with trees that were saved."""
        self.message = parse(DecisionTreeEnsembleConfig, serialized, "tree ensemble config")
        self.stamp = stamp
        self._clear()

    def last_is_final(self) -> bool:
        """Whether the next layer begins a tree."""
        kept = self.message.tree_metadata
        return not kept or kept[-1].is_finalized

    def stats(self) -> dict[str, int]:
        """The numbers of trees and layers, finished, present and tried."""
        kept, growing = self.message.tree_metadata, self.message.growing_metadata
        count = len(kept)
        return {
            "num_trees": count if self.last_is_final() else count - 1,
            "num_layers": sum(each.num_layers_grown for each in kept),
            "active_tree": count,
            "active_layer": kept[-1].num_layers_grown if kept else 0,
            "attempted_trees": growing.num_trees_attempted,
            "attempted_layers": growing.num_layers_attempted,
        }

    def predict(
        self, columns: Columns, width: int, weights: Array | None = None
    ) -> tuple[Array, Array]:
        """(logits of each example, its leaf in each tree)"""
        weights = np.array(self.message.tree_weights) if weights is None else weights
        logits = np.zeros((len(columns.numbers), width), np.float32)
        leaves = np.zeros((len(columns.numbers), len(self.message.trees)), np.int32)
        for i, tree in enumerate(self.message.trees):
            leaves[:, i] = at = leaves_of(tree, columns)
            values = np.stack([leaf_value(node.leaf, width) for node in tree.nodes])
            logits += np.float32(weights[i]) * values[at]
        return logits, leaves

    def partitions(self, columns: Columns) -> Array:
        """The node of the growing tree at which each example is."""
        if self.last_is_final():
            return np.zeros(len(columns.numbers), np.int32)
        return leaves_of(self.message.trees[-1], columns)

    # ---- growth ----------------------------------------------------------------------------------

    def add(self, columns: Columns, gradients: Array, hessians: Array) -> int:
        """Keeps a batch for the next layer; the number of examples that wait."""
        nodes = self.partitions(columns)
        batch = Examples(columns.numbers, columns.ids, nodes, gradients, hessians)
        self.waiting = batch if self.waiting is None else self.waiting.joined(batch)
        self.batches += 1
        return len(self.waiting.nodes)

    def _taken(self) -> tuple[Examples, float]:
        """The examples that waited, and the share of one of their batches."""
        waiting, share = self.waiting, 1.0 / self.batches
        assert waiting is not None
        self.waiting, self.batches = None, 0
        self.stamp += 1
        return waiting, share

    def is_centering(self) -> bool:
        """Whether the ensemble has no bias yet, or one that still moves."""
        kept = self.message.tree_metadata
        return not kept or (len(kept) == 1 and not kept[0].is_finalized)

    def center(self) -> None:
        """Moves the bias, which is the first tree, until it hardly moves any more."""
        waiting, share = self._taken()
        g, h = waiting.gradients.sum(0) * share, waiting.hessians.sum(0) * share
        step = np.divide(-g, h, out=np.zeros_like(g), where=h > 0)
        self.is_centered = True
        if not self.message.trees:
            self._count_attempt()
            self._new_tree(1.0).nodes[0].leaf.vector.value.extend([0.0] * len(step))
        bias = self.message.trees[0].nodes[0].leaf.vector.value
        bias[:] = list(np.array(bias) + step)
        self.message.tree_metadata[0].is_finalized = bool(np.abs(step).sum() <= CENTERED)

    def grow(self, config: Any, columns: Columns, class_id: int, quantiles: int) -> None:
        """Adds a layer, once the boundaries of numbers are known; they are of the layer before."""
        waiting, share = self._taken()
        layer = Layer(rule_of(config), waiting, share)
        active = self._active(config, len(columns.places) + len(columns.ids))
        self._count_attempt()
        limits = self.limits
        self.limits = splits.boundaries(waiting.numbers, _weights(waiting.hessians), quantiles)
        if limits is None:
            return
        found = splits.best_splits(layer, limits, columns.places, active)
        if config.pruning_mode == LearnerConfig.PRE_PRUNE:
            found = {node: split for node, split in found.items() if split.gain >= 0}
        if found:
            tree = self._growing_tree(config)
            for node in sorted(found):
                self._split(config, tree, found[node], class_id)
            self._finish(config, tree)

    def _active(self, config: Any, count: int) -> Array:
        """The columns that a layer may be split by."""
        growing = self.message.growing_metadata
        active = np.ones(count, bool)
        match config.WhichOneof("feature_fraction"):
            case "feature_fraction_per_level":
                drawn = np.random.default_rng([growing.num_layers_attempted, 1]).random(count)
                active = drawn < config.feature_fraction_per_level
            case "feature_fraction_per_tree":
                drawn = np.random.default_rng([growing.num_trees_attempted, 2]).random(count)
                active = drawn < config.feature_fraction_per_tree
        most = config.constraints.max_number_of_unique_feature_columns
        if most and len(growing.used_handler_ids) >= most:
            active &= np.isin(np.arange(count), list(growing.used_handler_ids))
        return active

    def dropped(self, config: Any, seed: int, center_bias: bool) -> list[int]:
        """The trees that the next one is grown without."""
        setting = config.learning_rate_tuner.dropout
        count = len(self.message.trees) - (0 if self.last_is_final() else 1)
        generator = np.random.default_rng(seed)
        if setting.dropout_probability == 0:
            return []
        if generator.random() < setting.probability_of_skipping_dropout:
            return []
        rolls = generator.random(len(self.message.trees))
        return [i for i in range(int(center_bias), count) if rolls[i] < setting.dropout_probability]

    def _share_weights(self, trees: list[int]) -> None:
        """The trees that were dropped give a part of their weights to the new one."""
        weights, kept = self.message.tree_weights, self.message.tree_metadata
        if not trees:
            return
        total = sum(weights[i] for i in trees)
        for i in trees:
            weights[i] *= len(trees) / (len(trees) + 1)
            kept[i].num_tree_weight_updates += 1
        weights[-1] = total / (len(trees) + 1)
        kept[-1].num_tree_weight_updates += 1

    def _count_attempt(self) -> None:
        growing = self.message.growing_metadata
        growing.num_layers_attempted += 1
        growing.num_trees_attempted += int(self.last_is_final())

    def _new_tree(self, weight: float) -> Any:
        tree = self.message.trees.add()
        tree.nodes.add().leaf.SetInParent()
        self.message.tree_weights.append(weight)
        self.message.tree_metadata.add(num_layers_grown=1, num_tree_weight_updates=1)
        return tree

    def _growing_tree(self, config: Any) -> Any:
        deepest = config.constraints.max_tree_depth
        if self.last_is_final():
            tuner = config.learning_rate_tuner
            self._new_tree(getattr(tuner, tuner.WhichOneof("tuner")).learning_rate)
        else:
            self.message.tree_metadata[-1].num_layers_grown += 1
        kept = self.message.tree_metadata[-1]
        dropped = []
        if config.learning_rate_tuner.HasField("dropout") and kept.num_layers_grown >= deepest:
            seed = self.message.growing_metadata.num_trees_attempted
            dropped = self.dropped(config, seed, self.is_centered)
        kept.is_finalized = kept.num_layers_grown >= deepest
        self._share_weights(dropped)
        return self.message.trees[-1]

    def _split(self, config: Any, tree: Any, split: Split, class_id: int) -> None:
        """A leaf becomes a split with two leaves."""
        node = tree.nodes[split.node]
        before = type(node.leaf)()
        before.CopyFrom(node.leaf)
        merge = config.growing_mode != LearnerConfig.WHOLE_TREE
        ids = [len(tree.nodes), len(tree.nodes) + 1]
        for value in (split.left, split.right):
            _fill(tree.nodes.add().leaf, value, class_id, before if merge else None)
        node = tree.nodes[split.node]
        node.Clear()
        made = getattr(node, split.kind)
        inner = made.split if split.kind.startswith("sparse_float") else made
        inner.feature_column, (inner.left_id, inner.right_id) = split.column, ids
        if split.kind == splits.CATEGORY:
            inner.feature_id = split.at
        else:
            inner.threshold, inner.dimension_id = split.at, split.dimension
        node.node_metadata.gain = split.gain
        growing = self.message.growing_metadata
        if (
            config.constraints.max_number_of_unique_feature_columns
            and split.handler not in growing.used_handler_ids
        ):
            growing.used_handler_ids.append(split.handler)
        if config.pruning_mode == LearnerConfig.POST_PRUNE:
            node.node_metadata.original_leaf.CopyFrom(before)

    def _finish(self, config: Any, tree: Any) -> None:
        """A tree that is done loses what did not help it, and may be left out."""
        if config.pruning_mode != LearnerConfig.POST_PRUNE or not self.last_is_final():
            return
        prune(tree)
        if len(tree.nodes) == 1:
            for kept in (self.message.trees, self.message.tree_weights, self.message.tree_metadata):
                del kept[-1]


def _weights(hessians: Array) -> Array:
    """The weight of each example among the quantiles."""
    flat = hessians.reshape(len(hessians), -1).astype(np.float64)
    found: Array = np.abs(flat[:, 0]) if flat.shape[1] == 1 else np.sqrt((flat * flat).sum(1))
    return found if found.any() else np.ones_like(found)


def _fill(leaf: Any, value: Array, class_id: int, before: Any) -> None:
    """The value of a new leaf: that of its parent, and what the split adds."""
    if class_id >= 0:
        old = (
            dict(zip(before.sparse_vector.index, before.sparse_vector.value, strict=True))
            if before
            else {}
        )
        old[class_id] = old.get(class_id, 0.0) + float(value[0])
        leaf.sparse_vector.index.extend(old)
        leaf.sparse_vector.value.extend(old.values())
        return
    total = np.array(value, np.float64)
    if before is not None and before.vector.value:
        total += np.array(before.vector.value)
    leaf.vector.value.extend(total)


def prune(tree: Any) -> None:
    """Splits without gain whose children are leaves become leaves again, from below upwards."""
    nodes = list(tree.nodes)
    for number in reversed(range(len(nodes))):
        kind, _, children = _inner(nodes[number])
        if kind == "leaf" or nodes[number].node_metadata.gain > 0:
            continue
        below = [nodes[children.left_id], nodes[children.right_id]]
        if all(child.WhichOneof("node") == "leaf" for child in below):
            leaf = type(nodes[number].leaf)()
            leaf.CopyFrom(nodes[number].node_metadata.original_leaf)
            nodes[number].Clear()
            nodes[number].leaf.CopyFrom(leaf)
    _compact(tree, nodes)


def _compact(tree: Any, nodes: list[Any]) -> None:
    """The nodes that the root reaches, numbered anew in the order of their parents."""
    order, made = [0], []
    for number in order:
        node = type(nodes[0])()
        node.CopyFrom(nodes[number])
        kind, _, children = _inner(node)
        if kind != "leaf":
            order += [children.left_id, children.right_id]
            children.left_id, children.right_id = len(order) - 2, len(order) - 1
        made.append(node)
    del tree.nodes[:]
    tree.nodes.extend(made)
