"""The exponential distribution."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.gamma import Gamma
from weft.lib.distributions.parameter import Parameter
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.nn.activations import softplus


class Exponential(Gamma):
    """rate exp(-rate x), for x > 0: a gamma distribution of concentration 1."""

    rate = Parameter("How many events there are on average per unit of time.")

    @keeps_arguments
    def __init__(
        self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[rate]) as name:
            rate = convert_to_tensor(rate, name="rate")
        one = array.ones([], rate.dtype)
        super().__init__(one, rate, validate_args, allow_nan_stats, name)

    def _log_survival_function(self, value: Any) -> Tensor:
        return self._log_prob(value) - math.log(self.rate)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = self._uniform(array.concat([[n], array.shape(self.rate)], 0), seed)
        return -math.log(drawn) / self.rate


class ExponentialWithSoftplusRate(Exponential):
    """The exponential distribution whose rate is softplus of what is given."""

    @keeps_arguments
    def __init__(
        self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[rate]) as name:
            positive = softplus(rate, name="softplus_rate")
            super().__init__(positive, validate_args, allow_nan_stats, name)
