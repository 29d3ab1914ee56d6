"""Functions that make a layer and apply it at once: `conv2d(x, 32, 3)` for `Conv2D(32, 3)(x)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def functional(layer: type, name: str, doc: str, **defaults: Any) -> Callable[..., Any]:
    """The function `name(inputs, arguments of layer..., name, reuse)`.

    Layers without weights take no `reuse`, as in TensorFlow. `defaults` replace the layer's own.
    """
    own = [p for p in inspect.signature(layer).parameters.values() if p.kind is not p.VAR_KEYWORD]
    own = [p.replace(default=defaults.get(p.name, p.default)) for p in own]
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("inputs", positional), *own]
    shares = any(p.name == "trainable" for p in own)
    if shares:
        parameters.append(inspect.Parameter("reuse", positional, default=None))
    signature = inspect.Signature(parameters)

    def apply(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        inputs = given.pop("inputs")
        if shares:
            given.update(_reuse=given.pop("reuse"), _scope=given["name"])
        return layer(**given)(inputs)

    apply.__name__ = apply.__qualname__ = name
    apply.__module__ = layer.__module__
    apply.__doc__ = doc
    apply.__signature__ = signature  # type: ignore[attr-defined]
    return apply
