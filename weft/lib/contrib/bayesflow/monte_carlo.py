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
        _check_callable("f", f)
        if use_reparametrization:
            values = f(samples)
        else:
            values = _with_score(f, _check_callable("log_prob", log_prob), samples)
        return reduce.reduce_mean(values, axis=axis, keepdims=keep_dims)


def _check_callable(name: str, function: Any) -> Function:
    if callable(function):
        return function  # type: ignore[no-any-return]
    raise ValueError(f"`{name}` must be a callable function.")


def _with_score(f: Function, log_prob: Function, samples: Any) -> Tensor:
    """`f` of samples taken as given; its gradient has that of their probability, too."""
    given = stop_gradient(samples)
    score = log_prob(given)
    values = f(given)
    nothing = score - stop_gradient(score)  # 0, with the gradient of the score
    return values + nothing * stop_gradient(values)


class _Weighted:
    """Samples of `q`, or those that are given, and how much each counts under `p`."""

    def __init__(self, log_p: Function, q: Any, z: Any, n: Any, seed: int | None) -> None:
        with name_scope("get_samples", values=[z, n]):
            if (n is None) == (z is None):
                found = f"Found: n = {n}, z = {z}"
                raise ValueError(f'Must specify exactly one of arguments "n" and "z".  {found}')
            drawn = convert_to_tensor(z, name="z") if n is None else q.sample(n, seed=seed)
        self.samples: Tensor = drawn
        self._log_weights = log_p(drawn) - q.log_prob(drawn)

    def log_mean(self, logs: Tensor) -> Tensor:
        """The logarithm of the mean, over samples, of what has these logarithms."""
        logs += self._log_weights
        greatest = stop_gradient(reduce.reduce_max(logs, axis=[0]))
        spread = unary.exp(math.subtract(logs, greatest))
        return unary.log(reduce.reduce_mean(spread, axis=[0])) + greatest


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
        weighted = _Weighted(log_p, sampling_dist_q, z, n, seed)
        values = f(weighted.samples)
        # With 1 added to both parts, neither has the logarithm of 0; the difference is the same.
        parts = [unary.log(relu(sign * values) + 1.0) for sign in (1.0, -1.0)]
        above, below = map(weighted.log_mean, parts)
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
        weighted = _Weighted(log_p, sampling_dist_q, z, n, seed)
        return weighted.log_mean(log_f(weighted.samples))
