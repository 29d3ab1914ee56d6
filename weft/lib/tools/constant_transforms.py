"""Rewrites of constants: computing, folding, rounding and packing them; see `transforms`."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.client.session import Session
from weft.core import dtypes
from weft.graph.graph import Graph
from weft.graph.graph_util import extract_sub_graph
from weft.graph.importer import import_graph_def
from weft.graph.op_def import REGISTRY
from weft.lib.tools import batch_norms
from weft.lib.tools.node_defs import constant, constant_value, copied, graph_of, nodes_by_name
from weft.lib.tools.node_defs import source as source_of
from weft.lib.tools.node_transforms import in_execution_order
from weft.lib.tools.transforms import Call, transform

_FEWEST = 16  # a smaller constant is not worth rounding


@transform
def fold_constants(graph_def: Any, call: Call) -> Any:
    """Computes what does not depend on the inputs."""
    known = _known(graph_def, call)
    consumed = {
        source_of(name)
        for node in graph_def.node
        if node.name not in known
        for name in node.input
    } | {source_of(name) for name in call.outputs}  # fmt: skip
    nodes = nodes_by_name(graph_def)
    wanted = [name for name in known if name in consumed and nodes[name].op != "Const"]
    values = _values(graph_def, wanted)
    made = [
        constant(node.name, *values[node.name]) if node.name in values else node
        for node in graph_def.node
    ]
    folded = extract_sub_graph(
        graph_of(made, graph_def), [source_of(name) for name in (*call.outputs, *call.inputs)]
    )
    for node in folded.node if call.one("clear_output_shapes", True) else ():
        node.attr.pop("_output_shapes", None)
    return folded


def _known(graph_def: Any, call: Call) -> list[str]:
    """Nodes with one output that follow from constants alone."""
    inputs = {source_of(name) for name in call.inputs}
    known: dict[str, None] = {}
    for node in in_execution_order(graph_def):
        definition = REGISTRY.get(node.op)
        if node.name in inputs or definition is None or definition.stateful:
            continue
        if node.op == "Const" or (
            node.input
            and all(name in known for name in node.input)
            and definition.single_output
            and not definition.control_flow
        ):
            known[node.name] = None
    return list(known)


def _values(graph_def: Any, names: list[str]) -> dict[str, tuple[np.ndarray, Any]]:
    """Node -> its value and type."""
    if not names:
        return {}
    with Graph().as_default() as graph, Session(graph=graph) as session:
        import_graph_def(extract_sub_graph(graph_def, names), name="")
        tensors = [graph.get_tensor_by_name(f"{name}:0") for name in names]
        values = session.run(tensors)
    return {
        name: (np.asarray(value), tensor.dtype)
        for name, value, tensor in zip(names, values, tensors, strict=True)
    }


@transform
def fold_batch_norms(graph_def: Any, call: Call) -> Any:
    """Folds a product with a constant into the weights of the convolution or MatMul before it."""
    nodes = nodes_by_name(graph_def)
    uses: dict[str, int] = {}
    for node in graph_def.node:
        for name in node.input:
            uses[source_of(name)] = uses.get(source_of(name), 0) + 1
    replaced: dict[str, Any] = {}
    dropped: set[str] = set()
    for node in graph_def.node:
        found = _scaled(node, nodes, uses, call)
        if found is None:
            continue
        first, weights, factor = found
        values = constant_value(weights)
        scale = constant_value(factor)
        if first.op == "DepthwiseConv2dNative":
            scale = scale.reshape(values.shape[2:])
        renamed = copied(first)
        renamed.name = node.name
        replaced[node.name] = renamed
        replaced[weights.name] = constant(weights.name, (values * scale).astype(values.dtype))
        dropped |= {first.name, factor.name}
    kept = [replaced.get(n.name, n) for n in graph_def.node if n.name not in dropped]
    return graph_of(kept, graph_def)


def _scaled(
    node: Any, nodes: dict[str, Any], uses: dict[str, int], call: Call
) -> tuple[Any, Any, Any] | None:
    """(convolution, its weights, the factors of its channels), where only the node needs them."""
    if node.op != "Mul" or any(":" in name or name.startswith("^") for name in node.input):
        return None
    first, factor = (nodes[name] for name in node.input)
    if first.op not in ("Conv2D", "MatMul", "DepthwiseConv2dNative") or factor.op != "Const":
        return None
    weights = nodes[source_of(first.input[1])]
    alone = all(uses[n.name] == 1 and n.name not in call.required for n in (first, weights, factor))
    if weights.op != "Const" or not alone or first.attr["transpose_b"].b:
        return None
    shape, scale = constant_value(weights).shape, constant_value(factor).shape
    channels = int(np.prod(shape[2:])) if first.op == "DepthwiseConv2dNative" else shape[-1]
    return (first, weights, factor) if scale == (channels,) else None


@transform
def fold_old_batch_norms(graph_def: Any, call: Call) -> Any:
    """Folds operations that normalize batches into the convolutions before them."""
    return batch_norms.fold_batch_norms(graph_def)


def _is_large(node: Any, fewest: int) -> bool:
    if node.op != "Const" or node.attr["dtype"].type != dtypes.float32.as_datatype_enum:
        return False
    sizes = [dim.size for dim in node.attr["value"].tensor.tensor_shape.dim]
    return int(np.prod(sizes)) >= fewest


@transform
def quantize_weights(graph_def: Any, call: Call) -> Any:
    """Keeps large constants in 8 bits, from which they are computed when the graph runs."""
    fewest = call.one("minimum_size", 1024)
    made: list[Any] = []
    for node in graph_def.node:
        made += _quantized(node) if _is_large(node, fewest) else [node]
    return graph_of(made, graph_def)


def _quantized(node: Any) -> list[Any]:
    values = constant_value(node)
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    high = high if low < high else 1.0  # nothing but zeros
    steps = np.round((values.astype(np.float64) - low) * (255 / (high - low)))
    packed = np.clip(steps, 0, 255).astype(np.uint8)
    parts = [
        constant(f"{node.name}_quantized_const", packed, dtypes.quint8),
        constant(f"{node.name}_quantized_min", np.array(low, np.float32)),
        constant(f"{node.name}_quantized_max", np.array(high, np.float32)),
    ]
    whole = NodeDef(name=node.name, op="Dequantize", input=[part.name for part in parts])
    whole.attr["T"].type = dtypes.quint8.as_datatype_enum
    whole.attr["mode"].s = b"MIN_FIRST"
    return [*parts, whole]


@transform
def round_weights(graph_def: Any, call: Call) -> Any:
    """Leaves `num_steps` different values in each large constant, so that it can be compressed."""
    steps = call.one("num_steps", 256)
    made = [_rounded(node, steps) if _is_large(node, _FEWEST) else node for node in graph_def.node]
    return graph_of(made, graph_def)


def _rounded(node: Any, steps: int) -> Any:
    values = constant_value(node)
    low, high = values.min(), max(values.max(), np.float32(0))
    if low == high:
        high = 2 * low if low else np.float32(1)
    width = np.float32((high - low) / steps)
    middles = np.floor((values - low) / width) + np.float32(0.5)
    return constant(node.name, (low + width * middles).astype(np.float32))
