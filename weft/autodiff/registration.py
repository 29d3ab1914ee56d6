"""tf.RegisterGradient and its kind: gradients that programs add to the table of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from weft.graph.op_def import register_gradient

Function = TypeVar("Function", bound=Callable[..., Any])


class RegisterGradient:
    """Decorator: the function differentiates operations of type `op_type`.

    The name can also be one that `Graph.gradient_override_map` maps a type to.
    """

    def __init__(self, op_type: str) -> None:
        self._op_type = _checked(op_type)

    def __call__(self, f: Function) -> Function:
        register_gradient(self._op_type, f)
        return f


def NotDifferentiable(op_type: str) -> None:
    """Operations of this type pass no gradient on."""
    register_gradient(_checked(op_type), None)


NoGradient = NotDifferentiable


def _checked(op_type: Any) -> str:
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    return op_type
