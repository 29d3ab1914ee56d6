"""Random nodes that draw alike: one loop in the program for all of them.

A node that draws until what it has will do is a loop of several kernels. The variables of a model
begin with many such nodes, of few shapes: one by one they would take longer to compile than the
model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from weft.graph.kernel_call import bind
from weft.graph.shape_fn import size
from weft.passes.client_graph import Node
from weft.runtime.xla.names import scope_of

_MANY = 4
_MOST_ELEMENTS = 1 << 27  # of all that one loop draws


def draw_alike(states: Mapping[Node, Any]) -> dict[Node, Any]:
    """The outputs of nodes of which there are many alike, from the states of their generators."""
    groups: dict[Any, list[Node]] = defaultdict(list)
    for node in states:
        shape = node.inputs[0][0] if node.definition.redraws else None
        if shape is not None and shape.definition.is_constant:
            dims = tuple(shape.attrs["value"].tolist())
            groups[node.type, node.dtypes[0], dims].append(node)
    found: dict[Node, Any] = {}
    for nodes in groups.values():
        elements = size(nodes[0].dims[0])
        if len(nodes) >= _MANY and elements is not None and elements * len(nodes) < _MOST_ELEMENTS:
            found |= _drawn(nodes, states)
    return found


def _drawn(nodes: list[Node], states: Mapping[Node, Any]) -> dict[Node, Any]:
    import jax.numpy as jnp
    from jax import lax

    first = nodes[0]
    call = bind(first.definition, first.attrs, traced=True)
    inputs = [source.attrs["value"] for source, _ in first.inputs]
    rows = jnp.stack([states[node] for node in nodes])
    with scope_of(first):
        drawn = lax.map(lambda rng: call(jnp, inputs, rng)[0], rows)
    return dict(zip(nodes, drawn, strict=True))
