"""tf.contrib.bayesflow.monte_carlo: the mean of a function over samples of a distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array.placeholders import stop_gradient
from weft.ops.math import math, reduce, unary
from weft.ops.nn.activations import relu

Function = Callable[[Tensor], Tensor]


def expectation(
    f: Function,
    samples: Any,
    log_prob: Function | None = None,
    use_reparametrization: bool = True,
    axis: Any = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean of `f`. Its gradient goes through the samples, or through their probability."""
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return reduce.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        fixed = stop_gradient(samples)
        score, value = log_prob(fixed), f(fixed)
        # Adds nothing to the value, and to its gradient that of the score.
        value += stop_gradient(value) * (score - stop_gradient(score))
        return reduce.reduce_mean(value, axis=axis, keepdims=keep_dims)


def expectation_importance_sampler(
    f: Function,
    log_p: Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler",
) -> Tensor:
    """The mean of `f` under `p`, from samples of `q`; parts above and below 0 are apart."""
    with name_scope(name, values=[z, n]):
        samples = _samples(sampling_dist_q, z, n, seed)
        weight = log_p(samples) - sampling_dist_q.log_prob(samples)
        value = f(samples)
        above, below = (
            _log_mean(unary.log(relu(sign * value) + 1.0) + weight) for sign in (1.0, -1.0)
        )
    return unary.exp(above) - unary.exp(below)


def expectation_importance_sampler_logspace(
    log_f: Function,
    log_p: Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler_logspace",
) -> Tensor:
    """The logarithm of the mean of a function above 0 under `p`, from samples of `q`."""
    with name_scope(name, values=[z, n]):
        samples = _samples(sampling_dist_q, z, n, seed)
        return _log_mean(log_f(samples) + log_p(samples) - sampling_dist_q.log_prob(samples))


def _log_mean(logs: Tensor) -> Tensor:
    """The logarithm of the mean, over samples, of what has these logarithms."""
    greatest = stop_gradient(reduce.reduce_max(logs, axis=[0]))
    spread = unary.exp(math.subtract(logs, greatest))
    return unary.log(reduce.reduce_mean(spread, axis=[0])) + greatest


def _samples(distribution: Any, z: Any, n: Any, seed: int | None) -> Tensor:
    with name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(
                f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}'
            )
        return convert_to_tensor(z, name="z") if n is None else distribution.sample(n, seed=seed)
