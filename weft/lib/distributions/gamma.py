"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checked
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.kullback_leibler import RegisterKL
from weft.lib.distributions.parameter import Parameter
from weft.ops.array import array
from weft.ops.control.check import assert_less, assert_positive
from weft.ops.control.check_types import assert_same_float_dtype
from weft.ops.math import math
from weft.ops.nn.activations import softplus
from weft.ops.random.random import random_gamma


class ConcentrationAndRate(Distribution):
    """The base of distributions of positive numbers with a shape and a rate."""

    concentration = Parameter("The shape: the mean of a gamma distribution times its rate.")
    rate = Parameter("The inverse of a gamma distribution's scale.")

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool, allow_nan_stats: bool, name: str,
    ) -> None:  # fmt: skip
        def checks() -> list[Any]:
            return [assert_positive(concentration), assert_positive(rate)]

        with self._made_of(locals(), "concentration", "rate", like="concentration"):
            self._keep(validate_args, checks, concentration=concentration, rate=rate)

    def _checked(self, x: Any) -> Any:
        assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return checked(self.validate_args, x, lambda: [assert_positive(x)])


class Gamma(ConcentrationAndRate):
    """x^(concentration - 1) exp(-rate x) rate^concentration / Gamma(concentration), x > 0"""

    @keeps_arguments
    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Gamma",
    ) -> None:  # fmt: skip
        super().__init__(concentration, rate, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return random_gamma([n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, value: Any) -> Tensor:
        x = self._checked(value)
        constant = math.lgamma(self.concentration) - self.concentration * math.log(self.rate)
        return math.xlogy(self.concentration - 1.0, x) - self.rate * x - constant

    def _cdf(self, value: Any) -> Tensor:
        return math.igamma(self.concentration, self.rate * self._checked(value))

    def _entropy(self) -> Tensor:
        a = self.concentration
        return a - math.log(self.rate) + math.lgamma(a) + (1.0 - a) * math.digamma(a)

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / math.square(self.rate)

    def _stddev(self) -> Tensor:
        return math.sqrt(self.concentration) / self.rate

    def _mode(self) -> Tensor:
        one = array.ones([], self.dtype)
        message = "mode not defined when any concentration <= 1"
        return self._where_defined(
            lambda: self.concentration > 1.0,
            (self.concentration - 1.0) / self.rate,
            lambda: [assert_less(one, self.concentration, message=message)],
        )


class GammaWithSoftplusConcentrationRate(Gamma):
    """The gamma distribution whose parameters are softplus of what is given."""

    @keeps_arguments
    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "GammaWithSoftplusConcentrationRate",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                softplus(concentration, name="softplus_concentration"),
                softplus(rate, name="softplus_rate"), validate_args, allow_nan_stats, name,
            )  # fmt: skip


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    ours, theirs = a.concentration, b.concentration
    with name_scope(name, "kl_gamma_gamma", values=[ours, a.rate, theirs, b.rate]):
        shapes = (ours - theirs) * math.digamma(ours) + math.lgamma(theirs) - math.lgamma(ours)
        rates = shapes + theirs * math.log(a.rate) - theirs * math.log(b.rate)
        return rates + ours * (b.rate / a.rate - 1.0)
