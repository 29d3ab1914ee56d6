"""OverFeat."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.framework.arg_scope import arg_scope
from weft.lib.contrib.layers import convolutions, pooling
from weft.lib.contrib.slim.nets.classifier import (
    ZEROS,
    Net,
    classified,
    collecting,
    finished,
    small_start,
)
from weft.lib.contrib.slim.nets.vgg import vgg_arg_scope


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    with (
        arg_scope(vgg_arg_scope(weight_decay)),
        arg_scope([pooling.max_pool2d], padding="VALID") as scope,
    ):
        return scope


def overfeat(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "overfeat",
) -> Net:
    """Five convolutions and three layers of classification, for images of 231 x 231."""
    with collecting(scope, "overfeat", inputs) as (opened, collection):
        net = convolutions.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
        net = pooling.max_pool2d(net, [2, 2], scope="pool1")
        net = convolutions.conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
        net = pooling.max_pool2d(net, [2, 2], scope="pool2")
        for i, width in enumerate((512, 1024, 1024), 3):
            net = convolutions.conv2d(net, width, [3, 3], scope=f"conv{i}")
        net = pooling.max_pool2d(net, [2, 2], scope="pool5")
        net = small_start(
            lambda: classified(
                net, 6, 3072, num_classes, is_training, dropout_keep_prob, biases_initializer=ZEROS
            )
        )
        return finished(net, opened, collection, spatial_squeeze)


overfeat.default_image_size = 231  # type: ignore[attr-defined]
