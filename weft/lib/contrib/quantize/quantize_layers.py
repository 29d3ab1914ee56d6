"""The layers of a graph whose weights and results are quantized, by patterns of operations.

A layer is a convolution or matrix product, then, where they are there, a correction, a bias, the
sum with a bypass, an activation, and the sum with another bypass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.quantize.graph_matcher import (
    GraphMatcher,
    MatchResult,
    OneofPattern,
    OpTypePattern,
    Pattern,
)
from weft.lib.platform import tf_logging as logging

_ANY, _SUM = "*", "Add|AddV2"
_LAYERS = "Conv2D|DepthwiseConv2dNative|MatMul"


def _either_way(types: str, *inputs: Any) -> OpTypePattern:
    return OpTypePattern(types, inputs=inputs, ordered_inputs=False)


_VARIABLE = OpTypePattern("Variable|VariableV2")
_PART = OpTypePattern("Identity", inputs=[_VARIABLE])
_PARTS = OpTypePattern("ConcatV2", inputs=[_PART, _ANY, _ANY])
_READ = OpTypePattern("Identity", inputs=[OneofPattern([_PART, _PARTS, _VARIABLE])])
_RESOURCE_READ = OpTypePattern("ReadVariableOp")
_FOLDED_WEIGHT = OpTypePattern("Mul")
_WEIGHTS = (_READ, _RESOURCE_READ, _FOLDED_WEIGHT)

_LAYER = _either_way(_LAYERS, _ANY, OneofPattern(_WEIGHTS))
# A dilated convolution stands between two operations that make and undo blocks.
_BLOCKS = OpTypePattern("BatchToSpaceND", inputs=[_LAYER, _ANY, _ANY])
_RESULT = OneofPattern([_BLOCKS, _LAYER])
_SEPARABLE = _either_way(_LAYERS, _RESULT, _ANY)
_CORRECTED = _either_way(_SUM, _either_way("Mul", _ANY, _RESULT), _ANY)
_FOLDED_BIAS = _either_way(_SUM, _CORRECTED, _ANY)
# A normalization with forced updates ends in an Identity.
_NORMALIZED = OpTypePattern("Identity", inputs=[_FOLDED_BIAS])
_BIAS = _either_way(f"{_SUM}|BiasAdd", _RESULT, _ANY)
_BYPASS = _either_way(_SUM, OneofPattern([_BIAS, _FOLDED_BIAS, _NORMALIZED]), _ANY)
_ACTIVATION = OpTypePattern(
    "Relu|Relu6|Identity",
    inputs=[OneofPattern([_BIAS, _FOLDED_BIAS, _NORMALIZED, _BYPASS, _LAYER])],
)
_LATE_BYPASS = _either_way(_SUM, _ANY, _ACTIVATION)


class LayerMatch(NamedTuple):
    """The operations of one layer, None where it has none of a kind."""

    layer_op: Operation
    weight_tensor: Tensor | None
    activation_op: Operation | None
    bypass_op: Operation | None = None
    post_activation_bypass_op: Operation | None = None
    bias_add_op: Operation | None = None


class _Kind(NamedTuple):
    """A form of layers: the pattern of their ends, and which patterns play which part."""

    end: Pattern
    activation: tuple[Pattern, ...]
    weights: tuple[Pattern, ...] = _WEIGHTS
    bypass: tuple[Pattern, ...] = ()
    late_bypass: tuple[Pattern, ...] = ()
    bias: tuple[Pattern, ...] = ()


_BIASES = (_BIAS, _FOLDED_BIAS)
# From the largest to the smallest, so that a layer is found whole. The last layer of a network has
# no activation, the first half of a separable convolution no bias either.
_KINDS = (
    _Kind(_LATE_BYPASS, (_ACTIVATION,), _WEIGHTS, (_BYPASS,), (_LATE_BYPASS,), _BIASES),
    _Kind(_ACTIVATION, (_ACTIVATION,), _WEIGHTS, (_BYPASS,), bias=_BIASES),
    _Kind(OneofPattern(_BIASES), _BIASES),
    _Kind(_SEPARABLE, (_LAYER,), weights=(_READ, _RESOURCE_READ)),
)  # fmt: skip


def find(graph: Any) -> list[LayerMatch]:
    """Every layer of a graph, once."""
    found: dict[Operation, LayerMatch] = {}
    for kind in _KINDS:
        for result in GraphMatcher(kind.end).match_graph(graph):
            match = _read(kind, result)
            if match.layer_op in found:
                continue
            if kind.end is _ACTIVATION and _feeds_normalization(match.activation_op):
                continue
            found[match.layer_op] = match
    return list(found.values())


def _read(kind: _Kind, result: MatchResult) -> LayerMatch:
    def first(patterns: tuple[Pattern, ...], get: Any = result.get_op) -> Any:
        return next((each for each in map(get, patterns) if each is not None), None)

    return LayerMatch(
        first((_LAYER,)),
        first(kind.weights, result.get_tensor),
        first(kind.activation),
        first(kind.bypass),
        first(kind.late_bypass),
        first(kind.bias),
    )


def _feeds_normalization(activation: Any) -> bool:
    """Whether an Identity only passes a layer on to the statistics of a folded normalization."""
    if activation.type != "Identity" or len(activation.outputs) != 1:
        return False
    users = activation.outputs[0].consumers()
    found = len(users) == 1 and users[0].type in ("FusedBatchNorm", "FusedBatchNormV3")
    if found:
        logging.info(
            "Skipping quantizing %s, because it is the output of a conv/fc "
            "followed by a identity, feeding a fused batch norm.",
            activation.name,
        )
    return found
