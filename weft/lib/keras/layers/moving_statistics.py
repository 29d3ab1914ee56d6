"""How batch normalization keeps its averages: what moves them, and renormalization by them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, control_dependencies, name_scope
from weft.lib.keras.layers.decide import choose, known_value, only_in_training
from weft.ops.array import array
from weft.ops.array.one_hot_search import where
from weft.ops.kit.replicas import strategy_in_force
from weft.ops.math import math
from weft.ops.nn import activations as nn_impl
from weft.ops.state import updates


def size_if_it_may_be_empty(inputs: Any) -> Tensor | None:
    """How many elements there are, under a strategy that says replicas may get no examples."""
    strategy = strategy_in_force()
    extended = None if strategy is None else strategy.extended
    if not getattr(extended, "experimental_enable_get_next_as_optional", False):
        return None
    found: Tensor = array.size(inputs)
    return found


def unless_empty(value: Any, size: Tensor | None) -> Any:
    """`value`, which is not a number if it comes of no examples: then nothing."""
    if size is None:
        return value
    return where(size > 0, value, array.zeros_like(value))


class MovingStatistics:
    """The part of the layer that changes its variables, in training only."""

    momentum: Any
    epsilon: float
    renorm: bool
    renorm_momentum: Any
    renorm_clipping: dict[str, Any]
    moving_mean: Any
    moving_variance: Any
    moving_stddev: Any
    renorm_mean: Any
    renorm_stddev: Any
    add_update: Callable[..., None]

    def _assign_moving_average(
        self, variable: Any, value: Any, momentum: Any, size: Tensor | None
    ) -> Any:
        with name_scope("AssignMovingAvg") as scope, colocate_with(variable):
            dtype = variable.dtype.base_dtype
            decay = math.cast(convert_to_tensor(1.0 - momentum, name="decay"), dtype)
            change = (variable - math.cast(value, dtype)) * decay
            return updates.assign_sub(variable, unless_empty(change, size), name=scope)

    def _assign_stddev(self, variance: Tensor, momentum: Any, size: Tensor | None) -> Any:
        """Moves the average of the standard deviation, and sets the variance to its square."""
        stddev = self._assign_moving_average(
            self.moving_stddev, math.sqrt(variance + self.epsilon), momentum, size
        )
        # Rounding may give a little less than nothing.
        value = nn_impl.relu(stddev * stddev - self.epsilon)
        with name_scope("AssignNewValue") as scope, colocate_with(self.moving_variance):
            return updates.assign(self.moving_variance, value, name=scope)

    def _update_fused(
        self, mean: Tensor, variance: Tensor, training: Any, size: Tensor | None
    ) -> None:
        known = known_value(training)
        if known is None:
            # Outside of training the averages stay where they are.
            momentum = choose(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = convert_to_tensor(self.momentum)
        if known is None or known:
            for average, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
                self.add_update(
                    functools.partial(self._assign_moving_average, average, value, momentum, size)
                )

    def _add_updates(
        self, mean: Tensor, variance: Tensor, training: Any, size: Tensor | None
    ) -> None:
        def move_variance() -> Any:
            if self.renorm:
                return self._assign_stddev(variance, self.momentum, size)
            return self._assign_moving_average(self.moving_variance, variance, self.momentum, size)

        def move_mean() -> Any:
            return self._assign_moving_average(self.moving_mean, mean, self.momentum, size)

        self.add_update(lambda: choose(training, move_mean, lambda: self.moving_mean))
        self.add_update(lambda: choose(training, move_variance, lambda: self.moving_variance))

    # ---- renormalization ----

    def _renorm_correction(
        self, mean: Tensor, variance: Tensor, training: Any, size: Tensor | None
    ) -> tuple[Any, Any, Tensor, Tensor]:
        """Scale and shift that make batch statistics act like the averages; then the updates."""
        stddev = math.sqrt(variance + self.epsilon)
        # Early in training the average may still be next to nothing.
        average = math.maximum(self.renorm_stddev, math.sqrt(self.epsilon))
        r = stddev / average
        d = (mean - self.renorm_mean) / average
        with control_dependencies([r, d]):
            mean, stddev = array.identity(mean), array.identity(stddev)
        r, d = self._clipped(r, d)
        r = only_in_training(training, r, array.ones_like)
        d = only_in_training(training, d, array.zeros_like)
        moves = ((self.renorm_mean, mean), (self.renorm_stddev, stddev))
        moved = [self._move_renorm(variable, to, training, size) for variable, to in moves]
        with control_dependencies(moved):
            return r, d, array.identity(mean), array.identity(variance)

    def _clipped(self, r: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
        limits = {k: limit for k, limit in self.renorm_clipping.items() if limit is not None}
        for key, clip in (("rmin", math.maximum), ("rmax", math.minimum)):
            r = clip(r, limits[key]) if key in limits else r
        if "dmax" in limits:
            d = math.minimum(math.maximum(d, -limits["dmax"]), limits["dmax"])
        return r, d

    def _move_renorm(self, variable: Any, value: Tensor, training: Any, size: Tensor | None) -> Any:
        value = array.identity(value)
        return choose(
            training,
            lambda: self._assign_moving_average(variable, value, self.renorm_momentum, size),
            lambda: array.identity(variable),
        )
