"""Further distributions of positive numbers, and Kumaraswamy's of numbers between 0 and 1."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.distribution_functions import (
    Kumaraswamy as KumaraswamyBijector,
)
from weft.lib.contrib.distributions.transformed import TransformedDistribution
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.gamma import ConcentrationAndRate, Gamma
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.lib.distributions.special import erfinv
from weft.lib.distributions.uniform import Uniform
from weft.ops.array import array
from weft.ops.control.check import assert_less, assert_positive
from weft.ops.control.check_types import assert_same_float_dtype
from weft.ops.math import math
from weft.ops.nn.activations import relu, softplus
from weft.ops.random.random import random_gamma, random_normal


class HalfNormal(Distribution):
    """The absolute value of a normal number with mean 0."""

    scale = Parameter("The standard deviation of the normal number.")

    @keeps_arguments
    def __init__(
        self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "scale", like="scale"):
            self._keep(validate_args, lambda: [assert_positive(scale)], scale=scale)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random_normal(self._draws(n), 0.0, 1.0, dtype=self.dtype, seed=seed)
        return math.abs(drawn * self.scale)

    def _prob(self, value: Any) -> Tensor:
        largest = sqrt(2.0 / pi) / self.scale
        z = value / self.scale
        return largest * math.exp(-0.5 * math.square(z)) * math.cast(value >= 0, self.dtype)

    def _cdf(self, value: Any) -> Tensor:
        return math.erf(relu(value) / self.scale / sqrt(2.0))

    def _quantile(self, value: Any) -> Tensor:
        return sqrt(2.0) * self.scale * erfinv(value)

    def _entropy(self) -> Tensor:
        return 0.5 * math.log(pi * math.square(self.scale) / 2.0) + 0.5

    def _mean(self) -> Tensor:
        return self.scale * sqrt(2.0) / sqrt(pi)

    def _variance(self) -> Tensor:
        return math.square(self.scale) * (1.0 - 2.0 / pi)

    def _mode(self) -> Tensor:
        return self._zeros()


class InverseGamma(ConcentrationAndRate):
    """1 / x of a gamma distribution: rate^a / Gamma(a) x^(-a - 1) exp(-rate / x)"""

    _reparameterization = NOT_REPARAMETERIZED

    @keeps_arguments
    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "InverseGamma",
    ) -> None:  # fmt: skip
        super().__init__(concentration, rate, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return 1.0 / random_gamma(
            [n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, value: Any) -> Tensor:
        x = self._checked(value)
        constants = math.lgamma(self.concentration) - self.concentration * math.log(self.rate)
        return -(1.0 + self.concentration) * math.log(x) - self.rate / x - constants

    def _cdf(self, value: Any) -> Tensor:
        return math.igammac(self.concentration, self.rate / self._checked(value))

    def _entropy(self) -> Tensor:
        a = self.concentration
        return a + math.log(self.rate) + math.lgamma(a) - (1.0 + a) * math.digamma(a)

    def _if_above(self, least: float, value: Tensor, what: str) -> Tensor:
        message = f"{what} undefined when any concentration <= {least:g}"
        bound = constant(least, self.dtype)
        return self._where_defined(
            lambda: self.concentration > least,
            value,
            lambda: [assert_less(bound, self.concentration, message=message)],
        )

    def _mean(self) -> Tensor:
        return self._if_above(1.0, self.rate / (self.concentration - 1.0), "mean")

    def _variance(self) -> Tensor:
        a = self.concentration
        value = math.square(self.rate) / math.square(a - 1.0) / (a - 2.0)
        return self._if_above(2.0, value, "variance")

    def _mode(self) -> Tensor:
        return self.rate / (1.0 + self.concentration)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """The inverse gamma distribution whose parameters are softplus of what is given."""

    @keeps_arguments
    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                softplus(concentration, name="softplus_concentration"),
                softplus(rate, name="softplus_rate"), validate_args, allow_nan_stats, name,
            )  # fmt: skip


class Chi2(Gamma):
    """The sum of squares of `df` standard normal numbers."""

    df = Parameter("Degrees of freedom.")

    @keeps_arguments
    def __init__(
        self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Chi2",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[df]) as name:
            self._keep(validate_args, lambda: [assert_positive(df)], df=df)
            half = constant(0.5, self.df.dtype)
            super().__init__(half * self.df, half, validate_args, allow_nan_stats, name)


class Chi2WithAbsDf(Chi2):
    """With df = floor(|df|)."""

    @keeps_arguments
    def __init__(
        self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Chi2WithAbsDf",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[df]) as name:
            whole = math.floor(math.abs(df, name="abs_df"), name="floor_abs_df")
            super().__init__(whole, validate_args, allow_nan_stats, name)


class Kumaraswamy(TransformedDistribution):
    """a b x^(a - 1) (1 - x^a)^(b - 1), for x between 0 and 1."""

    @keeps_arguments
    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Kumaraswamy",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[concentration1, concentration0]) as name:
            self.concentration1 = convert_to_tensor(concentration1, name="concentration1")
            self.concentration0 = convert_to_tensor(concentration0, name="concentration0")
            assert_same_float_dtype([self.concentration1, self.concentration0])
            shape = array.broadcast_dynamic_shape(
                array.shape(self.concentration1), array.shape(self.concentration0)
            )
            kind = self.concentration1.dtype
            base = Uniform(
                array.zeros(shape, kind), array.ones(shape, kind), False, allow_nan_stats
            )
            transform = KumaraswamyBijector(
                self.concentration1, self.concentration0, validate_args=validate_args
            )
        super().__init__(base, transform, validate_args=validate_args, name=name)

    def _moment(self, n: float) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return b * math.exp(math.lgamma(1 + n / a) + math.lgamma(b) - math.lgamma(1 + b + n / a))

    def _entropy(self) -> Tensor:
        """As in TensorFlow 1.15, which is not the integral: a sign, and a and b, are swapped."""
        a, b = self.concentration1, self.concentration0
        harmonic = math.digamma(b + 1.0) + np.euler_gamma
        return (1 - 1.0 / a) + (1 - 1.0 / b) * harmonic + math.log(a) + math.log(b)

    def _mean(self) -> Tensor:
        return self._moment(1.0)

    def _variance(self) -> Tensor:
        return self._moment(2.0) - math.square(self._moment(1.0))

    def _mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        one = constant(1.0, self.dtype)
        return self._where_defined(
            lambda: math.logical_and(a > 1.0, b > 1.0),
            ((a - 1) / (a * b - 1)) ** (1 / a),
            lambda: [
                assert_less(one, a, message="Mode undefined for concentration1 <= 1."),
                assert_less(one, b, message="Mode undefined for concentration0 <= 1."),
            ],
        )
