"""Some nodes of a graph as one function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from weft.graph.kernel_call import bind
from weft.passes.client_graph import Edge, Node, needed, origin

Parts = Callable[[Any, Sequence[Any]], list[Any]]


def as_function(nodes: Collection[Node], inputs: Sequence[Edge], outputs: Sequence[Edge]) -> Parts:
    """`parts(xp, arrays)`: the `outputs` from arrays in the place of `inputs`.

    Of `nodes`, which are in topological order, those are run that it takes. Constants may be
    left out of them. Arrays of another precision are cast.
    """
    wanted = needed([node for node, _ in outputs])
    steps = [
        (node, bind(node.definition, node.attrs), [origin(edge) for edge in node.inputs])
        for node in nodes
        if node in wanted
    ]
    given = [origin(edge) for edge in inputs]
    types = [node.dtypes[i].base_dtype.np_storage for node, i in given]
    inner = {node for node, _, _ in steps}
    constants = {
        edge: edge[0].attrs["value"]
        for _, _, edges in steps
        for edge in edges
        if edge not in given and edge[0] not in inner
    }

    def parts(xp: Any, arrays: Sequence[Any]) -> list[Any]:
        cast = [array.astype(dtype) for array, dtype in zip(arrays, types, strict=True)]
        values: dict[Edge, Any] = {**constants, **dict(zip(given, cast, strict=True))}
        for node, call, edges in steps:
            for i, value in enumerate(call(xp, [values[edge] for edge in edges])):
                values[node, i] = value
        return [values[edge] for edge in outputs]

    return parts
