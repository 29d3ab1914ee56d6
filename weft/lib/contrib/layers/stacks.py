"""The same layer again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.autodiff.custom_gradient import custom_gradient
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.ops.array import array
from weft.ops.state import variable_scope as vs


def _name_of(layer: Any, default: str) -> str:
    return getattr(layer, "__name__", getattr(getattr(layer, "func", None), "__name__", default))


def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kw: Any) -> Any:
    """Applies `layer` `repetitions` times, in scopes conv_1, conv_2, ... for scope="conv"."""
    scope = kw.pop("scope", None)
    with vs.variable_scope(scope, "Repeat", [inputs]):
        outputs: Any = convert_to_tensor(inputs)
        base = _name_of(layer, "repeat") if scope is None else scope
        for i in range(repetitions):
            outputs = layer(outputs, *args, **{**kw, "scope": f"{base}_{i + 1}"})
        return outputs


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """Applies `layer` once for each entry of `stack_args`, its arguments."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with vs.variable_scope(scope, "Stack", [inputs]):
        outputs: Any = convert_to_tensor(inputs)
        base = _name_of(layer, "stack") if scope is None else scope
        for i, given in enumerate(stack_args):
            own = given if isinstance(given, (list, tuple)) else [given]
            outputs = layer(outputs, *own, **{**kwargs, "scope": f"{base}_{i + 1}"})
        return outputs


def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Tensor:
    """`inputs` themselves, whose gradient is multiplied on the way back."""

    @custom_gradient
    def passed(x: Tensor) -> Any:
        return array.identity(x), lambda grad: grad * gradient_multiplier

    return passed(convert_to_tensor(inputs))
