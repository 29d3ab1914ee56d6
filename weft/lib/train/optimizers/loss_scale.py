"""Factors by which a loss is made larger, so that gradients in half precision do not vanish."""

from __future__ import annotations

import abc
from typing import Any

from weft.core import dtypes, nest
from weft.core.properties import stored
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, get_default_graph
from weft.graph.slices import IndexedSlices
from weft.lib.train.checkpoint.objects import Children, Trackable
from weft.ops.control import control
from weft.ops.control.cond import cond
from weft.ops.math import math
from weft.ops.state.variables import Variable


def all_finite(grads: Any) -> Tensor:
    """Whether no gradient has an infinity or a NaN in it."""
    values = [g.values if isinstance(g, IndexedSlices) else g for g in grads if g is not None]
    return math.reduce_all([math.reduce_all(math.is_finite(v)) for v in values])


class LossScale(Trackable, abc.ABC):
    """A factor for the loss, and how it changes with the gradients that come of it."""

    def __init__(self) -> None:
        self._weights: dict[tuple[str, Any], Any] = {}

    @abc.abstractmethod
    def __call__(self) -> Tensor:
        """The factor now."""

    @abc.abstractmethod
    def update(self, grads: Any) -> tuple[Any, Any]:
        """An op that adapts the factor to `grads`, and whether these should be applied."""

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """The arguments that make the same loss scale."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)

    def _add_weight(self, name: str, initial_value: Any, dtype: Any = None) -> Any:
        key = (name, get_default_graph())
        if key in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {key}")
        self._weights[key] = Variable(
            initial_value, name=name, dtype=dtype, trainable=False, use_resource=True
        )
        return self._weights[key]

    @property
    def _checkpoint_dependencies(self) -> Children:
        here = get_default_graph()
        return [(name, each) for (name, graph), each in self._weights.items() if graph is here]


class FixedLossScale(LossScale):
    """A factor that stays."""

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        number = isinstance(loss_scale_value, (int, float))
        if not number or loss_scale_value < 1:
            wanted = "at least 1" if number else "a Python int or float"
            raise ValueError(f"loss_scale_value must be {wanted}.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Any, Any]:
        return control.no_op(), True

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"


class DynamicLossScale(LossScale):
    """A factor that grows after `increment_period` good steps and shrinks after a bad one."""

    def __init__(
        self,
        initial_loss_scale: float = 2**15,
        increment_period: int = 2000,
        multiplier: float = 2.0,
    ) -> None:
        super().__init__()
        self._initial_loss_scale, self._multiplier = float(initial_loss_scale), float(multiplier)
        self._increment_period = int(increment_period)
        self._current_loss_scale = self._add_weight(
            "current_loss_scale", self._initial_loss_scale, dtypes.float32
        )
        self._num_good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    initial_loss_scale = stored("initial_loss_scale", "The factor of the first step.")
    increment_period = stored("increment_period", "Good steps until the factor grows.")
    multiplier = stored("multiplier", "What the factor grows and shrinks by.")

    def __call__(self) -> Tensor:
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        finite = all_finite(nest.flatten(grads))
        return cond(finite, self._after_good, self._after_bad), finite

    def _after_good(self) -> Any:
        scale, steps = self._current_loss_scale, self._num_good_steps

        def grow() -> Any:
            larger = scale * self._multiplier
            grown = cond(math.is_finite(larger), lambda: scale.assign(larger).op, control.no_op)
            return control.group(grown, steps.assign(0))

        full = steps + 1 >= self._increment_period
        return cond(full, grow, lambda: steps.assign_add(1).op)

    def _after_bad(self) -> Any:
        smaller = math.maximum(self._current_loss_scale / self._multiplier, 1)
        return control.group(
            self._num_good_steps.assign(0), self._current_loss_scale.assign(smaller)
        )

    def get_config(self) -> dict[str, Any]:
        names = ("initial_loss_scale", "increment_period", "multiplier")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value}" for key, value in self.get_config().items())
        return f"DynamicLossScale({shown})"


def as_loss_scale(identifier: Any) -> LossScale | None:
    """The loss scale that a number, "dynamic", None or itself stands for."""
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
