"""AlexNet, in its second form."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.framework.arg_scope import arg_scope
from weft.lib.contrib.layers import convolutions, dense, pooling
from weft.lib.contrib.layers.regularizers import l2_regularizer
from weft.lib.contrib.slim.nets.classifier import (
    ZEROS,
    Net,
    classified,
    collecting,
    finished,
    small_start,
)
from weft.ops.nn import activations as nn_impl
from weft.ops.state.initializers import constant_initializer


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    with (
        arg_scope(
            [convolutions.conv2d, dense.fully_connected],
            activation_fn=nn_impl.relu,
            biases_initializer=constant_initializer(0.1),
            weights_regularizer=l2_regularizer(weight_decay),
        ),
        arg_scope([convolutions.conv2d], padding="SAME"),
        arg_scope([pooling.max_pool2d], padding="VALID") as scope,
    ):
        return scope


def alexnet_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "alexnet_v2",
) -> Net:
    """Five convolutions and three layers of classification."""
    with collecting(scope, "alexnet_v2", inputs) as (opened, collection):
        net = convolutions.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
        net = pooling.max_pool2d(net, [3, 3], 2, scope="pool1")
        net = convolutions.conv2d(net, 192, [5, 5], scope="conv2")
        net = pooling.max_pool2d(net, [3, 3], 2, scope="pool2")
        for i, width in enumerate((384, 384, 256), 3):
            net = convolutions.conv2d(net, width, [3, 3], scope=f"conv{i}")
        net = pooling.max_pool2d(net, [3, 3], 2, scope="pool5")
        net = small_start(
            lambda: classified(
                net, 5, 4096, num_classes, is_training, dropout_keep_prob, biases_initializer=ZEROS
            )
        )
        return finished(net, opened, collection, spatial_squeeze)


alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]
