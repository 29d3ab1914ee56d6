"""How state space models are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.lib.contrib.timeseries.state_space.matrices import log_noninformative_covariance_prior


class _Configuration(NamedTuple):
    num_features: int = 1
    use_observation_noise: bool = True
    dtype: Any = dtypes.float32
    covariance_prior_fn: Callable[[Any], Any] = log_noninformative_covariance_prior
    bayesian_prior_weighting: bool = True
    filtering_postprocessor: Any = None
    trainable_start_state: bool = False
    exogenous_noise_increases: bool = True
    exogenous_noise_decreases: bool = False
    exogenous_feature_columns: Any = None
    exogenous_update_condition: Any = None
    filtering_maximum_posterior_variance_ratio: float = 1e6
    filtering_minimum_posterior_variance: float = 0.0
    transition_covariance_initial_log_scale_bias: float = -5.0
    static_unrolling_window_size_threshold: int | None = None


class StateSpaceModelConfiguration(_Configuration):
    """How state space models are made.

    Fields:
        num_features: how many numbers a value has.
        use_observation_noise: whether values are the state plus noise.
        dtype: of all numbers.
        covariance_prior_fn: the logarithm of the prior of a covariance.
        bayesian_prior_weighting: whether the prior counts once for the whole series, and not once
            for each window.
        filtering_postprocessor: changes steps of the filter, as for anomalies.
        trainable_start_state: whether the first state is learned.
        exogenous_noise_increases: whether further features add to the state.
        exogenous_noise_decreases: whether they are seen as the state is.
        exogenous_feature_columns: columns of further features.
        exogenous_update_condition: says when further features count.
        filtering_maximum_posterior_variance_ratio: how different variances may be.
        filtering_minimum_posterior_variance: how small they may be.
        transition_covariance_initial_log_scale_bias: how much smaller the noise of transitions is
            than that of values at first, as a logarithm.
        static_unrolling_window_size_threshold: windows of at most this size have no loop.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> StateSpaceModelConfiguration:
        made = super().__new__(cls, *args, **kwargs)
        if made.exogenous_feature_columns is None:
            return made._replace(exogenous_feature_columns=[])
        return made
