"""A mixture of distributions of one kind, which are the last axis of a batch."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.contrib.distributions.mixture import chosen_of
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.lib.distributions.sample_shapes import pick_vector
from weft.lib.distributions.special import new_seed
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot
from weft.ops.control.check import assert_equal
from weft.ops.math import math
from weft.ops.nn.activations import log_softmax

_COMPONENTS = "`mixture_distribution components`"


class MixtureSameFamily(Distribution):
    """`mixture_distribution` chooses along the last axis of the batch of components."""

    @keeps_arguments
    def __init__(
        self, mixture_distribution: Any, components_distribution: Distribution,
        validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:  # fmt: skip
        self._mixture, self._family = mixture_distribution, components_distribution
        with name_scope(name) as name:
            self._check_statically()
            self._checks = self._shape_checks() if validate_args else []
            parents = [*self._mixture._graph_parents, *self._family._graph_parents]
            super().__init__(
                self._family.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                graph_parents=parents, name=name,
            )  # fmt: skip

    def _check_statically(self) -> None:
        mixture, family = self._mixture, self._family
        if not mixture.dtype.is_integer:
            raise ValueError(
                f"`mixture_distribution.dtype` ({mixture.dtype.name}) is not over integers"
            )
        if mixture.event_shape.ndims not in (None, 0):
            raise ValueError("`mixture_distribution` must have scalar `event_dim`s")
        batch = family.batch_shape.with_rank_at_least(1)
        ours, theirs = mixture.batch_shape, batch[:-1]
        if ours.is_fully_defined() and theirs.is_fully_defined():
            if ours.ndims != 0 and ours != theirs:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` (`{ours.as_list()}`) is not compatible"
                    f" with `components_distribution.batch_shape` (`{theirs.as_list()}`)"
                )
        have = None if mixture.logits.dims is None else mixture.logits.dims[-1]
        want = None if batch.dims is None else batch.dims[-1].value
        if have is not None and want is not None and have != want:
            raise ValueError(
                f"{_COMPONENTS} ({have}) does not equal `components_distribution.batch_shape[-1]`"
                f" ({want})"
            )

    def _shape_checks(self) -> list[Any]:
        theirs = self._family.batch_shape_tensor()
        ours = self._mixture.batch_shape_tensor()
        ours = pick_vector(self._mixture.is_scalar_batch(), theirs[:-1], ours)
        count = array.shape(self._mixture.logits)[-1]
        shapes = (
            "`mixture_distribution.batch_shape` is not compatible with"
            " `components_distribution.batch_shape`"
        )
        counts = f"{_COMPONENTS} does not equal `components_distribution.batch_shape[-1:]`"
        return [
            assert_equal(ours, theirs[:-1], message=shapes),
            assert_equal(count, theirs[-1], message=counts),
        ]

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the number of the chosen component."""
        return self._mixture

    @property
    def components_distribution(self) -> Distribution:
        """The components to choose from."""
        return self._family

    def _batch_shape_tensor(self) -> Tensor:
        with control_dependencies(self._checks):
            return self._family.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self._family.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Tensor:
        with control_dependencies(self._checks):
            return self._family.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._family.event_shape

    def _event_rank(self) -> int:
        rank = self.event_shape.ndims
        if rank is None:
            raise ValueError("The rank of the event_shape of components must be known.")
        return rank

    def _for_events(self, weight: Tensor) -> Tensor:
        for _ in range(self._event_rank()):
            weight = array.expand_dims(weight, -1)
        return weight

    def _at_all(self, x: Tensor) -> Tensor:
        """`x` with an axis for the components before those of the event."""
        return array.expand_dims(x, -1 - self._event_rank())

    def _mixed(self, value: Tensor) -> Tensor:
        weights = self._for_events(self._mixture.probs)
        return math.reduce_sum(weights * value, axis=-1 - self._event_rank())

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        with control_dependencies(self._checks):
            drawn = self._family.sample(n, seed=seed)
            other = new_seed(seed, "mixture_same_family")
            shape = pick_vector(
                self._mixture.is_scalar_batch(),
                array.concat([[n], self.batch_shape_tensor()], 0),
                [n],
            )
            chosen = self._mixture.sample(shape, seed=other)
            count = array.shape(self._mixture.logits)[-1]
            mask = one_hot(chosen, count, True, False, dtype=dtypes.bool)
            return chosen_of(self._for_events(mask), drawn, -1 - self._event_rank())

    def _log_mixed(self, value: Tensor) -> Tensor:
        weights = log_softmax(self._mixture.logits, axis=-1)
        return math.reduce_logsumexp(value + weights, axis=-1)

    def _log_prob(self, value: Any) -> Tensor:
        with control_dependencies(self._checks):
            return self._log_mixed(self._family.log_prob(self._at_all(value)))

    def _log_cdf(self, value: Any) -> Tensor:
        return self._log_mixed(self._family.log_cdf(self._at_all(value)))

    def _mean(self) -> Tensor:
        with control_dependencies(self._checks):
            return self._mixed(self._family.mean())

    def _variance(self) -> Tensor:
        with control_dependencies(self._checks):
            spread = math.squared_difference(self._family.mean(), self._at_all(self._mean()))
            return self._mixed(self._family.variance()) + self._mixed(spread)

    def _covariance(self) -> Tensor:
        if self.event_shape.ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        with control_dependencies(self._checks):
            apart = self._family.mean() - self._at_all(self._mean())
            spread = apart[..., None, :] * apart[..., None]
            weights = self._mixture.probs[..., None, None]
            return math.reduce_sum(weights * (self._family.covariance() + spread), axis=-3)
