"""Distributions drawn by rejection: gamma, Poisson, and normal between bounds.

A value is proposed until one is accepted, so how much of the stream an output uses depends on what
is drawn. Gamma and Poisson outputs each start at a place of their own in the stream and are drawn
side by side; the bounded normal takes its proposals from the stream one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.errors import InternalError, InvalidArgumentError
from weft.ops import philox
from weft.ops.philox import RESERVED, Array

# ---- gamma ---------------------------------------------------------------------------------------


def gamma(xp: Any, rng: Array, alpha: Array, samples: int) -> Array:
    """float64 [samples, n] for `alpha` of shape [n]: Marsaglia and Tsang's method."""
    alpha = alpha.astype(np.float64)[:, None]
    outputs = alpha.shape[0] * samples
    first = xp.arange(outputs, dtype=np.uint64).reshape(alpha.shape[0], samples) * RESERVED
    _, u = philox.uniform_pair(xp, rng, first)
    exponential = -xp.log(1.0 - u)
    is_one = xp.broadcast_to(alpha == 1.0, first.shape)
    nothing = xp.zeros(first.shape, np.float64)
    unused = xp.zeros(first.shape, bool)
    state = first, (nothing, unused), (nothing, unused), is_one, exponential
    step = _gamma_step(xp, rng, alpha)
    return philox.loop(xp, lambda s: ~s[3].all(), step, state)[4].T


def _gamma_step(xp: Any, rng: Array, alpha: Array) -> Callable[[Any], Any]:
    below_one = alpha < 1  # drawn for alpha + 1, then scaled down
    d = alpha + xp.where(below_one, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / xp.sqrt(d)

    def step(state: Any) -> Any:
        cursor, normals, uniforms, done, result = state
        always = xp.ones(cursor.shape, bool)
        x, cursor, normals = _take(xp, philox.normal_pair, rng, cursor, normals, always)
        v = 1 + c * x
        possible = ~(v <= 0)
        v = v * v * v
        u, cursor, uniforms = _take(xp, philox.uniform_pair, rng, cursor, uniforms, possible)
        squeezed = u < 1 - 0.0331 * (x * x) * (x * x)
        accepted = squeezed | (xp.log(u) < 0.5 * x * x + d * (1 - v + xp.log(v)))
        accepted = accepted & possible & ~done
        wanted = accepted & below_one
        b, cursor, uniforms = _take(xp, philox.uniform_pair, rng, cursor, uniforms, wanted)
        drawn = d * v * xp.where(below_one, b ** (1 / alpha), 1.0)
        return cursor, normals, uniforms, done | accepted, xp.where(accepted, drawn, result)

    return step


def _take(
    xp: Any, pair: Callable[..., Any], rng: Array, cursor: Array, kept: Any, wanted: Array
) -> tuple[Array, Array, Any]:
    """The next value where `wanted`: a block gives two, of which the second is used first."""
    spare, has_spare = kept
    one, other = pair(xp, rng, cursor)
    value = xp.where(has_spare, spare, other)
    drawn = wanted & ~has_spare
    kept = xp.where(drawn, one, spare), has_spare ^ wanted
    return value, cursor + drawn.astype(np.uint64), kept


# ---- Poisson -------------------------------------------------------------------------------------


def poisson(xp: Any, rng: Array, rate: Array, samples: int, highest: float) -> Array:
    """float64 [samples, n] for `rate` of shape [n]; values over `highest` are drawn again.

    Knuth's product of uniforms for rates below ten, Hormann's transformed rejection for the others.
    Both use one block of two uniforms a time.
    """
    rate = rate.astype(np.float64)[:, None]
    outputs = rate.shape[0] * samples
    first = xp.arange(outputs, dtype=np.uint64).reshape(rate.shape[0], samples) * RESERVED
    knuth, hormann = _knuth_step(xp, rate), _hormann_step(xp, rate, highest)
    hopeless = xp.broadcast_to(~(rate < np.inf), first.shape)  # infinite or not a number
    ones = xp.ones(first.shape, np.float64)
    state = xp.uint64(0), hopeless, xp.where(hopeless, rate, 0.0 * ones), ones, 0.0 * ones

    def step(state: Any) -> Any:
        block, done, result, product, count = state
        v, u = philox.uniform_pair(xp, rng, first + block)
        knuth_ok, knuth_value, product, count = knuth(u, v, product, count)
        hormann_ok, hormann_value = hormann(u, v)
        small = rate < 10
        accepted = xp.where(small, knuth_ok, hormann_ok) & ~done
        value = xp.where(small, knuth_value, hormann_value)
        result = xp.where(accepted, value, result)
        return block + xp.uint64(1), done | accepted, result, product, count

    return philox.loop(xp, lambda s: ~s[1].all(), step, state)[2].T


def _knuth_step(xp: Any, rate: Array) -> Callable[..., Any]:
    bound = xp.exp(-rate)

    def step(u: Array, v: Array, product: Array, count: Array) -> Any:
        at_first = product * u <= bound
        at_second = product * u * v <= bound
        value = xp.where(at_first, count, count + 1)
        return at_first | at_second, value, product * u * v, count + 2

    return step


def _hormann_step(xp: Any, rate: Array, highest: float) -> Callable[..., Any]:
    log_gamma = _log_gamma(xp)
    log_rate = xp.log(rate)
    b = 0.931 + 2.53 * xp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)

    def step(u: Array, v: Array) -> Any:
        u = u - 0.5
        us = 0.5 - abs(u)
        k = xp.floor((2 * a / us + b) * u + rate + 0.43)
        inside = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        outside = (k < 0) | ((us < 0.013) & (v > us))
        s = xp.log(v * inverse_alpha / (a / (us * us) + b))
        t = -rate + k * log_rate - log_gamma(k + 1)
        return ~(k > highest) & (inside | (~outside & (s <= t))), k

    return step


def _log_gamma(xp: Any) -> Callable[[Array], Array]:
    if xp is np:
        from scipy.special import gammaln
    else:
        from jax.scipy.special import gammaln
    return gammaln


# ---- normal between bounds -----------------------------------------------------------------------

_ENOUGH_DEVIATIONS = 1.3  # inside the bounds on one side: propose plain normal values
_MAX_REJECTIONS = 1000
_BATCH = 100  # outputs drawn with the same parameters are cut into batches of this size


def bounded_batches(rows: int, row_size: int, one_set: bool) -> tuple[int, int]:
    """How many batches there are and how large each is; `one_set`: all rows share parameters."""
    return (-(-rows * row_size // _BATCH), _BATCH) if one_set else (rows, row_size)


def bounded_blocks(batches: int, batch_size: int) -> int:
    """How far a run moves the stream on."""
    return batches * 2 * _MAX_REJECTIONS * (batch_size + 3) // 4


def bounded_normal(
    rng: np.ndarray, size: int, batches: int, batch_size: int, parameters: list[np.ndarray]
) -> np.ndarray:
    """`size` values; `parameters`: mean, deviation, low, high, each of length 1 or `batches`."""
    dtype = parameters[0].dtype
    out = np.empty(size, dtype)
    stream = _Stream(rng)
    for batch in range(batches):
        mean, deviation, low, high = (p[batch if p.size > 1 else 0] for p in parameters)
        finite = np.isfinite(low) or np.isfinite(high)
        if not (deviation > 0 and low < high and finite):
            raise InvalidArgumentError(None, None, "Invalid parameters")
        if (np.isinf(low) and low < 0) or high < mean:  # mirrored: one-sided bounds are lower ones
            low, high, deviation = high, low, -deviation
        propose, blocks, failure = _proposal((low - mean) / deviation, (high - mean) / deviation)
        start = batch * batch_size
        count = min(batch_size, size - start)
        drawn = _first_accepted(stream, count, propose, blocks, failure)
        out[start : start + count] = drawn * deviation + mean
    return out


Proposal = Callable[[philox.Words], tuple[np.ndarray, np.ndarray]]


class _Stream:
    """A generator read forwards, in pieces: blocks are drawn many at a time."""

    def __init__(self, rng: np.ndarray) -> None:
        self._rng, self.cursor = rng, 0
        self._start, self._words = 0, np.empty((4, 0), np.uint32)

    def peek(self, count: int) -> philox.Words:
        """The next `count` blocks; the cursor stays."""
        offset = self.cursor - self._start
        if offset + count > self._words.shape[1]:
            index = np.arange(self.cursor, self.cursor + max(count, 1024), dtype=np.uint64)
            self._words = np.stack(philox.blocks_at(np, self._rng, index))
            self._start, offset = self.cursor, 0
        return tuple(self._words[:, offset : offset + count])


def _first_accepted(
    stream: _Stream, count: int, propose: Proposal, blocks: int, failure: str
) -> np.ndarray:
    """The first `count` accepted proposals; a step of `blocks` blocks is used up whole."""
    parts: list[np.ndarray] = []
    rejected = 0
    while count > 0:
        values, accepted = propose(stream.peek(blocks * (count // 2 + 4)))
        taken = np.flatnonzero(accepted)[:count]
        rejected = 0 if taken.size else rejected + accepted.size
        if rejected >= _MAX_REJECTIONS:
            raise InternalError(None, None, f"TruncatedNormal {failure} a sample.")
        parts.append(values.reshape(-1)[taken])
        used = values.shape[0] if taken.size < count else int(taken[-1]) // values.shape[1] + 1
        stream.cursor += used * blocks
        count -= taken.size
    return np.concatenate(parts)


def _proposal(low: Any, high: Any) -> tuple[Proposal, int, str]:
    """How to propose standard normal values in [low, high], blocks per proposal, what to say."""
    dtype = low.dtype
    number = dtype.type
    root = np.sqrt(low * low + number(4))
    cutoff = number(2) * np.exp(number(0.5) + (low * (low - root)) / number(4)) / (low + root)
    enough = number(_ENOUGH_DEVIATIONS)
    if (low < -enough and high >= 0) or (high > enough and low <= 0):
        return _plain(low, high), 1, "randn rejection sampler failed to accept"
    if high - low < cutoff:
        return _flat(low, high), 2, "uniform rejection sampler failed to  accept"
    return (
        _tail(low, high),
        1,
        _failed("exponential distribution rejection sampler failed to accept"),
    )


def _failed(what: str) -> str:
    return f"TruncatedNormal {what} a sample."


def _plain(low: Any, high: Any) -> Proposal:
    """Normal values; those within the bounds are accepted."""

    def propose(words: philox.Words) -> tuple[np.ndarray, np.ndarray]:
        values = np.stack(philox.normal_lanes(np, words, low.dtype), axis=-1)
        return values, (values >= low) & (values <= high)

    return propose


def _flat(low: Any, high: Any) -> Proposal:
    """Uniform values between the bounds, accepted as often as the density says."""
    two = low.dtype.type(2)
    peak = low * low if low >= 0 else low.dtype.type(0)

    def propose(words: philox.Words) -> tuple[np.ndarray, np.ndarray]:
        values = np.stack(philox.uniform_lanes(words, low.dtype), axis=-1)
        z = values[0::2] * (high - low) + low
        return z, values[1::2] <= np.exp((peak - z * z) / two)

    return propose


def _tail(low: Any, high: Any) -> Proposal:
    """Exponential values from the lower bound on, with the best rate for it."""
    two = low.dtype.type(2)
    alpha = (low + np.sqrt(low * low + low.dtype.type(4))) / two

    def propose(words: philox.Words) -> tuple[np.ndarray, np.ndarray]:
        values = np.stack(philox.uniform_lanes(words, low.dtype), axis=-1)
        z = -np.log(values[:, 0::2]) / alpha + low
        x = alpha - z if low < alpha else low - alpha
        return z, (values[:, 1::2] <= np.exp(-x * x / two)) & (z < high)

    return propose
