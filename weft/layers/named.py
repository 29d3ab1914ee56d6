"""Activations and initializers that are given by name, as in `activation="relu"`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import Tensor
from weft.ops import clip, initializers, math, nn_impl, unary


def linear(x: Any) -> Any:
    """The identity, as an activation."""
    return x


def hard_sigmoid(x: Any) -> Tensor:
    """A sigmoid of three straight pieces."""
    return clip.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "elu": nn_impl.elu,
    "exponential": unary.exp,
    "hard_sigmoid": hard_sigmoid,
    "linear": linear,
    "relu": nn_impl.relu,
    "relu6": nn_impl.relu6,
    "selu": nn_impl.selu,
    "sigmoid": math.sigmoid,
    "softmax": nn_impl.softmax,
    "softplus": nn_impl.softplus,
    "softsign": nn_impl.softsign,
    "tanh": unary.tanh,
}

INITIALIZERS: dict[str, Callable[..., Any]] = {
    "constant": initializers.Constant,
    "glorot_normal": initializers.GlorotNormal,
    "glorot_uniform": initializers.GlorotUniform,
    "he_normal": initializers.he_normal,
    "he_uniform": initializers.he_uniform,
    "identity": initializers.Identity,
    "lecun_normal": initializers.lecun_normal,
    "lecun_uniform": initializers.lecun_uniform,
    "normal": initializers.RandomNormal,
    "one": initializers.Ones,
    "ones": initializers.Ones,
    "orthogonal": initializers.Orthogonal,
    "random_normal": initializers.RandomNormal,
    "random_uniform": initializers.RandomUniform,
    "truncated_normal": initializers.TruncatedNormal,
    "uniform": initializers.RandomUniform,
    "variance_scaling": initializers.VarianceScaling,
    "zero": initializers.Zeros,
    "zeros": initializers.Zeros,
}


def activation(given: Any) -> Callable[..., Any] | None:
    """The function meant by a name, a function, or None (no activation)."""
    if given is None or callable(given):
        return given
    if given in ACTIVATIONS:
        return ACTIVATIONS[given]
    raise ValueError(f"Unknown activation function:{given}")


def activation_name(function: Any) -> Any:
    """The name of an activation, for the configuration of a layer."""
    for name, known in ACTIVATIONS.items():
        if known is function:
            return name
    return getattr(function, "__name__", function)


def initializer(given: Any) -> Any:
    """The initializer meant by a name, a class, a {class_name, config} record, or itself."""
    if isinstance(given, dict):
        made = initializer_class(given["class_name"])
        return made(**given.get("config", {}))
    if isinstance(given, str):
        return initializer_class(given)()
    if isinstance(given, type):
        return given()
    if given is None or callable(given):
        return given
    raise ValueError(f"Could not interpret initializer identifier: {given}")


def initializer_class(name: str) -> Callable[..., Any]:
    """The class or function that makes the initializer called `name`."""
    found = INITIALIZERS.get(name)
    if found is None and isinstance(getattr(initializers, name, None), type):
        found = getattr(initializers, name)
    if found is None:
        raise ValueError(f"Unknown initializer: {name}")
    return found


def initializer_config(given: Any) -> Any:
    """The record from which `initializer` makes `given` again."""
    if given is None or not hasattr(given, "get_config"):
        return getattr(given, "__name__", given)
    return {"class_name": type(given).__name__, "config": given.get_config()}
