"""Values that follow from those before them, and from the noise before: VARMA."""

from __future__ import annotations

from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from weft.lib.contrib.timeseries.state_space.matrices import variable_covariance_matrix
from weft.lib.contrib.timeseries.state_space.model import StateSpaceModel
from weft.lib.contrib.timeseries.state_space.parameters import MINIMUM_INITIAL_VARIANCE
from weft.ops.array import array
from weft.ops.array.pad import pad
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.state.get_variable import get_variable
from weft.ops.state.initializers import zeros_initializer
from weft.ops.state.variable_scope import variable_scope


class VARMA(StateSpaceModel):
    """A state of the last values, one under the other.

    Args:
        autoregressive_order: how many values before count.
        moving_average_order: how many noises before count.
        configuration: a `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        autoregressive_order: int,
        moving_average_order: int,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),  # noqa: B008
    ) -> None:
        super().__init__(configuration)
        self.ar_order, self.ma_order = orders = autoregressive_order, moving_average_order
        blocks = max(orders[0], orders[1] + 1)
        self.state_num_blocks, self.state_dimension = blocks, blocks * self.num_features

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        size = self.num_features
        with variable_scope(self._variable_scope):
            shape = [size, size, self.ar_order]
            self.ar_coefs = get_variable("ar_coefs", shape, self.dtype, zeros_initializer())
            first = array.tile(self._identity()[None], [self.ma_order, 1, 1])
            self.ma_coefs = get_variable("ma_coefs", dtype=self.dtype, initializer=first)
        super()._define_parameters(observation_transition_tradeoff_log)

    def _identity(self, blocks: int = 1) -> Tensor:
        return eye(blocks * self.num_features, dtype=self.dtype)

    def get_state_transition(self) -> Tensor:
        """A new value out of the last ones, which all move down by one place."""
        size, blocks = self.num_features, self.state_num_blocks
        none = array.zeros([size, size, blocks - self.ar_order], self.dtype)
        new = array.reshape(array.concat([self.ar_coefs, none], 2), [size, -1])
        moved = self._identity(blocks)[:-size]
        return array.concat([new, moved], 0)

    def get_noise_transform(self) -> Tensor:
        """Noise counts now, and in the values after."""
        blocks = self.state_num_blocks - 1
        padded = pad(self.ma_coefs, [[blocks - self.ma_order, 0], [0, 0], [0, 0]])
        shape = [blocks * self.num_features, self.num_features]
        later = array.reshape(padded, shape, name="noise_transform")
        return array.concat([later, self._identity()], axis=0)

    def get_observation_model(self, times: Any) -> Tensor:
        """The value itself; and the noise of now, where the value does not have it yet."""
        name, blocks = "observation_model", self.state_num_blocks
        if self.ar_order > self.ma_order or blocks < 2:
            after = self.num_features * (blocks - 1)
            return pad(self._identity(), [[0, 0], [0, after]], name=name)
        between = pad(self._identity(), [[0, 0], [0, self.num_features * (blocks - 2)]])
        return array.concat([between, self._identity()], axis=1, name=name)

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = MINIMUM_INITIAL_VARIANCE
    ) -> Tensor:
        """At first as large as the first values vary: here noise is most of what is seen."""
        scale: Any = 0.0
        variance = self._start_variance()
        if variance is not None:
            mean = math.reduce_mean(variance)
            scale = math.log(math.maximum(mean, minimum_initial_variance))
        return variable_covariance_matrix(
            self._noise_dimension(),
            "state_transition_noise",
            self.dtype,
            initial_overall_scale_log=scale,
        )
