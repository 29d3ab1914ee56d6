"""Functions that take what another one takes, without spelling it out again."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any


def with_parameters_of(
    model: Callable[..., Any], without: Collection[str] = (), **defaults: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function is called as `model` is, and gets all parameters by name.

    Parameters of `without` are left out; `defaults` replace those of `model`.
    """
    parameters = [
        p.replace(default=defaults.get(p.name, p.default))
        for p in inspect.signature(model).parameters.values()
        if p.name not in without
    ]
    signature = inspect.Signature(parameters)
    rest = [p.name for p in parameters if p.kind is p.VAR_KEYWORD]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            named = dict(bound.arguments)
            for name in rest:
                named |= named.pop(name)
            return function(**named)

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate
