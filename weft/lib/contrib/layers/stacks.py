"""The same layer again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.operation import Operation
from weft.ops.array import array
from weft.ops.functions.defun import Defun
from weft.ops.state import variable_scope as vs


def _name_of(layer: Any, default: str) -> str:
    return getattr(layer, "__name__", getattr(getattr(layer, "func", None), "__name__", default))


def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kw: Any) -> Any:
    """Applies `layer` `repetitions` times, in scopes conv_1, conv_2, ... for scope="conv".

    Args:
        inputs: a tensor: the input of the first.
        repetitions: how many.
        layer: a function from a tensor to a tensor.
        *args, **kw: further arguments of `layer`; `scope` names all of them.

    Returns:
        The output of the last.

    Example:
        >>> slim = tf.contrib.slim
        >>> y = slim.repeat(tf.ones([1, 2]), 3, slim.fully_connected, 4, scope="fc")
        >>> [v.op.name for v in tf.trainable_variables()][::2]
        ['fc/fc_1/weights', 'fc/fc_2/weights', 'fc/fc_3/weights']
    """
    return _in_turn(inputs, layer, [args] * repetitions, "Repeat", kw)


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """Applies `layer` once for each entry of `stack_args`, its arguments."""
    if not isinstance(stack_args, list | tuple):
        raise ValueError("stack_args need to be a list or tuple")
    each = [given if isinstance(given, list | tuple) else [given] for given in stack_args]
    return _in_turn(inputs, layer, each, "Stack", kwargs)


def _in_turn(
    inputs: Any, layer: Callable[..., Any], each: Iterable[Any], kind: str, settings: dict[str, Any]
) -> Any:
    """A layer applied once for each list of arguments, in numbered scopes."""
    scope = settings.pop("scope", None)
    with vs.variable_scope(scope, kind, [inputs]):
        outputs: Any = convert_to_tensor(inputs)
        base = _name_of(layer, kind.lower()) if scope is None else scope
        for number, given in enumerate(each, 1):
            outputs = layer(outputs, *given, **{**settings, "scope": f"{base}_{number}"})
        return outputs


def _multiplied(op: Operation, grad: Tensor) -> list[Any]:
    return [grad * op.inputs[1], None]


@Defun(python_grad_func=_multiplied, shape_func=lambda op: [op.inputs[0].shape])
def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Tensor:
    """`inputs` themselves, whose gradient is multiplied on the way back."""
    return array.identity(inputs)
