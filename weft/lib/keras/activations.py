"""Activations, and how they are meant by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import Tensor
from weft.lib.keras import backend as K
from weft.lib.keras.utils.generic import deserialize_keras_object, serialize_keras_object
from weft.ops.math import math, reduce, unary
from weft.ops.nn import activations as nn_impl


def softmax(x: Any, axis: int = -1) -> Tensor:
    """Positive, and of sum 1 along `axis`."""
    rank = K.ndim(x)
    if rank == 2:
        return nn_impl.softmax(x)
    if rank is None or rank < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    powers = unary.exp(x - reduce.reduce_max(x, axis=axis, keepdims=True))
    return powers / reduce.reduce_sum(powers, axis=axis, keepdims=True)


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """The identity above zero, an exponential below."""
    return K.elu(x, alpha)


def selu(x: Any) -> Tensor:
    """An `elu` that keeps mean and variance."""
    return 1.0507009873554805 * K.elu(x, 1.6732632423543772)


def softplus(x: Any) -> Tensor:
    """log(exp(x) + 1): a smooth form of `relu`."""
    return nn_impl.softplus(x)


def softsign(x: Any) -> Tensor:
    """x / (|x| + 1): a number between -1 and 1."""
    return nn_impl.softsign(x)


def relu(x: Any, alpha: Any = 0.0, max_value: Any = None, threshold: Any = 0) -> Any:
    """`x` above `threshold`, at most `max_value`; `alpha` is the slope below."""
    return K.relu(x, alpha=alpha, max_value=max_value, threshold=threshold)


def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent of `x`: a number between -1 and 1."""
    return unary.tanh(x)


def sigmoid(x: Any) -> Tensor:
    """The logistic function 1 / (1 + exp(-x))."""
    return math.sigmoid(x)


def exponential(x: Any) -> Tensor:
    """e to the power of `x`."""
    return unary.exp(x)


def hard_sigmoid(x: Any) -> Tensor:
    """A sigmoid of three straight pieces."""
    return K.hard_sigmoid(x)


def linear(x: Any) -> Any:
    """The input itself, unchanged."""
    return x


def serialize(activation: Any) -> Any:
    """The name of `activation`."""
    return serialize_keras_object(activation)


def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The activation function of this name, of Keras or among `custom_objects`."""
    return deserialize_keras_object(name, globals(), custom_objects, "activation function")


def get(identifier: Any) -> Callable[..., Any]:
    """The function meant by a name, a record or itself; None means `linear`."""
    match identifier:
        case None:
            return linear
        case str():
            return deserialize(identifier)
        case dict():
            return deserialize_keras_object(identifier, printable_module_name="activation")
        case _ if callable(identifier):
            return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
