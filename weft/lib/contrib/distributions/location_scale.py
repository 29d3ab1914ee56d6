"""Further distributions of loc + scale z: Cauchy's, Gumbel's and the logistic one."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from weft.graph.graph import Tensor
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.location_scale import LocationScale
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.nn.activations import softplus
from weft.ops.random.random import random_uniform


class Cauchy(LocationScale):
    """1 / (pi scale (1 + z^2)), which has neither mean nor variance."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ) -> None:  # fmt: skip
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random_uniform(self._draws(n), 0.0, 1.0, dtype=self.dtype, seed=seed)
        return self._quantile(drawn)

    def _log_prob(self, value: Any) -> Tensor:
        return -math.log1p(math.square(self._z(value))) - (log(pi) + math.log(self.scale))

    def _cdf(self, value: Any) -> Tensor:
        return math.atan(self._z(value)) / pi + 0.5

    def _log_cdf(self, value: Any) -> Tensor:
        return math.log1p(2 / pi * math.atan(self._z(value))) - log(2.0)

    def _quantile(self, value: Any) -> Tensor:
        return self._of_z(math.tan(pi * (value - 0.5)))

    def _entropy(self) -> Tensor:
        return log(4 * pi) + math.log(self._scale_of_all())

    def _mode(self) -> Tensor:
        return self._loc_of_all()

    def _undefined(self, what: str) -> Tensor:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        nan = np.array(np.nan, self.dtype.as_numpy_dtype)
        return array.fill(self.batch_shape_tensor(), nan, name="nan")

    def _mean(self) -> Tensor:
        return self._undefined("mean")

    def _stddev(self) -> Tensor:
        return self._undefined("stddev")


class Gumbel(LocationScale):
    """exp(-z - exp(-z)) / scale: the largest of many."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Gumbel",
    ) -> None:  # fmt: skip
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = self._uniform(self._draws(n), seed)
        return self._of_z(-math.log(-math.log(drawn)))

    def _log_prob(self, value: Any) -> Tensor:
        z = self._z(value)
        return -z - math.exp(-z) - math.log(self.scale)

    def _log_cdf(self, value: Any) -> Tensor:
        return -math.exp(-self._z(value))

    def _cdf(self, value: Any) -> Tensor:
        return math.exp(-math.exp(-self._z(value)))

    def _entropy(self) -> Tensor:
        return 1 + math.log(self._scale_of_all()) + np.euler_gamma

    def _mean(self) -> Tensor:
        return self.loc + self.scale * np.euler_gamma

    def _stddev(self) -> Tensor:
        return self._scale_of_all() * pi / 6**0.5

    def _mode(self) -> Tensor:
        return self._loc_of_all()


class Logistic(LocationScale):
    """exp(-z) / (scale (1 + exp(-z))^2)"""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:  # fmt: skip
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = self._uniform(self._draws(n), seed)
        return self._of_z(math.log(drawn) - math.log1p(-1 * drawn))

    def _log_prob(self, value: Any) -> Tensor:
        z = self._z(value)
        return -z - 2 * softplus(-z) - math.log(self.scale)

    def _log_cdf(self, value: Any) -> Tensor:
        return -softplus(-self._z(value))

    def _cdf(self, value: Any) -> Tensor:
        return math.sigmoid(self._z(value))

    def _log_survival_function(self, value: Any) -> Tensor:
        return -softplus(self._z(value))

    def _survival_function(self, value: Any) -> Tensor:
        return math.sigmoid(-self._z(value))

    def _entropy(self) -> Tensor:
        return 2 + math.log(self._scale_of_all())

    def _mean(self) -> Tensor:
        return self._loc_of_all()

    def _stddev(self) -> Tensor:
        return self._scale_of_all() * pi / 3**0.5

    def _mode(self) -> Tensor:
        return self._loc_of_all()
