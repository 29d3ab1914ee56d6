"""Binomial draws from a generator that is a variable.

Every number has a place of its own in the stream and is drawn by rejection or by waiting for
failures, all side by side, fewer in every round. TensorFlow's draws depend on how many threads it
has; ours do not, but the state moves on as far as TensorFlow's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from weft.core.dtypes import DType
from weft.core.step_limits import parts
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE
from weft.ops.kit import philox
from weft.ops.kit.shared import invalid
from weft.ops.random.random_nodes import dims_of
from weft.ops.random.rejection import bounded_batches
from weft.ops.random.stateful import checked_state, drawn_shape, generator_words, moved_on

_APART = 50  # blocks from one number to the next
_MANY = 10  # from this expected count on, by rejection


def _shape(c: s.ShapeContext) -> s.Dims:
    for i in (3, 4):
        if (dims := c.dims(i)) is not None and len(dims) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(dims)}")
    return drawn_shape(c)


@op(
    "StatefulRandomBinomial",
    inputs="resource: resource, algorithm: int64, shape: S, counts: T, probs: T",
    outputs="output: dtype",
    attrs="S: indextype, T: {half, float, double, int32, int64} = double,"
    " dtype: {half, float, double, int32, int64} = int64",
    shape=_shape, traits=HOST_STATE,
)  # fmt: skip
def stateful_random_binomial_(
    xp: Any, resource: Any, algorithm: Any, shape: ndarray, counts: Any, probs: Any, *,
    dtype: DType,
) -> ndarray:  # fmt: skip
    dims = dims_of(shape)
    rows, size = dims[0] if dims else 1, int(np.prod(dims, dtype=np.int64))
    row_size = size // rows if rows else 1
    given = [_parameter(v, name, rows) for v, name in ((counts, "counts"), (probs, "probs"))]
    state = np.asarray(checked_state(xp, resource, algorithm))
    batches, each = bounded_batches(rows, row_size, all(v.size == 1 for v in given))
    resource.write(moved_on(np, state, batches * 2 * 100 * (each + 3) // 4))
    count, prob = (np.broadcast_to(np.repeat(v, row_size)[:size], size) if v.size != 1
                   else np.full(size, v[0]) for v in given)  # fmt: skip
    with np.errstate(invalid="ignore"):
        drawn = binomial(generator_words(np, state), count, prob)
        return drawn.astype(dtype.as_numpy_dtype).reshape(dims)


def _parameter(value: Any, name: str, rows: int) -> ndarray:
    value = np.asarray(value)
    if value.ndim > 1:
        raise invalid(f"Input {name} should be a scalar or vector, got shape: {_text(value)}")
    if value.size not in (1, rows):
        raise invalid(f"Input {name} should have length 1 or shape[0], got shape: {_text(value)}")
    return value.reshape(-1).astype(np.float64)


def _text(value: ndarray) -> str:
    return str(list(value.shape)).replace(" ", "")


def binomial(rng: ndarray, count: ndarray, prob: ndarray) -> ndarray:
    """float64 like `count`: how many of so many tries succeed."""
    first = np.arange(count.size, dtype=np.uint64) * np.uint64(_APART)
    result = np.empty(count.size)
    for part in parts(count.size):
        result[part] = _successes(rng, first[part], count[part], prob[part])
    return result


def _successes(rng: ndarray, first: ndarray, count: ndarray, prob: ndarray) -> ndarray:
    result = np.where(np.isnan(prob), np.nan, np.where(prob >= 1, count, 0.0))
    result[(count <= 0) | (prob <= 0)] = 0.0
    mirrored = prob > 0.5  # fewer failures than successes: draw those
    rarer = np.where(mirrored, 1 - prob, prob)
    open_ = (count > 0) & (prob > 0) & (prob < 1)
    many = count * rarer >= _MANY
    for chosen, method in ((open_ & ~many, _waiting), (open_ & many, _rejection)):
        drawn = method(rng, first[chosen], count[chosen], rarer[chosen])
        result[chosen] = np.where(mirrored[chosen], count[chosen] - drawn, drawn)
    return result


def _waiting(rng: ndarray, first: ndarray, count: ndarray, prob: ndarray) -> ndarray:
    """How many waits for a success (geometric numbers) fit into the tries."""
    result = np.zeros(count.size)
    left, used, draws = np.arange(count.size), np.zeros(count.size), 0
    while left.size:
        pair = philox.uniform_pair(np, rng, first[left] + np.uint64(draws // 2))
        with np.errstate(divide="ignore"):
            used = used + np.ceil(np.log(pair[1 - draws % 2]) / np.log1p(-prob[left]))
        fits = used <= count[left]
        result[left[fits]] += 1
        left, used, draws = left[fits], used[fits], draws + 1
    return result


def _rejection(rng: ndarray, first: ndarray, count: ndarray, prob: ndarray) -> ndarray:
    """Transformed rejection, with the constants of Hormann's paper on binomial variates."""
    result = np.empty(count.size)
    left, block = np.arange(count.size), 0
    while left.size:
        n, p = count[left], prob[left]
        deviation = np.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        v, u = philox.uniform_pair(np, rng, first[left] + np.uint64(block))
        u = u - 0.5
        us = 0.5 - abs(u)
        k = np.floor((2 * a / us + b) * u + n * p + 0.5)
        sure = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
        possible = (k >= 0) & (k <= n)
        bounded = np.clip(k, 0, n)
        with np.errstate(divide="ignore"):
            height = np.log(v * (2.83 + 5.1 / b) * deviation / (a / (us * us) + b))
        done = sure | (possible & (height <= _log_ratio(n, p, bounded)))
        result[left[done]] = k[done]
        left, block = left[~done], block + 1
    return result


def _log_ratio(n: ndarray, p: ndarray, k: ndarray) -> ndarray:
    """log of how likely k is, relative to the likeliest number."""
    from scipy.special import gammaln

    mode = np.floor((n + 1) * p)
    odds = np.log(p / (1 - p))

    def ways(of: ndarray) -> ndarray:
        return -gammaln(of + 1) - gammaln(n - of + 1)

    return ways(k) - ways(mode) + (k - mode) * odds
