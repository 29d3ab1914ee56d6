"""VGG: stacks of 3x3 convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.contrib.framework.arg_scope import scope_of
from weft.lib.contrib.layers import convolutions, dense, pooling, stacks
from weft.lib.contrib.layers.regularizers import l2_regularizer
from weft.lib.contrib.slim.nets.classifier import (
    LAYERS,
    ZEROS,
    Net,
    classified,
    collecting,
    finished,
)
from weft.ops.nn import activations as nn_impl

_WIDTHS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    weighted = {
        "activation_fn": nn_impl.relu,
        "weights_regularizer": l2_regularizer(weight_decay),
        "biases_initializer": ZEROS,
    }
    return scope_of(
        ([convolutions.conv2d, dense.fully_connected], weighted),
        ([convolutions.conv2d], {"padding": "SAME"}),
    )


def _vgg(name: str, repeats: tuple[int, ...]) -> Callable[..., Net]:
    def net_of(
        inputs: Any,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: Any = name,
    ) -> Net:
        with collecting(scope, name, inputs, LAYERS) as (opened, collection):
            net = inputs
            for i, (times, width) in enumerate(zip(repeats, _WIDTHS, strict=True), 1):
                net = stacks.repeat(
                    net, times, convolutions.conv2d, width, [3, 3], scope=f"conv{i}"
                )
                net = pooling.max_pool2d(net, [2, 2], scope=f"pool{i}")
            net = classified(net, 7, 4096, num_classes, is_training, dropout_keep_prob)
            return finished(net, opened, collection, spatial_squeeze)

    net_of.__name__ = net_of.__qualname__ = name
    net_of.__doc__ = f"VGG with {sum(repeats) + 3} layers of weights."
    net_of.default_image_size = 224  # type: ignore[attr-defined]
    return net_of


vgg_a = _vgg("vgg_a", (1, 1, 2, 2, 2))
vgg_16 = vgg_d = _vgg("vgg_16", (2, 2, 3, 3, 3))
vgg_19 = vgg_e = _vgg("vgg_19", (2, 2, 4, 4, 4))
