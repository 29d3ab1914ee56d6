"""tf.keras.optimizers: optimizers as objects, and by name."""

from __future__ import annotations

from typing import Any

from weft.lib.keras import backend as K
from weft.lib.keras.optimizers import schedules  # noqa: F401
from weft.lib.keras.optimizers.adagrad import Adadelta, Adagrad
from weft.lib.keras.optimizers.adam import Adam, Adamax
from weft.lib.keras.optimizers.ftrl import Ftrl
from weft.lib.keras.optimizers.nadam import Nadam
from weft.lib.keras.optimizers.optimizer_v2 import OptimizerV2
from weft.lib.keras.optimizers.rmsprop import RMSprop
from weft.lib.keras.optimizers.sgd import SGD
from weft.lib.keras.optimizers.tf_optimizer import TFOptimizer
from weft.lib.keras.utils.generic import (
    deserialize_keras_object,
    entry,
    serialize_keras_object,
)
from weft.lib.train.optimizers import optimizer as tf_train

Optimizer = OptimizerV2

_BY_NAME = {
    kind.__name__.lower(): kind
    for kind in (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD)
}


def serialize(optimizer: Any) -> Any:
    """The record from which `deserialize` makes the optimizer again."""
    return serialize_keras_object(optimizer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The optimizer of a record {class_name, config}; case does not matter for Keras's own."""
    known = str(entry(config, "class_name")).lower()
    if known in _BY_NAME:
        config = {**config, "class_name": known}
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "optimizer")


def get(identifier: Any) -> Any:
    """The optimizer meant by a name, a record, an optimizer of tf.train, or itself."""
    match identifier:
        case OptimizerV2() | TFOptimizer():
            return identifier
        case tf_train.Optimizer():
            wrapped = TFOptimizer(identifier)
            K.track_tf_optimizer(wrapped)
            return wrapped
        case dict():
            return deserialize(identifier)
        case str():
            return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier:", identifier)
