"""State space models made of others, whose states stand side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from weft.lib.contrib.timeseries.state_space.matrices import block_diagonal
from weft.lib.contrib.timeseries.state_space.model import StateSpaceModel
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.state.variable_scope import variable_scope


class StateSpaceEnsemble(StateSpaceModel):
    """Models whose values are added up.

    Args:
        ensemble_members: the models, of as many features as the ensemble.
        configuration: a `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        ensemble_members: list[StateSpaceModel],
        configuration: StateSpaceModelConfiguration,
    ) -> None:
        self._ensemble_members = ensemble_members
        super().__init__(configuration)

    def _blocked(self, of_member: Callable[[Any], Any], name: str) -> Tensor:
        """Matrices of the members along a diagonal."""
        with variable_scope(self._variable_scope):
            found = [of_member(member) for member in self._ensemble_members]
            return block_diagonal(found, self.dtype, name)

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        tradeoff = observation_transition_tradeoff_log
        with variable_scope(self._variable_scope):
            tradeoff = self._tradeoff() if tradeoff is None else tradeoff
            for member in self._ensemble_members:
                member._define_parameters(tradeoff)
            super()._define_parameters(tradeoff)

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        members = [each._loss_additions(times, values, mode) for each in self._ensemble_members]
        return super()._loss_additions(times, values, mode) + math.add_n(members)

    def transition_to_powers(self, powers: Any) -> Tensor:
        return self._blocked(
            lambda each: each.transition_to_powers(powers), "ensemble_transition_to_powers"
        )

    def get_state_transition(self) -> Tensor:
        return self._blocked(lambda each: each.get_state_transition(), "ensemble_state_transition")

    def get_noise_transform(self) -> Tensor:
        return self._blocked(lambda each: each.get_noise_transform(), "ensemble_noise_transform")

    def get_prior_mean(self) -> Tensor:
        means = [member.get_prior_mean() for member in self._ensemble_members]
        return array.concat(means, 0, name="ensemble_prior_state_mean")

    def get_observation_model(self, times: Any) -> Any:
        raise NotImplementedError("No un-broadcasted observation model defined for ensembles.")

    def get_broadcasted_observation_model(self, times: Any) -> Tensor:
        found = [each.get_broadcasted_observation_model(times) for each in self._ensemble_members]
        return array.concat([self._tensor(each) for each in found], axis=2)

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for i, member in enumerate(self._ensemble_members):
            found |= member.random_model_parameters(seed + i if seed else None)
        return found | super().random_model_parameters(seed)


class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """Models whose noises have nothing to do with each other."""

    def transition_power_noise_accumulator(self, num_steps: Any) -> Tensor:
        return self._blocked(
            lambda each: each.transition_power_noise_accumulator(num_steps),
            "ensemble_power_noise_accumulator",
        )

    def get_prior_covariance(self) -> Tensor:
        return self._blocked(
            lambda each: each.get_prior_covariance(), "ensemble_prior_state_covariance"
        )

    def get_state_transition_noise_covariance(self, *args: Any) -> Tensor:
        return self._blocked(
            lambda each: each.state_transition_noise_covariance, "ensemble_state_transition_noise"
        )


class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """A model for each number of a value, all with one noise.

    Raises:
        ValueError: there are not as many models as numbers, or one has several.
    """

    def __init__(
        self,
        ensemble_members: list[StateSpaceModel],
        configuration: StateSpaceModelConfiguration,
    ) -> None:
        if len(ensemble_members) != configuration.num_features:
            raise ValueError(
                "The number of members in a StateSpaceCorrelatedFeaturesEnsemble must equal the "
                "number of features in the time series."
            )
        if any(member.num_features != 1 for member in ensemble_members):
            raise ValueError("StateSpaceCorrelatedFeaturesEnsemble components must be univariate.")
        super().__init__(ensemble_members, configuration)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Tensor:
        if len(self._ensemble_members) > 1:
            return super().transition_power_noise_accumulator(num_steps)
        # One model knows a shorter way.
        return self._ensemble_members[0].transition_power_noise_accumulator(num_steps)

    def get_broadcasted_observation_model(self, times: Any) -> Tensor:
        return self._blocked(
            lambda each: each.get_broadcasted_observation_model(times),
            "feature_ensemble_observation_model",
        )
