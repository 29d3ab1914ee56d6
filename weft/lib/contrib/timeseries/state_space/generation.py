"""Series that are drawn from a state space model, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.convert import convert_to_tensor
from weft.lib.contrib.timeseries.keys import TIMES, VALUES
from weft.ops.math import math


def _check_univariate(model: Any) -> None:
    if model.num_features != 1:
        raise NotImplementedError(
            "Generation for multivariate state space models is not currently implemented."
        )


def parameters(model: Any, seed: int | None) -> dict[Any, Any]:
    """Values for the tensors of a model, drawn at random."""
    _check_univariate(model)
    if seed:
        np.random.seed(seed)
    transform: Any = convert_to_tensor(model.get_noise_transform())
    size, noises = map(int, transform.shape)
    variances = 1.0 / np.random.gamma(shape=10.0, scale=10.0, size=[noises])
    drawn = {
        "prior_state_mean": np.random.normal(size=[size]),
        "state_transition_noise_covariance": np.diag(variances),
        "prior_state_var": np.zeros([size, size]),
    }
    found: dict[Any, Any] = {getattr(model, name): value for name, value in drawn.items()}
    if model._configuration.use_observation_noise:
        variance = 1.0 / np.random.gamma(shape=4, scale=4)
        found[model._observation_noise_covariance] = [[variance]]
    return {tensor: value for tensor, value in found.items() if tensor is not None}


def generate(
    model: Any, shape: tuple[int, int], given: dict[Any, Any], seed: int | None, noisy: bool
) -> dict[str, Any]:
    """Times and values of series; tensors have the values that are given, or their own."""
    if seed is not None:
        np.random.seed(seed)
    _check_univariate(model)
    count, length = shape

    def value(tensor: Any) -> Any:
        return given[tensor] if tensor in given else convert_to_tensor(tensor).eval(given)

    transition = value(model._tensor(model.get_state_transition()))
    transform = value(convert_to_tensor(model.get_noise_transform()))
    deviation = np.sqrt(np.diag(value(model.state_transition_noise_covariance)))
    seen_deviation = 0.0
    if noisy:
        seen_deviation = np.sqrt(value(model._observation_noise_covariance)[0][0])
    seen_through = value(model.get_broadcasted_observation_model(math.range(length)))
    state = np.tile(np.asarray(value(model.prior_state_mean))[None], [count, 1])
    values = np.zeros([count, length])
    for time, seen in enumerate(seen_through):
        noise = np.random.normal(np.zeros([count, len(deviation)]), deviation[None])
        state = state @ transition.T + noise @ transform.T
        values[:, time] = state @ seen[0]
        if noisy:
            values[:, time] = np.random.normal(loc=values[:, time], scale=seen_deviation)
    return {TIMES: np.tile(np.arange(length)[None], [count, 1]), VALUES: values[..., None]}
