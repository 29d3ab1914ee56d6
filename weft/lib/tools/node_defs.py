"""Small steps on GraphDefs that the tools share, and how they are read from files and written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.core import dtypes
from weft.graph.tensor_proto import make_ndarray, make_tensor_proto
from weft.storage import file_io


def source(name: str) -> str:
    """The node that an input (`node`, `node:1`, `^node`) comes from."""
    return name.removeprefix("^").partition(":")[0]


def nodes_by_name(graph_def: Any) -> dict[str, Any]:
    """The nodes of a GraphDef by name, which must be different ones."""
    found: dict[str, Any] = {}
    for node in graph_def.node:
        if found.setdefault(node.name, node) is not node:
            raise ValueError("Duplicate node names detected for ", node.name)
    return found


def graph_of(nodes: Iterable[Any], like: Any) -> Any:
    """A GraphDef of copies of `nodes`, with the functions and versions of another."""
    made = GraphDef(library=like.library, versions=like.versions)
    made.node.extend(nodes)
    return made


def copied(node: Any, inputs: Iterable[str] | None = None) -> Any:
    """A copy of a node, with other inputs where they are given."""
    made = NodeDef()
    made.CopyFrom(node)
    if inputs is not None:
        del made.input[:]
        made.input.extend(inputs)
    return made


def constant(name: str, value: np.ndarray, dtype: Any = None) -> Any:
    """A Const node."""
    kind = dtypes.as_dtype(value.dtype if dtype is None else dtype)
    made = NodeDef(name=name, op="Const")
    made.attr["dtype"].type = kind.as_datatype_enum
    made.attr["value"].tensor.CopyFrom(make_tensor_proto(value, kind, value.shape))
    return made


def constant_value(node: Any) -> np.ndarray:
    """The value of a Const node."""
    if node.op != "Const":
        raise ValueError(f"Node named '{node.name}' should be a Const op for values_from_const.")
    return make_ndarray(node.attr["value"].tensor)


def with_inputs(graph_def: Any, rename: Callable[[str], str]) -> Any:
    """A GraphDef whose nodes have each input replaced by what `rename` says."""
    nodes = (copied(node, [rename(name) for name in node.input]) for node in graph_def.node)
    return graph_of(nodes, graph_def)


def read_message(message: Any, path: str, binary: bool, what: str) -> Any:
    """Fills `message` from a file, binary or text."""
    if not file_io.exists(path):
        raise OSError(f"Input {what} file '{path}' does not exist!")
    with file_io.FileIO(path, "rb") as file:
        content = file.read()
    if binary:
        message.ParseFromString(content)
    else:
        text_format.Merge(content.decode(), message)
    return message


def write_message(message: Any, path: str, binary: bool = True) -> None:
    """Writes `message` to a file, binary or as text."""
    content = message.SerializeToString() if binary else text_format.MessageToString(message)
    with file_io.FileIO(path, "wb" if binary else "w") as file:
        file.write(content)


def listed(names: str | None) -> list[str]:
    """The names in a list with commas."""
    return names.replace(" ", "").split(",") if names else []


def say(text: str) -> None:
    """Prints a line."""
    sys.stdout.write(f"{text}\n")
