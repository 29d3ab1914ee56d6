"""ResNet, first form: normalization after each convolution."""

from __future__ import annotations

import functools

from weft.lib.contrib.slim.nets import resnet_utils
from weft.lib.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from weft.ops.nn import activations as nn_impl

bottleneck = resnet_utils.bottleneck(
    "bottleneck_v1", before=lambda inputs: inputs, after=nn_impl.relu, activation_fn=None
)
resnet_v1 = resnet_utils.resnet("resnet_v1", bottleneck, root={}, end=lambda net: net)
resnet_v1_block = functools.partial(resnet_utils.bottleneck_block, bottleneck)
_deep = functools.partial(resnet_utils.deep, resnet_v1, resnet_v1_block)
resnet_v1_50 = _deep("resnet_v1_50", (3, 4, 6, 3))
resnet_v1_101 = _deep("resnet_v1_101", (3, 4, 23, 3))
resnet_v1_152 = _deep("resnet_v1_152", (3, 8, 36, 3))
resnet_v1_200 = _deep("resnet_v1_200", (3, 24, 36, 3))
