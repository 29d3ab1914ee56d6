"""The beta distribution."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checked
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.kullback_leibler import RegisterKL
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.special import new_seed
from weft.ops.array import array
from weft.ops.control.check import assert_less, assert_positive
from weft.ops.control.check_types import assert_same_float_dtype
from weft.ops.math import math
from weft.ops.nn.activations import softplus
from weft.ops.random.random import random_gamma


class Beta(Distribution):
    """x^(concentration1 - 1) (1 - x)^(concentration0 - 1) / B(...), for x between 0 and 1."""

    concentration1 = Parameter("How much is on the side of 1.")
    concentration0 = Parameter("How much is on the side of 0.")
    total_concentration = Parameter("The sum of both.", rank=None)

    @keeps_arguments
    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Beta",
    ) -> None:  # fmt: skip
        def positive(value: Any, name: str) -> Tensor:
            tensor = convert_to_tensor(value, name=name)
            message = "Concentration parameter must be positive."
            return checked(
                validate_args, tensor, lambda: [assert_positive(tensor, message=message)]
            )

        with self._made_of(locals(), "concentration1", "concentration0", like="concentration1"):
            self.concentration1 = positive(concentration1, "concentration1")
            self.concentration0 = positive(concentration0, "concentration0")
            assert_same_float_dtype([self.concentration1, self.concentration0])
            self.total_concentration = self.concentration1 + self.concentration0

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        given = (self.concentration1, self.concentration0)
        ones = (array.ones_like(self.total_concentration, dtype=self.dtype) for _ in given)
        shapes = [one * each for one, each in zip(ones, given, strict=True)]
        one, other = (
            random_gamma([n], shape, dtype=self.dtype, seed=each)
            for shape, each in zip(shapes, (seed, new_seed(seed, "beta")), strict=True)
        )
        return one / (one + other)

    def _log_prob(self, value: Any) -> Tensor:
        x = self._checked(value)
        shape = math.xlogy(self.concentration1 - 1.0, x)
        shape += (self.concentration0 - 1.0) * math.log1p(-x)
        return shape - self._log_normalization()

    def _cdf(self, value: Any) -> Tensor:
        return math.betainc(self.concentration1, self.concentration0, value)

    def _log_normalization(self) -> Tensor:
        parts = math.lgamma(self.concentration1) + math.lgamma(self.concentration0)
        return parts - math.lgamma(self.total_concentration)

    def _entropy(self) -> Tensor:
        a, b, total = self.concentration1, self.concentration0, self.total_concentration
        found = self._log_normalization()
        for each in (a, b):
            found -= (each - 1.0) * math.digamma(each)
        return found + (total - 2.0) * math.digamma(total)

    def _mean(self) -> Tensor:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Tensor:
        one = array.ones([], self.dtype)
        a, b = self.concentration1, self.concentration0
        return self._where_defined(
            lambda: math.logical_and(a > 1.0, b > 1.0),
            (a - 1.0) / (self.total_concentration - 2.0),
            lambda: [
                assert_less(one, a, message="Mode undefined for concentration1 <= 1."),
                assert_less(one, b, message="Mode undefined for concentration0 <= 1."),
            ],
        )

    def _checked(self, x: Any) -> Any:
        return checked(
            self.validate_args, x,
            lambda: [
                assert_positive(x, message="sample must be positive"),
                assert_less(x, array.ones([], self.dtype), message="sample must be less than `1`."),
            ],
        )  # fmt: skip


class BetaWithSoftplusConcentration(Beta):
    """The beta distribution whose parameters are softplus of what is given."""

    @keeps_arguments
    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "BetaWithSoftplusConcentration",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[concentration1, concentration0]) as name:
            super().__init__(
                softplus(concentration1, name="softplus_concentration1"),
                softplus(concentration0, name="softplus_concentration0"),
                validate_args, allow_nan_stats, name,
            )  # fmt: skip


@RegisterKL(Beta, Beta)
def _kl_beta_beta(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    names = ("concentration1", "concentration0", "total_concentration")
    values = [getattr(each, field) for each in (a, b) for field in names]
    with name_scope(name, "kl_beta_beta", values=values):

        def term(field: str) -> Tensor:
            return math.digamma(getattr(a, field)) * (getattr(b, field) - getattr(a, field))

        constants = b._log_normalization() - a._log_normalization()
        return constants - term(names[0]) - term(names[1]) + term(names[2])
