"""ResNet, first form: normalization after each convolution."""

from __future__ import annotations

import functools
from typing import Any

from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.layers import utils
from weft.lib.contrib.slim.nets import resnet_utils
from weft.lib.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs


@add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """1x1, 3x3 and 1x1 convolutions, added to the inputs."""
    with vs.variable_scope(scope, "bottleneck_v1", [inputs]) as opened:
        total = resnet_utils.bottleneck_sum(
            inputs, inputs, depth, depth_bottleneck, stride, rate, activation_fn=None
        )
        output = nn_impl.relu(total)
        return utils.collect_named_outputs(outputs_collections, opened.name, output)


resnet_v1 = resnet_utils.resnet("resnet_v1", bottleneck, root={}, end=lambda net: net)
resnet_v1_block = functools.partial(resnet_utils.bottleneck_block, bottleneck)
_deep = functools.partial(resnet_utils.deep, resnet_v1, resnet_v1_block)
resnet_v1_50 = _deep("resnet_v1_50", (3, 4, 6, 3))
resnet_v1_101 = _deep("resnet_v1_101", (3, 4, 23, 3))
resnet_v1_152 = _deep("resnet_v1_152", (3, 8, 36, 3))
resnet_v1_200 = _deep("resnet_v1_200", (3, 24, 36, 3))
