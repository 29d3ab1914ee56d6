"""The multinomial distribution: how often each side comes up in many throws of a die."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checked, logits_and_probs, nonnegative_integers
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.dirichlet import negative_outer
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.lib.distributions.special import log_combinations
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot
from weft.ops.control.check import assert_equal
from weft.ops.functions.functional import map_fn
from weft.ops.math import math
from weft.ops.nn.activations import log_softmax
from weft.ops.random.random import multinomial


def checked_counts(validate_args: bool, counts: Any, total: Tensor, message: str) -> Any:
    """Counts that sum to the number of throws."""
    if not validate_args:
        return counts
    counts = nonnegative_integers(counts)
    return checked(
        True, counts,
        lambda: [assert_equal(total, math.reduce_sum(counts, -1), message=message)],
    )  # fmt: skip


class Multinomial(Distribution):
    """n! / prod k_i! prod probs_i^k_i, for counts k_i that sum to n = total_count."""

    _reparameterization = NOT_REPARAMETERIZED
    total_count = Parameter("The number of throws.")
    logits = Parameter("Logarithms of the probabilities, up to a constant.", rank=1)
    probs = Parameter("The probabilities.", rank=None)

    @keeps_arguments
    def __init__(
        self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "Multinomial",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "total_count", "logits", "probs", like="probs") as name:
            total = convert_to_tensor(total_count, name="total_count")
            self.total_count = nonnegative_integers(total) if validate_args else total
            self.logits, self.probs = logits_and_probs(
                logits, probs, True, validate_args=validate_args, name=name
            )
            self._mean_val = self.total_count[..., None] * self.probs

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        raise NotImplementedError("_param_shapes not implemented")

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        """Each of the batch has its own number of throws, so they are drawn one by one."""
        throws = math.cast(self.total_count, dtypes.int32)
        size = self.event_shape_tensor()[0]
        throws = array.ones_like(self.logits[..., 0], dtype=throws.dtype) * throws
        logits = array.ones_like(throws[..., None], dtype=self.logits.dtype) * self.logits

        def counts(row: Any) -> Tensor:
            drawn = array.reshape(multinomial(row[0][None], row[1], seed), [n, -1])
            return math.reduce_sum(one_hot(drawn, depth=size, dtype=self.dtype), axis=-2)

        rows = [array.reshape(logits, [-1, size]), n * array.reshape(throws, [-1])]
        drawn = map_fn(counts, rows, dtype=self.dtype)
        turned = array.transpose(drawn, perm=[1, 0, 2])
        shape = array.concat([[n], self.batch_shape_tensor(), [size]], 0)
        return array.reshape(turned, shape)

    def _log_prob(self, value: Any) -> Tensor:
        counts = checked_counts(
            self.validate_args, value, self.total_count, "counts must sum to `self.total_count`"
        )
        ordered = math.reduce_sum(counts * log_softmax(self.logits), -1)
        return ordered + log_combinations(self.total_count, counts)

    def _probs_of_all(self) -> Tensor:
        return self.probs * array.ones_like(self.total_count)[..., None]

    def _mean(self) -> Tensor:
        return array.identity(self._mean_val)

    def _variance(self) -> Tensor:
        return self._mean_val - self._mean_val * self._probs_of_all()

    def _covariance(self) -> Tensor:
        return negative_outer(self._mean_val, self._probs_of_all(), self._variance())
