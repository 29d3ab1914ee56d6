"""A batch of distributions as one of larger events, whose parts are independent."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.kullback_leibler import RegisterKL, kl_divergence
from weft.ops.array import array
from weft.ops.control.check import assert_equal, assert_less_equal
from weft.ops.math import math


def _default_count(distribution: Distribution) -> Any:
    """All axes of the batch but the first."""
    rank = distribution.batch_shape.ndims
    if rank is not None:
        return max(0, rank - 1)
    return math.maximum(0, array.shape(distribution.batch_shape_tensor())[0] - 1)


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` axes of a batch become axes of the event."""

    @keeps_arguments
    def __init__(
        self, distribution: Distribution, reinterpreted_batch_ndims: Any = None,
        validate_args: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with name_scope(name) as name:
            if reinterpreted_batch_ndims is None:
                reinterpreted_batch_ndims = _default_count(distribution)
            count = convert_to_tensor(
                reinterpreted_batch_ndims, dtypes.int32, name="reinterpreted_batch_ndims"
            )
            known = constant_value(count)
            self._known = None if known is None else int(known)
            self._count: Any = count if known is None else int(known)
            super().__init__(
                distribution.dtype, distribution.reparameterization_type, validate_args,
                distribution.allow_nan_stats, graph_parents=distribution._graph_parents, name=name,
            )  # fmt: skip
            self._checks = self._rank_checks()

    def _rank_checks(self) -> list[Any]:
        message = "reinterpreted_batch_ndims"
        rank: Any = self.distribution.batch_shape.ndims
        if rank is not None and self._known is not None:
            if self._known > rank:
                raise ValueError(
                    f"{message}({self._known}) cannot exceed distribution.batch_ndims({rank})"
                )
            return []
        if not self.validate_args:
            return []
        rank = array.shape(self.distribution.batch_shape_tensor())[0]
        message += " cannot exceed distribution.batch_ndims"
        return [assert_less_equal(self._count, rank, message=message)]

    @property
    def distribution(self) -> Distribution:
        """The batch."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> Any:
        """How many of its axes belong to the event."""
        return self._count

    def _split_tensor(self) -> tuple[Tensor, Tensor]:
        with control_dependencies(self._checks):
            shape = self.distribution.batch_shape_tensor()
            at = array.shape(shape)[0] - self._count
            return shape[:at], shape[at:]

    def _split(self) -> tuple[TensorShape, TensorShape]:
        shape = self.distribution.batch_shape
        if self._known is None or shape.ndims is None:
            return TensorShape(None), TensorShape(None)
        at = shape.ndims - self._known
        return shape[:at], shape[at:]

    def _batch_shape_tensor(self) -> Tensor:
        return self._split_tensor()[0]

    def _batch_shape(self) -> Any:
        return self._split()[0]

    def _event_shape_tensor(self) -> Tensor:
        inner = self.distribution.event_shape_tensor()
        return array.concat([self._split_tensor()[1], inner], axis=0)

    def _event_shape(self) -> Any:
        outer = self._split()[1]
        if outer.ndims is None:
            return outer
        return outer.concatenate(self.distribution.event_shape)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        with control_dependencies(self._checks):
            return self.distribution.sample(sample_shape=n, seed=seed)

    def _summed(self, value: Tensor) -> Tensor:
        if self._known is not None:
            return math.reduce_sum(value, axis=list(range(-self._known, 0)))
        return math.reduce_sum(value, axis=math.range(-self._count, 0))

    def _log_prob(self, value: Any) -> Tensor:
        with control_dependencies(self._checks):
            return self._summed(self.distribution.log_prob(value))

    def _entropy(self) -> Tensor:
        with control_dependencies(self._checks):
            return self._summed(self.distribution.entropy())

    def _mean(self) -> Tensor:
        return self.distribution.mean()

    def _variance(self) -> Tensor:
        return self.distribution.variance()

    def _stddev(self) -> Tensor:
        return self.distribution.stddev()

    def _mode(self) -> Tensor:
        return self.distribution.mode()


@RegisterKL(Independent, Independent)
def _kl_independent(a: Independent, b: Independent, name: str | None = "kl_independent") -> Tensor:
    p, q = a.distribution, b.distribution
    checks: list[Any] = []
    if not (a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined()):
        checks = [
            assert_equal(one.event_shape_tensor(), other.event_shape_tensor())
            for one, other in ((a, b), (p, q))
        ]
    elif a.event_shape != b.event_shape:
        raise ValueError("Event shapes do not match.")
    elif p.event_shape != q.event_shape:
        raise NotImplementedError(
            "KL between Independents with different event shapes not supported."
        )
    with control_dependencies(checks):
        return a._summed(kl_divergence(p, q, name=name))
