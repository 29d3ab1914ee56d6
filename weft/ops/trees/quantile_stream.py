"""Quantiles of weighted values that come one after the other, in bounded memory.

A summary is a list of entries (value, weight, least rank, greatest rank) in the order of values.
A stream keeps summaries in levels; two of a level are merged, made shorter, and go a level up.
All arithmetic on weights is in single precision, as in TensorFlow.
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any, NamedTuple

import numpy as np

from weft.ops.kit.shared import invalid

Array = np.ndarray
_ZERO = np.float32(0)


class Entry(NamedTuple):
    value: Any
    weight: Any
    min_rank: Any
    max_rank: Any

    @property
    def before(self) -> Any:
        """The greatest rank of what comes before."""
        return self.max_rank - self.weight

    @property
    def after(self) -> Any:
        """The least rank of what comes after."""
        return self.min_rank + self.weight


Summary = list[Entry]


def from_values(values: Array, weights: Array) -> Summary:
    """The summary of values that are all known."""
    found, which = np.unique(values, return_inverse=True)
    sums = np.zeros(len(found), np.float32)
    np.add.at(sums, which.reshape(-1), weights)
    ends = np.cumsum(sums, dtype=np.float32)
    starts = np.concatenate([np.zeros(1, np.float32), ends[:-1]])
    return [Entry(*row) for row in zip(found, sums, starts, ends, strict=True)]


def from_array(rows: Array) -> Summary:
    return [Entry(*row) for row in rows]


def to_array(summary: Summary) -> Array:
    return np.array(summary, np.float32).reshape(-1, 4)


def merged(a: Summary, b: Summary) -> Summary:
    if not a or not b:
        return a or b
    out: Summary = []
    i = j = 0
    after_a = after_b = _ZERO
    while i < len(a) and j < len(b):
        x, y = a[i], b[j]
        if x.value < y.value:
            out.append(Entry(x.value, x.weight, x.min_rank + after_b, x.max_rank + y.before))
            i, after_a = i + 1, x.after
        elif y.value < x.value:
            out.append(Entry(y.value, y.weight, y.min_rank + after_a, y.max_rank + x.before))
            j, after_b = j + 1, y.after
        else:
            out.append(Entry(x.value, *(p + q for p, q in zip(x[1:], y[1:], strict=True))))
            i, j, after_a, after_b = i + 1, j + 1, x.after, y.after
    rest_a = (x._replace(min_rank=x.min_rank + after_b, max_rank=x.max_rank + b[-1].max_rank)
              for x in a[i:])  # fmt: skip
    rest_b = (y._replace(min_rank=y.min_rank + after_a, max_rank=y.max_rank + a[-1].max_rank)
              for y in b[j:])  # fmt: skip
    return [*out, *rest_a, *rest_b]


def compressed(summary: Summary, size: int, least: float = 0.0) -> Summary:
    """About `size` entries of a summary, with its ends, such that gaps are not too wide."""
    size = max(size, 2)
    count = len(summary)
    if count <= size:
        return summary
    widest = float(summary[-1].max_rank) * max(1.0 / size, least)
    kept = [summary[0]]
    credit = at = last = 0
    while at + 1 < count:
        following = at + 1
        while (
            following < count
            and credit < count
            and summary[following].before - summary[at].after <= widest
        ):
            credit += size
            following += 1
        at = max(following - 1, at + 1)
        kept.append(summary[at])
        last = at
        credit -= count
    if last + 1 < count:
        kept.append(summary[-1])
    return kept


def error_of(summary: Summary) -> float:
    """How far a rank can be off, as a part of all weight."""
    if not summary:
        return 0.0
    gap = _ZERO
    for earlier, entry in itertools.pairwise(summary):
        own = entry.max_rank - entry.min_rank - entry.weight
        gap = max(gap, own, entry.before - earlier.after)
    return float(gap) / float(summary[-1].max_rank)


def boundaries(summary: Summary, count: int) -> list[Any]:
    """About `count` values that part the weight, each once."""
    if not summary:
        return []
    least = float(np.float32(error_of(summary) + 1.0 / count))
    values = [entry.value for entry in compressed(summary, count, least)]
    return [v for i, v in enumerate(values) if i == 0 or v != values[i - 1]]


def quantiles(summary: Summary, count: int) -> list[Any]:
    """The values at `count` + 1 evenly spaced ranks."""
    if not summary:
        return []
    count, at = max(count, 2), 0
    out = []
    for rank in range(count + 1):
        twice = np.float32(2) * (np.float32(rank) * summary[-1].max_rank / np.float32(count))
        following = at + 1
        while following < len(summary) and twice >= sum(summary[following][2:], _ZERO):
            following += 1
        at = following - 1
        if following < len(summary) and twice >= summary[at].after + summary[following].before:
            out.append(summary[following].value)
        else:
            out.append(summary[at].value)
    return out


def block_size(epsilon: float, max_elements: int) -> int:
    """How long a summary must be for the error to stay below `epsilon`."""
    if epsilon <= sys.float_info.epsilon:
        return max(max_elements, 2)
    level, size = 1, 2
    while (1 << level) * size < max_elements:
        size = math.ceil(level / epsilon) + 1
        level += 1
    return max(size, 2)


class Stream:
    """Takes values or summaries; `finish` says all that is known of them."""

    def __init__(self, epsilon: float, max_elements: int) -> None:
        if epsilon <= 0:
            raise invalid("An epsilon value of zero is not allowed.")
        self._epsilon = epsilon
        self._size = block_size(epsilon, max_elements)
        self._room = min(self._size * 2, max_elements)
        self._levels: list[Summary] = []

    def push_values(self, values: Array, weights: Array) -> None:
        values, weights = values[weights > 0], weights[weights > 0]
        for start in range(0, len(values), self._room):
            part = slice(start, start + self._room)
            self.push(from_values(values[part], weights[part]))

    def push(self, summary: Summary) -> None:
        summary = compressed(summary, self._size, self._epsilon)
        if not summary:
            return
        level = 0
        while True:
            if len(self._levels) <= level:
                self._levels.append([])
            there = self._levels[level]
            summary = merged(summary, there)
            if not there or len(summary) <= self._size + 1:
                self._levels[level] = summary
                return
            summary = compressed(summary, self._size, self._epsilon)
            self._levels[level] = []
            level += 1

    def finish(self) -> Summary:
        found: Summary = []
        for summary in self._levels:
            found = merged(found, summary)
        return found
