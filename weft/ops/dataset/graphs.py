"""Datasets as graphs that stand for them, and back.

A graph has the nodes that make a dataset, and at its end a `_Retval` by the name of "dataset".
"""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError

from weft.core import dtypes, errors
from weft.graph import shape_fn as s
from weft.graph.function_def import Body
from weft.graph.graph import Graph
from weft.graph.graph_def import fill_node, graph_def, new_graph_def
from weft.graph.importer import import_graph_def
from weft.graph.op_def import op
from weft.graph.operation import Operation
from weft.graph.traits import HOST
from weft.ops.dataset.objects import Dataset, checked_dataset
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import scalar, string

_END, _RETURN = "dataset", "_Retval"


def _in_order(op: Operation, seen: dict[Operation, str]) -> None:
    """Gives an operation a name, after all that it depends on."""
    if op in seen:
        return
    if op.type.startswith("Placeholder"):
        raise errors.UnimplementedError(
            None, None, f"{op.name} ({op.type}) has no value that a graph could hold."
        )
    for tensor in op.inputs:
        _in_order(tensor.op, seen)
    seen[op] = f"{op.type}/_{len(seen)}"


def _input(tensor: Any, names: dict[Operation, str]) -> str:
    index = tensor.value_index
    return names[tensor.op] + (f":{index}" if index else "")


@op(
    "DatasetToGraph", inputs="input_dataset: variant", outputs="graph: string",
    attrs="stateful_whitelist: list(string) >= 0 = []", shape=s.scalar, traits=HOST,
)  # fmt: skip
def dataset_to_graph_(xp: Any, ctx: Any, input_dataset: Dataset) -> Any:
    checked_dataset(input_dataset)
    made = ctx.node.op.inputs[0]
    names: dict[Operation, str] = {}
    _in_order(made.op, names)
    found = new_graph_def()
    for each, name in names.items():
        node = found.node.add(name=name, op=each.type)
        fill_node(node, each)
        del node.input[:]
        node.input.extend(_input(tensor, names) for tensor in each.inputs)
        node.attr.pop("_class", None)
    end = found.node.add(name=_END, op=_RETURN, input=[_input(made, names)])
    end.attr["T"].type, end.attr["index"].i = dtypes.variant.as_datatype_enum, 0
    whole = graph_def(ctx.node.op.graph)
    found.library.CopyFrom(whole.library)
    found.versions.CopyFrom(whole.versions)
    return scalar(found.SerializeToString())


@op(
    "DatasetFromGraph", inputs="graph_def: string", outputs="handle: variant", shape=s.scalar,
    traits=HOST,
)  # fmt: skip
def dataset_from_graph_(xp: Any, ctx: Any, graph_def: Any) -> Dataset:
    message = new_graph_def()
    try:
        message.ParseFromString(string(graph_def))
    except DecodeError:
        raise invalid("Unable to parse the graph of a dataset.") from None
    ends = [node for node in message.node if node.op == _RETURN]
    if len(ends) != 1:
        raise invalid(f"The graph of a dataset returns one value, not {len(ends)}.")
    wanted = ends[0].input[0]
    message.node.remove(ends[0])
    graph = Graph()
    with graph.as_default():
        name = wanted if ":" in wanted else f"{wanted}:0"
        made: Any = import_graph_def(message, return_elements=[name], name="")
    return ctx.evaluate(Body(graph, [], made))[0]
