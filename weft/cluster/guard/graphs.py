"""The cost of a graph that came over the wire, counted before anything is built from it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.core import dtypes, errors, flags


def size_of(graph_def: Any) -> int:
    """Bytes of a graph, with its constants as large as they say they are.

    ResourceExhaustedError if it has more nodes than a graph may have.
    """
    nodes = len(graph_def.node) + sum(len(f.node_def) for f in graph_def.library.function)
    if nodes > flags.MAX_NODES.value:
        raise errors.ResourceExhaustedError(
            None, None, f"A graph of {nodes} nodes is larger than the {flags.MAX_NODES.value} nodes"
            f" that are taken here. {flags.MAX_NODES.name}, where the server is started, sets the"
            " limit",
        )  # fmt: skip
    claimed: int = sum(map(_claimed, _tensors(graph_def)))
    return int(graph_def.ByteSize()) + claimed


def _tensors(graph_def: Any) -> Iterator[Any]:
    for nodes in (graph_def.node, *(f.node_def for f in graph_def.library.function)):
        for node in nodes:
            if "value" in node.attr and node.attr["value"].HasField("tensor"):
                yield node.attr["value"].tensor


def _claimed(tensor: Any) -> int:
    """Bytes of a tensor that are not in its message."""
    count: int = math.prod(max(dim.size, 0) for dim in tensor.tensor_shape.dim)
    if count < 1024:  # most of them
        return 0
    try:
        item = np.dtype(dtypes.as_dtype(tensor.dtype).np_storage).itemsize
    except TypeError:
        return 0  # which others report
    missing: int = count * item - tensor.ByteSize()
    return max(missing, 0)
