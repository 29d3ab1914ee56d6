"""Whether AutoGraph converts the functions that are called now."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

Converter = Callable[[Callable[..., Any], Any], Callable[..., Any]]


class Status(enum.Enum):
    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class _Stack(threading.local):
    def __init__(self) -> None:
        self.open: list[ControlStatusCtx] = []


_stack = _Stack()
_converters: list[Converter] = []


class ControlStatusCtx:
    """Functions called inside of it are converted if `status` says so; `features` as asked for."""

    def __init__(self, status: Status, features: frozenset[str] = frozenset()) -> None:
        self.status, self.features = status, features

    def __enter__(self) -> ControlStatusCtx:
        _stack.open.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        _stack.open.pop()


_default = ControlStatusCtx(Status.UNSPECIFIED)


def control_status_ctx() -> ControlStatusCtx:
    return _stack.open[-1] if _stack.open else _default


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as AutoGraph has it in the current context; as it is without AutoGraph."""
    return _converters[0](function, control_status_ctx()) if _converters else function


def register_converter(converter: Converter) -> None:
    """AutoGraph stands on the libraries whose functions it converts: they find it here."""
    _converters[:] = [converter]


def not_in_graphs(what: str) -> str:
    """Why Python cannot do something with a tensor that has no value yet."""
    status = control_status_ctx().status
    if status is Status.UNSPECIFIED:
        return (
            f"{what} is not allowed in Graph execution. Use Eager execution or decorate this"
            " function with @tf.function."
        )
    why = {
        Status.DISABLED: "AutoGraph is disabled in this function.",
        Status.ENABLED: "AutoGraph did not convert this function.",
    }[status]
    return f"{what} is not allowed: {why} Try decorating it directly with @tf.function."
