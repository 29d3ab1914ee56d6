"""Reshapes that keep the batch and work out one other size: they are told that size instead.

A graph flattens images by `[shape(images)[0], -1]`. Where the other sizes are known, this is
`[-1, their product]`, for which nobody needs to know how large the batch is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.graph.constant_value import folded_value
from weft.graph.graph import Graph
from weft.graph.importer import import_graph_def
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.tools.node_defs import constant, copied, graph_of


def with_sizes(graph_def: Any) -> Any:
    """A GraphDef with the sizes of such reshapes as constants."""
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
    nodes = []
    for node in graph_def.node:
        sizes = _sizes(graph.get_operation_by_name(node.name)) if node.op == "Reshape" else None
        if sizes is not None:
            made = constant(f"{node.name}/sizes", np.array(sizes, np.int32))
            node = copied(node, [node.input[0], made.name, *node.input[2:]])
            node.attr["Tshape"].CopyFrom(made.attr["dtype"])
            nodes.append(made)
        nodes.append(node)
    return graph_of(nodes, graph_def)


def _sizes(op: Operation) -> list[int] | None:
    """What a reshape makes, with -1 for the batch; None if it is of another kind."""
    images, wanted = op.inputs
    if wanted.op.type != "Pack" or not images.dims or None in images.dims[1:]:
        return None
    given = [_number(each) for each in wanted.op.inputs]
    batches = [_is_batch(each, images) for each in wanted.op.inputs]
    others = [size for size, is_batch in zip(given, batches, strict=True) if not is_batch]
    known = [size for size in others if size is not None and size > 0]
    if sum(batches) != 1 or others.count(-1) != 1 or len(known) != len(others) - 1:
        return None
    whole = math.prod(size for size in images.dims[1:] if size is not None)
    if not whole or whole % math.prod(known):
        return None
    open_size = whole // math.prod(known)
    sizes = [open_size if size == -1 else size for size in given]
    return [-1 if size is None else size for size in sizes]


def _number(tensor: Tensor) -> int | None:
    value = folded_value(tensor)
    return None if value is None else int(value)


def _is_batch(size: Tensor, images: Tensor) -> bool:
    """Whether `size` is `shape(images)[0]`."""
    op = size.op
    if op.type != "StridedSlice" or op.attrs["shrink_axis_mask"] != 1:
        return False
    whole, begin = op.inputs[0].op, folded_value(op.inputs[1])
    is_first = begin is not None and begin.tolist() == [0]
    return is_first and whole.type == "Shape" and whole.inputs[0] is images
