"""Functions that make a layer and apply it at once: `conv2d(x, 32, 3)` for `Conv2D(32, 3)(x)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from weft.core.signatures import arguments

_ARGUMENTS = {
    "inputs": "a tensor.",
    "units": "how many values come out.",
    "filters": "how many channels come out.",
    "kernel_size": "the size of the window: a number, or one for each dimension.",
    "pool_size": "the size of the window: a number, or one for each dimension.",
    "strides": "how far the window moves.",
    "padding": '"valid" or "same".',
    "data_format": '"channels_last" or "channels_first".',
    "dilation_rate": "the distance between the places that neighbouring weights see.",
    "depth_multiplier": "how many channels come out for each that goes in.",
    "activation": "a function of the result; None: none.",
    "use_bias": "whether there is a bias.",
    "kernel_initializer": "for the weights; None: that of the variable scope.",
    "depthwise_initializer": "for the weights of each channel; None: that of the variable scope.",
    "pointwise_initializer": "for the weights that mix channels; None: that of the variable scope.",
    "bias_initializer": "for the bias.",
    "inverse": "whether to multiply instead.",
    "beta_min": "the smallest value of `beta`.",
    "gamma_init": "the first value of `gamma`, on its diagonal.",
    "reparam_offset": "a number that keeps gradients of both away from zero.",
    "trainable": "whether optimizers update the variables.",
    "name": "of the layer and its variables.",
    "reuse": "whether to share the variables of a layer of that name.",
}
_ENDINGS = {
    "_regularizer": "a function whose result joins `REGULARIZATION_LOSSES`.",
    "_constraint": "a function that projects the variable after updates.",
}


def _described(doc: str, parameters: Sequence[inspect.Parameter], example: str) -> str:
    """`doc` with sections for the arguments, the result, errors and an example of two lines."""
    lines = [f"    {p.name}: {_meaning(p.name)}" for p in parameters]
    call, result = example.split(" -> ")
    return "\n".join([
        doc, "", "Args:", *lines, "", "Returns:", "    A tensor.", "", "Raises:",
        "    ValueError: the shape of the inputs does not fit.", "", "Example:",
        f"    >>> {call}.shape.as_list()", f"    {result}", "",
    ])  # fmt: skip


def _meaning(name: str) -> str:
    return _ARGUMENTS.get(name) or _ENDINGS[name[name.rindex("_") :]]


def functional(
    layer: type, name: str, doc: str, example: str, **defaults: Any
) -> Callable[..., Any]:
    """The function `name(inputs, arguments of layer..., name, reuse)`.

    Layers without weights take no `reuse`, as in TensorFlow. `defaults` replace the layer's own.
    `example` is a call and the shape that it gives.
    """
    own = [p for p in inspect.signature(layer).parameters.values() if p.kind is not p.VAR_KEYWORD]
    own = [p.replace(default=defaults.get(p.name, p.default)) for p in own]
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("inputs", positional), *own]
    shares = any(p.name == "trainable" for p in own)
    if shares:
        parameters.append(inspect.Parameter("reuse", positional, default=None))
    signature = inspect.Signature(parameters, return_annotation="Tensor")

    def apply(*args: Any, **kwargs: Any) -> Any:
        given = arguments(signature, name, args, kwargs)
        inputs = given.pop("inputs")
        if shares:
            given.update(_reuse=given.pop("reuse"), _scope=given["name"])
        return layer(**given)(inputs)

    apply.__name__ = apply.__qualname__ = name
    apply.__module__ = layer.__module__
    apply.__doc__ = _described(doc, parameters, example)
    apply.__signature__ = signature  # type: ignore[attr-defined]
    return apply
