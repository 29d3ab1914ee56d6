"""Batch normalization by constants, folded into the convolution before it and a bias after it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.lib.platform import tf_logging as logging
from weft.lib.tools.node_defs import constant, constant_value, copied, graph_of, nodes_by_name
from weft.lib.tools.node_defs import source as source_of

# Type -> the order of its inputs after the convolution, and where its epsilon is.
_OLD = (("mean", "var", "beta", "gamma"), "variance_epsilon")
_FUSED = (("gamma", "beta", "mean", "var"), "epsilon")
KINDS = {
    "BatchNormWithGlobalNormalization": _OLD,
    "FusedBatchNorm": _FUSED,
    "FusedBatchNormV2": _FUSED,
    "FusedBatchNormV3": _FUSED,
}
CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


def fold_batch_norms(input_graph_def: Any) -> Any:
    """A GraphDef whose convolutions have weights that are normalized already."""
    norms = [node.name for node in input_graph_def.node if node.op in KINDS]
    return fold_chosen_batch_norms(input_graph_def, norms)


def fold_chosen_batch_norms(input_graph_def: Any, chosen: Collection[str]) -> Any:
    """As `fold_batch_norms`, of the nodes with these names."""
    nodes = nodes_by_name(input_graph_def)
    dropped: set[str] = set()
    made: list[Any] = []
    for node in input_graph_def.node:
        if node.name not in chosen:
            continue
        convolution = nodes[source_of(node.input[0])]
        found = _constants(node, convolution, nodes)
        if found is None:
            continue
        made += _folded(node, convolution, found)
        dropped |= {node.name, convolution.name, *(each.name for each in found.values())}
    kept = [node for node in input_graph_def.node if node.name not in dropped]
    return graph_of([*kept, *made], input_graph_def)


def _constants(node: Any, convolution: Any, nodes: dict[str, Any]) -> dict[str, Any] | None:
    """The Const nodes of the weights and of what normalizes; None, with a warning, if not so."""
    if convolution.op not in CONVOLUTIONS:
        logging.warning(
            "Didn't find expected Conv2D or DepthwiseConv2dNative input to '%s'", node.name
        )
        return None
    roles, _ = KINDS[node.op]
    inputs = {"conv": (convolution, 1)} | {role: (node, i) for i, role in enumerate(roles, 1)}
    found = {role: nodes[source_of(of.input[i])] for role, (of, i) in inputs.items()}
    for role, each in found.items():
        if each.op != "Const":
            logging.warning(
                "Didn't find expected %s Constant input to '%s', found %s instead. Maybe because"
                " freeze_graph wasn't run first?", role, inputs[role][0].name, each,
            )  # fmt: skip
            return None
    channels = _channels(convolution, constant_value(found["conv"]))
    for role in roles:
        shape = constant_value(found[role]).shape
        if shape != (channels,):
            logging.warning(
                "Incorrect shape for %s, found %s, expected %s, for node %s",
                role, shape, (channels,), node.name,
            )  # fmt: skip
            return None
    return found


def _channels(convolution: Any, weights: np.ndarray) -> int:
    return int(np.prod(weights.shape[2:] if convolution.op != "Conv2D" else weights.shape[3:]))


def _folded(node: Any, convolution: Any, found: dict[str, Any]) -> list[Any]:
    values = {role: constant_value(each) for role, each in found.items()}
    _, epsilon = KINDS[node.op]
    scale = 1.0 / np.sqrt(values["var"].astype(np.float64) + node.attr[epsilon].f)
    if node.op != "BatchNormWithGlobalNormalization" or node.attr["scale_after_normalization"].b:
        scale = scale * values["gamma"]
    weights, mean = values["conv"], values["mean"]
    # A depthwise convolution has its channels in two dimensions.
    by_channel = scale.reshape(weights.shape[2:] if convolution.op != "Conv2D" else -1)
    scaled = constant(found["conv"].name, (weights * by_channel).astype(weights.dtype))
    offset_value = (values["beta"] - mean * scale).astype(mean.dtype)
    offset = constant(f"{convolution.name}_bn_offset", offset_value)
    bias = NodeDef(name=node.name, op="BiasAdd", input=[convolution.name, offset.name])
    bias.attr["T"].CopyFrom(convolution.attr["T"])
    bias.attr["data_format"].CopyFrom(convolution.attr["data_format"])
    return [scaled, copied(convolution), offset, bias]
