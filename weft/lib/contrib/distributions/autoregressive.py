"""A distribution whose every number depends on those before it."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.special import new_seed


def _steps(first: Distribution, asked: int | None) -> int:
    """As many as asked for, or as an event has numbers."""
    count = first.event_shape.num_elements() if asked is None else asked
    if count is None:
        raise ValueError(
            "distribution_fn must generate a distribution with fully known `event_shape`."
        )
    if count < 1:
        raise ValueError(f"num_steps ({count}) must be at least 1.")
    return count


class Autoregressive(Distribution):
    """`distribution_fn(x)` gives the distribution of all numbers given those before each.

    A sample is drawn `num_steps` times over, always with the same noise: after as many steps as
    there are numbers, all of them fit together.
    """

    @keeps_arguments
    def __init__(
        self, distribution_fn: Callable[..., Distribution], sample0: Any = None,
        num_steps: int | None = None, validate_args: bool = False, allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:  # fmt: skip
        with name_scope(name) as name:
            self._distribution_fn, self._sample0 = distribution_fn, sample0
            first = distribution_fn() if sample0 is None else distribution_fn(sample0)
            self._distribution0 = first
            self._num_steps = _steps(first, num_steps)
        super().__init__(
            first.dtype, first.reparameterization_type, validate_args, allow_nan_stats,
            graph_parents=first._graph_parents, name=name,
        )  # fmt: skip

    @property
    def distribution_fn(self) -> Callable[..., Distribution]:
        """From values to the distribution of each given those before it."""
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        """The values to begin with, or None."""
        return self._sample0

    @property
    def num_steps(self) -> int:
        """How often a sample is drawn over."""
        return self._num_steps

    @property
    def distribution0(self) -> Distribution:
        """The distribution that the first draw is from."""
        return self._distribution0

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        """All draws have one seed; without one, Python's generator makes it up."""
        if seed is None:
            seed = new_seed(np.random.randint(2**32 - 1), "autoregressive")

        def next_one(drawn: Tensor, _: int) -> Tensor:
            return self.distribution_fn(drawn).sample((), seed)

        return reduce(next_one, range(self.num_steps), self.distribution0.sample(n, seed))

    def _log_prob(self, value: Any) -> Tensor:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Any) -> Tensor:
        return self.distribution_fn(value).prob(value)
