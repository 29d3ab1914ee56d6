"""Functions that take what another one takes, without spelling it out again."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any


def with_parameters_of(
    model: Callable[..., Any],
    without: Collection[str] = (),
    extra: Mapping[str, tuple[str, Any]] | None = None,
    **defaults: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function is called as `model` is, and gets all parameters by name.

    Parameters of `without` are left out; `defaults` replace those of `model`; `extra` has further
    ones, each with the name of the one it comes after and its default.
    """
    parameters = [
        p.replace(default=defaults.get(p.name, p.default))
        for p in inspect.signature(model).parameters.values()
        if p.name not in without
    ]
    for name, (before, default) in (extra or {}).items():
        at = [p.name for p in parameters].index(before) + 1
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.insert(at, inspect.Parameter(name, kind, default=default))
    signature = inspect.Signature(parameters)
    rest = [p.name for p in parameters if p.kind is p.VAR_KEYWORD]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{call.__qualname__}() {error}") from None
            bound.apply_defaults()
            named = dict(bound.arguments)
            for name in rest:
                named |= named.pop(name)
            return function(**named)

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate
