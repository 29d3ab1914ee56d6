"""OverFeat."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.framework.arg_scope import scope_of
from weft.lib.contrib.layers import pooling
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
from weft.lib.contrib.slim.nets.vgg import vgg_arg_scope

# (depth, window, settings) of each convolution
_LAYERS: list[tuple[int, int, dict[str, Any]]] = [
    (64, 11, {"stride": 4, "padding": "VALID"}),
    (256, 5, {"padding": "VALID"}),
    *((depth, 3, {}) for depth in (512, 1024, 1024)),
]


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    pooled = [pooling.max_pool2d], {"padding": "VALID"}
    return scope_of((vgg_arg_scope(weight_decay), {}), pooled)


def overfeat(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "overfeat",
) -> Net:
    """Five convolutions and three layers of classification, for images of 231 x 231."""
    with collecting(scope, "overfeat", inputs, LAYERS, of_variables=True) as (opened, collection):
        net = convolved(inputs, _LAYERS, 2)
        net = small_start(
            lambda: classified(
                net, 6, 3072, num_classes, is_training, dropout_keep_prob, biases_initializer=ZEROS
            )
        )
        return finished(net, opened, collection, spatial_squeeze)


overfeat.default_image_size = 231  # type: ignore[attr-defined]
