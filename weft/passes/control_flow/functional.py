"""`If`, `Case`, `While` and `For` over graphs -> the structured nodes `_If` and `_While`.

Comes in: the node that calls, and the bodies of its functions as graphs whose feeds are their
arguments. Goes out: one node that holds them. Constants and handles among the arguments go inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.errors import InvalidArgumentError
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, lookup, op
from weft.graph.traits import HOST
from weft.passes.client_graph import Branches, ClientGraph, Edge, Loop, Node
from weft.passes.control_flow.fold import clone, fold_control_flow
from weft.passes.control_flow.structured_nodes import (
    IF,
    WAITING_IF,
    WAITING_WHILE,
    WHILE,
    has_effect,
    is_settled,
    note_effects,
    origin_of,
    subgraphs,
    waits,
)
from weft.passes.prune import ARG
from weft.passes.ref_reads import sink_ref_reads


def _to_bool() -> OpDef:
    @op("_ToBool", inputs="input: T", outputs="output: bool", attrs="T: type", shape=s.scalar)
    def to_bool(xp: Any, input: Any) -> Any:
        """The truth value of a condition of any type: not zero, not empty."""
        if input.shape:
            return np.bool_(input.size > 0)
        if input.dtype == object:
            return np.bool_(len(input[()]) > 0)
        return xp.not_equal(input, 0)

    return to_bool


def _checked_start() -> OpDef:
    @op(
        "_RangeStart",
        inputs="start: int32, limit: int32, delta: int32",
        outputs="output: int32",
        shape=s.scalar,
        traits=HOST,
    )
    def range_start(xp: Any, start: Any, limit: Any, delta: Any) -> Any:
        """`start`, of a range that makes sense."""
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            if np.ndim(value):
                raise InvalidArgumentError(None, None, f"{name} must be a scalar")
        if not (start <= limit if delta > 0 else start >= limit if delta else start == limit):
            raise InvalidArgumentError(
                None, None, f"Invalid start/limit/delta: {start} {limit} {delta}"
            )
        return np.asarray(start)

    return range_start


TO_BOOL, RANGE_START = _to_bool(), _checked_start()


# ---- structured nodes -------------------------------------------------------------------------


def if_node(node: Node, predicate: Edge, inputs: Sequence[Edge], graphs: list[ClientGraph]) -> Node:
    """The `_If` node that chooses between two branches; its outputs are those of `node`."""
    moving = [i for i, edge in enumerate(inputs) if not is_settled(origin_of(edge)[0])]
    for graph in graphs:
        _take_arguments(graph, inputs, moving)
    edges = [predicate, *(inputs[i] for i in moving)]
    made = Node(
        node.name, IF, {"Tin": edges}, edges, node.controls,
        [dtype.base_dtype for dtype in node.dtypes], list(node.dims), node.op, node.device,
        branches=Branches(graphs, len(node.dtypes), []),
    )  # fmt: skip
    return _finished(made)


def while_node(
    node: Node, condition: ClientGraph, body: ClientGraph, inputs: list[Edge]
) -> tuple[Node, dict[int, Edge]]:
    """The `_While` node, and what each output of the loop is now."""
    fixed = {i for i in range(len(inputs)) if _passed_on(body.fetches[i]) == body.feeds[i]}
    turning = [i for i in range(len(inputs)) if i not in fixed]
    moving = turning + [i for i in sorted(fixed) if not is_settled(origin_of(inputs[i])[0])]
    for graph in (condition, body):
        _take_arguments(graph, inputs, moving, fixed)
    body.fetches = [body.fetches[i] for i in turning]
    edges = [inputs[i] for i in moving]
    width = node.attrs.get("parallel_iterations") or 10
    made = Node(
        node.name, WHILE, {"Tin": edges}, edges, node.controls,
        [inputs[i][0].dtypes[inputs[i][1]].base_dtype for i in turning],
        [node.dims[i] if len(inputs) == len(node.dims) else None for i in turning],
        node.op, node.device, loop=Loop(condition, body, len(turning), width),
    )  # fmt: skip
    outputs = {i: inputs[i] for i in fixed} | {i: (made, k) for k, i in enumerate(turning)}
    return _finished(made), outputs


def _passed_on(edge: Edge) -> Edge:
    while edge[0].definition.is_identity and not edge[0].controls:
        edge = edge[0].inputs[0]
    return edge


def _finished(node: Node) -> Node:
    """Control flow of the other form inside the graphs of a structured node gets its turn here."""
    for inner in subgraphs(node):
        sink_ref_reads(inner)
        fold_control_flow(inner)
    note_effects(node)
    if any(waits(n) for inner in subgraphs(node) for n in inner.nodes):
        node.definition = WAITING_IF if node.loop is None else WAITING_WHILE
    return node


def _take_arguments(
    graph: ClientGraph, inputs: Sequence[Edge], moving: list[int], fixed: set[int] | None = None
) -> None:
    """Leaves only the arguments `moving`; constants and handles go inside instead."""
    old: dict[Edge, Edge] = {}
    settled: list[Node] = []
    for i, (arg, _) in enumerate(graph.feeds):
        node, output = inputs[i]
        if i in moving:
            if arg.dims[0] is None and (fixed is None or i in fixed):
                arg.dims = [node.dims[output]]
            continue
        source, index = origin_of(inputs[i])
        settled.append(clone(source))
        old[arg, 0] = settled[-1], index
    gone = {arg for arg, _ in old}
    args = [graph.feeds[i][0] for i in moving]
    rest = [n for n in graph.nodes if n not in gone and n not in args]
    graph.nodes = [*args, *settled, *rest]
    graph.feeds = [(arg, 0) for arg in args]
    for k, arg in enumerate(args):
        arg.attrs = {**arg.attrs, "index": k}
    graph.replace(old, {arg: [] for arg in gone})


# ---- small nodes ------------------------------------------------------------------------------


def argument(graph: ClientGraph, index: int, edge: Edge, node: Node) -> Node:
    dtype = edge[0].dtypes[edge[1]].base_dtype
    attrs = {"T": dtype, "index": index}
    made = Node(f"{node.name}/arg_{index}", ARG, attrs, [], [], [dtype], [None], node.op)
    graph.nodes.insert(0, made)
    return made


def truth(nodes: list[Node], edge: Edge, node: Node) -> Edge:
    """`edge` as a truth value."""
    dtype = edge[0].dtypes[edge[1]].base_dtype
    if dtype is dtypes.bool and not edge[0].dims[edge[1]]:
        return edge  # a scalar, or of unknown rank: a vector of truth values is no condition
    made = Node(
        f"{node.name}/pred", TO_BOOL, {"T": dtype}, [edge], [], [dtypes.bool], [()], node.op,
        node.device,
    )  # fmt: skip
    nodes.append(made)
    return made, 0


def binary(kind: str, name: str, node: Node, x: Edge, y: Edge) -> Node:
    dtype = dtypes.bool if kind in ("Less", "Equal") else dtypes.int32
    return Node(
        name, lookup(kind), {"T": dtypes.int32}, [x, y], [], [dtype], [()], node.op, node.device
    )


def _unary(kind: str, name: str, node: Node, x: Edge) -> Node:
    types = [dtypes.int32]
    return Node(name, lookup(kind), {"T": types[0]}, [x], [], types, [()], node.op, node.device)


def _constant(name: str, value: int, node: Node) -> Node:
    attrs = {"value": np.array(value, np.int32), "dtype": dtypes.int32}
    return Node(name, lookup("Const"), attrs, [], [], [dtypes.int32], [()], node.op, node.device)


def is_index(node: Node, i: int, index: Edge) -> Node:
    number = _constant(f"{node.name}/index_{i}", i, node)
    made = binary("Equal", f"{node.name}/is_{i}", node, index, (number, 0))
    made.attrs["incompatible_shape_error"] = True
    return made


def chosen(
    node: Node, i: int, index: Edge, inputs: Sequence[Edge], rest: ClientGraph, branch: ClientGraph
) -> ClientGraph:
    """A graph of (index, inputs) that is `branch` if the index is `i`, or else `rest`."""
    graph = ClientGraph([], [], [], [])
    args = [argument(graph, k, edge, node) for k, edge in enumerate([index, *inputs])]
    graph.feeds = [(arg, 0) for arg in args]
    if len(rest.feeds) > len(inputs):
        branch.feeds.insert(0, (argument(branch, 0, index, node), 0))
        own = graph.feeds
    else:
        own = graph.feeds[1:]
    test = is_index(node, i, (args[0], 0))
    made = if_node(node, (test, 0), own, [rest, branch])
    # What the node waits for, the conditional around this one has waited for.
    made.name, made.controls = f"{node.name}/branch_{i}", []
    graph.nodes += [test.inputs[1][0], test, made]
    graph.fetches = [(made, k) for k in range(len(node.dtypes))]
    graph.targets = [made] if has_effect(made) else []
    return graph


def more(nodes: list[Node], node: Node, counter: Edge, limit: Edge, delta: Edge) -> Edge:
    """Whether a counter has not reached its limit, whichever way it goes."""
    sign = _unary("Sign", f"{node.name}/sign", node, delta)
    left = binary("Sub", f"{node.name}/left", node, counter, limit)
    ahead = binary("Mul", f"{node.name}/ahead", node, (left, 0), (sign, 0))
    zero = _constant(f"{node.name}/zero", 0, node)
    more = binary("Less", f"{node.name}/more", node, (ahead, 0), (zero, 0))
    nodes += [sign, left, ahead, zero, more]
    return more, 0
