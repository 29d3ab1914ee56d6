"""ResNet, second form: normalization before each convolution."""

from __future__ import annotations

import functools
from typing import Any

from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.layers import batch_normalization, utils
from weft.lib.contrib.slim.nets import resnet_utils
from weft.lib.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs

_BARE = {"activation_fn": None, "normalizer_fn": None}


def _normalized(net: Any, scope: str) -> Any:
    return batch_normalization.batch_norm(net, activation_fn=nn_impl.relu, scope=scope)


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
    """1x1, 3x3 and 1x1 convolutions of the normalized inputs, added to the inputs."""
    with vs.variable_scope(scope, "bottleneck_v2", [inputs]) as opened:
        preact = _normalized(inputs, "preact")
        total = resnet_utils.bottleneck_sum(
            inputs, preact, depth, depth_bottleneck, stride, rate, **_BARE
        )
        return utils.collect_named_outputs(outputs_collections, opened.name, total)


resnet_v2 = resnet_utils.resnet(
    "resnet_v2", bottleneck, root=_BARE, end=lambda net: _normalized(net, "postnorm")
)
resnet_v2_block = functools.partial(resnet_utils.bottleneck_block, bottleneck)
_deep = functools.partial(resnet_utils.deep, resnet_v2, resnet_v2_block)
resnet_v2_50 = _deep("resnet_v2_50", (3, 4, 6, 3))
resnet_v2_101 = _deep("resnet_v2_101", (3, 4, 23, 3))
resnet_v2_152 = _deep("resnet_v2_152", (3, 8, 36, 3))
resnet_v2_200 = _deep("resnet_v2_200", (3, 24, 36, 3))
