"""Values rounded as quantized ones are, within a range that is fixed, last seen or averaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import name_scope
from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.train.optimizers.moving_averages import assign_moving_average
from weft.ops.math import math, reduce
from weft.ops.state import updates
from weft.ops.state.get_variable import get_variable
from weft.ops.state.initializers import Constant
from weft.ops.state.variable_def import VariableAggregation
from weft.ops.state.variable_scope import variable_scope

_ENDS = (("min", "Min", reduce.reduce_min), ("max", "Max", reduce.reduce_max))
# The axes that are reduced for a range per channel, by rank.
_PER_CHANNEL: dict[int, list[int]] = {1: [], 2: [0], 4: [0, 1, 2]}


def FixedQuantize(
    inputs: Tensor, init_min: float = -6.0, init_max: float = 6.0, scope: str | None = None
) -> Tensor:
    """Values rounded within a range that does not change."""
    with name_scope(scope, "FixedQuantize", [inputs]):
        return raw.FakeQuantWithMinMaxArgs(inputs, min=init_min, max=init_max)


def LastValueQuantize(
    inputs: Tensor,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    vars_collection: Any = None,
    name_prefix: str = "LastValueQuant",
    reuse: Any = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """Values rounded within the range of the values themselves, which variables keep."""
    keep = lambda end, value, label: updates.assign(end, value, name=f"Assign{label}Last")  # noqa: E731
    with variable_scope(None, name_prefix, [inputs], reuse=reuse) as scope:
        ranges = _Ranges(inputs, per_channel, num_bits, narrow_range, symmetric, name_prefix)
        return ranges.rounded(scope, (init_min, init_max), vars_collection, is_training and keep)


def MovingAvgQuantize(
    inputs: Tensor,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    ema_decay: float = 0.999,
    vars_collection: Any = GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix: str = "MovingAvgQuantize",
    reuse: Any = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """Values rounded within a moving average of their ranges, which variables keep."""

    def average(end: Any, value: Tensor, label: str) -> Any:
        return assign_moving_average(end, value, ema_decay, name=f"Assign{label}Ema")

    with variable_scope(None, name_prefix, [inputs], reuse=reuse) as scope:
        ranges = _Ranges(inputs, per_channel, num_bits, narrow_range, symmetric, name_prefix)
        return ranges.rounded(scope, (init_min, init_max), vars_collection, is_training and average)


class _Ranges:
    """How the range of some values is kept, and the values rounded within it."""

    def __init__(
        self,
        inputs: Tensor,
        per_channel: bool,
        bits: int,
        narrow: bool,
        symmetric: bool,
        label: str,
    ) -> None:
        self._inputs, self._per_channel, self._symmetric = inputs, per_channel, symmetric
        self._attrs: dict[str, Any] = {"num_bits": bits, "narrow_range": narrow}
        shape = inputs.get_shape()
        self._axes: list[int] | None = None
        if per_channel:
            assert len(shape) in _PER_CHANNEL, (
                f"Expected 1D, 2D or 4D input, was: {shape} in  scope: {label}"
            )
            self._axes = _PER_CHANNEL[len(shape)]
        self._shape = [shape[-1]] if per_channel else []

    def rounded(
        self,
        scope: Any,
        initial: tuple[float, float],
        collection: Any,
        update: Callable[[Any, Tensor, str], Any] | bool,
    ) -> Tensor:
        """The values within the range of the variables, once `update` has changed these."""
        scope.set_partitioner(None)
        ends = [
            self._variable(name, value, collection)
            for (name, *_), value in zip(_ENDS, initial, strict=True)
        ]
        if callable(update):
            labels = (label for _, label, _ in _ENDS)
            ends = [update(*each) for each in zip(ends, self._seen(), labels, strict=True)]
        assert all(end.get_shape().ndims == len(self._shape) for end in ends)
        kind = "PerChannel" if self._per_channel else ""
        node = getattr(raw, f"FakeQuantWithMinMaxVars{kind}")
        return node(self._inputs, *ends, **self._attrs)

    def _variable(self, name: str, value: float, collection: Any) -> Any:
        collections = [*([collection] if collection else ()), GraphKeys.GLOBAL_VARIABLES]
        return get_variable(
            name, self._shape, initializer=Constant(value), collections=collections,
            trainable=False, aggregation=VariableAggregation.MEAN,
        )  # fmt: skip

    def _seen(self) -> tuple[Tensor, Tensor]:
        """The range of the values, with zero in it."""
        low = high = self._inputs
        if self._axes != []:
            low, high = (
                extreme(self._inputs, self._axes, name=f"Batch{label}")
                for _, label, extreme in _ENDS
            )
        if not self._symmetric:
            return math.minimum(low, 0.0), math.maximum(high, 0.0)
        steps = 1 << self._attrs["num_bits"]
        # In two's complement there is one negative value more than positive ones.
        ratio = -1 if self._attrs["narrow_range"] else -(steps - 2) / steps
        return math.minimum(low, high / ratio), math.maximum(high, low * ratio)
