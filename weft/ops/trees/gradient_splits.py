"""The best split of the nodes of a layer, from gradients and hessians of the examples in them.

Arrays in, splits out: nothing here knows of trees. A column of numbers is split at one of its
boundaries (not greater goes left; what is missing goes to either side), a column of ids by the
presence of one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
_NOTHING = 1e-6
DENSE, MISSING_LEFT, MISSING_RIGHT, CATEGORY = (
    "dense_float_binary_split",
    "sparse_float_binary_split_default_left",
    "sparse_float_binary_split_default_right",
    "categorical_id_binary_split",
)
# Of two splits as good as each other, that of the earlier kind is taken.
_KINDS = (DENSE, MISSING_LEFT, MISSING_RIGHT, CATEGORY)


@dataclass(frozen=True)
class Split:
    """A node to split, where, and what its children add to its value."""

    node: int
    kind: str
    column: int
    dimension: int
    at: Any  # a threshold, or an id
    gain: float
    left: Array
    right: Array
    handler: int

    def order(self) -> tuple[Any, ...]:
        """Greater for the better split."""
        return self.gain, -_KINDS.index(self.kind), self.handler


@dataclass(frozen=True)
class Rule:
    """How gradients and hessians become the value and the gain of a node."""

    strategy: str  # "scalar", "diagonal" or "full"
    l1: float = 0.0
    l2: float = 0.0
    complexity: float = 0.0
    least_weight: float = 0.0

    def judge(self, g: Array, h: Array) -> tuple[Array, Array, Array]:
        """(values of nodes, their gains, whether they have a value) by sums over examples."""
        size = self._size(h)
        empty = (np.abs(g).max(-1) < _NOTHING) & (size < _NOTHING)
        there = (size > self.least_weight) & ~empty
        if self.strategy == "scalar":
            g = np.sign(g) * np.maximum(np.abs(g) - self.l1, 0)
        value = np.where(there[..., None], self._solve(g, h), 0)
        formed = np.ones_like(there) if self.strategy == "scalar" else there
        return value, -(value * g).sum(-1), formed

    def _size(self, h: Array) -> Array:
        axes = (-2, -1) if self.strategy == "full" else -1
        found: Array = h[..., 0] if self.strategy == "scalar" else np.sqrt((h * h).sum(axes))
        return found

    def _solve(self, g: Array, h: Array) -> Array:
        if self.strategy == "full":
            whole = h + self.l2 * np.eye(g.shape[-1])
            found: Array = -np.einsum("...ij,...j->...i", np.linalg.pinv(whole), g)
            return found
        whole = h + self.l2
        return -np.divide(g, whole, out=np.zeros_like(g), where=whole != 0)


@dataclass
class Examples:
    """Examples of a layer: numbers with NaN for what is missing, ids, nodes, derivatives."""

    numbers: Array  # [examples, columns]
    ids: list[tuple[Array, Array]]  # (examples, ids) of each column of ids
    nodes: Array
    gradients: Array
    hessians: Array

    def joined(self, other: Examples) -> Examples:
        """These examples and others after them."""
        offset = len(self.nodes)
        ids = [
            (np.concatenate([rows, more + offset]), np.concatenate([values, others]))
            for (rows, values), (more, others) in zip(self.ids, other.ids, strict=True)
        ]
        pairs = ((getattr(self, name), getattr(other, name)) for name in _ARRAYS)
        numbers, nodes, gradients, hessians = (np.concatenate(pair) for pair in pairs)
        return Examples(numbers, ids, nodes, gradients, hessians)


_ARRAYS = ("numbers", "nodes", "gradients", "hessians")


def boundaries(numbers: Array, weights: Array, count: int) -> list[Array]:
    """Up to `count` quantiles of each column."""
    found = []
    for column in numbers.T:
        there = ~np.isnan(column)
        values, kept = column[there], weights[there]
        order = np.argsort(values, kind="stable")
        ranks = np.cumsum(kept[order])
        if not len(ranks):
            found.append(np.zeros(0, np.float32))
            continue
        wanted = ranks[-1] * np.arange(count + 1) / count
        at = np.minimum(np.searchsorted(ranks, wanted), len(ranks) - 1)
        found.append(np.unique(values[order][at]))
    return found


@dataclass(frozen=True)
class Layer:
    """The nodes of a layer with the sums over all examples of each, and how splits are judged."""

    rule: Rule
    examples: Examples
    scale: float

    def sums(self, rows: Array, buckets: Array, count: int) -> tuple[Array, Array, Array]:
        """Sums of gradients, hessians and examples by node and bucket, of some rows."""
        nodes, where = np.unique(self.examples.nodes, return_inverse=True)
        flat = where.reshape(-1)[rows] * count + buckets
        total = len(nodes) * count

        def by_bucket(values: Array) -> Array:
            columns = values[rows].reshape(len(rows), -1).T
            summed = [np.bincount(flat, column, total) for column in columns]
            shape = (len(nodes), count, *values.shape[1:])
            return np.stack(summed, -1).reshape(shape) * self.scale

        seen = np.bincount(flat, minlength=total).reshape(len(nodes), count)
        return by_bucket(self.examples.gradients), by_bucket(self.examples.hessians), seen

    def roots(self) -> tuple[Array, Array, Array]:
        """(nodes, sums of gradients, sums of hessians)"""
        rows = np.arange(len(self.examples.nodes))
        g, h, _ = self.sums(rows, np.zeros(len(rows), np.int64), 1)
        return np.unique(self.examples.nodes), g[:, 0], h[:, 0]

    def chosen(self, sides: Any, usable: Array) -> Iterator[tuple[int, int, float, Array, Array]]:
        """The best bucket of each node: (node, bucket, gain, left value, right value)."""
        nodes, root_g, root_h = self.roots()
        (left_g, left_h), (right_g, right_h) = sides(root_g[:, None], root_h[:, None])
        left, left_gain, left_formed = self.rule.judge(left_g, left_h)
        right, right_gain, right_formed = self.rule.judge(right_g, right_h)
        gains = np.where(usable, left_gain + right_gain, -np.inf)
        root_gain = self.rule.judge(root_g, root_h)[1]
        for i, best in enumerate(gains.argmax(1)):
            if usable[i, best] and left_formed[i, best] and right_formed[i, best]:
                gain = gains[i, best] - root_gain[i] - self.rule.complexity
                yield int(nodes[i]), int(best), float(gain), left[i, best], right[i, best]

    def number_splits(self, place: int, limits: Array) -> Iterator[tuple[str, Any]]:
        """(kind, (node, bucket, gain, left, right)) for a column of numbers."""
        column = self.examples.numbers[:, place]
        rows = np.nonzero(~np.isnan(column))[0]
        if not len(limits) or not len(rows):
            return
        buckets = np.minimum(np.searchsorted(limits, column[rows]), len(limits) - 1)
        g, h, seen = self.sums(rows, buckets, len(limits))
        below = np.cumsum(g, 1), np.cumsum(h, 1)
        above = tuple(part[:, -1:] - part for part in below)
        kinds = [(MISSING_RIGHT, below, None), (MISSING_LEFT, None, above)]
        for kind, left, right in kinds if len(rows) < len(column) else [(DENSE, below, None)]:

            def sides(root_g: Array, root_h: Array, left: Any = left, right: Any = right) -> Any:
                rest = right if left is None else left
                other = root_g - rest[0], root_h - rest[1]
                return (other, right) if left is None else (left, other)

            for found in self.chosen(sides, seen > 0):
                yield kind, found

    def id_splits(self, rows: Array, ids: Array) -> Iterator[tuple[int, Any]]:
        """(id, (node, bucket, gain, left, right)) for a column of ids."""
        if not len(rows):
            return
        known, buckets = np.unique(ids, return_inverse=True)
        g, h, seen = self.sums(rows, buckets.reshape(-1), len(known))
        for found in self.chosen(lambda rg, rh: ((g, h), (rg - g, rh - h)), seen > 0):
            yield int(known[found[1]]), found


def best_splits(
    layer: Layer, limits: list[Array], columns: list[tuple[int, int]], active: Array
) -> dict[int, Split]:
    """The best split of each node; `columns` are (column, dimension) of the columns of numbers."""
    found: dict[int, Split] = {}

    def offer(split: Split) -> None:
        if split.node not in found or split.order() > found[split.node].order():
            found[split.node] = split

    for place, (column, dimension) in enumerate(columns):
        for kind, (node, bucket, gain, left, right) in (
            layer.number_splits(place, limits[place]) if active[place] else ()
        ):
            at = limits[place][bucket]
            offer(Split(node, kind, column, dimension, at, gain, left, right, place))
    for column, pairs in enumerate(layer.examples.ids):
        handler = len(columns) + column
        for which, (node, _, gain, left, right) in (
            layer.id_splits(*pairs) if active[handler] else ()
        ):
            offer(Split(node, CATEGORY, column, 0, which, gain, left, right, handler))
    return found
