"""A signature of a SavedModel as one graph of constants: frozen, fed and fetched by its keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.client.session import Session
from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Graph
from weft.graph.graph_util import convert_variables_to_constants, extract_sub_graph
from weft.graph.importer import import_graph_def
from weft.graph.op_def import REGISTRY
from weft.lib.saved_model import loader
from weft.lib.tools.inline_calls import inline_calls
from weft.lib.tools.node_defs import graph_of, source

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_HAND_ON = ("Identity", "Switch", "Merge", "Enter", "Exit", "NextIteration", "NoOp")
_READ = ("ReadVariableOp", "ResourceGather")
_TABLES = ("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2")


@dataclass(frozen=True)
class SignatureGraph:
    """`inputs` and `outputs` are the TensorInfos of the keys; those of several tensors have a key
    for each, as `key/values`."""

    graph_def: Any
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    method_name: str = ""

    @property
    def input_names(self) -> list[str]:
        """The nodes that are fed."""
        return list(dict.fromkeys(source(info.name) for info in self.inputs.values()))

    @property
    def output_names(self) -> list[str]:
        """The nodes that are fetched."""
        return list(dict.fromkeys(source(info.name) for info in self.outputs.values()))

    def of(self, graph_def: Any) -> SignatureGraph:
        """The same signature of another graph."""
        return replace(self, graph_def=graph_def)


def freeze_signature(folder: str, tags: list[str], signature: Any) -> SignatureGraph:
    """The part of a SavedModel that computes a signature, with constants in place of variables."""
    with Graph().as_default() as graph, Session(graph=graph) as session:
        graph_def = loader.load(session, tags, folder).graph_def
        frozen = SignatureGraph(
            graph_def, _parts(signature.inputs), _parts(signature.outputs), signature.method_name
        )
        ends = [*frozen.output_names, *frozen.input_names]
        missing = set(ends) - {node.name for node in graph_def.node}
        if missing:
            raise ValueError(
                f"The signature names {sorted(missing)}, which are not in the graph of {folder}"
            )
        needed = inline_calls(extract_sub_graph(graph_def, ends), graph._functions)
        _check_variables(needed)
        frozen = frozen.of(convert_variables_to_constants(session, needed, ends))
    for node in frozen.graph_def.node:
        node.device = ""
    if not any(_names_function(node) for node in frozen.graph_def.node):
        frozen.graph_def.ClearField("library")
    return frozen


def _names_function(node: Any) -> bool:
    """Whether an attribute of a node, or its type, may be a function."""
    return REGISTRY.get(node.op) is None or any(
        value.HasField("func") or value.list.func for value in node.attr.values()
    )


def _parts(infos: Mapping[str, Any]) -> dict[str, Any]:
    """Key -> TensorInfo with a name, of dense tensors and of the parts of others."""
    found: dict[str, Any] = {}
    for key, info in sorted(infos.items()):
        encoding = info.WhichOneof("encoding")
        if encoding == "coo_sparse":
            found |= {f"{key}/{part}": each for part, each in _sparse_parts(info)}
        elif encoding == "composite_tensor":
            parts = info.composite_tensor.components
            found |= {f"{key}/{i}": part for i, part in enumerate(parts)}
        else:
            found[key] = info
    return found


def _sparse_parts(info: Any) -> list[tuple[str, Any]]:
    sparse, index = info.coo_sparse, dtypes.int64.as_datatype_enum
    rank = None if info.tensor_shape.unknown_rank else len(info.tensor_shape.dim)
    return [
        (part, type(info)(name=name, dtype=kind, tensor_shape=TensorShape(dims).as_proto()))
        for part, name, kind, dims in (
            ("indices", sparse.indices_tensor_name, index, [None, rank]),
            ("values", sparse.values_tensor_name, info.dtype, [None]),
            ("shape", sparse.dense_shape_tensor_name, index, [rank]),
        )
    ]


def _check_variables(graph_def: Any) -> None:
    """ValueError if a variable is used by more than what reads it."""
    handles = {node.name for node in graph_def.node if node.op == "VarHandleOp"}
    for node in graph_def.node:
        used = [name for name in node.input if name in handles]
        if used and node.op not in (*_HAND_ON, *_READ):
            raise ValueError(
                f"the variable '{used[0]}' cannot be frozen: the node '{node.name}' ({node.op})"
                " does more than read it"
            )


def frozen_variables(graph_def: Any, before: Any) -> list[str]:
    """The variables of the graph `before` that are constants in `graph_def`."""
    variables = {node.name for node in before.node if node.op in _VARIABLES}
    return [node.name for node in graph_def.node if node.name in variables and node.op == "Const"]


def tables_of(graph_def: Any) -> list[str]:
    """The tables of a graph, which hold nothing until they are initialized."""
    return [node.name for node in graph_def.node if node.op in _TABLES]


def run_signature(given: SignatureGraph, values: Mapping[str, Any]) -> dict[str, Any]:
    """Key -> value of the outputs, for values of the inputs."""
    with Graph().as_default() as graph, Session(graph=graph) as session:
        import_graph_def(given.graph_def, name="")
        feeds = {given.inputs[key].name: value for key, value in values.items()}
        fetches = {key: info.name for key, info in given.outputs.items()}
        return dict(session.run(fetches, feeds))


def with_library(graph_def: Any, like: Any) -> Any:
    """A copy of a GraphDef, with the functions and versions of another."""
    return graph_of(graph_def.node, like)
