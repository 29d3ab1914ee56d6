"""The Kalman filter: beliefs about a state, moved on in time and by what is seen."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.state_space.matrices import mvn_tril_log_prob
from weft.ops.array import array
from weft.ops.array.diag import matrix_diag_part
from weft.ops.control.check import verify_tensor_all_finite
from weft.ops.control.control import Assert
from weft.ops.linalg.linalg import cholesky, matrix_solve
from weft.ops.linalg.matrices import eye
from weft.ops.math import math

_UNSTABLE = (
    "This may occur due to numerically unstable filtering when there is a large difference in "
    "posterior variances, or when inferences are near-deterministic. Considering tuning the "
    "'filtering_maximum_posterior_variance_ratio' or 'filtering_minimum_posterior_variance' "
    "parameters in your StateSpaceModelConfiguration, or tuning the transition matrix."
)


class KalmanFilter:
    """Steps of the filter for a batch of states, each with a mean and a covariance.

    Args:
        dtype: of all numbers.
        simplified_posterior_covariance_computation: whether covariances are computed by the short
            formula, which can lose their symmetry.
    """

    def __init__(
        self, dtype: Any = dtypes.float32, simplified_posterior_covariance_computation: bool = False
    ) -> None:
        self.dtype = dtype
        self._simplified = simplified_posterior_covariance_computation

    def do_filter(
        self,
        estimated_state: Any,
        estimated_state_covariance: Any,
        predicted_observation: Any,
        predicted_observation_covariance: Any,
        observation: Any,
        observation_model: Any,
        observation_noise: Any,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(mean, covariance) of states after what was seen, and how likely that was."""
        given = predicted_observation_covariance
        factor = _checked_factor(0.5 * (given + array.matrix_transpose(given)))
        log_prob = mvn_tril_log_prob(predicted_observation, factor, observation)
        state, covariance = self.posterior_from_prior_state(
            estimated_state,
            estimated_state_covariance,
            observation,
            observation_model,
            (predicted_observation, given),
            observation_noise,
        )
        return state, covariance, log_prob

    def predict_state_mean(self, prior_state: Any, transition_matrices: Any) -> Tensor:
        """States after transitions, without noise."""
        return array.squeeze(math.matmul(transition_matrices, prior_state[..., None]), axis=[-1])

    def predict_state_var(
        self, prior_state_var: Any, transition_matrices: Any, transition_noise_sums: Any
    ) -> Tensor:
        """Covariances of states after transitions, with the noise of these."""
        moved = math.matmul(transition_matrices, prior_state_var)
        return math.matmul(moved, transition_matrices, adjoint_b=True) + transition_noise_sums

    def posterior_from_prior_state(
        self,
        prior_state: Any,
        prior_state_var: Any,
        observation: Any,
        observation_model: Any,
        predicted_observations: tuple[Any, Any],
        observation_noise: Any,
    ) -> tuple[Tensor, Tensor]:
        """(mean, covariance) of states after what was seen."""
        seen, seen_var = predicted_observations
        moved = math.matmul(observation_model, prior_state_var, adjoint_b=True)
        gain = matrix_solve(seen_var, moved, adjoint=True)
        away = array.expand_dims(observation - seen, -1)
        state = prior_state + array.squeeze(math.matmul(gain, away, adjoint_a=True), axis=[-1])
        explained = math.matmul(gain, observation_model, adjoint_a=True)
        rest = eye(array.shape(explained)[1], dtype=explained.dtype)[None] - explained
        covariance = math.matmul(rest, prior_state_var)
        if self._simplified:
            return state, covariance
        covariance = math.matmul(rest, covariance, adjoint_b=True)
        noise = convert_to_tensor(observation_noise)
        if noise.shape.ndims == 2:
            noise = array.tile(noise[None], [array.shape(gain)[0], 1, 1])
        seen_noise = math.matmul(math.matmul(gain, noise, adjoint_a=True), gain)
        return state, covariance + seen_noise

    def observed_from_state(
        self, state_mean: Any, state_var: Any, observation_model: Any, observation_noise: Any
    ) -> tuple[Tensor, Tensor]:
        """(mean, covariance) of what is seen of states."""
        row = array.expand_dims(state_mean, 1)
        mean = array.squeeze(math.matmul(row, observation_model, adjoint_b=True), axis=[1])
        moved = math.matmul(observation_model, state_var)
        return mean, math.matmul(moved, observation_model, adjoint_b=True) + observation_noise


def _checked_factor(covariance: Tensor) -> Tensor:
    """The Cholesky factor of a covariance that is finite and has no negative variance."""
    finite = verify_tensor_all_finite(
        covariance, f"Predicted observation covariance was not finite. {_UNSTABLE}"
    )
    least = math.reduce_min(matrix_diag_part(finite))
    said = f"The predicted observation covariance has a negative diagonal entry. {_UNSTABLE}"
    with control_dependencies([Assert(least >= 0.0, [said, least])]):
        return cholesky(finite)
