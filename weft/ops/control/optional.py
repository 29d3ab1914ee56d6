"""Values that may be missing: what the branches of a conditional hand on to its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.errors import InvalidArgumentError
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST


class OptionalValue:
    """`components` is None where there is nothing."""

    __slots__ = ("components",)

    def __init__(self, components: list[Any] | None) -> None:
        self.components = components

    def zeros_like(self) -> OptionalValue:
        if self.components is None:
            return self
        return OptionalValue(
            [
                v.zeros_like() if hasattr(v, "zeros_like") else np.zeros_like(v)
                for v in self.components
            ]
        )

    def __add__(self, other: OptionalValue) -> OptionalValue:
        if self.components is None or other.components is None:
            return self if other.components is None else other
        pairs = zip(self.components, other.components, strict=True)
        return OptionalValue([a + b for a, b in pairs])


def _output_shapes(c: ShapeContext) -> list[Dims]:
    return list(c.attr("output_shapes"))


@op(
    "OptionalFromValue", inputs="components: list(Toutput_types)", outputs="optional: variant",
    attrs="Toutput_types: list(type) >= 1", shape=s.scalar, traits=HOST,
)  # fmt: skip
def optional_from_value(xp: Any, components: list[Any]) -> Any:
    return OptionalValue(list(components))


@op("OptionalNone", outputs="optional: variant", shape=s.scalar, traits=HOST)
def optional_none(xp: Any) -> Any:
    return OptionalValue(None)


@op(
    "OptionalHasValue", inputs="optional: variant", outputs="has_value: bool", shape=s.scalar,
    traits=HOST,
)  # fmt: skip
def optional_has_value(xp: Any, optional: Any) -> Any:
    return np.bool_(optional.components is not None)


@op(
    "OptionalGetValue", inputs="optional: variant", outputs="components: list(output_types)",
    attrs="output_types: list(type) >= 1, output_shapes: list(shape) >= 1", shape=_output_shapes,
    traits=HOST,
)  # fmt: skip
def optional_get_value(xp: Any, optional: Any) -> Any:
    if optional.components is None:
        raise InvalidArgumentError(None, None, "The given optional does not have a value.")
    return optional.components


@optional_from_value.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    types = [tensor.dtype.base_dtype for tensor in op.inputs]
    return list(raw.OptionalGetValue(grad, types, [tensor.shape for tensor in op.inputs]))


@optional_get_value.gradient
def _(op: Operation, *grads: Any) -> Any:
    return raw.OptionalFromValue(list(grads))
