"""Distributions drawn by rejection on the host: gamma, Poisson, and normal between bounds.

A value is proposed until one is accepted, so how much of the stream an output uses depends on what
is drawn. Gamma and Poisson outputs each start at a place of their own in the stream and are drawn
side by side, fewer in every round; the bounded normal takes its proposals one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from weft.core.errors import InternalError, InvalidArgumentError
from weft.core.step_limits import looking_up, parts
from weft.ops.kit import philox
from weft.ops.kit.philox import RESERVED


def _in_parts(
    draw: Callable[[ndarray, ndarray], ndarray], parameter: ndarray, samples: int
) -> ndarray:
    """float64 [samples, n] for a parameter of shape [n], by `draw(parameters, places)`.

    Places are where in the stream outputs start.
    """
    parameter, result = parameter.astype(np.float64), np.empty(parameter.size * samples)
    for part in parts(result.size):
        index = np.arange(part.start, part.stop)
        places = index.astype(np.uint64) * np.uint64(RESERVED)
        result[part] = draw(parameter[index // samples], places)
    return result.reshape(parameter.size, samples).T


# ---- gamma ---------------------------------------------------------------------------------------


class _Reader:
    """The next value of each output. A block gives two, of which the second is used first."""

    def __init__(self, pair: Callable[..., Any], rng: ndarray, cursor: ndarray) -> None:
        self._pair, self._rng, self._cursor = pair, rng, cursor
        self._spare, self._has_spare = np.empty(cursor.size), np.zeros(cursor.size, bool)

    def take(self, outputs: ndarray) -> ndarray:
        values, lacking = self._spare[outputs], ~self._has_spare[outputs]
        drawing = outputs[lacking]
        self._spare[drawing], values[lacking] = self._pair(np, self._rng, self._cursor[drawing])
        self._cursor[drawing] += np.uint64(1)
        self._has_spare[outputs] = lacking
        return values


def gamma(rng: ndarray, alpha: ndarray, samples: int) -> ndarray:
    """float64 [samples, n] for `alpha` of shape [n]: Marsaglia and Tsang's method."""
    return _in_parts(lambda alphas, places: _marsaglia(rng, alphas, places), alpha, samples)


def _marsaglia(rng: ndarray, alpha: ndarray, cursor: ndarray) -> ndarray:
    result = np.empty(alpha.size)
    normals = _Reader(philox.normal_pair, rng, cursor)
    uniforms = _Reader(philox.uniform_pair, rng, cursor)
    is_one = alpha == 1.0
    exponential = np.flatnonzero(is_one)
    result[exponential] = -np.log(1.0 - uniforms.take(exponential))
    below_one = alpha < 1  # drawn for alpha + 1, then scaled down
    d = alpha + np.where(below_one, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / np.sqrt(d)
    pending = ~is_one
    while (left := np.flatnonzero(pending)).size:
        x = normals.take(left)
        v = 1 + c[left] * x
        possible = ~(v <= 0)
        left, x, v = left[possible], x[possible], v[possible]
        v = v * v * v
        u = uniforms.take(left)
        squeezed = u < 1 - 0.0331 * (x * x) * (x * x)
        accepted = squeezed | (np.log(u) < 0.5 * x * x + d[left] * (1 - v + np.log(v)))
        done = left[accepted]
        result[done] = d[done] * v[accepted]
        scaled = done[below_one[done]]
        result[scaled] *= uniforms.take(scaled) ** (1 / alpha[scaled])
        pending[done] = False
    return result


# ---- Poisson -------------------------------------------------------------------------------------


_FAR = 40  # standard deviations


def poisson(rng: ndarray, rate: ndarray, samples: int, highest: float) -> ndarray:
    """float64 [samples, n] for `rate` of shape [n]; values over `highest` are drawn again.

    Where all would be over it, and TensorFlow draws for ever, they are `highest`.
    """
    return _in_parts(lambda rates, places: _poisson(rng, rates, places, highest), rate, samples)


def _poisson(rng: ndarray, rate: ndarray, first: ndarray, highest: float) -> ndarray:
    result = rate.copy()  # what remains where the rate is infinite or not a number
    hopeless = (rate < np.inf) & (rate - _FAR * np.sqrt(np.abs(rate)) > highest)
    result[hopeless] = highest
    small, large = rate < 10, (rate >= 10) & (rate < np.inf) & ~hopeless
    result[small] = _knuth(rng, first[small], rate[small])
    result[large] = _hormann(rng, first[large], rate[large], highest)
    return result


def _knuth(rng: ndarray, first: ndarray, rate: ndarray) -> ndarray:
    """How many uniform values can be multiplied before the product falls below exp(-rate)."""
    result = np.empty(rate.size)
    left, product, bound = np.arange(rate.size), np.ones(rate.size), np.exp(-rate)
    count = 0
    while left.size:
        v, u = philox.uniform_pair(np, rng, first[left] + np.uint64(count // 2))
        once, product = product * u, product * u * v
        done = product <= bound
        result[left[done]] = np.where(once[done] <= bound[done], count, count + 1)
        left, product, bound = left[~done], product[~done], bound[~done]
        count += 2
    return result


def _hormann(rng: ndarray, first: ndarray, rate: ndarray, highest: float) -> ndarray:
    """Transformed rejection, with the constants of Hormann's paper."""
    from scipy.special import gammaln

    result = np.empty(rate.size)
    left, block = np.arange(rate.size), 0
    while left.size:
        v, u = philox.uniform_pair(np, rng, first[left] + np.uint64(block))
        mean = rate[left]
        b = 0.931 + 2.53 * np.sqrt(mean)
        a = -0.059 + 0.02483 * b
        u = u - 0.5
        us = 0.5 - abs(u)
        k = np.floor((2 * a / us + b) * u + mean + 0.43)
        inside = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        outside = (k < 0) | ((us < 0.013) & (v > us))
        s = np.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b))
        t = -mean + k * np.log(mean) - gammaln(k + 1)
        done = ~(k > highest) & (inside | (~outside & (s <= t)))
        result[left[done]] = k[done]
        left, block = left[~done], block + 1
    return result


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
    rng: ndarray, size: int, batches: int, batch_size: int, parameters: list[ndarray]
) -> ndarray:
    """`size` values; `parameters`: mean, deviation, low, high, each of length 1 or `batches`."""
    dtype = parameters[0].dtype
    out = np.empty(size, dtype)
    stream = _Stream(rng)
    for batch in looking_up(range(batches)):
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


Proposal = Callable[[philox.Words], tuple[ndarray, ndarray]]


class _Stream:
    """A generator read forwards, in pieces: blocks are drawn many at a time."""

    def __init__(self, rng: ndarray) -> None:
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
) -> ndarray:
    """The first `count` accepted proposals; a step of `blocks` blocks is used up whole."""
    parts: list[ndarray] = []
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

    def propose(words: philox.Words) -> tuple[ndarray, ndarray]:
        values = np.stack(philox.normal_lanes(np, words, low.dtype), axis=-1)
        return values, (values >= low) & (values <= high)

    return propose


def _flat(low: Any, high: Any) -> Proposal:
    """Uniform values between the bounds, accepted as often as the density says."""
    two = low.dtype.type(2)
    peak = low * low if low >= 0 else low.dtype.type(0)

    def propose(words: philox.Words) -> tuple[ndarray, ndarray]:
        values = np.stack(philox.uniform_lanes(words, low.dtype), axis=-1)
        z = values[0::2] * (high - low) + low
        return z, values[1::2] <= np.exp((peak - z * z) / two)

    return propose


def _tail(low: Any, high: Any) -> Proposal:
    """Exponential values from the lower bound on, with the best rate for it."""
    two = low.dtype.type(2)
    alpha = (low + np.sqrt(low * low + low.dtype.type(4))) / two

    def propose(words: philox.Words) -> tuple[ndarray, ndarray]:
        values = np.stack(philox.uniform_lanes(words, low.dtype), axis=-1)
        z = -np.log(values[:, 0::2]) / alpha + low
        x = alpha - z if low < alpha else low - alpha
        return z, (values[:, 1::2] <= np.exp(-x * x / two)) & (z < high)

    return propose
