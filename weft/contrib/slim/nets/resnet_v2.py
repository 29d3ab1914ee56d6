"""ResNet, second form: normalization before each convolution."""

from __future__ import annotations

import functools
from typing import Any

from weft.contrib.framework.arg_scope import add_arg_scope, arg_scope
from weft.contrib.layers import batch_normalization, convolutions, pooling, utils
from weft.contrib.slim.nets import resnet_utils
from weft.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from weft.contrib.slim.nets.resnet_v1 import _ended
from weft.ops import nn_impl
from weft.ops import variable_scope as vs

_BARE = {"activation_fn": None, "normalizer_fn": None}


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
        preact = batch_normalization.batch_norm(inputs, activation_fn=nn_impl.relu, scope="preact")
        if depth == utils.last_dimension(inputs.shape, min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = convolutions.conv2d(
                preact, depth, [1, 1], stride=stride, scope="shortcut", **_BARE
            )
        residual = convolutions.conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(
            residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2"
        )
        residual = convolutions.conv2d(residual, depth, [1, 1], stride=1, scope="conv3", **_BARE)
        return utils.collect_named_outputs(outputs_collections, opened.name, shortcut + residual)


def resnet_v2(
    inputs: Any,
    blocks: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The net of these blocks, and its end points by name."""
    with vs.variable_scope(scope, "resnet_v2", [inputs], reuse=reuse) as opened:
        collection = opened.original_name_scope + "_end_points"
        with (
            arg_scope(
                [convolutions.conv2d, bottleneck, resnet_utils.stack_blocks_dense],
                outputs_collections=collection,
            ),
            arg_scope([batch_normalization.batch_norm], is_training=is_training),
        ):
            net, stride = inputs, output_stride
            if include_root_block:
                stride = resnet_utils.root_stride(output_stride)  # type: ignore[assignment]
                with arg_scope([convolutions.conv2d], **_BARE):
                    net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = pooling.max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = resnet_utils.stack_blocks_dense(net, blocks, stride)
            net = batch_normalization.batch_norm(net, activation_fn=nn_impl.relu, scope="postnorm")
            return _ended(net, num_classes, global_pool, collection)


resnet_v2.default_image_size = 224  # type: ignore[attr-defined]
resnet_v2_block = functools.partial(resnet_utils.bottleneck_block, bottleneck)
_deep = functools.partial(resnet_utils.deep, resnet_v2, resnet_v2_block)
resnet_v2_50 = _deep("resnet_v2_50", (3, 4, 6, 3))
resnet_v2_101 = _deep("resnet_v2_101", (3, 4, 23, 3))
resnet_v2_152 = _deep("resnet_v2_152", (3, 8, 36, 3))
resnet_v2_200 = _deep("resnet_v2_200", (3, 24, 36, 3))
