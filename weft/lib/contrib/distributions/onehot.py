"""Categories as vectors: one-hot ones, and ones that are soft."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.elementwise import Exp, Sigmoid
from weft.lib.contrib.distributions.location_scale import Logistic
from weft.lib.contrib.distributions.transformed import TransformedDistribution
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.categorical import batch_rank_of, kl_of_logits
from weft.lib.distributions.checks import categories, checked, logits_and_probs
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.dirichlet import negative_outer
from weft.lib.distributions.kullback_leibler import RegisterKL
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot
from weft.ops.control.check import assert_near, assert_non_positive, assert_positive
from weft.ops.math import math
from weft.ops.nn.activations import log_softmax
from weft.ops.nn.cross_entropy import softmax_cross_entropy_with_logits
from weft.ops.random.random import multinomial


class _Categories(Distribution):
    """The base of distributions of a vector with a number per category."""

    logits = Parameter("Logarithms of the probabilities, up to a constant.", rank=1)
    probs = Parameter("The probabilities.", rank=None)
    event_size = Parameter("The number of categories.", rank=None)

    def _set_logits(
        self, logits: Any, probs: Any, validate_args: bool, name: str,
        further: Callable[[DType], None] | None = None,
    ) -> None:  # fmt: skip
        self.logits, self.probs = categories(logits, probs, validate_args, name)
        if further is not None:
            further(self.logits.dtype)
        self._batch_rank = batch_rank_of(self.logits)
        with name_scope("event_size"):
            self.event_size = array.shape(self.logits)[-1]

    def _with_logits(self, x: Any) -> tuple[Tensor, Tensor]:
        """`x` and the logits, in one shape."""
        if x.shape.is_fully_defined() and x.shape == self.logits.shape:
            return x, self.logits
        logits = array.ones_like(x, dtype=self.logits.dtype) * self.logits
        return array.ones_like(logits, dtype=x.dtype) * x, logits

    def _as_rows(self, x: Tensor) -> Tensor:
        return array.reshape(x, [-1, self.event_size])

    def _by_rows(self, value: Any, log_prob: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """A function of rows of values and of logits, in the shape of the batch."""
        x, logits = self._with_logits(self._checked_logs(value))
        shape = array.shape(math.reduce_sum(logits, axis=[-1]))
        rows = self._as_rows(logits)
        return array.reshape(log_prob(self._as_rows(x), rows), shape)

    def _whole_shape(self, n: Any) -> Tensor:
        return array.concat([[n], array.shape(self.logits)], 0)

    def _checked_logs(self, x: Any) -> Any:
        def checks() -> list[Any]:
            zero = array.zeros([], self.dtype)
            total = math.reduce_logsumexp(x, axis=[-1])
            return [assert_non_positive(x), assert_near(zero, total)]

        return checked(self.validate_args, x, checks)


class OneHotCategorical(_Categories):
    """A vector with a 1 for the category, otherwise 0."""

    _reparameterization = NOT_REPARAMETERIZED

    @keeps_arguments
    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: DType = dtypes.int32,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "logits", "probs", like="logits") as name:
            self._set_logits(logits, probs, validate_args, name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        rows, shape = self.logits, self._whole_shape(n)
        if rows.shape.ndims != 2:
            rows = array.reshape(rows, [-1, self.event_size])
        drawn = array.transpose(multinomial(rows, n, seed=seed))
        return array.reshape(self._vectors(drawn), shape)

    def _vectors(self, numbers: Tensor) -> Tensor:
        """A vector for each number of a category."""
        return one_hot(numbers, self.event_size, dtype=self.dtype)

    def _log_prob(self, value: Any) -> Tensor:
        return self._by_rows(
            value,
            lambda x, logits: (
                -softmax_cross_entropy_with_logits(labels=math.cast(x, logits.dtype), logits=logits)
            ),
        )

    def _entropy(self) -> Tensor:
        return -math.reduce_sum(log_softmax(self.logits) * self.probs, axis=-1)

    def _mean(self) -> Tensor:
        return array.identity(self.probs)

    def _variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)

    def _covariance(self) -> Tensor:
        return negative_outer(self.probs, self.probs, self._variance())

    def _mode(self) -> Tensor:
        return _like(self.logits, self._vectors(math.argmax(self.logits, self._batch_rank)))


def _like(other: Tensor, made: Tensor) -> Tensor:
    made.set_shape(other.shape)
    return made


RegisterKL(OneHotCategorical, OneHotCategorical)(kl_of_logits)


class ExpRelaxedOneHotCategorical(_Categories):
    """Logarithms of soft categories: the softer, the higher the temperature."""

    temperature = Parameter("How soft they are.", rank=None)

    @keeps_arguments
    def __init__(
        self, temperature: Any, logits: Any = None, probs: Any = None, dtype: DType | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "logits", "probs", "temperature", like="logits") as name:
            self._set_logits(
                logits, probs, validate_args, name,
                lambda kind: self._set_temperature(temperature, dtype, kind, validate_args),
            )  # fmt: skip

    def _set_temperature(self, given: Any, dtype: Any, kind: DType, validate_args: bool) -> None:
        if dtype is None and not validate_args:
            given = math.cast(given, kind)
        self._keep(validate_args, lambda: [assert_positive(given)], temperature=given)
        self._temperatures = array.reshape(given, [-1, 1], name="temperature_2d")

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        """Gumbel's noise is added to the logits, and the largest wins, softly."""
        shape = self._whole_shape(n)
        rows = self._as_rows(self.logits * array.ones(shape, dtype=self.dtype))
        drawn = self._uniform(array.shape(rows), seed)
        noisy = -math.log(-math.log(drawn)) + rows
        return array.reshape(log_softmax(math.div(noisy, self._temperatures)), shape)

    def _log_prob(self, value: Any) -> Tensor:
        def of_rows(x: Tensor, logits: Tensor) -> Tensor:
            k = math.cast(self.event_size, x.dtype)
            constant = math.lgamma(k) + (k - 1.0) * math.log(self.temperature)
            shape = log_softmax(logits - x * self._temperatures)
            return constant + math.reduce_sum(shape, axis=[-1])

        return self._by_rows(value, of_rows)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Soft categories: positive numbers that sum to 1."""

    @keeps_arguments
    def __init__(
        self, temperature: Any, logits: Any = None, probs: Any = None, dtype: DType | None = None,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:  # fmt: skip
        base = ExpRelaxedOneHotCategorical(
            temperature, logits, probs, dtype, validate_args, allow_nan_stats
        )
        super().__init__(base, Exp(validate_args=validate_args), name=name)

    @property
    def temperature(self) -> Tensor:
        """How soft they are."""
        return self.distribution.temperature  # type: ignore[attr-defined]

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities, up to a constant."""
        return self.distribution.logits  # type: ignore[attr-defined]

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.distribution.probs  # type: ignore[attr-defined]

    @property
    def event_size(self) -> Tensor:
        """The number of categories."""
        return self.distribution.event_size  # type: ignore[attr-defined]


class RelaxedBernoulli(TransformedDistribution):
    """A soft coin: a number between 0 and 1."""

    logits = Parameter("log(probs / (1 - probs))")
    probs = Parameter("The probability of 1.", rank=None)
    temperature = Parameter("How soft it is.", rank=None)

    @keeps_arguments
    def __init__(
        self, temperature: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "RelaxedBernoulli",
    ) -> None:  # fmt: skip
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._keep(
                validate_args, lambda: [assert_positive(temperature)], temperature=temperature
            )
            self.logits, self.probs = logits_and_probs(logits, probs, validate_args=validate_args)
            loc, scale = self.logits / self.temperature, 1.0 / self.temperature
            base = Logistic(loc, scale, validate_args, allow_nan_stats, f"{name}/Logistic")
        sigmoid = Sigmoid(validate_args=validate_args)
        super().__init__(base, sigmoid, validate_args=validate_args, name=name)
