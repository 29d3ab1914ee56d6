"""ResNet, second form: normalization before each convolution."""

from __future__ import annotations

import functools
from typing import Any

from weft.lib.contrib.layers import batch_normalization
from weft.lib.contrib.slim.nets import resnet_utils
from weft.lib.contrib.slim.nets.resnet_utils import BARE
from weft.lib.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from weft.ops.nn import activations as nn_impl


def _normalized(net: Any, scope: str) -> Any:
    return batch_normalization.batch_norm(net, activation_fn=nn_impl.relu, scope=scope)


bottleneck = resnet_utils.bottleneck(
    "bottleneck_v2",
    before=lambda inputs: _normalized(inputs, "preact"),
    after=lambda total: total,
    **BARE,
)
resnet_v2 = resnet_utils.resnet(
    "resnet_v2", bottleneck, root=BARE, end=lambda net: _normalized(net, "postnorm")
)
resnet_v2_block = functools.partial(resnet_utils.bottleneck_block, bottleneck)
_deep = functools.partial(resnet_utils.deep, resnet_v2, resnet_v2_block)
resnet_v2_50 = _deep("resnet_v2_50", (3, 4, 6, 3))
resnet_v2_101 = _deep("resnet_v2_101", (3, 4, 23, 3))
resnet_v2_152 = _deep("resnet_v2_152", (3, 8, 36, 3))
resnet_v2_200 = _deep("resnet_v2_200", (3, 24, 36, 3))
