"""The common end of AlexNet, OverFeat and VGG: three layers that are convolutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.lib.contrib.framework.arg_scope import arg_scope
from weft.lib.contrib.layers import arrays, convolutions, dense, pooling, utils
from weft.ops.array import array
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import (
    constant_initializer,
    truncated_normal_initializer,
    zeros_initializer,
)

Net = tuple[Any, dict[str, Any]]
LAYERS = [convolutions.conv2d, dense.fully_connected, pooling.max_pool2d]


@contextmanager
def collecting(
    scope: Any,
    default_name: str,
    inputs: Any,
    layers: list[Any],
    reuse: Any = None,
    of_variables: bool = False,
) -> Iterator[tuple[Any, str]]:
    """A variable scope in which what `layers` give is collected: the scope, and the collection.

    The collection is named after the scope of operations, or after that `of_variables`.
    """
    with vs.variable_scope(scope, default_name, [inputs], reuse=reuse) as opened:
        name = opened.name if of_variables else opened.original_name_scope
        collection = f"{name}_end_points"
        with arg_scope(layers, outputs_collections=collection):
            yield opened, collection


def convolved(
    net: Any, layers: list[tuple[int, int, dict[str, Any]]], window: int, **pool: Any
) -> Any:
    """Convolutions of these (depth, window, settings), pooled after the first two and the last."""
    for i, (depth, size, settings) in enumerate(layers, 1):
        net = convolutions.conv2d(net, depth, [size, size], scope=f"conv{i}", **settings)
        if i in (1, 2, len(layers)):
            net = pooling.max_pool2d(net, [window, window], scope=f"pool{i}", **pool)
    return net


def classified(
    net: Any,
    window: int,
    width: int,
    num_classes: int,
    is_training: Any,
    keep_prob: float,
    **last: Any,
) -> Any:
    """fc6, fc7 and fc8 with dropout between them."""
    hidden = {6: (width, window, {"padding": "VALID"}), 7: (4096, 1, {})}
    for i, (units, size, settings) in hidden.items():
        net = convolutions.conv2d(net, units, [size, size], scope=f"fc{i}", **settings)
        net = arrays.dropout(net, keep_prob, is_training=is_training, scope=f"dropout{i}")
    last = {"activation_fn": None, "normalizer_fn": None, **last}
    return convolutions.conv2d(net, num_classes, [1, 1], scope="fc8", **last)


def small_start(build: Callable[[], Any]) -> Any:
    """`build` with small weights and biases of 0.1, as the older nets end."""
    with arg_scope(
        [convolutions.conv2d],
        weights_initializer=truncated_normal_initializer(0.0, 0.005),
        biases_initializer=constant_initializer(0.1),
    ):
        return build()


def finished(net: Any, scope: Any, collection: str, spatial_squeeze: bool) -> Net:
    """The logits and the end points by name."""
    end_points = utils.convert_collection_to_dict(collection)
    if spatial_squeeze:
        net = array.squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[scope.name + "/fc8"] = net
    return net, end_points


ZEROS = zeros_initializer()
