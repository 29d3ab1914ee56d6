"""Regularizers: functions of a weight whose value is added to the loss."""

from __future__ import annotations

from typing import Any

from weft.lib.keras import backend as K
from weft.lib.keras.utils.generic import deserialize_keras_object, interpret, serialize_keras_object
from weft.ops.math import math, reduce, unary


class Regularizer:
    """The base of all regularizers, which costs nothing."""

    def __call__(self, x: Any) -> Any:
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)


class L1L2(Regularizer):
    """`l1` times the sum of absolute values, and `l2` times that of squares."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = K.cast_to_floatx(l1), K.cast_to_floatx(l2)

    def __call__(self, x: Any) -> Any:
        if not (self.l1 or self.l2):
            return K.constant(0.0)
        sizes = ((self.l1, math.abs), (self.l2, unary.square))
        return sum((factor * reduce.reduce_sum(of(x)) for factor, of in sizes if factor), 0.0)

    def get_config(self) -> dict[str, float]:
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741
    """A penalty of `l` times the sum of magnitudes."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741
    """A penalty of `l` times the sum of squares."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """A penalty of `l1` times the sum of magnitudes and `l2` times that of squares."""
    return L1L2(l1=l1, l2=l2)


# Names of functions that make a regularizer.
_MAKERS = ("l1", "l2", "l1_l2")


def serialize(regularizer: Any) -> Any:
    """The record from which `get` makes `regularizer` again."""
    return serialize_keras_object(regularizer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The regularizer that a configuration describes, of Keras or among `custom_objects`."""
    return deserialize_keras_object(config, globals(), custom_objects, "regularizer")


def get(identifier: Any) -> Any:
    """The regularizer meant by a name, a record {class_name, config}, or itself."""
    return interpret(identifier, "regularizer", deserialize, _MAKERS)
