"""Parts of both forms of ResNet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.graph.graph import GraphKeys, Tensor
from weft.lib.contrib.framework.arg_scope import add_arg_scope, arg_scope, scope_of
from weft.lib.contrib.layers import arrays, batch_normalization, convolutions, pooling, utils
from weft.lib.contrib.layers.initializers import variance_scaling_initializer
from weft.lib.contrib.layers.regularizers import l2_regularizer
from weft.lib.contrib.slim.nets.classifier import collecting
from weft.lib.contrib.slim.nets.inception_parts import scores
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs

BARE = {"activation_fn": None, "normalizer_fn": None}


class Block(NamedTuple):
    """Units of one scope: the function that makes a unit, and the arguments of each."""

    scope: str
    unit_fn: Callable[..., Any]
    args: list[dict[str, Any]]


def bottleneck_block(
    unit_fn: Callable[..., Any], scope: str, base_depth: int, num_units: int, stride: int
) -> Block:
    """`num_units` bottlenecks, of which the last has the stride."""
    unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": 1}
    return Block(scope, unit_fn, [unit] * (num_units - 1) + [{**unit, "stride": stride}])


def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Every `factor`-th position."""
    if factor == 1:
        return inputs
    return pooling.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None
) -> Tensor:
    """A strided convolution padded alike on both sides, whatever the size of the input."""
    settings = {"stride": stride, "rate": rate, "padding": "SAME", "scope": scope}
    if stride != 1:
        extra = kernel_size + (kernel_size - 1) * (rate - 1) - 1
        edges = [extra // 2, extra - extra // 2]
        inputs = array.pad(inputs, [[0, 0], edges, edges, [0, 0]])
        settings["padding"] = "VALID"
    return convolutions.conv2d(inputs, num_outputs, kernel_size, **settings)


def bottleneck(
    name: str, before: Callable[[Any], Any], after: Callable[[Any], Any], **last: Any
) -> Callable[..., Any]:
    """The function that makes a unit, under the default name `name`.

    `before` comes before its convolutions, `after` follows their sum with the inputs, and `last`
    are the settings of a convolution whose result is added.
    """

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

        def mix(net: Any, size: int, scope: str, stride: int = 1, **settings: Any) -> Any:
            return convolutions.conv2d(net, size, [1, 1], stride=stride, scope=scope, **settings)

        with vs.variable_scope(scope, name, [inputs]) as opened:
            net = before(inputs)
            if depth == utils.last_dimension(inputs.shape, min_rank=4):
                shortcut = subsample(inputs, stride, "shortcut")
            else:
                shortcut = mix(net, depth, "shortcut", stride, **last)
            net = mix(net, depth_bottleneck, "conv1")
            net = conv2d_same(net, depth_bottleneck, 3, stride, rate, "conv2")
            total = after(shortcut + mix(net, depth, "conv3", **last))
            return utils.collect_named_outputs(outputs_collections, opened.name, total)

    return bottleneck


@add_arg_scope
def stack_blocks_dense(
    net: Any, blocks: Any, output_stride: Any = None, outputs_collections: Any = None
) -> Any:
    """All units one after another; past `output_stride`, dilation takes the place of strides."""
    for block, units in zip(blocks, _dilated(blocks, output_stride), strict=True):
        with vs.variable_scope(block.scope, "block", [net]) as opened:
            for i, unit in enumerate(units, 1):
                with vs.variable_scope(f"unit_{i}", values=[net]):
                    net = block.unit_fn(net, **unit)
            net = utils.collect_named_outputs(outputs_collections, opened.name, net)
    return net


def _dilated(blocks: Any, output_stride: Any) -> list[list[dict[str, Any]]]:
    """The arguments of all units of each block, with the rate at which they are dilated."""
    reached = rate = 1
    planned: list[list[dict[str, Any]]] = []
    for block in blocks:
        planned.append([])
        for unit in block.args:
            stride = unit.get("stride", 1)
            if reached == output_stride:
                planned[-1].append({**unit, "stride": 1, "rate": rate})
                rate *= stride
            else:
                planned[-1].append({**unit, "rate": 1})
                reached *= stride
    if output_stride not in (None, reached):
        raise ValueError("The target output_stride cannot be reached.")
    return planned


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Any:
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    convolution = {
        "weights_regularizer": l2_regularizer(weight_decay),
        "weights_initializer": variance_scaling_initializer(),
        "activation_fn": nn_impl.relu,
        "normalizer_fn": batch_normalization.batch_norm,
        "normalizer_params": normalization,
    }
    return scope_of(
        ([convolutions.conv2d], convolution),
        ([batch_normalization.batch_norm], normalization),
        ([pooling.max_pool2d], {"padding": "SAME"}),
    )


def root_stride(output_stride: int | None) -> float | None:
    """The stride left to the blocks once the root has taken its 4."""
    if output_stride is None:
        return None
    if output_stride % 4 != 0:
        raise ValueError("The output_stride needs to be a multiple of 4.")
    return output_stride / 4


def resnet(
    name: str, bottleneck: Callable[..., Any], root: dict[str, Any], end: Callable[[Any], Any]
) -> Callable[..., Any]:
    """The function that makes a ResNet of given blocks, under the default name `name`.

    `root` are settings of the first convolution; `end` follows the last block.
    """

    def net_of(
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
        layers = [convolutions.conv2d, bottleneck, stack_blocks_dense]
        trained = arg_scope([batch_normalization.batch_norm], is_training=is_training)
        with collecting(scope, name, inputs, layers, reuse) as (_, collection), trained:
            net, left = inputs, output_stride
            if include_root_block:
                left = root_stride(output_stride)  # type: ignore[assignment]
                with arg_scope([convolutions.conv2d], **root):
                    net = conv2d_same(net, 64, 7, 2, scope="conv1")
                net = pooling.max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = end(stack_blocks_dense(net, blocks, left))
            return _ended(net, num_classes, global_pool, collection)

    net_of.__name__ = net_of.__qualname__ = name
    net_of.default_image_size = 224  # type: ignore[attr-defined]
    return net_of


def _ended(
    net: Any, num_classes: int | None, global_pool: bool, collection: str
) -> tuple[Any, dict[str, Any]]:
    if global_pool:
        net = math.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
    if num_classes is None:
        return net, utils.convert_collection_to_dict(collection)
    logits = scores(net, num_classes, "logits", squeeze=False)
    collected = utils.convert_collection_to_dict(collection)
    return logits, collected | {"predictions": arrays.softmax(logits, scope="predictions")}


def deep(
    net_fn: Callable[..., Any],
    block_fn: Callable[..., Block],
    name: str,
    units: tuple[int, int, int, int],
) -> Callable[..., Any]:
    """The ResNet `name` with these numbers of units in its four blocks."""
    shapes = zip((64, 128, 256, 512), units, (2, 2, 2, 1), strict=True)
    blocks = [block_fn(f"block{i}", *shape) for i, shape in enumerate(shapes, 1)]

    def net_of(
        inputs: Any,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: Any = None,
        scope: Any = name,
    ) -> Any:
        rest = reuse, scope
        return net_fn(
            inputs, blocks, num_classes, is_training, global_pool, output_stride, True, *rest
        )

    net_of.__name__ = net_of.__qualname__ = name
    net_of.__doc__ = f"ResNet with {3 * sum(units) + 2} layers."
    net_of.default_image_size = 224  # type: ignore[attr-defined]
    return net_of
