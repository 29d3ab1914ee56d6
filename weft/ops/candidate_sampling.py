"""Candidate samplers: a few classes drawn to stand in for all of them in a sampled loss.

Each sampler reads words from its stream one after the other, as TensorFlow's do, and so draws
the same classes; here they are drawn many at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.core.errors import InvalidArgumentError
from weft.graph import shape_fn as s
from weft.graph.graph import Tensor
from weft.graph.op_def import op, raw
from weft.graph.random_seed import get_seed
from weft.ops import philox
from weft.ops.random_ops import reserve

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


def _uniform(words: Words, bound: int, count: int) -> tuple[Draws, Probability]:
    def draws() -> Draws:
        while True:
            pairs = words.take(2 * count).reshape(-1, 2)
            values, fair = _below(philox.join(pairs[:, 0], pairs[:, 1]), bound)
            yield values[fair]

    return draws(), lambda classes: np.full(classes.shape, 1.0 / bound, np.float32)


def _log_uniform(words: Words, bound: int, count: int) -> tuple[Draws, Probability]:
    log_bound = np.log1p(float(bound))

    def draws() -> Draws:
        while True:
            pairs = words.take(2 * count).reshape(-1, 2)
            values = np.exp(philox.unit_double(pairs[:, 0], pairs[:, 1]) * log_bound)
            yield (values.astype(np.int64) - 1) % bound

    def probability(classes: np.ndarray) -> np.ndarray:
        return (np.log((classes + 2.0) / (classes + 1.0)) / log_bound).astype(np.float32)

    return draws(), probability


def _counted(words: Words, counts: np.ndarray, count: int) -> tuple[Draws, Probability]:
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


def _weighted(words: Words, table: AliasTable, count: int) -> tuple[Draws, Probability]:
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


def _sample(
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


def _check(true_classes: np.ndarray, num_true: int, num_sampled: int, most: int | None) -> None:
    if true_classes.ndim != 2:
        raise InvalidArgumentError(None, None, "true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        columns = true_classes.shape[1]
        message = f"true_classes must have num_true columns, expected: {columns} was: {num_true}"
        raise InvalidArgumentError(None, None, message)
    if most is not None and num_sampled > most:
        raise InvalidArgumentError(None, None, "Sampler's range is too small.")


# ---- ops -----------------------------------------------------------------------------------------

_OUTPUTS = "sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float"
_ATTRS = "num_true: int >= 1, num_sampled: int >= 1, unique: bool"
_SEEDS = "seed: int = 0, seed2: int = 0"


def _sampler_shape(c: s.ShapeContext) -> list[s.Dims]:
    batch = s.with_rank(c.dims(0), 2)[0]
    count = c.attr("num_sampled")
    return [(count,), (batch, c.attr("num_true")), (count,)]


def _sampler_blocks(dims: tuple[int, ...], attrs: dict[str, Any]) -> int:
    return 512 * attrs["num_sampled"]


def _range_op(name: str, distribution: Callable[..., tuple[Draws, Probability]]) -> Any:
    """Declares a sampler whose distribution follows from the number of classes."""

    def kernel(
        xp: Any,
        rng: np.ndarray,
        true_classes: np.ndarray,
        *,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
    ) -> Sampled:
        _check(true_classes, num_true, num_sampled, range_max if unique else None)
        draws, probability = distribution(Words(rng), range_max, num_sampled)
        return _sample(true_classes, num_sampled, unique, draws, probability)

    declare = op(
        name,
        inputs="true_classes: int64",
        outputs=_OUTPUTS,
        attrs=f"{_ATTRS}, range_max: int >= 1, {_SEEDS}",
        shape=_sampler_shape,
        runs_on="host",
        random=_sampler_blocks,
    )
    return declare(kernel)


uniform_candidate_sampler_ = _range_op("UniformCandidateSampler", _uniform)
log_uniform_candidate_sampler_ = _range_op("LogUniformCandidateSampler", _log_uniform)


def _unigram_op(name: str) -> Any:
    """Declares a sampler that counts the true classes it has been shown."""

    def kernel(
        xp: Any,
        ctx: Any,
        true_classes: np.ndarray,
        *,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
    ) -> Sampled:
        _check(true_classes, num_true, num_sampled, range_max if unique else None)
        rng = reserve(ctx, 512 * num_sampled)
        store = ctx.resources
        with store.lock:
            counts = store.get_or_make(
                "", "unigram_counts", ctx.node.name, lambda: np.ones(range_max, np.int32)
            )
            draws, probability = _counted(Words(rng), counts, num_sampled)
            result = _sample(true_classes, num_sampled, unique, draws, probability)
            np.add.at(counts, true_classes.reshape(-1), 1)
        return result

    declare = op(
        name,
        inputs="true_classes: int64",
        outputs=_OUTPUTS,
        attrs=f"{_ATTRS}, range_max: int >= 1, {_SEEDS}",
        shape=_sampler_shape,
        runs_on="host",
        stateful=True,
    )
    return declare(kernel)


learned_unigram_candidate_sampler_ = _unigram_op("LearnedUnigramCandidateSampler")
thread_unsafe_unigram_candidate_sampler_ = _unigram_op("ThreadUnsafeUnigramCandidateSampler")


@op(
    "AllCandidateSampler",
    inputs="true_classes: int64",
    outputs=_OUTPUTS,
    attrs=f"{_ATTRS}, {_SEEDS}",
    shape=_sampler_shape,
    runs_on="host",
    stateful=True,
)
def all_candidate_sampler_(
    xp: Any, true_classes: np.ndarray, *, num_true: int, num_sampled: int
) -> Sampled:
    _check(true_classes, num_true, num_sampled, None)
    ones = np.ones(true_classes.shape, np.float32)
    return np.arange(num_sampled, dtype=np.int64), ones, np.ones(num_sampled, np.float32)


@op(
    "FixedUnigramCandidateSampler",
    inputs="true_classes: int64",
    outputs=_OUTPUTS,
    attrs=f'{_ATTRS}, range_max: int >= 1, vocab_file: string = "", distortion: float = 1.0,'
    " num_reserved_ids: int = 0, num_shards: int >= 1 = 1, shard: int >= 0 = 0,"
    f" unigrams: list(float) = [], {_SEEDS}",
    shape=_sampler_shape,
    runs_on="host",
    stateful=True,
)
def fixed_unigram_candidate_sampler_(
    xp: Any,
    ctx: Any,
    true_classes: np.ndarray,
    *,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
) -> Sampled:
    table = ctx.resources.get_or_make(
        "", "alias_table", ctx.node.name, lambda: AliasTable(_fixed_weights(ctx.node.attrs))
    )
    _check(true_classes, num_true, num_sampled, range_max if unique else None)
    if table.weights.size != range_max:
        message = f"range_max is {range_max}, but there are {table.weights.size} weights"
        raise InvalidArgumentError(None, None, message)
    words = Words(reserve(ctx, 512 * num_sampled))
    return _sample(true_classes, num_sampled, unique, *_weighted(words, table, num_sampled))


def _fixed_weights(attrs: dict[str, Any]) -> np.ndarray:
    """The weights of this shard's classes; reserved ones weigh nothing."""
    if bool(attrs["vocab_file"]) == bool(attrs["unigrams"]):
        both = "only provide one of vocab_file and"
        which = both if attrs["unigrams"] else "provide either vocab_file or"
        raise InvalidArgumentError(None, None, f"Must {which} unigrams.")
    weights = np.array(attrs["unigrams"] or _vocabulary(attrs["vocab_file"]), np.float32)
    shards, shard = attrs["num_shards"], attrs["shard"]
    reserved = sum(i % shards == shard for i in range(attrs["num_reserved_ids"]))
    mine = weights[(np.arange(weights.size) + reserved) % shards == shard]
    distorted = mine ** np.float32(attrs["distortion"])
    return np.concatenate([np.zeros(reserved, np.float32), distorted])


def _vocabulary(path: str) -> list[float]:
    """The last field of every line of a comma-separated file."""
    weights = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                weights.append(float(line.rstrip("\n").rpartition(",")[2]))
            except ValueError:
                message = f"Wrong vocabulary format at line: {line.rstrip()}"
                raise InvalidArgumentError(None, None, message) from None
    return weights


def _hits_shape(c: s.ShapeContext) -> list[s.Dims]:
    s.merge_dim(s.with_rank(c.dims(0), 2)[1], c.attr("num_true"))
    s.with_rank(c.dims(1), 1)
    return [(None,)] * 3


@op(
    "ComputeAccidentalHits",
    inputs="true_classes: int64, sampled_candidates: int64",
    outputs="indices: int32, ids: int64, weights: float",
    attrs=f"num_true: int, {_SEEDS}",
    shape=_hits_shape,
    runs_on="host",
)
def compute_accidental_hits_(
    xp: Any, true_classes: np.ndarray, sampled_candidates: np.ndarray, *, num_true: int
) -> Sampled:
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        message = "true_candidates must be a batch_size * num_true matrix"
        raise InvalidArgumentError(None, None, message)
    if sampled_candidates.ndim != 1:
        message = "sampled_candidates must be a vector, which is typically an output from"
        raise InvalidArgumentError(None, None, f"{message} CandidateSampler")
    position = {value: i for i, value in enumerate(sampled_candidates.tolist())}
    hits = [
        (row, position[value])
        for row, values in enumerate(true_classes.tolist())
        for value in values
        if value in position
    ]
    rows, ids = zip(*hits, strict=True) if hits else ((), ())
    lowest = np.full(len(hits), np.finfo(np.float32).min, np.float32)
    return np.array(rows, np.int32), np.array(ids, np.int64), lowest


# ---- public functions ----------------------------------------------------------------------------


def _seeds(seed: int | None) -> dict[str, int]:
    seed, seed2 = get_seed(seed)
    return {"seed": seed or 0, "seed2": seed2 or 0}


def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Samples classes that are all equally likely.

    Like every sampler here: returns the sampled classes, and how often each true class and each
    sampled class is expected among them.
    """
    return raw.UniformCandidateSampler(
        true_classes, num_true, num_sampled, unique, range_max, **_seeds(seed), name=name
    )


def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Samples classes numbered by falling frequency, as words of a language are (Zipf's law)."""
    return raw.LogUniformCandidateSampler(
        true_classes, num_true, num_sampled, unique, range_max, **_seeds(seed), name=name
    )


def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Samples classes as often as they were seen among the true ones so far."""
    return raw.LearnedUnigramCandidateSampler(
        true_classes, num_true, num_sampled, unique, range_max, **_seeds(seed), name=name
    )


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Samples classes by given weights (`unigrams`, or the last column of `vocab_file`)."""
    return raw.FixedUnigramCandidateSampler(
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=list(unigrams),
        **_seeds(seed),
        name=name,
    )


def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """All classes as "samples": for testing what a sampled loss approximates."""
    return raw.AllCandidateSampler(
        true_classes, num_true, num_sampled, unique, **_seeds(seed), name=name
    )


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Where a sampled class is also a true one: rows, positions, and a weight of minus infinity."""
    return raw.ComputeAccidentalHits(
        true_classes, sampled_candidates, num_true, **_seeds(seed), name=name
    )
