"""Layers as records {class_name, config}, and back."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.utils.generic import deserialize_keras_object, entry
from weft.lib.platform.behavior import v2_behavior_enabled

L = TypeVar("L", bound=Layer)
# Names that files of other versions have for the same thing.
_RENAMED = {
    "BatchNormalizationV1": "BatchNormalization",
    "BatchNormalizationV2": "BatchNormalization",
}


_REGISTERED: dict[str, type] = {}


def register_layer(layer: type[L]) -> type[L]:
    """A class decorator for layers of packages that stand on Keras: they are found by name too."""
    _REGISTERED[layer.__name__] = layer
    return layer


def serialize(layer: Any) -> dict[str, Any]:
    """The class and the configuration of `layer`."""
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """The layer, or model, that a record made by `serialize` describes, with new weights."""
    name = entry(config, "class_name")
    return deserialize_keras_object(
        {**config, "class_name": _RENAMED.get(name, name)},
        module_objects=layer_classes() | _later() | _REGISTERED,
        custom_objects=custom_objects,
        printable_module_name="layer",
    )


def _later() -> dict[str, type]:
    """The layers that TensorFlow 2 declares differently, if a program asked for its behavior."""
    if not v2_behavior_enabled():
        return {}
    from weft.lib.keras.layers import normalization_v2, recurrent_v2

    names = ("GRU", "GRUCell", "LSTM", "LSTMCell")
    found = {name: getattr(recurrent_v2, name) for name in names}
    return found | {"BatchNormalization": normalization_v2.BatchNormalization}


@functools.cache
def layer_classes() -> dict[str, type]:
    """All layers and models by name."""
    from weft.lib.keras.engine import (
        add_layers,
        input_layer,
        network,
        sequential,
        tf_op_layer,
        training,
    )
    from weft.lib.keras.layers import (
        advanced_activations,
        bidirectional,
        convolutional,
        convolutional_recurrent,
        core,
        cudnn_recurrent,
        dense_attention,
        dropout,
        embeddings,
        global_pooling,
        lambda_layer,
        layer_normalization,
        local,
        merge,
        noise,
        normalization,
        pooling,
        recurrent,
        recurrent_v1,
        resizing,
        rnn_cells,
        separable,
        transposed,
        wrappers,
    )

    modules = (
        *(add_layers, input_layer, network, sequential, tf_op_layer, training),
        *(advanced_activations, bidirectional, convolutional, convolutional_recurrent, core),
        *(cudnn_recurrent, dense_attention, dropout, embeddings, global_pooling, lambda_layer),
        *(layer_normalization, local, merge, noise, normalization, pooling, recurrent),
        *(recurrent_v1, resizing, rnn_cells, separable, transposed, wrappers),
    )
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Layer)
    }
