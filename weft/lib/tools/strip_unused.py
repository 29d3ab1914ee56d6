"""strip_unused: the part of a graph between its inputs, which become placeholders, and outputs."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.core import dtypes
from weft.graph.graph_util import extract_sub_graph
from weft.lib.tools import command_line
from weft.lib.tools.node_defs import graph_of, read_message, say, write_message
from weft.storage import file_io


def strip_unused(
    input_graph_def: Any,
    input_node_names: list[str],
    output_node_names: list[str],
    placeholder_type_enum: Any,
) -> Any:
    """A GraphDef of what the outputs need of the inputs; a type for all inputs, or a list."""
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    kinds = placeholder_type_enum
    if not isinstance(kinds, list):
        kinds = [kinds] * len(input_node_names)
    inputs = dict(zip(input_node_names, kinds, strict=False))
    missing = set(inputs) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    nodes = [
        _placeholder(node, inputs[node.name]) if node.name in inputs else node
        for node in input_graph_def.node
    ]
    return extract_sub_graph(graph_of(nodes, GraphDef()), output_node_names)


def _placeholder(node: Any, kind: int) -> Any:
    made = NodeDef(name=node.name, op="Placeholder")
    made.attr["dtype"].type = kind
    for attr in ("_output_shapes", "shape"):
        if attr in node.attr:
            made.attr[attr].CopyFrom(node.attr[attr])
    return made


def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: Any,
) -> int | None:
    """`strip_unused` from one file to another; -1 when something was not given."""
    if not file_io.exists(input_graph):
        say(f"Input graph file '{input_graph}' does not exist!")
        return -1
    if not output_node_names:
        say("You need to supply the name of a node to --output_node_names.")
        return -1
    stripped = strip_unused(
        read_message(GraphDef(), input_graph, input_binary, "graph"),
        input_node_names.split(","), output_node_names.split(","), placeholder_type_enum,
    )  # fmt: skip
    write_message(stripped, output_graph, output_binary)
    say(f"{len(stripped.node)} ops in the final graph.")
    return None


_FLAGS: tuple[command_line.Flag, ...] = (
    ("input_graph", "", "file with the GraphDef"),
    ("input_binary", False, "whether it is binary, not text"),
    ("output_graph", "", "file that the GraphDef is written to"),
    ("output_binary", True, "whether that is binary, not text"),
    ("input_node_names", "", "inputs, with commas"),
    ("output_node_names", "", "outputs, with commas"),
    ("placeholder_type_enum", dtypes.float32.as_datatype_enum, "the type of the inputs"),
)


def run_main() -> None:
    """The command `strip_unused`."""
    strip_unused_from_files(**vars(command_line.parse(_FLAGS)))
