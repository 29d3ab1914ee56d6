"""The categorical distribution: a die."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import categorical_event, categories, integers_castable_to
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.kullback_leibler import RegisterKL
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.ops.array import array
from weft.ops.array.one_hot_search import sequence_mask, where
from weft.ops.math import math
from weft.ops.nn.activations import log_softmax, softmax
from weft.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from weft.ops.random.random import multinomial


class Categorical(Distribution):
    """k with the k-th of `probs`; logits are their logarithms, up to a constant."""

    _reparameterization = NOT_REPARAMETERIZED
    logits = Parameter("Logarithms of the probabilities, up to a constant.", rank=None)
    probs = Parameter("The probabilities.", rank=None)
    event_size = Parameter("The number of categories.", rank=None)

    @keeps_arguments
    def __init__(
        self, logits: Any = None, probs: Any = None, dtype: DType = dtypes.int32,
        validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Categorical",
    ) -> None:  # fmt: skip
        with self._made_of(locals(), "logits", "probs", like="logits") as name:
            self.logits, self.probs = categories(logits, probs, validate_args, name)
            if validate_args:
                self.logits = categorical_event(self.logits)
            self._measure(self.logits.dims)

    def _measure(self, dims: s.Dims) -> None:
        """Keeps the sizes of the logits: constants where they are known, else nodes."""
        count = None if dims is None else len(dims) - 1
        if count is None:
            with name_scope("batch_rank"):
                self._batch_rank = array.rank(self.logits) - 1
        else:
            self._batch_rank = convert_to_tensor(count, dtypes.int32, name="batch_rank")
        sizes = array.shape(self.logits, name="logits_shape")
        if dims and dims[-1] is not None:
            self.event_size = convert_to_tensor(dims[-1], dtypes.int32, name="event_size")
        else:
            with name_scope("event_size"):
                self.event_size = sizes[self._batch_rank]
        if dims is not None and s.known(dims[:-1]):
            batch = convert_to_tensor(list(dims[:-1]), dtypes.int32, name="batch_shape")
            self._batch_shape_val = batch
        else:
            with name_scope("batch_shape"):
                self._batch_shape_val = sizes[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return array.identity(self._batch_shape_val)

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtypes.int32)

    def _event_shape(self) -> Any:
        return []

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        rows = self.logits
        if rows.shape.ndims != 2:
            rows = array.reshape(rows, [-1, self.event_size])
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = multinomial(rows, n, seed=seed, output_dtype=kind)
        return math.cast(array.reshape(array.transpose(drawn), self._draws(n)), self.dtype)

    def _checked(self, k: Any) -> Tensor:
        k = convert_to_tensor(k, name="k")
        return integers_castable_to(k, target_dtype=dtypes.int32) if self.validate_args else k

    def _cdf(self, value: Any) -> Tensor:
        """P[X < k]: what TensorFlow computes here."""
        k, probs = self._broadcast(self._checked(value), self.probs)
        shares = array.reshape(probs, (-1, self.event_size))
        below = sequence_mask(array.reshape(k, [-1]), self.event_size)
        kept = where(below, shares, array.zeros_like(shares))
        return array.reshape(math.reduce_sum(kept, axis=-1), array.shape(k))

    def _log_prob(self, value: Any) -> Tensor:
        k, logits = self._broadcast(self._checked(value), self.logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _broadcast(self, k: Tensor, params: Tensor) -> tuple[Tensor, Tensor]:
        """Categories and parameters such that there is a row of these for every one of those."""
        if k.dtype.is_floating:
            k = math.cast(k, dtypes.int32)
        elif not k.dtype.is_integer:
            raise TypeError(
                f"`value` should have integer `dtype` or `self.dtype` ({self.dtype.base_dtype})"
            )
        if params.dims is not None and s.known(k.dims) and params.dims[:-1] == k.dims:
            return k, params
        params *= array.ones_like(k[..., None], dtype=params.dtype)
        k *= array.ones(array.shape(params)[:-1], k.dtype)
        if params.dims is not None:
            k.set_shape(params.dims[:-1])
        return k, params

    def _entropy(self) -> Tensor:
        return -math.reduce_sum(log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Tensor:
        best = math.argmax(self.logits, axis=self._batch_rank)
        found = math.cast(best, self.dtype)
        found.set_shape(self.batch_shape)
        return found


@RegisterKL(Categorical, Categorical)
def kl_of_logits(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The divergence of two dice, whatever their sides are called."""
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        ours, theirs = (log_softmax(each.logits) for each in (a, b))
        log_ratio = ours - theirs
        return math.reduce_sum(softmax(a.logits) * log_ratio, axis=-1)
