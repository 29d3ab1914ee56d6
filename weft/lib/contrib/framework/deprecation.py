"""Marks of functions that will go, or may change."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.lib.platform import tf_logging

_warned: set[Any] = set()


def _noted(func: Callable[..., Any], note: str, applies: Callable[..., bool]) -> Any:
    """`func`, with a warning on the first call that `applies` is true of."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if func not in _warned and applies(kwargs):
            _warned.add(func)
            tf_logging.warning(f"{func.__qualname__} (from {func.__module__}) {note}")
        return func(*args, **kwargs)

    return wrapped


def _until(date: str | None, instructions: str) -> str:
    when = "in a future version" if date is None else f"after {date}"
    return f"{when}.\nInstructions for updating:\n{instructions}"


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[..., Any]:
    """Marks a function that will be removed."""
    note = f"is deprecated and will be removed {_until(date, instructions)}"
    return lambda func: _noted(func, note, lambda kwargs: True)


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Callable[..., Any]:
    """Marks arguments that will be removed."""
    names = {n if isinstance(n, str) else n[0] for n in deprecated_arg_names_or_tuples}
    note = (
        f"is called with deprecated arguments ({', '.join(sorted(names))}) which will be removed "
        f"{_until(date, instructions)}"
    )
    return lambda func: _noted(func, note, lambda given: bool(names & set(given)))


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[..., Any]:
    """Marks values of arguments that will be refused."""

    def applies(given: dict[str, Any]) -> bool:
        return any(
            name in given and given[name] == value for name, value in deprecated_kwargs.items()
        )

    shown = ", ".join(f"{name}={value!r}" for name, value in sorted(deprecated_kwargs.items()))
    note = f"is called with {shown}, which is deprecated {_until(date, instructions)}"
    return lambda func: _noted(func, note, applies)


def experimental(func: Callable[..., Any]) -> Any:
    """Marks a function that may change or be removed at any time."""
    note = "is experimental and may change or be removed at any time, and without warning."
    return _noted(func, note, lambda kwargs: True)
