"""Candidate samplers: a few classes drawn to stand in for all of them in a sampled loss.

Each sampler reads words from its stream one after the other, as TensorFlow's do, and so draws
the same classes; here they are drawn many at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.errors import InvalidArgumentError
from weft.graph import shape_fn as s
from weft.graph.graph import Tensor
from weft.graph.op_def import op, raw
from weft.graph.random_seed import seed_attrs
from weft.graph.traits import HOST, STATEFUL, Traits, draws
from weft.ops.nn.candidate_distributions import (
    AliasTable,
    Draws,
    Probability,
    Sampled,
    Words,
    check_true,
    counted,
    log_uniform,
    sample,
    uniform,
    weighted,
)
from weft.ops.random.random_nodes import reserve
from weft.storage.confinement import permitted

# ---- ops -----------------------------------------------------------------------------------------

_SEEDS = "seed: int = 0, seed2: int = 0"
_ATTRS = "num_true: int >= 1, num_sampled: int >= 1, unique: bool"


def _sampler_shape(c: s.ShapeContext) -> list[s.Dims]:
    batch = s.with_rank(c.dims(0), 2)[0]
    count = c.attr("num_sampled")
    return [(count,), (batch, c.attr("num_true")), (count,)]


def _sampler_blocks(dims: tuple[int, ...], attrs: dict[str, Any]) -> int:
    return 512 * attrs["num_sampled"]


def _sampler(name: str, *attrs: str, traits: Traits) -> Callable[[Callable[..., Any]], Any]:
    """Declares a sampler with further attributes."""
    return op(
        name,
        inputs="true_classes: int64",
        outputs="sampled_candidates: int64, true_expected_count: float, "
        "sampled_expected_count: float",
        attrs=", ".join([_ATTRS, *attrs, _SEEDS]),
        shape=_sampler_shape,
        traits=HOST | traits,
    )


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
        check_true(true_classes, num_true, num_sampled, range_max if unique else None)
        draws, probability = distribution(Words(rng), range_max, num_sampled)
        return sample(true_classes, num_sampled, unique, draws, probability)

    return _sampler(name, "range_max: int >= 1", traits=draws(_sampler_blocks))(kernel)


uniform_candidate_sampler_ = _range_op("UniformCandidateSampler", uniform)
log_uniform_candidate_sampler_ = _range_op("LogUniformCandidateSampler", log_uniform)


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
        check_true(true_classes, num_true, num_sampled, range_max if unique else None)
        rng = reserve(ctx, 512 * num_sampled)
        store = ctx.resources
        with store.lock:
            counts = store.get_or_make(
                "", "unigram_counts", ctx.node.name, lambda: np.ones(range_max, np.int32)
            )
            draws, probability = counted(Words(rng), counts, num_sampled)
            result = sample(true_classes, num_sampled, unique, draws, probability)
            np.add.at(counts, true_classes.reshape(-1), 1)
        return result

    return _sampler(name, "range_max: int >= 1", traits=STATEFUL)(kernel)


learned_unigram_candidate_sampler_ = _unigram_op("LearnedUnigramCandidateSampler")
thread_unsafe_unigram_candidate_sampler_ = _unigram_op("ThreadUnsafeUnigramCandidateSampler")


@_sampler("AllCandidateSampler", traits=STATEFUL)
def all_candidate_sampler_(
    xp: Any, true_classes: np.ndarray, *, num_true: int, num_sampled: int
) -> Sampled:
    check_true(true_classes, num_true, num_sampled, None)
    ones = np.ones(true_classes.shape, np.float32)
    return np.arange(num_sampled, dtype=np.int64), ones, np.ones(num_sampled, np.float32)


@_sampler(
    "FixedUnigramCandidateSampler",
    'range_max: int >= 1, vocab_file: string = "", distortion: float = 1.0,'
    " num_reserved_ids: int = 0, num_shards: int >= 1 = 1, shard: int >= 0 = 0,"
    " unigrams: list(float) = []",
    traits=STATEFUL,
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
    check_true(true_classes, num_true, num_sampled, range_max if unique else None)
    words = Words(reserve(ctx, 512 * num_sampled))
    return sample(true_classes, num_sampled, unique, *weighted(words, table, num_sampled))


def _fixed_weights(attrs: dict[str, Any]) -> np.ndarray:
    """The weights of this shard's classes; reserved ones weigh nothing."""
    if bool(attrs["vocab_file"]) == bool(attrs["unigrams"]):
        both = "only provide one of vocab_file and"
        which = both if attrs["unigrams"] else "provide either vocab_file or"
        raise InvalidArgumentError(None, None, f"Must {which} unigrams.")
    weights = np.array(attrs["unigrams"] or _vocabulary(attrs["vocab_file"]), np.float32)
    shards, shard = attrs["num_shards"], attrs["shard"]
    reserved = len(range(shard, attrs["num_reserved_ids"], shards))
    mine = weights[(np.arange(weights.size) + reserved) % shards == shard]
    _check_range(attrs["range_max"], reserved + mine.size)
    distorted = mine ** np.float32(attrs["distortion"])
    return np.concatenate([np.zeros(reserved, np.float32), distorted])


def _check_range(range_max: int, count: int) -> None:
    if count != range_max:
        message = f"range_max is {range_max}, but there are {count} weights"
        raise InvalidArgumentError(None, None, message)


def _vocabulary(path: str) -> list[float]:
    """The last field of every line of a comma-separated file."""
    weights = []
    with open(permitted(path), encoding="utf-8") as file:
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
    traits=HOST,
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


def _range_sampler(kind: str, doc: str) -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    """The function for a sampler that needs to know nothing but the number of classes."""

    def sampler(
        true_classes: Any,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        declared = getattr(raw, f"{kind}CandidateSampler")
        seeds = seed_attrs(seed)
        return declared(true_classes, num_true, num_sampled, unique, range_max, **seeds, name=name)

    snake = re.sub(r"\B([A-Z])", r"_\1", kind).lower()
    sampler.__name__ = sampler.__qualname__ = f"{snake}_candidate_sampler"
    sampler.__doc__ = doc
    return sampler


uniform_candidate_sampler = _range_sampler(
    "Uniform",
    """Samples classes that are all equally likely.

    Like every sampler here: returns the sampled classes, and how often each true class and each
    sampled class is expected among them.
    """,
)
log_uniform_candidate_sampler = _range_sampler(
    "LogUniform",
    "Samples classes numbered by falling frequency, as words of a language are (Zipf's law).",
)
learned_unigram_candidate_sampler = _range_sampler(
    "LearnedUnigram", "Samples classes as often as they were seen among the true ones so far."
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
        **seed_attrs(seed),
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
        true_classes, num_true, num_sampled, unique, **seed_attrs(seed), name=name
    )


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Sampled classes that are also true ones: rows, positions, and a weight of minus infinity."""
    return raw.ComputeAccidentalHits(
        true_classes, sampled_candidates, num_true, **seed_attrs(seed), name=name
    )
