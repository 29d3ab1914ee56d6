"""Bernoulli's distribution: a coin."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import integers_castable_to, logits_and_probs
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.kullback_leibler import RegisterKL
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.nn.activations import softplus
from weft.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits
from weft.ops.random.random import random_uniform


class Bernoulli(Distribution):
    """1 with probability `probs`, otherwise 0."""

    _reparameterization = NOT_REPARAMETERIZED
    logits = Parameter("log(probs / (1 - probs))")
    probs = Parameter("The probability of 1.", rank=None)

    @keeps_arguments
    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: DType = dtypes.int32,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Bernoulli",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), like="logits") as name:
            self.logits, self.probs = logits_and_probs(
                logits, probs, validate_args=validate_args, name=name
            )

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random_uniform(self._draws(n), seed=seed, dtype=self.probs.dtype)
        return math.cast(math.less(drawn, self.probs), self.dtype)

    def _log_prob(self, value: Any) -> Tensor:
        if self.validate_args:
            value = integers_castable_to(value, target_dtype=dtypes.bool)
        event, logits = math.cast(value, self.logits.dtype), self.logits
        if not (s.known(event.dims) and event.dims == logits.dims):
            logits, event = array.ones_like(event) * logits, array.ones_like(logits) * event
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Tensor:
        return -self.logits * (math.sigmoid(self.logits) - 1) + softplus(-self.logits)

    def _mean(self) -> Tensor:
        return array.identity(self.probs)

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Tensor:
        return math.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    """p log(p / q) for either side of the coin; -log p is softplus of minus its logit."""
    x, y = a.logits, b.logits
    with name_scope(name, "kl_bernoulli_bernoulli", values=[x, y]):
        sides = softplus(-y) - softplus(-x), softplus(y) - softplus(x)
        return math.sigmoid(x) * sides[0] + math.sigmoid(-x) * sides[1]
