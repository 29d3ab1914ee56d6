"""Names of `tensorflow.python.keras.utils.tf_utils`, and of a few other modules of Keras."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft.legacy.internals.graphs import CompositeTensor
from weft.lib.keras.engine.network_saving import json_value
from weft.lib.keras.optimizers import schedules
from weft.lib.keras.saving.hdf5 import load_attributes, load_values, save_attributes

_declared: list[type] = []


class hdf5_format:
    load_attributes_from_hdf5_group = staticmethod(load_attributes)
    save_attributes_to_hdf5_group = staticmethod(save_attributes)

    @staticmethod
    def load_optimizer_weights_from_hdf5_group(hdf5_group: Any) -> list[Any]:
        """The values of the optimizer's variables in the file of a model."""
        return load_values(hdf5_group["optimizer_weights"])


class optimizer_v2:
    """Names that its module imports, and that programs take from it."""

    learning_rate_schedule = schedules


class serialization:
    """Names of `tensorflow.python.util.serialization`."""

    get_json_type = staticmethod(json_value)


def register_symbolic_tensor_type(cls: type) -> None:
    """Declares that objects of a class may pass from layer to layer as tensors do."""
    _declared.append(cls)


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether it belongs to a graph that is being built."""
    if isinstance(tensor, (tf.Variable, *_declared)):
        return not tf.executing_eagerly()
    return isinstance(tensor, (tf.Tensor, CompositeTensor)) and hasattr(tensor, "graph")


def are_all_symbolic_tensors(tensors: Any) -> bool:
    return all(map(is_symbolic_tensor, tensors))


def is_tensor_or_variable(x: Any) -> bool:
    return bool(tf.is_tensor(x)) or isinstance(x, tf.Variable)


def is_tensor_or_tensor_list(v: Any) -> bool:
    flat = tf.nest.flatten(v)
    return bool(flat) and isinstance(flat[0], tf.Tensor)
