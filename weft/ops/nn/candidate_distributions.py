"""The distributions that candidate samplers draw from.

Words are read from a stream one after the other, as TensorFlow's samplers do, and so give the same
classes; here they are drawn many at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from weft.core.errors import InvalidArgumentError
from weft.ops.kit import philox

Sampled = tuple[np.ndarray, np.ndarray, np.ndarray]
# Draws classes without end, a batch at a time; and the probability of each given class.
Draws = Iterator[np.ndarray]
Probability = Callable[[np.ndarray], np.ndarray]


# ---- words ---------------------------------------------------------------------------------------


class Words:
    """A stream of 32-bit words, read forwards."""

    def __init__(self, rng: np.ndarray) -> None:
        self._rng, self._block = rng, 0
        self._left = np.empty(0, np.uint32)

    def take(self, count: int) -> np.ndarray:
        while self._left.size < count:
            new = max(64, (count - self._left.size + 3) // 4)
            index = np.arange(self._block, self._block + new, dtype=np.uint64)
            drawn = np.stack(philox.blocks_at(np, self._rng, index), axis=-1).reshape(-1)
            self._left, self._block = np.concatenate([self._left, drawn]), self._block + new
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def put_back(self, words: np.ndarray) -> None:
        self._left = np.concatenate([words, self._left])


def _below(words: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """Unsigned words as values below `bound`, and which of them do so without bias."""
    bits = words.dtype.itemsize * 8
    biased = 0 if bound & (bound - 1) == 0 else (2**bits - 1) % bound + 1
    return (words % words.dtype.type(bound)).astype(np.int64), words >= words.dtype.type(biased)


# ---- distributions -------------------------------------------------------------------------------


def uniform(words: Words, bound: int, count: int) -> tuple[Draws, Probability]:
    def draws() -> Draws:
        while True:
            pairs = words.take(2 * count).reshape(-1, 2)
            values, fair = _below(philox.join(pairs[:, 0], pairs[:, 1]), bound)
            yield values[fair]

    return draws(), lambda classes: np.full(classes.shape, 1.0 / bound, np.float32)


def log_uniform(words: Words, bound: int, count: int) -> tuple[Draws, Probability]:
    log_bound = np.log1p(float(bound))

    def draws() -> Draws:
        while True:
            pairs = words.take(2 * count).reshape(-1, 2)
            values = np.exp(philox.unit_double(pairs[:, 0], pairs[:, 1]) * log_bound)
            yield (values.astype(np.int64) - 1) % bound

    def probability(classes: np.ndarray) -> np.ndarray:
        return (np.log((classes + 2.0) / (classes + 1.0)) / log_bound).astype(np.float32)

    return draws(), probability


def counted(words: Words, counts: np.ndarray, count: int) -> tuple[Draws, Probability]:
    """In proportion to integer counts."""
    cumulative = np.cumsum(counts)
    total = int(cumulative[-1])

    def draws() -> Draws:
        while True:
            values, fair = _below(words.take(count), total)
            yield np.searchsorted(cumulative, values[fair], side="right")

    def probability(classes: np.ndarray) -> np.ndarray:
        return counts[classes].astype(np.float32) / np.float32(total)

    return draws(), probability


def weighted(words: Words, table: AliasTable, count: int) -> tuple[Draws, Probability]:
    """In proportion to weights: a slot of the alias table, then it or its other class."""
    slots = table.weights.size

    def draws() -> Draws:
        while True:
            pairs = words.take(2 * count).reshape(-1, 2)
            slot, fair = _below(pairs[:, 1], slots)
            if not fair.all():  # the choice of a slot took another word: what follows moves by one
                first = int(np.argmin(fair))
                words.put_back(pairs[first:].reshape(-1))
                yield _chosen(table, pairs[:first, 0], slot[:first])
                yield _chosen(table, *_one(words, slots))
            else:
                yield _chosen(table, pairs[:, 0], slot)

    def probability(classes: np.ndarray) -> np.ndarray:
        known = (classes >= 0) & (classes < slots)
        weights = table.weights[np.where(known, classes, 0)]
        return np.where(known, weights / table.total, np.float32(0))

    return draws(), probability


def _one(words: Words, slots: int) -> tuple[np.ndarray, np.ndarray]:
    height = words.take(1)
    while True:
        slot, fair = _below(words.take(1), slots)
        if fair[0]:
            return height, slot


def _chosen(table: AliasTable, height: np.ndarray, slot: np.ndarray) -> np.ndarray:
    return np.where(philox.unit_float(height) < table.share[slot], slot, table.other[slot])


class AliasTable:
    """Walker's method: each slot is shared by its own class and at most one other."""

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights
        self.total = np.cumsum(weights, dtype=np.float32)[-1]
        count = weights.size
        share = (weights * np.float32(count)).astype(np.float64) / np.cumsum(weights, dtype=float)[
            -1
        ]
        self.other = np.arange(count)
        low = np.flatnonzero(share < 1.0).tolist()
        high = np.flatnonzero(share >= 1.0).tolist()
        while high and low:
            small, large = low.pop(), high.pop()
            self.other[small] = large
            share[large] -= 1.0 - share[small]
            (low if share[large] < 1.0 else high).append(large)
        share[low + high] = 1.0
        self.share = share.astype(np.float32)


# ---- sampling ------------------------------------------------------------------------------------


def sample(
    true_classes: np.ndarray, num_sampled: int, unique: bool, draws: Draws, probability: Probability
) -> Sampled:
    """The sampled classes, and how often the true and the sampled ones were to be expected."""
    sampled, tries = _distinct(draws, num_sampled) if unique else _first(draws, num_sampled)

    def expected(classes: np.ndarray) -> np.ndarray:
        p = probability(classes)
        if tries == num_sampled:
            return p * np.float32(num_sampled)
        return -np.expm1(np.float32(tries) * np.log1p(-p))

    return sampled, expected(true_classes), expected(sampled)


def _first(draws: Draws, count: int) -> tuple[np.ndarray, int]:
    drawn = np.empty(0, np.int64)
    while drawn.size < count:
        drawn = np.concatenate([drawn, next(draws)])
    return drawn[:count], count


def _distinct(draws: Draws, count: int) -> tuple[np.ndarray, int]:
    """The first `count` different classes, and how many draws that took."""
    seen: dict[int, None] = {}
    tries = 0
    while True:
        for value in next(draws).tolist():
            tries += 1
            seen[value] = None
            if len(seen) == count:
                return np.array(list(seen), np.int64), tries


def check_true(true_classes: np.ndarray, num_true: int, num_sampled: int, most: int | None) -> None:
    if true_classes.ndim != 2:
        raise InvalidArgumentError(None, None, "true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        columns = true_classes.shape[1]
        message = f"true_classes must have num_true columns, expected: {columns} was: {num_true}"
        raise InvalidArgumentError(None, None, message)
    if most is not None and num_sampled > most:
        raise InvalidArgumentError(None, None, "Sampler's range is too small.")
