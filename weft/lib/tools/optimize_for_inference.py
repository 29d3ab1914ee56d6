"""optimize_for_inference: a trained graph without what only training needs, and folded."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.core import dtypes
from weft.graph.graph_util import remove_training_nodes
from weft.lib.tools import command_line
from weft.lib.tools.batch_norms import fold_batch_norms
from weft.lib.tools.node_defs import (
    constant,
    graph_of,
    listed,
    nodes_by_name,
    read_message,
    source,
    write_message,
)
from weft.lib.tools.strip_unused import strip_unused


def optimize_for_inference(
    input_graph_def: Any,
    input_node_names: list[str],
    output_node_names: list[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> Any:
    """A GraphDef that computes the outputs from the inputs with less work."""
    ends = input_node_names, output_node_names
    passes = [
        lambda graph: strip_unused(graph, *ends, placeholder_type_enum),
        lambda graph: remove_training_nodes(graph, output_node_names),
        fold_batch_norms,
        lambda graph: fuse_resize_and_conv(graph, output_node_names),
    ]
    graph = _valid(input_graph_def)
    for each in passes[:3] if toco_compatible else passes:
        graph = each(graph)
    return _valid(graph)


def _valid(graph_def: Any) -> Any:
    ensure_graph_is_valid(graph_def)
    return graph_def


def ensure_graph_is_valid(graph_def: Any) -> None:
    """ValueError if a name is there twice, or an input is not there."""
    nodes = nodes_by_name(graph_def)
    edges = ((node.name, name) for node in graph_def.node for name in node.input)
    for user, name in edges:
        if source(name) not in nodes:
            raise ValueError("Input for ", user, " not found: ", name)


def fuse_resize_and_conv(input_graph_def: Any, output_node_names: list[str]) -> Any:
    """A GraphDef with convolutions that resize and pad their input themselves."""
    nodes = nodes_by_name(input_graph_def)
    uses = Counter(source(name) for node in input_graph_def.node for name in node.input)
    uses.update(output_node_names)
    made: list[Any] = []
    for node in input_graph_def.node:
        if node.op != "Conv2D":
            continue
        before = nodes[source(node.input[0])]
        pad = before if before.op == "MirrorPad" else None
        resize = before if pad is None else nodes[source(pad.input[0])]
        if resize.op != "ResizeBilinear":
            resize = None
        if pad is None and resize is None:
            continue
        uses[node.name] = 0
        uses.subtract(each.name for each in (pad, resize) if each is not None)
        made += _fused(node, pad, resize)
    kept = [node for node in input_graph_def.node if uses[node.name] > 0]
    return graph_of([*kept, *made], input_graph_def)


def _fused(convolution: Any, pad: Any, resize: Any) -> list[Any]:
    fused = NodeDef(name=convolution.name)
    fused.op = "FusedPadConv2D" if resize is None else "FusedResizeAndPadConv2D"
    made = [fused]
    if pad is None:
        made.insert(0, constant(f"{convolution.name}_dummy_paddings", np.zeros([4, 2], np.int32)))
        paddings = made[0].name
        fused.attr["mode"].s = b"REFLECT"
    else:
        paddings = pad.input[1]
        fused.attr["mode"].CopyFrom(pad.attr["mode"])
    first = [pad.input[0]] if resize is None else list(resize.input[:2])
    fused.input.extend([*first, paddings, convolution.input[1]])
    if resize is not None:
        fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    for attr in ("T", "strides", "padding"):
        fused.attr[attr].CopyFrom(convolution.attr[attr])
    return made


_FLAGS: tuple[command_line.Flag, ...] = (
    ("input", "", "file with the GraphDef"),
    ("output", "", "file that the GraphDef is written to"),
    ("input_names", "", "inputs, with commas"),
    ("output_names", "", "outputs, with commas"),
    ("frozen_graph", True, "whether the file is a binary GraphDef, not text"),
    ("placeholder_type_enum", str(dtypes.float32.as_datatype_enum), "types of inputs, with commas"),
    ("toco_compatible", False, "whether only operations of TOCO's may come"),
)


def run_main() -> None:
    """The command `optimize_for_inference`."""
    flags = command_line.parse(_FLAGS)
    kinds = [int(each) for each in flags.placeholder_type_enum.split(",")]
    optimized = optimize_for_inference(
        read_message(GraphDef(), flags.input, flags.frozen_graph, "graph"),
        listed(flags.input_names), listed(flags.output_names),
        kinds[0] if len(kinds) == 1 else kinds, flags.toco_compatible,
    )  # fmt: skip
    write_message(optimized, flags.output, flags.frozen_graph)
