"""Counts of throws of a die that was itself drawn from Dirichlet's distribution."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import categorical_event, checked, nonnegative_integers
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.dirichlet import negative_outer
from weft.lib.distributions.multinomial import checked_counts
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.lib.distributions.special import log_combinations, new_seed
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot
from weft.ops.control.check import assert_positive
from weft.ops.math import math
from weft.ops.random.random import multinomial, random_gamma


def _categories(concentration: Any, validate_args: bool) -> Tensor:
    given = convert_to_tensor(concentration, name="concentration")
    if not validate_args:
        return given
    given = categorical_event(given)
    message = "Concentration parameter must be positive."
    return checked(True, given, lambda: [assert_positive(given, message=message)])


class DirichletMultinomial(Distribution):
    """The multinomial distribution, integrated over Dirichlet's of its probabilities."""

    _reparameterization = NOT_REPARAMETERIZED
    total_count = Parameter("The number of throws.", rank=None)
    concentration = Parameter("How much there is of each side.", rank=1)
    total_concentration = Parameter("Their sum.", rank=None)

    @keeps_arguments
    def __init__(
        self, total_count: Any, concentration: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "DirichletMultinomial",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "total_count", "concentration", like="concentration"):
            total = convert_to_tensor(total_count, name="total_count")
            self.total_count = nonnegative_integers(total) if validate_args else total
            self.concentration = _categories(concentration, validate_args)
            self.total_concentration = math.reduce_sum(self.concentration, -1)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        throws = math.cast(self.total_count, dtypes.int32)
        size = self.event_shape_tensor()[0]
        shares = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        logits = array.reshape(math.log(shares), [-1, size])
        drawn = multinomial(logits, throws, seed=new_seed(seed, "dirichlet_multinomial"))
        counts = math.reduce_sum(one_hot(drawn, depth=size), -2)
        shape = array.concat([self._draws(n), [size]], 0)
        return math.cast(array.reshape(counts, shape), self.dtype)

    def _log_prob(self, value: Any) -> Tensor:
        message = "counts last-dimension must sum to `self.total_count`"
        counts = checked_counts(self.validate_args, value, self.total_count, message)
        ordered = math.lbeta(self.concentration + counts) - math.lbeta(self.concentration)
        return ordered + log_combinations(self.total_count, counts)

    def _mean(self) -> Tensor:
        return self.total_count * (self.concentration / self.total_concentration[..., None])

    def _scale(self) -> Tensor:
        total = self.total_concentration[..., None]
        return math.sqrt((1.0 + total / self.total_count) / (1.0 + total))

    def _variance(self) -> Tensor:
        x = self._scale() * self._mean()
        return x * (self.total_count * self._scale() - x)

    def _covariance(self) -> Tensor:
        x = self._scale() * self._mean()
        return negative_outer(x, x, self._variance())
