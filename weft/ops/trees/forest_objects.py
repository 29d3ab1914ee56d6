"""A tree of a random forest that grows as examples arrive: the object behind a tree's handle.

A leaf collects statistics of examples on both sides of some candidate splits, which the first
examples suggest. When it has seen enough, it is split by the best of them. Extremely randomized
trees, as TensorFlow's tensor_forest grows them.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class TreeParams:
    """The parameters of a forest that its trees need."""

    num_outputs: int
    num_features: int
    regression: bool = False
    max_nodes: int = 10000
    num_splits: int = 10
    split_after_samples: float = 250
    strict: bool = False  # left of a split is what is less than its threshold, or not greater

    @staticmethod
    def parse(text: str) -> TreeParams:
        try:
            return TreeParams(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise ValueError(f"No parameters of a forest: {text[:80]!r} ({error})") from None

    def dumps(self) -> str:
        return json.dumps(vars(self), sort_keys=True)

    @property
    def width(self) -> int:
        """The length of a statistic: counts by class; or sums, sums of squares and a count."""
        return 2 * self.num_outputs + 1 if self.regression else self.num_outputs

    def statistics(self, labels: Array, weights: Array) -> Array:
        """The contribution of each example to a statistic."""
        if not self.regression:
            found = np.zeros((len(labels), self.num_outputs))
            found[np.arange(len(labels)), labels.reshape(-1).astype(np.int64)] = weights
            return found
        y = labels.reshape(len(labels), self.num_outputs).astype(np.float64)
        w = weights[:, None]
        return np.concatenate([y * w, y * y * w, w], 1)

    def count(self, statistic: Array) -> Array:
        """The weight of the examples in a statistic."""
        found: Array = statistic[..., -1] if self.regression else statistic.sum(-1)
        return found

    def loss(self, statistic: Array) -> Array:
        """Squared distance from the mean, or Gini impurity times the number of examples."""
        count = np.maximum(self.count(statistic), 1e-12)
        n = self.num_outputs
        if self.regression:
            sums, squares = statistic[..., :n], statistic[..., n : 2 * n]
            total: Array = (squares - sums * sums / count[..., None]).sum(-1)
            return total
        gini: Array = count - (statistic * statistic).sum(-1) / count
        return gini

    def value(self, statistic: Array) -> Array:
        """The prediction of a leaf with this statistic."""
        count = self.count(statistic)
        if not count:
            return np.full(self.num_outputs, 0.0 if self.regression else 1.0 / self.num_outputs)
        found: Array = statistic[: self.num_outputs] / count
        return found


@dataclass
class Candidates:
    """Splits that a leaf considers: by which features, where, and what lies on either side."""

    width: int
    features: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    left: Array = field(default_factory=lambda: np.zeros((0, 0)))
    right: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def add(self, features: Array, thresholds: Array) -> None:
        self.features += [int(f) for f in features]
        self.thresholds += [float(t) for t in thresholds]
        blank = np.zeros((len(features), self.width))
        self.left = np.concatenate([self.left.reshape(-1, self.width), blank])
        self.right = np.concatenate([self.right.reshape(-1, self.width), blank])


class Tree:
    """Nodes by number, the root first: `feature` is -1 for a leaf, whose children are zero."""

    def __init__(self, name: str) -> None:
        self.name, self.lock = name, threading.Lock()
        self.params: TreeParams | None = None

    @property
    def initialized(self) -> bool:
        return self.params is not None

    def create(self, params: TreeParams, text: bytes) -> None:
        """A root without examples, or the tree that `text` describes."""
        if self.params is not None:
            return
        self.params = params
        self._random: Any = None
        self._fertile: dict[int, Candidates] = {}
        self.feature, self.threshold = [-1], [0.0]
        self.left, self.right = [0], [0]
        self.statistics = [np.zeros(params.width)]
        if text:
            self.load(text)

    # ---- growing ----

    def train(self, data: Array, labels: Array, weights: Array, seed: int) -> None:
        """Examples arrive: leaves note them, and split if they have seen enough."""
        params = self.params
        assert params is not None
        if self._random is None:
            self._random = np.random.default_rng(seed or None)
        weights = weights if weights.size else np.ones(len(data))
        added = params.statistics(labels, weights.astype(np.float64))
        leaves = self.leaves(data)
        for leaf in np.unique(leaves):
            rows = np.nonzero(leaves == leaf)[0]
            self.statistics[leaf] = self.statistics[leaf] + added[rows].sum(0)
            if len(self.feature) + 2 <= params.max_nodes:
                self._consider(int(leaf), data[rows], added[rows])

    def _consider(self, leaf: int, data: Array, added: Array) -> None:
        params = self.params
        assert params is not None
        kept = self._fertile.setdefault(leaf, Candidates(params.width))
        missing = min(params.num_splits - len(kept.features), len(data))
        if missing > 0:
            features = self._random.integers(params.num_features, size=missing)
            kept.add(features, data[np.arange(missing), features])
        goes_left = self._goes_left(data[:, kept.features], np.asarray(kept.thresholds))
        kept.left = kept.left + goes_left.T.astype(np.float64) @ added
        kept.right = kept.right + (~goes_left).T.astype(np.float64) @ added
        seen = self.statistics[leaf]
        if params.count(seen) >= params.split_after_samples and params.loss(seen) > 1e-9:
            self._split(leaf, kept)

    def _split(self, leaf: int, kept: Candidates) -> None:
        params = self.params
        assert params is not None
        useful = (params.count(kept.left) > 0) & (params.count(kept.right) > 0)
        if not useful.any():
            self._fertile[leaf] = Candidates(params.width)  # others may do better
            return
        losses = params.loss(kept.left) + params.loss(kept.right)
        best = int(np.argmin(np.where(useful, losses, np.inf)))
        self.feature[leaf], self.threshold[leaf] = kept.features[best], kept.thresholds[best]
        self.left[leaf], self.right[leaf] = len(self.feature), len(self.feature) + 1
        for side in (kept.left[best], kept.right[best]):
            self.feature.append(-1)
            self.threshold.append(0.0)
            self.left.append(0)
            self.right.append(0)
            self.statistics.append(side.copy())
        del self._fertile[leaf]

    # ---- asking ----

    def _goes_left(self, values: Array, thresholds: Array) -> Array:
        assert self.params is not None
        found: Array = values < thresholds if self.params.strict else values <= thresholds
        return found

    def leaves(self, data: Array) -> Array:
        """The leaf that each example comes to."""
        feature, threshold = np.asarray(self.feature), np.asarray(self.threshold)
        left, right = np.asarray(self.left), np.asarray(self.right)
        at = np.zeros(len(data), np.int64)
        while (rows := np.nonzero(feature[at] >= 0)[0]).size:
            node = at[rows]
            goes_left = self._goes_left(data[rows, feature[node]], threshold[node])
            at[rows] = np.where(goes_left, left[node], right[node])
        return at

    def predict(self, data: Array) -> Array:
        """The value of the leaf of each example."""
        assert self.params is not None
        values = np.stack([self.params.value(each) for each in self.statistics])
        found: Array = values[self.leaves(data)].astype(np.float32)
        return found

    def feature_counts(self) -> Array:
        """How many nodes split by each feature."""
        assert self.params is not None
        used = [feature for feature in self.feature if feature >= 0]
        return np.bincount(used, minlength=self.params.num_features).astype(np.int32)

    # ---- as data ----

    def dumps(self) -> bytes:
        """The nodes. What leaves consider is not kept: they begin anew."""
        nodes = {
            "feature": self.feature, "threshold": self.threshold, "left": self.left,
            "right": self.right, "statistics": [each.tolist() for each in self.statistics],
        }  # fmt: skip
        return json.dumps(nodes).encode()

    def load(self, text: bytes) -> None:
        nodes = json.loads(text)
        self.feature, self.threshold = nodes["feature"], nodes["threshold"]
        self.left, self.right = nodes["left"], nodes["right"]
        self.statistics = [np.asarray(each) for each in nodes["statistics"]]
        self._fertile = {}
