"""Attention: the products, scaling, mask and softmax that spell it become one node, and so do
their gradients.

What is looked for, with what tf.gradients makes of it on the right (brackets: may be missing):

    scores = q k^T                        dp = g v^T           dv = p^T g
    [scores = scores * scale]             ds = (dp - sum(dp * p)) * p
    [scores = scores + mask]              [ds = ds * scale]
    p = softmax(scores)                   dq = ds k            dk = ds^T q
    out = p v

Only half precision is rewritten: the kernels that gain from it (ops/nn/attention_fused.py) take no
other. Nothing is where a value in between is fetched or read by anything else. Nodes that are not
read but waited for, such as the gradient for a constant scale, go with the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.op_def import OpDef
from weft.ops.nn.attention_fused import HALF, fused_attention, fused_attention_grad
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.optimize.attention_match import Attention, Matcher

_HIDDEN = -1e4  # scores from here down have no weight beside any other


def fuse_attention(graph: ClientGraph) -> None:
    """Rewrites every attention of the graph, in place."""
    for softmax in [n for n in graph.nodes if n.type == "Softmax" and n.dtypes[0].name in HALF]:
        found = Matcher(graph).match(softmax)
        if found is not None:
            _rewrite(graph, found)


def _rewrite(graph: ClientGraph, found: Attention) -> None:
    forward = _node(fused_attention, found, f"{found.output.name}/fused", found.inputs)
    old: dict[Edge, Edge] = {(found.output, 0): (forward, 0)}
    gone = {node: [forward] for node in found.forward}
    put = {found.output: forward}
    if found.first is not None and found.gradient is not None:
        inputs = [*found.inputs, found.gradient]
        backward = _node(fused_attention_grad, found, f"{found.first.name}/fused", inputs)
        put[found.first] = backward
        gone |= {node: [backward] for node in found.backward}
        old |= {(n, 0): (backward, i) for i, n in enumerate(found.gradients) if n is not None}
    nodes = []
    for node in graph.nodes:
        if node in put:
            nodes.append(put[node])
        if node not in gone:
            nodes.append(node)
    graph.nodes = nodes
    graph.replace(old, gone)


def _node(definition: OpDef, found: Attention, name: str, inputs: list[Edge]) -> Node:
    output, dtype = found.output, found.output.dtypes[0]
    scores_dims = _scores_dims(found)
    attrs = {
        "T": dtype,
        "N": len(found.mask),
        "scale": found.scale,
        "adj_key": found.adj_key,
        "causal": _is_causal(found.mask, scores_dims),
        "training": found.first is not None,
    }
    dims = [output.dims[0]]
    if definition is fused_attention_grad:
        dims = [node.dims[i] for node, i in (found.query, found.key, found.value)]
    count = len(dims)
    return Node(
        name, definition, attrs, inputs, [], [dtype] * count, dims, output.op, output.device
    )


def _scores_dims(found: Attention) -> tuple[Any, Any] | None:
    query, key = found.query[0].dims[found.query[1]], found.key[0].dims[found.key[1]]
    if query is None or key is None:
        return None
    return query[-2], key[-2 if found.adj_key else -1]


def _is_causal(mask: list[Edge], scores: tuple[Any, Any] | None) -> bool:
    """Whether the mask is constant, square, and hides from each position what comes later."""
    if not mask or not mask[0][0].definition.is_constant or scores is None:
        return False
    value = mask[0][0].attrs["value"]
    if value.shape[-2:] != scores or value.size != scores[0] ** 2:
        return False
    values = value.reshape(value.shape[-2:]).astype(np.float32)
    later = np.triu(np.ones(values.shape, bool), 1)
    return not values[~later].any() and bool((values[later] <= _HIDDEN).all())
