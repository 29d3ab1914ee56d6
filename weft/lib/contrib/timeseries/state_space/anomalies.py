"""Steps of a filter that trust values less which may be anomalies."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar

from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.autoregressive import cauchy_log_prob
from weft.lib.contrib.timeseries.state_space.matrices import entropy_matched_cauchy_scale
from weft.ops.array import array
from weft.ops.control.check import assert_equal
from weft.ops.math import math

Outputs = dict[str, Any]


class FilteringStepPostprocessor(abc.ABC):
    """Changes a step of a filter after it was made."""

    @abc.abstractmethod
    def process_filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        predicted_state: Any,
        filtered_state: Any,
        outputs: Outputs,
    ) -> tuple[Any, Outputs]:
        """(state, outputs), given the states before and after the values."""

    @property
    @abc.abstractmethod
    def output_names(self) -> list[str]:
        """What is added to the outputs."""


def cauchy_alternative_to_gaussian(
    current_times: Any, current_values: Any, outputs: Outputs
) -> Tensor:
    """How likely values are as anomalies: they come from wider distributions."""
    width = entropy_matched_cauchy_scale(outputs["covariance"])
    return math.reduce_sum(cauchy_log_prob(outputs["mean"], width, current_values), axis=1)


class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """A state between that before and that after a value, by how likely an anomaly is.

    Args:
        anomaly_log_likelihood: a function of times, values and outputs.
        anomaly_prior_probability: how likely an anomaly is before a value is seen.
        responsibility_scaling: how sharply the state goes from one to the other.
    """

    output_names: ClassVar[list[str]] = ["anomaly_score"]  # type: ignore[misc]

    def __init__(
        self,
        anomaly_log_likelihood: Callable[..., Any] = cauchy_alternative_to_gaussian,
        anomaly_prior_probability: Any = 0.01,
        responsibility_scaling: float = 1.0,
    ) -> None:
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._prior, self._scaling = anomaly_prior_probability, responsibility_scaling

    def process_filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        predicted_state: Any,
        filtered_state: Any,
        outputs: Outputs,
    ) -> tuple[Any, Outputs]:
        prior = convert_to_tensor(self._prior, dtype=current_values.dtype)
        as_anomaly = self._anomaly_log_likelihood(
            current_times=current_times, current_values=current_values, outputs=outputs
        )
        odd = as_anomaly + math.log(prior)
        usual = outputs["log_likelihood"] + math.log(1.0 - prior)
        trust = math.sigmoid(-self._scaling * (odd - usual))
        loss = -(trust * usual + (1.0 - trust) * odd)
        state = _between(filtered_state, predicted_state, trust)
        return state, {**outputs, "loss": loss, "anomaly_score": odd - usual}


def _between(first: Any, second: Any, share: Tensor) -> Any:
    """So much of the first state, the rest of the second; what is not a float must be equal."""

    def mixed(one: Any, other: Any) -> Tensor:
        if not one.dtype.is_floating:
            with control_dependencies([assert_equal(one, other)]):
                return array.identity(one)
        part = share
        for _ in range(one.shape.ndims - 1):
            part = array.expand_dims(part, -1)
        made = part * one + (1.0 - part) * other
        made.set_shape(one.shape)
        return made

    return nest.map_structure(mixed, first, second)
