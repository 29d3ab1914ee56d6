"""tf.graph_util: rewriting GraphDefs for use without the program that made them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.core.walk import reached
from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor_proto import make_tensor_proto

# Operations through which a handle reaches the node that reads it.
_PASS_HANDLES = frozenset({"Identity", "Switch", "Merge", "Enter", "Exit", "NextIteration"})
_TOUCH_VARIABLES = frozenset(
    "Variable VariableV2 Assign AssignAdd AssignSub ScatterAdd ScatterSub ScatterUpdate"
    " TruncatedNormal Queue".split()
)


def _source(name: str) -> str:
    """The node that an input of a NodeDef (`node`, `node:1`, `^node`) comes from."""
    return name.lstrip("^").partition(":")[0]


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether TensorFlow has the node's kernel on the CPU only; a node is an op or a NodeDef."""
    node_def = node.node_def if isinstance(node, Operation) else node
    if pin_variables_on_cpu and node_def.op in _TOUCH_VARIABLES:
        return True
    int32, string = dtypes.int32.as_datatype_enum, dtypes.string.as_datatype_enum
    if node_def.op == "Const":
        return node_def.attr["dtype"].type in (int32, string)
    if node_def.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return bool(node_def.attr["T"].type == int32)
    if node_def.op == "Cast":
        return bool(node_def.attr["SrcT"].type == int32)
    return False


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The part of a GraphDef that the nodes named `dest_nodes` depend on, in its order."""
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, (str, bytes)):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    kept = _needed(nodes, dest_nodes)
    out = GraphDef()
    out.node.extend(node for node in graph_def.node if node.name in kept)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def _needed(nodes: dict[str, Any], wanted: Iterable[str]) -> set[str]:
    def before(name: str) -> list[str]:
        node = nodes[name]
        # A node that shares its device with another needs it to exist.
        groups = [g.decode() for g in node.attr["_class"].list.s] if "_class" in node.attr else []
        shared = [g.removeprefix("loc:@") for g in groups if g.startswith("loc:@")]
        return [each for each in (*map(_source, node.input), *shared) if each in nodes]

    return reached([name for name in wanted if name in nodes], before)


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """The shape of the tensor that an input of a NodeDef names."""
    return graph.get_tensor_by_name(input_name if ":" in input_name else f"{input_name}:0").shape


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: Sequence[str],
    variable_names_whitelist: Collection[str] | None = None,
    variable_names_blacklist: Collection[str] | None = None,
) -> Any:
    """The part of a GraphDef that computes the outputs, with variables frozen at their values.

    Only variables of the whitelist (all of them if None) that are not on the blacklist are frozen.
    """
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    part = extract_sub_graph(input_graph_def, output_node_names)
    variables = {n.name: n for n in part.node if n.op in ("Variable", "VariableV2", "VarHandleOp")}
    frozen = {
        name: node
        for name, node in variables.items()
        if (variable_names_whitelist is None or name in variable_names_whitelist)
        and (variable_names_blacklist is None or name not in variable_names_blacklist)
    }
    names = list(frozen)
    values = sess.run([_value_of(sess.graph, frozen[name]) for name in names]) if names else []
    arrays = dict(zip(names, values, strict=True))
    handles = _handle_types(part, frozen)
    live = _handle_types(part, {n: v for n, v in variables.items() if n not in frozen})
    out = GraphDef()
    for node in part.node:
        if node.name in arrays:
            out.node.append(_constant(node.name, node.attr["dtype"], arrays[node.name]))
        elif node.name in handles:
            out.node.append(_retyped(node, handles[node.name]))
        elif node.op in ("ReadVariableOp", "ResourceGather") and _source(node.input[0]) not in live:
            out.node.extend(_frozen_read(node, handles))
        else:
            out.node.append(node)
    out.library.CopyFrom(part.library)
    out.versions.CopyFrom(part.versions)
    return out


def _value_of(graph: Graph, node: Any) -> Any:
    """The tensor to fetch for the value of a variable's node."""
    if node.op != "VarHandleOp":
        return f"{node.name}:0"
    handle = graph.get_operation_by_name(node.name).outputs[0]
    for reader in handle.consumers():
        if reader.definition.reads_variable and reader.attrs.get("dtype") is not None:
            return reader.outputs[0]
    raise ValueError(f"Cannot find an operation that reads the variable {node.name!r}.")


def _handle_types(graph_def: Any, variables: dict[str, Any]) -> dict[str, Any]:
    """For every node that hands on the handle of a variable: the variable's dtype attr."""
    found = {
        name: node.attr["dtype"] for name, node in variables.items() if node.op == "VarHandleOp"
    }
    resource = dtypes.resource.as_datatype_enum
    passing = [
        node
        for node in graph_def.node
        if node.op in _PASS_HANDLES and node.attr["T"].type == resource
    ]
    # Loops are cycles, so once around is not enough.
    grows = True
    while grows:
        grows = False
        for node in passing:
            sources = [_source(name) for name in node.input if not name.startswith("^")]
            source = next((s for s in sources if s in found), None)
            if node.name not in found and source is not None and _is_data(node, source):
                found[node.name] = found[source]
                grows = True
    return found


def _is_data(node: Any, source: str) -> bool:
    """Whether `source` is what the node hands on, not the condition of a Switch."""
    return node.op != "Switch" or _source(node.input[0]) == source


def _constant(name: str, dtype: Any, value: Any) -> Any:
    from tensorboard.compat.proto.attr_value_pb2 import AttrValue
    from tensorboard.compat.proto.node_def_pb2 import NodeDef

    stored = AttrValue(tensor=make_tensor_proto(value, dtype=dtype.type))
    return NodeDef(name=name, op="Const", attr={"dtype": dtype, "value": stored})


def _retyped(node: Any, dtype: Any) -> Any:
    """A node that handed on a handle and now hands on a value."""
    made = type(node)()
    made.CopyFrom(node)
    made.attr["T"].CopyFrom(dtype)
    # Noted for the handle, which is a scalar.
    made.attr.pop("_output_shapes", None)
    return made


def _frozen_read(node: Any, handles: dict[str, Any]) -> list[Any]:
    """The nodes that replace one that reads through a handle."""
    from tensorboard.compat.proto.node_def_pb2 import NodeDef

    if _source(node.input[0]) not in handles:
        raise ValueError(f"Cannot find the variable that is an input to the {node.op}.")
    if node.op == "ReadVariableOp":
        made = NodeDef(name=node.name, op="Identity", input=node.input, device=node.device)
        made.attr["T"].CopyFrom(node.attr["dtype"])
        _copy_class(node, made)
        return [made]
    if node.attr["batch_dims"].i:
        raise ValueError("batch_dims != 0 is not supported by freeze_graph.")
    indices = node.attr["Tindices"]
    axis = _constant(f"{node.name}/axis", indices, 0)
    data = [name for name in node.input if not name.startswith("^")]
    control = [name for name in node.input if name.startswith("^")]
    made = NodeDef(name=node.name, op="GatherV2", input=[*data, axis.name, *control])
    made.device = node.device
    made.attr["Tparams"].CopyFrom(node.attr["dtype"])
    made.attr["Tindices"].CopyFrom(indices)
    made.attr["Taxis"].CopyFrom(indices)
    _copy_class(node, made)
    return [axis, made]


def _copy_class(old: Any, new: Any) -> None:
    if "_class" in old.attr:
        new.attr["_class"].CopyFrom(old.attr["_class"])


def remove_training_nodes(input_graph: Any, protected_nodes: Collection[str] | None = None) -> Any:
    """A GraphDef without checks of numbers and without Identity nodes that order nothing."""
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    protected = set(protected_nodes or ())
    dropped = {
        node.name
        for node in input_graph.node
        if node.op == "CheckNumerics" and node.name not in protected
    }
    kept = [
        _with_inputs(node, [n for n in node.input if n.lstrip("^") not in dropped])
        for node in input_graph.node
        if node.name not in dropped
    ]
    waits = {node.name for node in kept if any(n.startswith("^") for n in node.input)}
    awaited = {n[1:] for node in kept for n in node.input if n.startswith("^")}
    spliced = {
        node.name: node.input[0]
        for node in kept
        if node.op == "Identity" and node.name not in protected | waits | awaited
    }
    out = GraphDef()
    for node in kept:
        if node.name not in spliced:
            out.node.append(_with_inputs(node, [_resolved(n, spliced) for n in node.input]))
    return out


def _with_inputs(node: Any, inputs: list[str]) -> Any:
    made = type(node)()
    made.CopyFrom(node)
    del made.input[:]
    made.input.extend(inputs)
    return made


def _resolved(name: str, spliced: dict[str, str]) -> str:
    while name.lstrip("^") in spliced:
        name = spliced[name.lstrip("^")]
    return name
