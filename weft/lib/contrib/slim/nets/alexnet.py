"""AlexNet, in its second form."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.framework.arg_scope import scope_of
from weft.lib.contrib.layers import convolutions, dense, pooling
from weft.lib.contrib.layers.regularizers import l2_regularizer
from weft.lib.contrib.slim.nets.classifier import (
    LAYERS,
    ZEROS,
    Net,
    classified,
    collecting,
    convolved,
    finished,
    small_start,
)
from weft.ops.nn import activations as nn_impl
from weft.ops.state.initializers import constant_initializer

# (depth, window, settings) of each convolution
_LAYERS: list[tuple[int, int, dict[str, Any]]] = [
    (64, 11, {"stride": 4, "padding": "VALID"}),
    (192, 5, {}),
    *((depth, 3, {}) for depth in (384, 384, 256)),
]


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    weighted = {
        "activation_fn": nn_impl.relu,
        "biases_initializer": constant_initializer(0.1),
        "weights_regularizer": l2_regularizer(weight_decay),
    }
    return scope_of(
        ([convolutions.conv2d, dense.fully_connected], weighted),
        ([convolutions.conv2d], {"padding": "SAME"}),
        ([pooling.max_pool2d], {"padding": "VALID"}),
    )


def alexnet_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "alexnet_v2",
) -> Net:
    """Five convolutions and three layers of classification."""
    with collecting(scope, "alexnet_v2", inputs, LAYERS) as (opened, collection):
        net = convolved(inputs, _LAYERS, 3, stride=2)
        net = small_start(
            lambda: classified(
                net, 5, 4096, num_classes, is_training, dropout_keep_prob, biases_initializer=ZEROS
            )
        )
        return finished(net, opened, collection, spatial_squeeze)


alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]
