"""Functions that take what another one takes, without spelling it out again."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from weft.core.hints import hinted


def arguments(
    signature: inspect.Signature, name: str, args: Sequence[Any], kwargs: Mapping[str, Any],
    defaults: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """The arguments of a call by name, with defaults if wanted.

    TypeError if they do not fit, as for a function with this name and these parameters; a note
    tells which parameter may have been meant.
    """
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        unknown = [key for key in kwargs if key not in signature.parameters]
        wrong = TypeError(f"{name}() {error}")
        raise (hinted(wrong, unknown[0], signature.parameters) if unknown else wrong) from None
    if defaults:
        bound.apply_defaults()
    return dict(bound.arguments)


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
            named = arguments(signature, call.__qualname__, args, kwargs)
            for name in rest:
                named |= named.pop(name)
            return function(**named)

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate
