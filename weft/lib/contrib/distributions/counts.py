"""Distributions of counts: Poisson's, the geometric, the binomial and the negative binomial one."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import (
    assert_integer_form,
    checked,
    checking,
    logits_and_probs,
    nonnegative_integers,
)
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.lib.distributions.special import new_seed
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.check import (
    assert_less,
    assert_less_equal,
    assert_non_negative,
    assert_positive,
)
from weft.ops.math import math
from weft.ops.nn.activations import softplus
from weft.ops.random.random import random_gamma, random_poisson


class _Counts(Distribution):
    _reparameterization = NOT_REPARAMETERIZED

    def _counts(self, x: Any) -> Any:
        return nonnegative_integers(x) if self.validate_args else x


def _float_tensor(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value, name=name)
    if not tensor.dtype.is_floating:
        raise TypeError(f"{name}.dtype ({tensor.dtype.name}) is a not a float-type.")
    return tensor


class Poisson(_Counts):
    """rate^k exp(-rate) / k!"""

    rate = Parameter("How many there are on average.")
    log_rate = Parameter("Its logarithm.", rank=None)

    @keeps_arguments
    def __init__(
        self, rate: Any = None, log_rate: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Poisson",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "rate", like="rate"):
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if rate is None:
                self.log_rate = _float_tensor(log_rate, "log_rate")
                self.rate = math.exp(self.log_rate, name="rate")
                return
            given = _float_tensor(rate, "rate")
            with checking(validate_args, lambda: [assert_positive(given)]):
                self.rate = array.identity(given, name="rate")
                self.log_rate = math.log(given, name="log_rate")

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, value: Any) -> Tensor:
        x = self._counts(value)
        return x * self.log_rate - math.lgamma(1.0 + x) - self.rate

    def _cdf(self, value: Any) -> Tensor:
        return math.igammac(1.0 + self._counts(value), self.rate)

    def _mean(self) -> Tensor:
        return array.identity(self.rate)

    def _variance(self) -> Tensor:
        return array.identity(self.rate)

    def _mode(self) -> Tensor:
        return math.floor(self.rate)


class _Trials(_Counts):
    """Counts of trials that succeed or fail."""

    logits = Parameter("log(probs / (1 - probs))", rank=None)
    probs = Parameter("The probability of success.")

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        raise NotImplementedError("_param_shapes not implemented")


class Geometric(_Trials):
    """(1 - probs)^k probs: how often it fails before it succeeds."""

    @keeps_arguments
    def __init__(
        self, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Geometric",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "logits", "probs", like="probs") as name:
            self.logits, found = logits_and_probs(
                logits, probs, validate_args=validate_args, name=name
            )
            self._keep(validate_args, lambda: [assert_positive(found)], probs=found)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = self._uniform(self._draws(n), seed)
        return math.floor(math.log(drawn) / math.log1p(-self.probs))

    def _failures(self, x: Any) -> Tensor:
        counts = self._counts(x) if self.validate_args else math.floor(x)
        return counts * array.ones_like(self.probs)

    def _cdf(self, value: Any) -> Tensor:
        x = self._failures(value)
        inside = -math.expm1((1.0 + x) * math.log1p(-self.probs))
        return where_v2(x < 0.0, array.zeros_like(x), inside)

    def _log_prob(self, value: Any) -> Tensor:
        failures = self._failures(value)
        success = self.probs * array.ones_like(failures)
        # At probs 1 and no failure, zero times an infinite logarithm would not be a number.
        none = math.equal(failures, 0.0)
        safe = where_v2(none, array.zeros_like(success), success)
        return failures * math.log1p(-safe) + math.log(success)

    def _entropy(self) -> Tensor:
        one = constant(1.0, self.probs.dtype)
        message = "Entropy is undefined when logits = inf or probs = 1."
        probs = checked(
            self.validate_args, self.probs,
            lambda: [assert_less(self.probs, one, message=message)],
        )  # fmt: skip
        return softplus(self.logits) / probs - self.logits

    def _mean(self) -> Tensor:
        return math.exp(-self.logits)

    def _variance(self) -> Tensor:
        return self._mean() / self.probs

    def _mode(self) -> Tensor:
        return self._zeros()


class Binomial(_Trials):
    """n! / (k! (n - k)!) probs^k (1 - probs)^(n - k): how often of n times it succeeds."""

    total_count = Parameter("n: the number of times.")

    @keeps_arguments
    def __init__(
        self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Binomial",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "total_count", "logits", "probs", like="probs") as name:
            total = convert_to_tensor(total_count, name="total_count")
            self.total_count = checked(
                validate_args, total,
                lambda: [
                    assert_non_negative(total, message="total_count must be non-negative."),
                    assert_integer_form(
                        total, message="total_count cannot contain fractional components."
                    ),
                ],
            )  # fmt: skip
            self.logits, self.probs = logits_and_probs(
                logits, probs, validate_args=validate_args, name=name
            )

    def _successes(self, x: Any) -> Any:
        counts = self._counts(x)
        message = "counts are not less than or equal to n."
        return checked(
            self.validate_args, counts,
            lambda: [assert_less_equal(counts, self.total_count, message=message)],
        )  # fmt: skip

    def _log_prob(self, value: Any) -> Tensor:
        k, n = self._successes(value), self.total_count
        ordered = k * math.log(self.probs) + (n - k) * math.log1p(-self.probs)
        orders = math.lgamma(1.0 + n - k) + math.lgamma(1.0 + k) - math.lgamma(1.0 + n)
        return ordered - orders

    def _cdf(self, value: Any) -> Tensor:
        k = self._successes(value) + array.zeros_like(self.probs + self.total_count)
        probs, n = self.probs + array.zeros_like(k), self.total_count + array.zeros_like(k)
        ones, all_of_them = array.ones_like(k), math.equal(k, n)
        below = math.betainc(where_v2(all_of_them, ones, n - k), k + 1, 1 - probs)
        return where_v2(all_of_them, ones, below)

    def _mean(self) -> Tensor:
        return self.total_count * self.probs

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Tensor:
        return math.floor((1.0 + self.total_count) * self.probs)


class NegativeBinomial(_Trials):
    """How often it succeeds before it has failed `total_count` times."""

    total_count = Parameter("The number of failures.")

    @keeps_arguments
    def __init__(
        self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "NegativeBinomial",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "total_count", "logits", "probs", like="probs") as name:
            self.logits, self.probs = logits_and_probs(
                logits, probs, validate_args=validate_args, name=name
            )
            with checking(validate_args, lambda: [assert_positive(total_count)]):
                self.total_count = array.identity(total_count)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        """Counts at a rate that is itself drawn: from a gamma distribution."""
        beta = math.exp(-self.logits)
        drawn = random_gamma([n], self.total_count, beta=beta, dtype=self.dtype, seed=seed)
        return random_poisson(drawn, [], self.dtype, new_seed(seed, "negative_binom"))

    def _log_prob(self, value: Any) -> Tensor:
        x, n = self._counts(value), self.total_count
        ordered = n * math.log_sigmoid(-self.logits) + x * math.log_sigmoid(self.logits)
        return ordered + math.lgamma(n + x) - math.lgamma(1.0 + x) - math.lgamma(n)

    def _cdf(self, value: Any) -> Tensor:
        x = self._counts(value) + array.zeros_like(self.logits + self.total_count)
        zeros = array.zeros_like(x)
        return math.betainc(self.total_count + zeros, 1.0 + x, math.sigmoid(-self.logits) + zeros)

    def _mean(self) -> Tensor:
        return self.total_count * math.exp(self.logits)

    def _variance(self) -> Tensor:
        return self._mean() / math.sigmoid(-self.logits)

    def _mode(self) -> Tensor:
        fewer = where_v2(
            1.0 < self.total_count, self.total_count - 1.0, array.zeros_like(self.total_count)
        )
        return math.floor(fewer * math.exp(self.logits))
