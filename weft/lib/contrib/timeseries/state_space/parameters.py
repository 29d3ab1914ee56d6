"""The matrices of state space models, and what of them is learned."""

from __future__ import annotations

import abc
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.sequential import SequentialTimeSeriesModel
from weft.lib.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from weft.lib.contrib.timeseries.state_space.matrices import variable_covariance_matrix
from weft.lib.estimator.spec import ModeKeys
from weft.ops.array import array
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.state.get_variable import get_variable
from weft.ops.state.variable_scope import get_variable_scope, variable_scope

MINIMUM_INITIAL_VARIANCE = 1e-5


class StateSpaceParameters(SequentialTimeSeriesModel):
    """The matrices of a state space model, its noises, and the state before the first value.

    A model tells how its state moves, what of it is noise, and how it is seen; the sizes of both
    noises are learned.
    """

    prior_state_mean: Any = None
    prior_state_var: Any = None
    state_transition_noise_covariance: Any = None
    _observation_noise_covariance: Any = None
    _observation_transition_tradeoff_log_scale: Any = None

    def __init__(self, configuration: StateSpaceModelConfiguration) -> None:
        self._configuration = configuration
        more = configuration.filtering_postprocessor
        super().__init__(
            ["mean", "covariance", "log_likelihood", *(more.output_names if more else ())],
            ["mean", "covariance"],
            configuration.num_features,
            True,
            configuration.dtype,
            configuration.exogenous_feature_columns,
            configuration.exogenous_update_condition,
            configuration.static_unrolling_window_size_threshold,
        )
        # Where the model was made, its variables are.
        self._variable_scope = get_variable_scope()

    # ---- what makes a model ----

    @abc.abstractmethod
    def get_state_transition(self) -> Any:
        """The matrix that moves a state by one time."""

    @abc.abstractmethod
    def get_noise_transform(self) -> Any:
        """The matrix from noise to a state."""

    @abc.abstractmethod
    def get_observation_model(self, times: Any) -> Any:
        """The matrix from a state to values, or its one row; may have a batch."""

    def get_broadcasted_observation_model(self, times: Any) -> Tensor:
        """The matrix from a state to values for each of `times`."""
        found = self._tensor(self.get_observation_model(times))
        rank, count = found.shape.with_rank_at_least(1).ndims, array.shape(times)[0]
        match rank:
            case 1:
                row = array.reshape(found, [1, 1, -1])
                return array.tile(row, [count, self.num_features, 1])
            case 2:
                return array.tile(array.expand_dims(found, 0), [count, 1, 1])
        found.shape.assert_has_rank(3)
        return found

    def _tensor(self, value: Any) -> Tensor:
        return convert_to_tensor(value, dtype=self.dtype)

    # ---- the noises and the first state ----

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the variables of the model."""
        self._set_input_statistics(input_statistics)
        self._define_parameters()
        with variable_scope(self._variable_scope):
            self._observation_noise_covariance = self._tensor(
                self.get_observation_noise_covariance()
            )
        self.prior_state_var = self.get_prior_covariance()
        self.prior_state_mean = self.get_prior_mean()

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics)

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = self._tradeoff()
            self._observation_transition_tradeoff_log_scale = observation_transition_tradeoff_log
            covariance = self.get_state_transition_noise_covariance()
            self.state_transition_noise_covariance = covariance

    def _tradeoff(self) -> Any:
        bias = self._configuration.transition_covariance_initial_log_scale_bias
        first = constant(-bias, dtype=self.dtype)
        name = "observation_transition_tradeoff_log_scale"
        return get_variable(name, dtype=self.dtype, initializer=first)

    def _start_variance(self) -> Any:
        """The variance of the first values, in the model's scale; None where it is not known."""
        if self._input_statistics is None:
            return None
        return self._scale_variance(self._input_statistics.series_start_moments.variance)

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = MINIMUM_INITIAL_VARIANCE
    ) -> Tensor:
        """The covariance of the noise of a transition."""
        size = self._noise_dimension()
        scale: Any = 0.0
        variance = self._start_variance()
        if variance is not None:
            count = math.cast(self._input_statistics.total_observation_count, self.dtype)
            each = math.reduce_mean(variance) / count
            scale = math.log(math.maximum(each, minimum_initial_variance))
        scale = scale - self._observation_transition_tradeoff_log_scale
        return variable_covariance_matrix(
            size, "state_transition_noise", self.dtype, initial_overall_scale_log=scale
        )

    def get_observation_noise_covariance(
        self, minimum_initial_variance: float = MINIMUM_INITIAL_VARIANCE
    ) -> Tensor:
        """The covariance of the noise of values."""
        name, size = "observation_noise_covariance", self.num_features
        if not self._configuration.use_observation_noise:
            return array.zeros([size, size], self.dtype, name=name)
        variance = self._start_variance()
        if variance is not None:
            variance = math.maximum(variance, minimum_initial_variance)
        scale = self._observation_transition_tradeoff_log_scale
        return variable_covariance_matrix(size, name, self.dtype, variance, scale)

    def _state_dimension(self) -> int:
        return int(self._tensor(self.get_state_transition()).shape[0])

    def _noise_dimension(self) -> int:
        return int(self._tensor(self.get_noise_transform()).shape[1])

    def get_prior_covariance(self) -> Tensor:
        """The covariance of the state before the first value."""
        with variable_scope(self._variable_scope):
            size = self._state_dimension()
            if not self._configuration.trainable_start_state:
                return eye(size, dtype=self.dtype)
            base = variable_covariance_matrix(size, "prior_state_var", self.dtype)
            variance = self._start_variance()
            if variance is None:
                return base
            return base * math.maximum(math.reduce_max(variance), 1.0)

    def get_prior_mean(self) -> Any:
        """The state before the first value."""
        with variable_scope(self._variable_scope):
            return self._prior_mean_variable(self._state_dimension())

    def _prior_mean_variable(self, size: int, initializer: Any = None) -> Any:
        return get_variable(
            "prior_state_mean",
            [size],
            self.dtype,
            initializer,
            trainable=self._configuration.trainable_start_state,
        )

    def get_start_state(self) -> tuple[Any, Any, Any]:
        """(mean, covariance, the time before the first value)"""
        first: Any = array.zeros([], dtypes.int64)
        if self._input_statistics is not None:
            first = self._input_statistics.start_time
        return self.prior_state_mean, self.prior_state_var, first - 1

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """The priors of the covariances, in training."""
        if mode != ModeKeys.TRAIN:
            return array.zeros([], self.dtype)
        how = self._configuration
        count = array.shape(times)[1]
        if self._input_statistics is not None and how.bayesian_prior_weighting:
            count = self._input_statistics.total_observation_count
        prior = self._tensor(how.covariance_prior_fn(self.state_transition_noise_covariance))
        if how.use_observation_noise and self._observation_noise_covariance is not None:
            prior += self._tensor(how.covariance_prior_fn(self._observation_noise_covariance))
        return -(1.0 / math.cast(count, self.dtype)) * prior
