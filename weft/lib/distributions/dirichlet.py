"""Dirichlet's distribution of probabilities."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checked, positive_concentration
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.kullback_leibler import RegisterKL
from weft.lib.distributions.parameter import Parameter
from weft.ops.array import array
from weft.ops.array.diag import matrix_set_diag
from weft.ops.control.check import assert_less, assert_near, assert_positive
from weft.ops.math import math
from weft.ops.random.random import random_gamma


def negative_outer(x: Tensor, y: Tensor, diagonal: Tensor) -> Tensor:
    """-x y^T, but for the diagonal: the covariance of shares of a whole."""
    return matrix_set_diag(-math.matmul(x[..., None], y[..., None, :]), diagonal)


class Dirichlet(Distribution):
    """prod x_i^(concentration_i - 1) / B(concentration), for positive x that sum to 1."""

    concentration = Parameter("How much there is of each.", rank=1)
    total_concentration = Parameter("Their sum.", rank=None)

    @keeps_arguments
    def __init__(
        self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "concentration", like="concentration"):
            given = convert_to_tensor(concentration, name="concentration")
            self.concentration = positive_concentration(given, validate_args)
            self.total_concentration = math.reduce_sum(self.concentration, -1)

    def _total(self) -> Tensor:
        return self.total_concentration[..., None]

    def _count(self) -> Tensor:
        return math.cast(self.event_shape_tensor()[0], self.dtype)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return drawn / math.reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, value: Any) -> Tensor:
        x = self._checked(value)
        shape = math.reduce_sum(math.xlogy(self.concentration - 1.0, x), -1)
        return shape - math.lbeta(self.concentration)

    def _entropy(self) -> Tensor:
        parts = (self.concentration - 1.0) * math.digamma(self.concentration)
        whole = (self.total_concentration - self._count()) * math.digamma(self.total_concentration)
        return math.lbeta(self.concentration) + whole - math.reduce_sum(parts, axis=-1)

    def _mean(self) -> Tensor:
        return self.concentration / self._total()

    def _scale(self) -> Tensor:
        return math.rsqrt(1.0 + self._total())

    def _variance(self) -> Tensor:
        x = self._scale() * self._mean()
        return x * (self._scale() - x)

    def _covariance(self) -> Tensor:
        x = self._scale() * self._mean()
        return negative_outer(x, x, self._variance())

    def _mode(self) -> Tensor:
        one = array.ones([], self.dtype)
        message = "Mode undefined when any concentration <= 1"
        return self._where_defined(
            lambda: math.reduce_all(self.concentration > 1.0, axis=-1, keepdims=True),
            (self.concentration - 1.0) / (self._total() - self._count()),
            lambda: [assert_less(one, self.concentration, message=message)],
        )

    def _checked(self, x: Any) -> Any:
        message = "sample last-dimension must sum to `1`"
        return checked(
            self.validate_args, x,
            lambda: [
                assert_positive(x, message="samples must be positive"),
                assert_near(
                    array.ones([], self.dtype), math.reduce_sum(x, -1), message=message
                ),
            ],
        )  # fmt: skip


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    """sum (a_i - b_i) E[log x_i] - log B(a) + log B(b), with x of a."""
    ours, theirs = a.concentration, b.concentration
    with name_scope(name, "kl_dirichlet_dirichlet", values=[ours, theirs]):
        whole = math.digamma(math.reduce_sum(ours, axis=-1, keepdims=True))
        mean_logs = math.digamma(ours) - whole
        divergence = math.reduce_sum((ours - theirs) * mean_logs, axis=-1)
        return divergence - math.lbeta(ours) + math.lbeta(theirs)
