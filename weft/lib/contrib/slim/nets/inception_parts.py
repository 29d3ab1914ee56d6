"""Parts of the Inception nets: a table of end points, and the layers after the last one.

A line of a table is an end point: `name = branches`, or one layer for one that is no mixture.
Branches are set apart by `|`, layers in a branch by blanks. A layer is

    depth@scope[:height x width][/stride][~deviation]

where a scope like `Conv2d_0b_5x5` says the size of its window unless it is given; without a
depth it is a pooling layer. The last layers of a branch may fork and be joined again (`+`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.graph.graph import GraphKeys
from weft.lib.contrib.framework.arg_scope import arg_scope, scope_of
from weft.lib.contrib.layers import arrays, batch_normalization, convolutions, dense, pooling
from weft.lib.contrib.layers.initializers import variance_scaling_initializer
from weft.lib.contrib.layers.regularizers import l2_regularizer
from weft.ops.array import array
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import truncated_normal_initializer

Net = tuple[Any, dict[str, Any]]
LAYERS = [convolutions.conv2d, pooling.max_pool2d, pooling.avg_pool2d]

_LAYER = re.compile(
    r"(?:(?P<depth>\d+)@)?(?P<scope>\w+?(?P<own>\d+x\d+))"
    r"(?::(?P<window>\d+x\d+))?(?:/(?P<stride>\d))?(?:~(?P<deviation>[\d.]+))?"
)


def depths(min_depth: int, depth_multiplier: float) -> Callable[[int], int]:
    """How deep a layer of the table is in a net that is thinner or thicker."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


class Table:
    """Builds the end points of a table, one by one."""

    def __init__(self, text: str, depth: Callable[[int], int], strided: dict[str, Any]) -> None:
        self.rows = [line.split(" = ") for line in text.strip().splitlines()]
        self.depth = depth
        self.strided = strided  # settings of layers in mixtures that have a stride

    def build(self, net: Any, end_points: dict[str, Any], last: str) -> bool:
        """Adds end points up to `last`; whether that was among them."""
        net = net if not end_points else list(end_points.values())[-1]
        for name, *branches in self.rows:
            net = self._mixed(net, name, branches[0]) if branches else self.layer(net, name, {})
            end_points[name.strip() if branches else _parsed(name)["scope"]] = net
            if last in end_points:
                return True
        return False

    def _mixed(self, net: Any, name: str, branches: str) -> Any:
        with vs.variable_scope(name.strip()):
            return array.concat(
                [self._branch(net, i, layers) for i, layers in enumerate(branches.split("|"))], 3
            )

    def _branch(self, net: Any, index: int, layers: str) -> Any:
        with vs.variable_scope(f"Branch_{index}"):
            for text in layers.split():
                fork = [self.layer(net, each, self.strided) for each in text.split("+")]
                net = fork[0] if len(fork) == 1 else array.concat(fork, 3)
        return net

    def layer(self, net: Any, text: str, strided: dict[str, Any]) -> Any:
        found = _parsed(text)
        settings: dict[str, Any] = {"scope": found["scope"]}
        if found["stride"]:
            settings.update(stride=int(found["stride"]), **strided)
        if found["deviation"]:
            settings["weights_initializer"] = truncated(float(found["deviation"]))
        window = [int(size) for size in (found["window"] or found["own"]).split("x")]
        if found["depth"]:
            return convolutions.conv2d(net, self.depth(int(found["depth"])), window, **settings)
        pool = pooling.max_pool2d if found["scope"].startswith("Max") else pooling.avg_pool2d
        return pool(net, window, **{"stride": 1, **settings})


def _parsed(text: str) -> dict[str, Any]:
    found = _LAYER.fullmatch(text.strip())
    assert found is not None, text
    return found.groupdict()


def truncated(deviation: float) -> Any:
    return truncated_normal_initializer(0.0, deviation)


def finished(net: Any, end_points: dict[str, Any], found: bool, last: str) -> Net:
    """The last end point and all of them."""
    if not found:
        raise ValueError(f"Unknown final endpoint {last}")
    return end_points[last], end_points


def fitting(net: Any, window: list[int]) -> list[int]:
    """The window, no larger than the images if their size is known."""
    height, width = net.dims[1:3]
    return window if None in (height, width) else [min(height, window[0]), min(width, window[1])]


def scores(net: Any, num_classes: int, scope: str, squeeze: bool, **settings: Any) -> Any:
    """A score for each class, at each place or for each image."""
    bare = {"activation_fn": None, "normalizer_fn": None, "scope": scope, **settings}
    logits = convolutions.conv2d(net, num_classes, [1, 1], **bare)
    return array.squeeze(logits, [1, 2], name="SpatialSqueeze") if squeeze else logits


def classified(
    net: Any,
    end_points: dict[str, Any],
    window: list[int],
    num_classes: int,
    keep_prob: float,
    prediction_fn: Callable[..., Any],
    squeeze: bool,
) -> Net:
    """Logits and predictions, as versions 2 and 3 end."""
    with vs.variable_scope("Logits"):
        size = fitting(net, window)
        pool = f"AvgPool_1a_{size[0]}x{size[1]}"
        net = pooling.avg_pool2d(net, size, padding="VALID", scope=pool)
        net = arrays.dropout(net, keep_prob=keep_prob, scope="Dropout_1b")
        end_points["PreLogits"] = net
        end_points["Logits"] = scores(net, num_classes, "Conv2d_1c_1x1", squeeze)
    end_points["Predictions"] = prediction_fn(end_points["Logits"], scope="Predictions")
    return end_points["Logits"], end_points


def inception_arg_scope(
    weight_decay: float, batch_norm: bool, var_collection: str, **settings: Any
) -> Any:
    """The settings that the published nets were trained with."""
    parameters = {
        "decay": 0.9997,
        "epsilon": 0.001,
        "updates_collections": GraphKeys.UPDATE_OPS,
        "variables_collections": {
            "beta": None,
            "gamma": None,
            "moving_mean": [var_collection],
            "moving_variance": [var_collection],
        },
        **settings,
    }
    convolution = {
        "weights_initializer": variance_scaling_initializer(),
        "activation_fn": nn_impl.relu,
        "normalizer_fn": batch_normalization.batch_norm if batch_norm else None,
        "normalizer_params": parameters if batch_norm else {},
    }
    regularized = {"weights_regularizer": l2_regularizer(weight_decay)}
    return scope_of(
        ([convolutions.conv2d, dense.fully_connected], regularized),
        ([convolutions.conv2d], convolution),
    )


@contextmanager
def opened(
    scope: Any, default_name: str, given: tuple[Any, ...], reuse: Any, is_training: Any
) -> Iterator[Any]:
    """The variable scope of a net that is trained, or is not."""
    trained = [batch_normalization.batch_norm, arrays.dropout]
    with vs.variable_scope(scope, default_name, list(given), reuse=reuse) as found:
        with arg_scope(trained, is_training=is_training):
            yield found
