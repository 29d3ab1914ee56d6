"""Choosing now or when run: `training` may be a bool, a tensor or a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.ops.control import cond
from weft.ops.state.variables import Variable


def known_value(pred: Any) -> Any:
    """The value of `pred` if it is known now; a variable's never is."""
    return None if isinstance(pred, Variable) else cond.smart_constant_value(pred)


def only_in_training(training: Any, value: Any, neutral: Callable[[Any], Any]) -> Any:
    """`value`; outside of training what `neutral` (such as `ones_like`) makes of it."""
    return choose(training, lambda: value, lambda: neutral(value))


def choose(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """The result of one function, or a conditional when `pred` is not known now."""
    if isinstance(pred, Variable):
        return cond.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return cond.smart_cond(pred, true_fn, false_fn, name)
