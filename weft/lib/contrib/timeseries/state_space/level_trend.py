"""A level that changes by a slope, which changes at random."""

from __future__ import annotations

from typing import Any

from weft.graph.constant import constant
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from weft.lib.contrib.timeseries.state_space.model import StateSpaceModel
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.state.initializers import zeros_initializer
from weft.ops.state.variable_scope import variable_scope


class AdderStateSpaceModel(StateSpaceModel):
    """The level is seen; the slope is added to it at each time.

    Args:
        use_level_noise: whether the level has noise, too.
        configuration: a `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),  # noqa: B008
    ) -> None:
        self.use_level_noise = use_level_noise
        super().__init__(configuration)

    def get_prior_mean(self) -> Any:
        """The first values' mean, without a slope, where these are known."""
        if self._input_statistics is None:
            return super().get_prior_mean()
        with variable_scope(self._variable_scope):
            mean = self._scale_data(self._input_statistics.series_start_moments.mean)
            level = math.reduce_mean(mean)
            first = array.stack([level, array.zeros_like(level)])
            return first + self._prior_mean_variable(2, zeros_initializer())

    def get_state_transition(self) -> Any:
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self) -> Any:
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times: Any) -> Tensor:
        return constant([1.0, 0.0], dtype=self.dtype)

    def transition_to_powers(self, powers: Any) -> Tensor:
        steps = math.cast(powers, self.dtype)
        zeros, ones = array.zeros_like(steps), array.ones_like(steps)
        rows = [array.stack([ones, steps], -1), array.stack([zeros, ones], -1)]
        return array.stack(rows, -2)

    def transition_power_noise_accumulator(self, num_steps: Any) -> Tensor:
        """With noise `[[a, b], [c, d]]`, transition `i` adds `b + c` and `d` `i` times to the
        level, and `d` `i * i` times."""
        steps = math.cast(num_steps, self.dtype)
        transform = self._tensor(self.get_noise_transform())
        noise = math.matmul(transform, self.state_transition_noise_covariance)
        noise = math.matmul(noise, transform, adjoint_b=True)
        a, b, c, d = (noise[i, j] for i in (0, 1) for j in (0, 1))
        last = steps - 1
        sums = last * (last + 1) / 2
        squares = sums * (2 * last + 1) / 3
        rows = [
            array.stack([steps * a + sums * (b + c) + squares * d, steps * b + sums * d], -1),
            array.stack([steps * c + sums * d, steps * d], -1),
        ]
        return array.stack(rows, -2)
