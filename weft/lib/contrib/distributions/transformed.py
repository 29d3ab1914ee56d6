"""The distribution of a transform of what another distribution draws.

The base may be of single numbers and be repeated: `batch_shape` and `event_shape` say how. Samples
of an event that is made of a batch of bases have their axes turned, so that the batch comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value, constant_value_as_dims
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.base import Bijector, static_rank_of
from weft.lib.contrib.distributions.bijectors.elementwise import Identity
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checked
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.sample_shapes import pick_vector
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.check import assert_equal, assert_positive
from weft.ops.control.check_shapes import assert_rank
from weft.ops.math import math


def _not(condition: Tensor) -> Tensor:
    known = constant_value(condition)
    return math.logical_not(condition) if known is None else constant(not known)


def _both(first: Tensor, second: Tensor) -> Tensor:
    known = [constant_value(each) for each in (first, second)]
    if None in known and not any(each is not None and not each for each in known):
        return math.logical_and(first, second)
    return constant(all(known))


def _all(*conditions: Tensor) -> Tensor:
    known = [constant_value(each) for each in conditions]
    if any(each is not None and not each for each in known) or None not in known:
        return constant(None not in known and all(known))
    return math.reduce_all(list(conditions))


def _length(shape: Tensor) -> Tensor:
    """How many axes a shape has."""
    known = None if shape.dims is None else shape.dims[0]
    return array.shape(shape)[0] if known is None else constant(known, dtypes.int32)


def _is_zero(number: Tensor, zero: Tensor) -> Tensor:
    known = constant_value(number)
    return math.equal(number, zero) if known is None else constant(bool(known == 0))


def _override(shape: Any, base_is_scalar: Tensor, validate: bool, name: str) -> Tensor:
    """A shape in which the base is repeated; nothing but single numbers can be."""
    shape = convert_to_tensor([] if shape is None else shape, dtype=dtypes.int32, name=name)
    if shape.shape.ndims not in (None, 1):
        raise ValueError("shape override must be a vector")
    of_numbers = _is_zero(_length(shape), constant(0))
    known = constant_value(shape)
    if known is not None and known.size == 0:
        return shape
    if known is not None and (known <= 0).any():
        raise ValueError("shape override must have positive elements")
    wrong = _both(_not(base_is_scalar), _not(of_numbers))
    if constant_value(wrong):
        raise ValueError("base distribution not scalar")

    def checks() -> list[Any]:
        positive = "shape override must have positive elements"
        return [
            assert_rank(shape, 1, message="shape override must be a vector"),
            assert_positive(shape, message=positive),
            assert_equal(wrong, False, message="base distribution not scalar"),
        ]

    return checked(validate and None in (known, constant_value(wrong)), shape, checks)


class TransformedDistribution(Distribution):
    """y = bijector.forward(x), with x of `distribution`."""

    @keeps_arguments
    def __init__(
        self, distribution: Distribution, bijector: Bijector | None = None,
        batch_shape: Any = None, event_shape: Any = None, validate_args: bool = False,
        name: str | None = None,
    ) -> None:  # fmt: skip
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            zero = constant(0, dtypes.int32, name="zero")
            self._nothing = constant([], dtypes.int32, name="empty")
            self._bijector = bijector or Identity(validate_args=validate_args)
            self._repeated_batch = _override(
                batch_shape, distribution.is_scalar_batch(), validate_args, "batch_shape"
            )
            self._is_batch_repeated = _not(_is_zero(_length(self._repeated_batch), zero))
            self._repeated_event = _override(
                event_shape, distribution.is_scalar_event(), validate_args, "event_shape"
            )
            self._is_event_repeated = _not(_is_zero(_length(self._repeated_event), zero))
            self._turned = self._axes_turned(distribution)
        self._distribution = distribution
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args,
            distribution.allow_nan_stats, name=name,
            graph_parents=[*distribution._graph_parents, *self._bijector.graph_parents],
        )  # fmt: skip

    def _axes_turned(self, distribution: Distribution) -> Any:
        """How many axes are turned: the event's, if a batch of bases makes it up."""
        alone, many = _not(self._is_batch_repeated), _not(distribution.is_scalar_batch())
        turns = _all(self._is_event_repeated, alone, many)
        rank = _length(self._repeated_event)
        known = constant_value(turns)
        count: Any = where_v2(turns, rank, 0) if known is None else rank if known else 0
        self._turns, self._axes_count = turns, count
        self._event_axes = math.range(count - rank, count)
        value = constant_value(count) if isinstance(count, Tensor) else count
        return count if value is None else int(value)

    @property
    def distribution(self) -> Distribution:
        """The base."""
        return self._distribution

    @property
    def bijector(self) -> Bijector:
        """The transform."""
        return self._bijector

    # ---- shapes ----------------------------------------------------------------------------------

    def _is_repeated(self, shape: Tensor) -> bool:
        """Whether a base may be repeated in `shape`."""
        known = constant_value(shape)
        return known is None or known.size != 0

    def _event_shape_tensor(self) -> Tensor:
        base = pick_vector(
            self._is_event_repeated, self._repeated_event, self.distribution.event_shape_tensor()
        )
        return self.bijector.forward_event_shape_tensor(base)

    def _event_shape(self) -> Any:
        if self._is_repeated(self._repeated_event):
            known = TensorShape(constant_value_as_dims(self._repeated_event))
            return self.bijector.forward_event_shape(known)
        return self.bijector.forward_event_shape(self.distribution.event_shape)

    def _batch_shape_tensor(self) -> Tensor:
        return pick_vector(
            self._is_batch_repeated, self._repeated_batch, self.distribution.batch_shape_tensor()
        )

    def _batch_shape(self) -> Any:
        if self._is_repeated(self._repeated_batch):
            return TensorShape(constant_value_as_dims(self._repeated_batch))
        return self.distribution.batch_shape

    def _event_rank(self) -> Any:
        if self.event_shape.ndims is not None:
            return self.event_shape.ndims
        rank = array.size(self.event_shape_tensor())
        known = static_rank_of(rank)
        return rank if known is None else known

    def _rotated(self, x: Tensor, first: Callable[[Any], Any]) -> Tensor:
        """`x` with the axes from the `first` one on before the others, if axes are turned."""
        if isinstance(self._turned, int) and not self._turned:
            return x
        rank = array.rank(x)
        at = first(rank)
        return array.transpose(x, self._joined(math.range(at, rank), math.range(0, at)))

    # ---- samples and probabilities ---------------------------------------------------------------

    def _sample_n(self, n: Any, seed: int | None = None, **kwargs: Any) -> Tensor:
        nothing, turns = self._nothing, self._turns
        shape = self._joined(
            pick_vector(turns, nothing, [n]),
            pick_vector(self._is_batch_repeated, self._repeated_batch, nothing),
            pick_vector(self._is_event_repeated, self._repeated_event, nothing),
            pick_vector(turns, [n], nothing),
        )
        x = self.distribution.sample(shape, seed=seed, **self._base_kwargs(kwargs))
        return self._rotated(x, lambda rank: self._axes_count)

    def _joined(self, *parts: Any) -> Tensor:
        """One vector, a constant if all of its parts are."""
        known = [constant_value(convert_to_tensor(part, dtypes.int32)) for part in parts]
        if any(each is None for each in known):
            return array.concat(list(parts), 0)
        return constant(np.concatenate(known).astype(np.int32))  # type: ignore[arg-type]

    def _base_kwargs(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return kwargs.get("distribution_kwargs") or {}

    def _bijector_kwargs(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return kwargs.get("bijector_kwargs") or {}

    def _from_base(self, samples: Tensor, **kwargs: Any) -> Tensor:
        return self.bijector.forward(samples, **self._bijector_kwargs(kwargs))

    def _fibers(self, y: Any, kwargs: dict[str, Any]) -> list[tuple[Any, Any]]:
        """The points that are transformed to y, each with its log-determinant."""
        given = self._bijector_kwargs(kwargs)
        x = self.bijector.inverse(y, **given)
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._event_rank(), **given)
        if self.bijector._is_injective:
            return [(x, log_det)]
        return list(zip(x, log_det, strict=True))

    def _at_base(self, which: str, y: Any, x: Any, reduce: Any, kwargs: dict[str, Any]) -> Tensor:
        """prob or log_prob of the base at x, taken together over a repeated event."""
        x = self._rotated(x, lambda rank: rank - self._axes_count)
        found = getattr(self.distribution, which)(x, **self._base_kwargs(kwargs))
        if not self._is_repeated(self._repeated_event):
            return found
        return reduce(found, self._event_axes)

    def _with_shape(self, found: Tensor, y: Any) -> Tensor:
        rank = self._event_rank()
        if self._is_repeated(self._repeated_event) and isinstance(rank, int):
            if y.dims is not None and len(y.dims) > rank and rank:
                outer = TensorShape(y.dims[: len(y.dims) - rank])
                found.set_shape(array.broadcast_static_shape(outer, self.batch_shape))
        return found

    def _log_prob(self, value: Any, **kwargs: Any) -> Tensor:
        found = [
            self._at_base("log_prob", value, x, math.reduce_sum, kwargs)
            + math.cast(log_det, self.dtype)
            for x, log_det in self._fibers(value, kwargs)
        ]
        if len(found) == 1:
            return self._with_shape(found[0], value)
        return self._with_shape(math.reduce_logsumexp(array.stack(found), axis=0), value)

    def _prob(self, value: Any, **kwargs: Any) -> Tensor:
        found = [
            self._at_base("prob", value, x, math.reduce_prod, kwargs)
            * math.exp(math.cast(log_det, self.dtype))
            for x, log_det in self._fibers(value, kwargs)
        ]
        return self._with_shape(math.add_n(found) if len(found) > 1 else found[0], value)

    def _monotonic(self, what: str) -> None:
        if self._is_repeated(self._repeated_event):
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")

    def _of_inverse(self, what: str, value: Any, kwargs: dict[str, Any]) -> Tensor:
        self._monotonic(what)
        x = self.bijector.inverse(value, **self._bijector_kwargs(kwargs))
        return getattr(self.distribution, what)(x, **self._base_kwargs(kwargs))

    def _log_cdf(self, value: Any, **kwargs: Any) -> Tensor:
        return self._of_inverse("log_cdf", value, kwargs)

    def _cdf(self, value: Any, **kwargs: Any) -> Tensor:
        return self._of_inverse("cdf", value, kwargs)

    def _log_survival_function(self, value: Any, **kwargs: Any) -> Tensor:
        return self._of_inverse("log_survival_function", value, kwargs)

    def _survival_function(self, value: Any, **kwargs: Any) -> Tensor:
        return self._of_inverse("survival_function", value, kwargs)

    def _quantile(self, value: Any, **kwargs: Any) -> Tensor:
        self._monotonic("quantile")
        x = self.distribution.quantile(value, **self._base_kwargs(kwargs))
        return self.bijector.forward(x, **self._bijector_kwargs(kwargs))

    def _entropy(self) -> Tensor:
        """The entropy of the base, and the transform's change of volumes, which is constant."""
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        found = self.distribution.entropy()
        if self._is_repeated(self._repeated_event):
            found *= math.cast(math.reduce_prod(self._repeated_event), found.dtype)
        if self._is_repeated(self._repeated_batch):
            found += array.zeros(self._repeated_batch, found.dtype)
        shape = array.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        anywhere, rank = array.zeros(shape, self.dtype), self._event_rank()
        log_det = self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=rank)
        found -= math.cast(log_det, found.dtype)
        found.set_shape(self.batch_shape)
        return found
