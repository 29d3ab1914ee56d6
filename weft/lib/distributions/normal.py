"""The normal distribution."""

from __future__ import annotations

from math import e, log, pi
from typing import Any

from weft.graph.convert import constant
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions import special
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.kullback_leibler import RegisterKL
from weft.lib.distributions.location_scale import LocationScale
from weft.ops.math import math
from weft.ops.nn.activations import softplus
from weft.ops.random.random import random_normal


class Normal(LocationScale):
    """exp(-(x - loc)^2 / (2 scale^2)) / (scale sqrt(2 pi))"""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:  # fmt: skip
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random_normal(self._draws(n), 0.0, 1.0, dtype=self.loc.dtype, seed=seed)
        return drawn * self.scale + self.loc

    def _log_prob(self, value: Any) -> Tensor:
        shape = -0.5 * math.square(self._z(value))
        return shape - (0.5 * log(2.0 * pi) + math.log(self.scale))

    def _log_cdf(self, value: Any) -> Tensor:
        return special.log_ndtr(self._z(value))

    def _cdf(self, value: Any) -> Tensor:
        return special.ndtr(self._z(value))

    def _log_survival_function(self, value: Any) -> Tensor:
        return special.log_ndtr(-self._z(value))

    def _survival_function(self, value: Any) -> Tensor:
        return special.ndtr(-self._z(value))

    def _quantile(self, value: Any) -> Tensor:
        return self._of_z(special.ndtri(value))

    def _entropy(self) -> Tensor:
        return 0.5 * log(2.0 * pi * e) + math.log(self._scale_of_all())

    def _mean(self) -> Tensor:
        return self._loc_of_all()

    def _stddev(self) -> Tensor:
        return self._scale_of_all()

    def _mode(self) -> Tensor:
        return self._mean()


class NormalWithSoftplusScale(Normal):
    """The normal distribution whose scale is softplus of what is given."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[scale]) as name:
            positive = softplus(scale, name="softplus_scale")
            super().__init__(loc, positive, validate_args, allow_nan_stats, name)


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two, half = (constant(value, dtype=a.dtype) for value in (1, 2, 0.5))
        ours, theirs = math.square(a.scale), math.square(b.scale)
        ratio = ours / theirs
        apart = math.squared_difference(a.loc, b.loc) / (two * theirs)
        return apart + half * (ratio - one - math.log(ratio))
