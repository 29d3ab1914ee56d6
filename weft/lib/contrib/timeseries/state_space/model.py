"""State space models: a Kalman filter over the matrices that a model tells."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.dense import fully_connected
from weft.lib.contrib.timeseries.sequential import Outputs
from weft.lib.contrib.timeseries.state_space import generation
from weft.lib.contrib.timeseries.state_space import matrices as matrix
from weft.lib.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from weft.lib.contrib.timeseries.state_space.kalman import KalmanFilter
from weft.lib.contrib.timeseries.state_space.parameters import StateSpaceParameters
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot
from weft.ops.control.control import Assert
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.math.arg_extremes import argmax
from weft.ops.math.casts import cast
from weft.ops.state.variable_scope import variable_scope

# Of windows with at most so many gaps, gaps that are alike are not joined: how many are different
# changes from batch to batch, and each number would be a program of its own.
MOST_GAPS = 4096


class StateSpaceModel(StateSpaceParameters):
    """A state that is moved by a matrix and seen through another.

    States are (mean, covariance, time of the last value).

    Args:
        configuration: a `StateSpaceModelConfiguration`.
    """

    def __init__(self, configuration: StateSpaceModelConfiguration) -> None:
        super().__init__(configuration)
        self._kalman_filter = KalmanFilter(dtype=self.dtype)

    # ---- gaps between times ----

    def transition_power_noise_accumulator(self, num_steps: Any) -> Tensor:
        """The covariances of the noise of so many transitions together, a vector of numbers."""
        transform = self._tensor(self.get_noise_transform())
        noise = math.matmul(transform, self.state_transition_noise_covariance)
        noise = math.matmul(noise, transform, transpose_b=True)
        transition = self._tensor(self.get_state_transition())
        return matrix.powers_and_sums(transition, noise, num_steps)[1]

    def transition_to_powers(self, powers: Any) -> Tensor:
        """The matrices of so many transitions together, a vector of numbers."""
        transition = self._tensor(self.get_state_transition())
        return matrix.powers_and_sums(transition, array.zeros_like(transition), powers)[0]

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Computes what the gaps of a window need, once."""
        times, last = convert_to_tensor(times), convert_to_tensor(state[2])
        inside = array.reshape(times[:, 1:] - times[:, :-1], [-1])
        gaps = array.concat([inside, math.maximum(times[:, 0] - last, 0)], axis=0)
        size = gaps.shape.num_elements()
        if size is None or size > MOST_GAPS:
            gaps, _ = array.unique(gaps)
        self._gaps = gaps
        self._of_gaps = (
            self.transition_to_powers(gaps),
            self.transition_power_noise_accumulator(gaps),
        )

    def _for_gaps(self, gaps: Any) -> list[Tensor]:
        """(matrices, covariances of noise) for gaps of this window."""
        places = argmax(cast(math.equal(self._gaps, gaps[:, None]), dtypes.int32), 1)
        # A product, since gradients of rows that are gathered would grow with each time.
        chosen = one_hot(places, array.size(self._gaps), dtype=self.dtype)
        found = [math.tensordot(chosen, each, 1) for each in self._of_gaps]
        for each in found:
            each.set_shape(gaps.shape.concatenate(each.shape[-2:]))
        return found

    # ---- one time ----

    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        *belief, last = state
        gaps, filter_ = math.maximum(current_times - last, 0), self._kalman_filter
        transitions, noise = self._for_gaps(gaps)
        return (
            filter_.predict_state_mean(belief[0], transitions),
            filter_.predict_state_var(belief[1], transitions, noise),
            last + gaps,
        )

    def _prediction_step(self, current_times: Any, state: Any) -> tuple[Any, Outputs]:
        mean, covariance, last = state
        is_there = math.reduce_all(math.less_equal(current_times, last))
        with control_dependencies([Assert(is_there, ["Attempted to predict without imputation"])]):
            seen, seen_covariance = self._kalman_filter.observed_from_state(
                mean,
                covariance,
                self.get_broadcasted_observation_model(current_times),
                self._observation_noise_covariance,
            )
        batch, size = current_times.shape, self.num_features
        seen.set_shape(batch.concatenate([size]))
        seen_covariance.set_shape(batch.concatenate([size, size]))
        return (mean, covariance, current_times), {"mean": seen, "covariance": seen_covariance}

    def _filtering_step(
        self, current_times: Any, current_values: Any, state: Any, predictions: Outputs
    ) -> tuple[Any, Outputs]:
        mean, covariance, last = state
        how = self._configuration
        seen_through = self.get_broadcasted_observation_model(current_times)
        is_there = math.reduce_all(math.equal(current_times, last))
        said = "Attempted to perform filtering without imputation/prediction"
        with control_dependencies([Assert(is_there, [said])]):
            clipped = matrix.clip_covariance(
                covariance,
                how.filtering_maximum_posterior_variance_ratio,
                how.filtering_minimum_posterior_variance,
            )
            mean, covariance, log_prob = self._kalman_filter.do_filter(
                mean,
                clipped,
                predictions["mean"],
                predictions["covariance"],
                current_values,
                seen_through,
                self._observation_noise_covariance,
            )
        log_prob.set_shape(current_times.shape)
        filtered = mean, covariance, current_times
        outputs = {**predictions, "loss": -log_prob, "log_likelihood": log_prob}
        if how.filtering_postprocessor is None:
            return filtered, outputs
        return how.filtering_postprocessor.process_filtering_step(
            current_times=current_times,
            current_values=current_values,
            predicted_state=state,
            filtered_state=filtered,
            outputs=outputs,
        )

    def _scale_back_predictions(self, predictions: Outputs) -> Outputs:
        scaled = {
            "mean": self._scale_back_data(predictions["mean"]),
            "covariance": self._scale_back_variance(predictions["covariance"]),
        }
        return {**predictions, **scaled}

    # ---- further features ----

    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        if self._configuration.exogenous_noise_decreases:
            state = self._seen_in(current_exogenous_regressors, state)
        if self._configuration.exogenous_noise_increases:
            state = self._added(current_exogenous_regressors, state)
        return state

    def _seen_in(self, features: Any, state: Any) -> Any:
        """The state, of which features are a view with noise of its own."""
        mean, covariance, last = state
        size = self._state_dimension()
        whole = eye(size, batch_shape=array.shape(features)[:-1], dtype=self.dtype)
        with variable_scope("exogenous_noise_decreasing_covariance"):
            noise = matrix.transform_to_covariance_matrices(features, size)
        with variable_scope("exogenous_noise_decreasing_observation"):
            seen = fully_connected(features, size, activation_fn=None)
        predicted = mean, noise + covariance
        found = self._kalman_filter.posterior_from_prior_state(
            mean, covariance, seen, whole, predicted, noise
        )
        return *found, last

    def _added(self, features: Any, state: Any) -> Any:
        """The state, moved by features, with noise of their own."""
        mean, covariance, last = state
        with variable_scope("exogenous_noise_increasing_mean"):
            size = mean.shape.as_list()[1]
            moved = fully_connected(features, size, activation_fn=None)
        with variable_scope("exogenous_noise_increasing_covariance"):
            size = covariance.shape.as_list()[1]
            noise = matrix.transform_to_covariance_matrices(features, size)
        return mean + moved, covariance + noise, last

    # ---- series drawn from the model ----

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Values for the tensors of the model, drawn at random, to be fed."""
        return generation.parameters(self, seed)

    def generate(  # type: ignore[override]
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: dict[Any, Any] | None = None,
        seed: int | None = None,
        add_observation_noise: bool | None = None,
    ) -> dict[str, Any]:
        """Series drawn from the model, in the default session."""
        if add_observation_noise is None:
            add_observation_noise = self._configuration.use_observation_noise
        shape = number_of_series, series_length
        return generation.generate(self, shape, model_parameters or {}, seed, add_observation_noise)
