"""Attention: the products, scaling, mask and softmax that spell it become one node, and so do
their gradients.

What is looked for (brackets: may be missing, or come in another order):

    scores = q k^T
    [scores = cast(scores, float32)]      softmax in single precision
    [scores = scores * scale]             or / sqrt(depth)
    [scores = scores + mask]              or where(seen, scores, -1e9), or as GPT-2 has it
    p = softmax(scores)                   the op, or exp(x - max(x)) / sum(...) by hand
    [p = cast(p, bfloat16)]
    out = p v

and whatever tf.gradients makes of that. Only the types that have kernels which gain from it
(ops/nn/attention_fused.py) are rewritten. Nothing is where a value in between is fetched or read by
anything else. Nodes that are not read but waited for, such as the
gradient for a constant scale, go with the rest.
"""

from __future__ import annotations

from weft.graph.op_def import OpDef
from weft.ops.nn.attention_fused import TYPES, fused_attention, fused_attention_grad
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.optimize.attention_match import Attention, Matcher, is_softmax
from weft.passes.optimize.constants import Constants
from weft.passes.optimize.parts import as_function


def fuse_attention(graph: ClientGraph) -> None:
    """Rewrites every attention of the graph, in place."""

    def is_product(node: Node) -> bool:
        return node.type in ("BatchMatMul", "BatchMatMulV2") and node.dtypes[0].name in TYPES

    if not any(is_product(node) for node in graph.nodes):
        return
    constants = Constants()
    matcher = None
    for softmax in [node for node in graph.nodes if is_softmax(node)]:
        matcher = matcher or Matcher(graph, constants)
        found = matcher.match(softmax)
        if found is not None and is_product(found.output):
            _rewrite(graph, found)
            matcher = None


def _rewrite(graph: ClientGraph, found: Attention) -> None:
    forward = _node(fused_attention, found, found.inputs, [(found.output, 0)])
    old: dict[Edge, Edge] = {(found.output, 0): (forward, 0)}
    gone = {node: [forward] for node in found.forward}
    put = {found.output: forward}
    if found.first is not None and found.gradient is not None:
        ends = [(n, 0) for n in found.gradients if n is not None]
        backward = _node(fused_attention_grad, found, [*found.inputs, found.gradient], ends)
        put[found.first] = backward
        gone |= {node: [backward] for node in found.backward}
        wanted = [i for i, n in enumerate(found.gradients) if n is not None]
        old |= {end: (backward, i) for end, i in zip(ends, wanted, strict=True)}
    nodes = []
    for node in graph.nodes:
        if node in put:
            nodes.append(put[node])
        if node not in gone:
            nodes.append(node)
    graph.nodes = nodes
    graph.replace(old, gone)


def _node(definition: OpDef, found: Attention, inputs: list[Edge], outputs: list[Edge]) -> Node:
    output, dtype = found.output, found.output.dtypes[0]
    masks = [node.dtypes[i].base_dtype for node, i in found.masks]
    is_gradient = definition is fused_attention_grad
    attrs = {
        "T": dtype,
        "Tmasks": masks,
        "N": len(found.seen),
        "scale": found.scale,
        "adj_key": found.adj_key,
        "hides": found.hides,
        "causal": found.causal,
        "training": found.first is not None,
        "wanted": [n is not None for n in found.gradients],
        "parts": as_function(found.nodes, inputs, outputs),
    }
    dims = [output.dims[0]]
    if is_gradient:
        dims = [node.dims[i] for node, i in (found.query, found.key, found.value)]
    first = found.first if is_gradient else output
    assert first is not None
    count = len(dims)
    return Node(
        f"{first.name}/fused", definition, attrs, inputs, [], [dtype] * count, dims, output.op,
        output.device,
    )  # fmt: skip
