"""Arguments of layers: names become objects, and for a configuration names again."""

from __future__ import annotations

from typing import Any

from weft.lib.keras import activations, constraints, initializers, regularizers

_KINDS: dict[str, Any] = {
    "activation": activations,
    "initializer": initializers,
    "regularizer": regularizers,
    "constraint": constraints,
}


def _kind(key: str) -> Any:
    """The module that knows what a value of `key` means: its last word says which."""
    return _KINDS.get(key.rpartition("_")[2])


def take(layer: Any, **settings: Any) -> None:
    """Makes `settings` attributes of `layer`; those that may be given by name become objects."""
    for key, value in settings.items():
        kind = _kind(key)
        setattr(layer, key, value if kind is None else kind.get(value))


def take_named(layer: Any, arguments: dict[str, Any]) -> None:
    """Makes attributes of those arguments of a constructor that may be given by name."""
    own = (key for key in arguments if _kind(key) and key != "activity_regularizer")
    take(layer, **{key: arguments[key] for key in own})


def name_input_shape(options: dict[str, Any], *sizes: str) -> None:
    """Replaces older options for the sizes of an input, if there are any, by `input_shape`."""
    if "input_shape" not in options and any(size in options for size in sizes):
        options["input_shape"] = tuple(options.pop(size, None) for size in sizes)


def record(layer: Any, keys: str) -> dict[str, Any]:
    """The attributes `keys` of `layer`, as `take` would get them from a file."""
    found = {key: (_kind(key), getattr(layer, key)) for key in keys.split()}
    return {key: kind.serialize(value) if kind else value for key, (kind, value) in found.items()}


def with_activity(options: str) -> str:
    """`options` of a cell with the penalty on a layer's outputs, after that on its biases."""
    return options.replace("bias_regularizer", "bias_regularizer activity_regularizer")


def weight(layer: Any, name: str, shape: Any, settings: str = "", **more: Any) -> Any:
    """A trainable weight that is made and kept as the layer's settings for it say.

    They are called `{settings}_initializer` and so on; without `settings`, after the weight.
    """
    prefix = settings or name
    return layer.add_weight(
        name=name,
        shape=shape,
        initializer=getattr(layer, f"{prefix}_initializer"),
        regularizer=getattr(layer, f"{prefix}_regularizer"),
        constraint=getattr(layer, f"{prefix}_constraint"),
        trainable=True,
        **more,
    )
