"""A batch of distributions in another shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value, constant_value_as_dims
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.described import keeps_arguments
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.check import (
    assert_equal,
    assert_greater_equal,
    assert_less_equal,
    assert_positive,
)
from weft.ops.control.check_shapes import assert_rank
from weft.ops.math import math

_NO_BROADCASTING = "Broadcasting is not supported; "


def _check_statically(distribution: Distribution, shape: Tensor) -> None:
    if shape.shape.ndims not in (None, 1):
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {shape.shape.ndims}).")
    known = constant_value(shape)
    if known is None:
        return
    if np.any(known < -1) or np.any(known == 0):
        raise ValueError("`batch_shape` elements must be >=-1.")
    size = None if np.any(known < 0) else int(np.prod(known))
    have = distribution.batch_shape.num_elements()
    if size is not None and have is not None and size != have:
        raise ValueError(
            f"`batch_shape` size ({size}) must match `distribution.batch_shape` size ({have})."
        )


class BatchReshape(Distribution):
    """`distribution`, whose batch has the shape `batch_shape`, which may have one -1."""

    @keeps_arguments
    def __init__(
        self, distribution: Distribution, batch_shape: Any, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str | None = None,
    ) -> None:  # fmt: skip
        name = name or "BatchReshape" + distribution.name
        with name_scope(name, values=[batch_shape]) as name:
            self._asked = convert_to_tensor(batch_shape, dtypes.int32, name="batch_shape")
            _check_statically(distribution, self._asked)
            self._distribution = distribution
            self._checks = self._shape_checks() if validate_args else []
            super().__init__(
                distribution.dtype, distribution.reparameterization_type, validate_args,
                allow_nan_stats, graph_parents=[self._asked, *distribution._graph_parents],
                name=name,
            )  # fmt: skip

    @property
    def distribution(self) -> Distribution:
        """The batch in its own shape."""
        return self._distribution

    def _shape_checks(self) -> list[Any]:
        size = math.reduce_prod(self._distribution.batch_shape_tensor())
        whole = self._batch_shape_tensor()
        open_sizes = math.reduce_sum(math.cast(math.equal(self._asked, -1), dtypes.int32))
        unknown = "At most one dimension can be unknown."
        return [
            assert_rank(self._asked, 1, message="New shape must be a vector."),
            assert_less_equal(open_sizes, 1, message=unknown),
            assert_positive(whole, message="Shape elements must be >=-1."),
            assert_equal(
                math.reduce_prod(whole),
                size,
                message="Shape sizes do not match.",
            ),
        ]

    def _batch_shape_tensor(self) -> Tensor:
        size = math.reduce_prod(self._distribution.batch_shape_tensor())
        rest = size // math.maximum(1, -math.reduce_prod(self._asked))
        filled = array.fill(array.shape(self._asked), rest)
        return where_v2(math.equal(self._asked, -1), filled, self._asked)

    def _batch_shape(self) -> Any:
        return TensorShape(constant_value_as_dims(self._asked))

    def _event_shape_tensor(self) -> Tensor:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        with control_dependencies(self._checks):
            drawn = self.distribution.sample(n, seed)
            parts = [n], self._asked, self.event_shape_tensor()
            return array.reshape(drawn, array.concat(parts, axis=0))

    def _check_value(self, x: Tensor) -> list[Any]:
        """Checks of the shape of `x`, which take the place of broadcasting."""
        expected: Any = self.batch_shape.concatenate(self.event_shape)
        if x.dims is not None and expected.ndims is not None and len(x.dims) < expected.ndims:
            raise NotImplementedError(
                f"{_NO_BROADCASTING}too few batch and event dims (expected at least"
                f" {expected.ndims}, saw {len(x.dims)})."
            )
        if x.dims is not None and expected.is_fully_defined():
            have: Any = TensorShape(x.dims[len(x.dims) - expected.ndims :])
            if have.is_fully_defined():
                if have != expected:
                    raise NotImplementedError(
                        f"{_NO_BROADCASTING}unexpected batch and event shape (expected"
                        f" {np.int32(expected.as_list())}, saw {np.int32(have.as_list())})."
                    )
                return []
        if not self.validate_args:
            return []
        whole = array.concat([self.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
        few = _NO_BROADCASTING + "too few batch and event dims."
        enough = assert_greater_equal(array.rank(x), array.size(whole), message=few)
        with control_dependencies([enough]):
            outer = math.maximum(array.rank(x) - array.size(whole), 0)
            have = array.shape(x)[outer:]
            message = _NO_BROADCASTING + "unexpected batch and event shape."
            return [assert_equal(whole, have, message=message)]

    def _of_value(self, function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        with control_dependencies(self._checks + self._check_value(x)):
            event = self.event_shape_tensor()
            outer = array.rank(x) - array.size(self._asked) - array.size(event)
            samples = array.shape(x)[:outer]
            old = array.concat([samples, self.distribution.batch_shape_tensor(), event], axis=0)
            found = function(array.reshape(x, old))
            result = array.reshape(found, array.concat([samples, self._asked], axis=0))
            ranks = self.batch_shape.ndims, self.event_shape.ndims
            if x.dims is not None and None not in ranks:
                known = TensorShape(x.dims[: len(x.dims) - sum(ranks)])  # type: ignore[arg-type]
                result.set_shape(known.concatenate(self.batch_shape))
            return result

    def _log_prob(self, value: Any) -> Tensor:
        return self._of_value(self.distribution.log_prob, value)

    def _prob(self, value: Any) -> Tensor:
        return self._of_value(self.distribution.prob, value)

    def _log_cdf(self, value: Any) -> Tensor:
        return self._of_value(self.distribution.log_cdf, value)

    def _cdf(self, value: Any) -> Tensor:
        return self._of_value(self.distribution.cdf, value)

    def _log_survival_function(self, value: Any) -> Tensor:
        return self._of_value(self.distribution.log_survival_function, value)

    def _survival_function(self, value: Any) -> Tensor:
        return self._of_value(self.distribution.survival_function, value)

    def _statistic(self, value: Tensor, events: int = 1) -> Tensor:
        with control_dependencies(self._checks):
            shapes = [self.event_shape_tensor()] * events
            found = array.reshape(value, array.concat([self._asked, *shapes], axis=0))
            known = self.batch_shape
            for _ in range(events):
                known = known.concatenate(self.event_shape)
            found.set_shape(known)
            return found

    def _entropy(self) -> Tensor:
        return self._statistic(self.distribution.entropy(), 0)

    def _mean(self) -> Tensor:
        return self._statistic(self.distribution.mean())

    def _mode(self) -> Tensor:
        return self._statistic(self.distribution.mode())

    def _stddev(self) -> Tensor:
        return self._statistic(self.distribution.stddev())

    def _variance(self) -> Tensor:
        return self._statistic(self.distribution.variance())

    def _covariance(self) -> Tensor:
        return self._statistic(self.distribution.covariance(), 2)
