"""tf.contrib.receptive_field: the part of an image that a number of a network depends on.

A layer is a pair of `_Window`s, one for each axis; going back from the output, the field of a node
grows by the windows of the layers that it feeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weft.graph.graph import Graph
from weft.graph.tensor import Tensor
from weft.graph.tensor_proto import make_ndarray
from weft.lib.platform import tf_logging as logging

__all__ = ["compute_receptive_field_from_graph_def", "get_compute_order"]
_UNCHANGED = frozenset(
    "Add AddV2 BiasAdd Cast Ceil ConcatV2 Const Floor FusedBatchNorm Identity Log Mul Pow RealDiv "
    "Relu Relu6 Round Rsqrt Softplus Sub VariableV2 LRN GreaterEqual".split()
)
# Places in shapes of images: the width comes first in what is returned.
_AXES = (("horizontal", 2), ("vertical", 1))


@dataclass(frozen=True)
class _Window:
    """The window of a layer along one axis; None is what depends on the size of the image."""

    size: int = 1
    stride: int = 1
    before: int | None = 0
    total: int | None = 0

    def outputs(self, length: int | None) -> int | None:
        """The number of windows along an image."""
        if length is None or self.total is None:
            return None
        return -(-(length + self.total - self.size + 1) // self.stride)


@dataclass(frozen=True)
class _Field:
    """The field of a node along one axis, as the output sees it."""

    size: int = 1
    stride: int = 1
    padding: int | None = 0

    def through(self, window: _Window) -> _Field:
        """The field of the input of a layer whose output has this field."""
        size = window.stride * self.size + window.size - window.stride
        known = None not in (self.padding, window.before)
        padding = window.stride * self.padding + window.before if known else None  # type: ignore[operator]
        return _Field(size, window.stride * self.stride, padding)

    def joined(self, other: _Field, direction: str) -> _Field:
        """The larger of two fields that meet at a node; ValueError where they do not line up."""
        if self.padding is not None and other.padding is not None:
            said = "Graph is not aligned since {} from different paths is different in {} direction"
            if self.stride != other.stride:
                raise ValueError(said.format("effective stride", direction))
            if (self.size - 1) / 2 - self.padding != (other.size - 1) / 2 - other.padding:
                raise ValueError(said.format("center shift", direction))
        return other if self.size < other.size else self


# ---- layers --------------------------------------------------------------------------------------


class _Layers:
    """The nodes of a GraphDef as layers."""

    def __init__(self, nodes: dict[str, Any]) -> None:
        self._nodes = nodes
        self._readers: dict[str, Callable[..., list[tuple[int, int]]]] = {
            "Conv2D": self._convolution,
            "DepthwiseConv2dNative": self._convolution,
            "MaxPool": self._pool,
            "AvgPool": self._pool,
            "MaxPoolV2": self._pool_v2,
        }

    def windows(self, node: Any, size: Any = None) -> list[_Window] | None:
        """The windows of a layer on an image of a size [height, width]; None: not known."""
        if node.op in _UNCHANGED:
            return [_Window(), _Window()]
        if node.op == "Pad":
            return self._pad(node)
        if node.op not in self._readers:
            return None
        lengths = [None if size is None else size[at - 1] for _, at in _AXES]
        pairs = self._readers[node.op](node)
        return [_padded(node, *pair, length) for pair, length in zip(pairs, lengths, strict=True)]

    def _value(self, name: str, suffix: str, what: str) -> np.ndarray:
        if not name.endswith(suffix):
            raise ValueError(f"{what} name does not end with '{suffix}'")
        return make_ndarray(self._nodes[name].attr["value"].tensor)

    def _convolution(self, node: Any) -> list[tuple[int, int]]:
        read = node.input[1]
        if not read.endswith("/read"):
            raise ValueError("Weight layer's name input to conv layer does not end with '/read'")
        name = read.removesuffix("/read")
        weights = self._nodes[name]
        shapes = {
            "VariableV2": weights.attr["shape"].shape.dim,
            "Const": weights.attr["value"].tensor.tensor_shape.dim,
        }
        if weights.op not in shapes:
            raise ValueError(
                f"Weight layer {name} is not of type VariableV2 or Const: {weights.op}"
            )
        sizes = [dim.size for dim in shapes[weights.op]]
        if len(sizes) != 4:
            raise ValueError(
                f"Weight layer {name} does not have rank 4. Instead, it has: {len(sizes)}"
            )
        strides = node.attr["strides"].list.i
        return [(sizes[at - 1], strides[at]) for _, at in _AXES]

    def _pool(self, node: Any) -> list[tuple[int, int]]:
        return _pooled(node.attr["ksize"].list.i, node.attr["strides"].list.i)

    def _pool_v2(self, node: Any) -> list[tuple[int, int]]:
        sizes = self._value(node.input[1], "/ksize", "Kernel size")
        return _pooled(sizes, self._value(node.input[2], "/strides", "Strides"))

    def _pad(self, node: Any) -> list[_Window]:
        edges = self._value(node.input[1], "/paddings", "Padding layer")
        for place, which in ((0, "first"), (3, "last")):
            if edges[place].any():
                raise ValueError(f"padding is not zero for {which} tensor dim")
        return [_Window(before=int(edges[at][0]), total=int(edges[at].sum())) for _, at in _AXES]


def _pooled(sizes: Any, strides: Any) -> list[tuple[int, int]]:
    for place, which in ((0, "first"), (3, "last")):
        if sizes[place] != 1:
            raise ValueError(f"pool ksize for {which} dim is not 1")
    return [(int(sizes[at]), int(strides[at])) for _, at in _AXES]


def _padded(node: Any, size: int, stride: int, length: int | None) -> _Window:
    """The window of a convolution or pool, with its padding as far as it is known."""
    kind = node.attr["padding"].s
    if kind == b"VALID":
        return _Window(size, stride)
    if kind != b"SAME":
        raise ValueError(f"Invalid padding operation {kind}")
    if length is not None:
        total = max(size - (length % stride or stride), 0)
        return _Window(size, stride, total // 2, total)
    if size == 1 or stride == 1:
        total = 0 if size == 1 else size - 1
        return _Window(size, stride, total // 2, total)
    if stride == 2 and size % 2 == 0:
        return _Window(size, stride, (size - 1) // 2, None)
    logging.warning(
        "Padding depends on input size, which means that the effective padding may be different "
        "depending on the input image dimensionality. In this case, alignment check will be "
        "skipped. If you know the input resolution, please set it."
    )
    return _Window(size, stride, None, None)


# ---- order ---------------------------------------------------------------------------------------


class NodeInfo(NamedTuple):
    """A node, its place in the order of computation, and the sizes of its input and output."""

    order: int
    node: Any
    input_size: Any
    output_size: Any


def get_compute_order(
    graph_def: Any, input_node_name: str = "", input_node_size: Any = None
) -> tuple[dict[str, NodeInfo], dict[str, Any]]:
    """(`NodeInfo` by name, nodes by name) of a GraphDef, for an input image of a size."""
    nodes = {node.name: node for node in graph_def.node}
    layers, found = _Layers(nodes), {}
    for name in _by_inputs(nodes, input_node_name):
        node = nodes[name]
        if name == input_node_name:
            found[name] = NodeInfo(0, node, None, input_node_size)
            continue
        before = [found[each] for each in _inputs(node)]
        size = before[0].output_size if before else None
        windows = layers.windows(node, size) if size is not None else None
        made = None
        if size is not None:
            across, down = windows or (None, None)
            made = [
                across.outputs(size[0]) if across else None,
                down.outputs(size[1]) if down else None,
            ]
        order = max((each.order + 1 for each in before), default=0)
        found[name] = NodeInfo(order, node, size, made)
    return found, nodes


def _inputs(node: Any) -> list[str]:
    return [each.partition(":")[0] for each in node.input if not each.startswith("^")]


def _by_inputs(nodes: dict[str, Any], first: str) -> list[str]:
    """Names in an order in which inputs come before what they feed; `first` needs none."""
    order: dict[str, None] = {}
    for start in nodes:
        waiting = [(start, iter(() if start == first else _inputs(nodes[start])))]
        while waiting:
            left = waiting[-1][1]
            following = next((each for each in left if each not in order), None)
            if following is None:
                order.setdefault(waiting.pop()[0])
            else:
                needed = () if following == first else _inputs(nodes[following])
                waiting.append((following, iter(needed)))
    return list(order)


# ---- fields --------------------------------------------------------------------------------------


class ReceptiveField:
    """The size, stride and padding of a field, each (horizontal, vertical)."""

    def __init__(self, size: Any, stride: Any, padding: Any) -> None:
        self.size, self.stride, self.padding = map(np.asarray, (size, stride, padding))

    def _chosen(self, points: Any, axis: Any, what: str) -> tuple[Any, list[int]]:
        axes = list(range(self.size.size) if axis is None else axis)
        given = np.asarray(points)
        if given.shape[-1] != len(axes):
            raise ValueError(
                f"Dimensionality of the {what} ({given.shape[-1]}) does not match dimensionality "
                f"of `axis` ({len(axes)})"
            )
        return given, axes

    def compute_input_center_coordinates(self, y: Any, axis: Any = None) -> Any:
        """The centers in the image of the fields of some outputs."""
        at, axes = self._chosen(y, axis, "feature coordinates `y`")
        return at * self.stride[axes] - self.padding[axes] + (self.size[axes] - 1) / 2

    def compute_feature_coordinates(self, x: Any, axis: Any = None) -> Any:
        """The outputs whose fields have their centers at some points of the image."""
        at, axes = self._chosen(x, axis, "input center coordinates `x`")
        return (at + self.padding[axes] - (self.size[axes] - 1) / 2) / self.stride[axes]

    def __iter__(self) -> Any:
        return iter(np.concatenate([self.size, self.stride, self.padding]))


def compute_receptive_field_from_graph_def(
    graph_def: Any,
    input_node: Any,
    output_node: Any,
    stop_propagation: Any = None,
    input_resolution: Any = None,
) -> ReceptiveField:
    """The field of `output_node` in the image that is `input_node`.

    Args:
        graph_def: a GraphDef or a graph, of convolutions, pools and operations on each element.
        input_node, output_node: nodes by name, or their tensors.
        stop_propagation: prefixes of the names of nodes whose inputs do not count.
        input_resolution: the size [height, width] of the image, on which paddings may depend.

    Returns:
        A `ReceptiveField`, which unpacks into sizes, strides and paddings, horizontal first.
    """
    definition = graph_def.as_graph_def() if isinstance(graph_def, Graph) else graph_def
    source, target = (
        each.op.name if isinstance(each, Tensor) else each for each in (input_node, output_node)
    )
    info, nodes = get_compute_order(definition, source, input_resolution)
    if target not in nodes:
        raise ValueError("Output node was not found")
    layers, stops = _Layers(nodes), tuple(stop_propagation or ())
    fields: dict[str, list[_Field]] = {target: [_Field(), _Field()]}
    for name in sorted(info, key=lambda each: -info[each].order):
        if name == source:
            break
        if name in fields:
            _spread(fields, layers, info[name], stops)
    if source not in fields:
        raise ValueError("Input node was not found")
    across, down = fields[source]
    return ReceptiveField(
        *((getattr(across, part), getattr(down, part)) for part in ("size", "stride", "padding"))
    )


def _spread(fields: Any, layers: _Layers, info: NodeInfo, stops: tuple[str, ...]) -> None:
    """The field of a node becomes that of its inputs, through its windows."""
    node = info.node
    windows = layers.windows(node, info.input_size)
    if windows is None:
        raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")
    made = [own.through(each) for own, each in zip(fields[node.name], windows, strict=True)]
    for name in node.input:
        if name.startswith("^") or (stops and name.startswith(stops)):
            continue
        known = fields.get(name.partition(":")[0])
        fields[name.partition(":")[0]] = made if known is None else [
            before.joined(now, direction)
            for before, now, (direction, _) in zip(known, made, _AXES, strict=True)
        ]  # fmt: skip
