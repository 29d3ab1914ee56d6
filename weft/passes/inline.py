"""Calls of functions -> what the functions do, before anything else looks at the graph of a step.

A call is replaced by its body, its nodes named `call/inner`; `If` and `While` become the structured
nodes that `structure.py` makes of Switch and Merge. What a call waits for, its body waits for, and
who waits for a call waits for all of its effects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from weft.graph import shape_fn as s
from weft.graph.function import body_of, gradient_body
from weft.graph.function_def import Body
from weft.graph.op_def import FuncRef, OpDef, lookup, op
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.prune import ARG, prune
from weft.passes.references import read_late
from weft.passes.structure import (
    IF,
    WHILE,
    clone,
    has_effect,
    is_settled,
    origin_of,
    structure,
    subgraphs,
)


def inline(
    graph: ClientGraph, library: dict[str, Any] | None = None, path: tuple[str, ...] = ()
) -> None:
    """Replaces all calls in place. `path`: the functions whose bodies `graph` is inside of."""
    call = next((node for node in graph.nodes if node.definition.calls), None)
    if call is None:
        return
    if library is None:
        assert call.op is not None
        library = call.op.graph._functions
    work = _Inliner(library, path, any(node.definition.control_flow for node in graph.nodes))
    for node in graph.nodes:
        work.take(node)
    graph.nodes = work.nodes
    graph.replace(work.old, work.gone)


def _to_bool() -> OpDef:
    @op("_ToBool", inputs="input: T", outputs="output: bool", attrs="T: type", shape=s.scalar)
    def to_bool(xp: Any, input: Any) -> Any:
        """What a condition of any type decides: not zero, not empty."""
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
        runs_on="host",
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


def _or_empty() -> OpDef:
    @op("_OrEmpty", inputs="input: T", outputs="output: T", attrs="T: type, shape: shape")
    def or_empty(xp: Any, input: Any, *, T: Any, shape: Any) -> Any:
        """What a branch that was not taken would have made is an array of nothing."""
        missing = input is None or (
            input.dtype == object and input.size == 1 and input.item() is None
        )
        if not missing:
            return input
        return np.zeros([extent or 0 for extent in shape or ()], T.np_storage)

    return or_empty


TO_BOOL, RANGE_START, OR_EMPTY = _to_bool(), _checked_start(), _or_empty()


class _Inliner:
    """One graph in the making: `nodes` so far, `old` outputs of calls and what they are now.

    `branches`: whether some nodes of the graph may not run at all.
    """

    def __init__(self, library: dict[str, Any], path: tuple[str, ...], branches: bool) -> None:
        self.library, self.path, self.branches = library, path, branches
        self.nodes: list[Node] = []
        self.old: dict[Edge, Edge] = {}
        self.gone: dict[Node, list[Node]] = {}

    def take(self, node: Node) -> None:
        kind = node.definition.calls
        if kind is None:
            self.nodes.append(node)
            return
        node.inputs = [self._final(edge) for edge in node.inputs]
        _HANDLERS[kind](self, node)

    def _final(self, edge: Edge) -> Edge:
        while edge in self.old:
            edge = self.old[edge]
        return edge

    # ---- calls ----

    def call(self, node: Node, function: FuncRef, inputs: Sequence[Edge]) -> None:
        self._splice(node, self.graph_of(node, function, node.name), inputs)

    def gradient(self, node: Node) -> None:
        function: FuncRef = node.attrs["f"]
        body = gradient_body(self.library, function)
        inner = self._prepared(node, body, f"the gradient of {function.name}", node.name)
        if len(inner.fetches) != len(node.dtypes):
            raise InvalidArgumentError(
                None, node.op,
                f"SymGrad expects to return {len(node.dtypes)} results, but get"
                f" {len(inner.fetches)} results instead.",
            )  # fmt: skip
        self._splice(node, inner, node.inputs)

    def graph_of(self, node: Node, function: FuncRef, prefix: str) -> ClientGraph:
        """The body of a function as a graph of its own, with all calls in it replaced."""
        self._check_path(function.name)
        return self._prepared(node, body_of(self.library, function), function.name, prefix)

    def _check_path(self, name: str) -> None:
        if name in self.path:
            way = " -> ".join([*self.path[self.path.index(name) :], name])
            raise UnimplementedError(
                None, None,
                f"Function {name} calls itself ({way}): calls are replaced by what they call, so"
                " recursive functions cannot run.",
            )  # fmt: skip

    def _prepared(self, node: Node, body: Body, label: str, prefix: str) -> ClientGraph:
        inner = prune(body.inputs, body.outputs, body.effects)
        inline(inner, self.library, (*self.path, label))
        _rename(inner, prefix, node)
        return inner

    def _splice(self, node: Node, inner: ClientGraph, inputs: Sequence[Edge]) -> None:
        if len(inner.feeds) != len(inputs):
            raise InvalidArgumentError(
                None, node.op,
                f"Function of {node.name} expects {len(inner.feeds)} arguments, got {len(inputs)}",
            )  # fmt: skip
        args = {arg: edge for (arg, _), edge in zip(inner.feeds, inputs, strict=True)}
        controls = node.controls or self._gate(node, inner, args)
        for each in inner.nodes:
            if each in args:
                continue
            if controls and not _waits_inside(each, args):
                each.controls = list(dict.fromkeys([*each.controls, *controls]))
            each.inputs = [args.get(source, (source, i)) for source, i in each.inputs]
            each.controls = [c for c in each.controls if c not in args]
            self.nodes.append(each)
        outputs = [args.get(source, (source, i)) for source, i in inner.fetches]
        if inner.targets:
            outputs = [self._after(node, i, edge, inner.targets) for i, edge in enumerate(outputs)]
        elif controls:
            outputs = [self._held(node, i, edge, controls) for i, edge in enumerate(outputs)]
        self.old |= {(node, i): edge for i, edge in enumerate(outputs)}
        ends = [*inner.targets, *(e[0] for e in outputs)]
        self.gone[node] = list(dict.fromkeys(ends or [*controls, *(e[0] for e in inputs)]))

    def _gate(self, node: Node, inner: ClientGraph, args: dict[Node, Edge]) -> list[Node]:
        """In a branch or loop, what a body does without its arguments is to happen with them."""
        if not self.branches or not args:
            return []
        if all(_waits_inside(n, {}) or n in args for n in inner.nodes):
            return []
        first = self._identity(f"{node.name}/start", next(iter(args.values())), node, [])
        return [first]

    def _after(self, node: Node, i: int, edge: Edge, effects: list[Node]) -> Edge:
        """A call is done, and its results are there, when its effects have happened."""
        if effects == [edge[0]]:
            return edge
        return self._identity(f"{node.name}/output_{i}", edge, node, effects), 0

    def _held(self, node: Node, i: int, edge: Edge, controls: list[Node]) -> Edge:
        """An output that does not come from inside of the body waits as the call would."""
        if edge not in node.inputs and not is_settled(edge[0]):
            return edge
        return self._identity(f"{node.name}/output_{i}", edge, node, controls), 0

    def _identity(self, name: str, edge: Edge, node: Node, controls: list[Node]) -> Node:
        dtype, dims = edge[0].dtypes[edge[1]].base_dtype, edge[0].dims[edge[1]]
        made = Node(
            name, lookup("Identity"), {"T": dtype}, [edge], list(controls), [dtype], [dims],
            node.op, node.device,
        )  # fmt: skip
        self.nodes.append(made)
        return made

    # ---- conditionals ----

    def if_(self, node: Node) -> None:
        predicate, *inputs = node.inputs
        graphs = [
            self.graph_of(node, node.attrs[f"{side}_branch"], f"{node.name}/{side}")
            for side in ("else", "then")
        ]
        self._put_if(node, _truth(self.nodes, predicate, node), inputs, graphs)

    def case(self, node: Node) -> None:
        """A chain of conditionals; an index out of range means the last branch."""
        index, *inputs = node.inputs
        branches: list[FuncRef] = node.attrs["branches"]
        graphs = [
            self.graph_of(node, each, f"{node.name}/branch_{i}") for i, each in enumerate(branches)
        ]
        if len(graphs) == 1:
            self._splice(node, graphs[0], inputs)
            return
        rest = graphs[-1]
        for i in range(len(graphs) - 2, 0, -1):
            rest = _chosen(node, i, index, inputs, rest, graphs[i])
        first = self._equals(node, index)
        # The index goes along as the first argument of what is left to decide.
        if len(graphs) > 2:
            graphs[0].feeds.insert(0, (_argument(graphs[0], 0, index, node), 0))
            inputs = [index, *inputs]
        self._put_if(node, first, inputs, [rest, graphs[0]])

    def _equals(self, node: Node, index: Edge) -> Edge:
        test = _is_index(node, 0, index)
        self.nodes += [test.inputs[1][0], test]
        return test, 0

    def _put_if(
        self, node: Node, predicate: Edge, inputs: Sequence[Edge], graphs: list[ClientGraph]
    ) -> None:
        made, order = _if_node(node, predicate, inputs, graphs)
        self._put(node, made, {i: (made, k) for k, i in enumerate(order)})
        for k in range(made.attrs["joined"], len(order)):
            present = _present(made, k)
            self.nodes.append(present)
            self.old[node, order[k]] = present, 0

    # ---- loops ----

    def while_(self, node: Node) -> None:
        condition = self.graph_of(node, node.attrs["cond"], f"{node.name}/cond")
        body = self.graph_of(node, node.attrs["body"], f"{node.name}/body")
        if len(condition.fetches) != 1:
            raise InvalidArgumentError(
                None, node.op,
                "Expected a single scalar return value from WhileOp cond got"
                f" {len(condition.fetches)} tensors.",
            )  # fmt: skip
        _check_results(node, "While", body, len(node.inputs))
        condition.fetches = [_truth(condition.nodes, condition.fetches[0], node)]
        made, outputs = _while_node(node, condition, body, node.inputs)
        self._put(node, made, outputs)

    def for_(self, node: Node) -> None:
        """A loop over a counter, which is not among the results."""
        start, limit, delta, *inputs = node.inputs
        body = self.graph_of(node, node.attrs["body"], f"{node.name}/body")
        _check_results(node, "For", body, len(inputs))
        condition = ClientGraph([], [], [], [])
        first = Node(
            f"{node.name}/first", RANGE_START, {}, [start, limit, delta], list(node.controls),
            [dtypes.int32], [()], node.op, node.device,
        )  # fmt: skip
        self.nodes.append(first)
        edges = [(first, 0), *inputs, limit, delta]
        args = [_argument(condition, i, edge, node) for i, edge in enumerate(edges)]
        condition.feeds = [(arg, 0) for arg in args]
        counter, low, step = args[0], args[-2], args[-1]
        condition.fetches = [_more(condition.nodes, node, (counter, 0), (low, 0), (step, 0))]
        last = _argument(body, len(inputs) + 1, limit, node)
        change = _argument(body, len(inputs) + 2, delta, node)
        following = _binary("AddV2", f"{node.name}/next", node, body.feeds[0], (change, 0))
        body.nodes.append(following)
        body.feeds += [(last, 0), (change, 0)]
        body.fetches = [(following, 0), *body.fetches, (last, 0), (change, 0)]
        made, outputs = _while_node(node, condition, body, edges)
        self._put(node, made, {i: outputs[i + 1] for i in range(len(inputs))})

    def _put(self, node: Node, made: Node, outputs: dict[int, Edge]) -> None:
        self.nodes.append(made)
        self.old |= {(node, i): edge for i, edge in outputs.items()}
        self.gone[node] = [made]


_HANDLERS: dict[str, Callable[[_Inliner, Node], None]] = {
    "function": lambda work, node: work.call(node, _own_function(node), node.inputs),
    "attribute": lambda work, node: work.call(node, _called(node), node.inputs),
    "remote": lambda work, node: work.call(node, node.attrs["f"], node.inputs[1:]),
    "gradient": _Inliner.gradient,
    "if": _Inliner.if_,
    "case": _Inliner.case,
    "while": _Inliner.while_,
    "for": _Inliner.for_,
}


def _check_results(node: Node, kind: str, body: ClientGraph, wanted: int) -> None:
    if len(body.fetches) != wanted:
        raise InvalidArgumentError(
            None, node.op,
            f"{kind} loop body returned {len(body.fetches)} arguments. Expected: {wanted}",
        )  # fmt: skip


def _called(node: Node) -> FuncRef:
    """The function that an attribute names, if the executor asked for exists."""
    if node.attrs["executor_type"] not in ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR"):
        raise NotFoundError(
            None, node.op,
            "No executor factory registered for the given executor type:"
            f" {node.attrs['executor_type']}",
        )  # fmt: skip
    function: FuncRef = node.attrs["f"]
    return function


def _own_function(node: Node) -> FuncRef:
    """The function whose name a node has for a type."""
    return FuncRef(node.type, tuple((k, v) for k, v in node.attrs.items() if v is not None))


def _waits_inside(node: Node, args: dict[Node, Edge]) -> bool:
    """Whether a node comes after another of its body, or may come before all."""
    if is_settled(node):
        return True
    sources = [source for source, _ in node.inputs] + node.controls
    return any(source not in args and not is_settled(source) for source in sources)


def _rename(graph: ClientGraph, prefix: str, call: Node) -> None:
    """Gives nodes of a body names, a place and an origin in the graph that calls it."""
    for node in graph.nodes:
        attrs = node.attrs
        if "frame_name" in attrs:
            attrs = {**attrs, "frame_name": f"{prefix}/{attrs['frame_name']}"}
        if "_class" in attrs:
            groups = [f"loc:@{prefix}/{group.removeprefix('loc:@')}" for group in attrs["_class"]]
            attrs = {**attrs, "_class": groups}
        node.name, node.attrs = f"{prefix}/{node.name}", attrs
        node.op, node.device = call.op, node.device or call.device
        for inner in subgraphs(node):
            _rename(inner, prefix, call)


# ---- structured nodes -------------------------------------------------------------------------


def _if_node(
    node: Node, predicate: Edge, inputs: Sequence[Edge], graphs: list[ClientGraph]
) -> tuple[Node, list[int]]:
    """The `_If` node of two branches, and which output of `node` each of its outputs is."""
    sides = [_only_side(graphs, i) for i in range(len(node.dtypes))]
    order = [i for i, side in enumerate(sides) if side is None]
    joined = len(order)
    order += [i for i, side in enumerate(sides) if side is not None]
    for side, graph in enumerate(graphs):
        graph.fetches = [graph.fetches[i] for i in order if sides[i] in (None, side)]
    moving = [i for i, edge in enumerate(inputs) if not is_settled(origin_of(edge)[0])]
    for graph in graphs:
        _take_arguments(graph, inputs, moving)
    edges = [predicate, *(inputs[i] for i in moving)]
    attrs = {
        "else": graphs[0], "then": graphs[1], "joined": joined,
        "export_sides": [sides[i] for i in order[joined:]], "Tin": edges,
    }  # fmt: skip
    made = Node(
        node.name, IF, attrs, edges, node.controls, [node.dtypes[i].base_dtype for i in order],
        [node.dims[i] for i in order], node.op, node.device,
    )  # fmt: skip
    return _finished(made), order


def _only_side(graphs: list[ClientGraph], i: int) -> int | None:
    """The branch that makes output `i`, if the other one has but a stand-in of unknown shape."""
    stands_in = [_is_stand_in(graph.fetches[i][0]) for graph in graphs]
    return None if stands_in[0] == stands_in[1] else int(stands_in[0])


def _is_stand_in(node: Node) -> bool:
    return node.type == "FakeParam" and not s.known(node.attrs["shape"])


def _present(node: Node, k: int) -> Node:
    dtype, dims = node.dtypes[k], node.dims[k]
    return Node(
        f"{node.name}/present_{k}", OR_EMPTY, {"T": dtype, "shape": dims}, [(node, k)], [], [dtype],
        [dims], node.op, node.device,
    )  # fmt: skip


def _while_node(
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
    attrs = {"cond": condition, "body": body, "vars": len(turning), "Tin": edges}
    made = Node(
        node.name, WHILE, attrs, edges, node.controls,
        [inputs[i][0].dtypes[inputs[i][1]].base_dtype for i in turning],
        [node.dims[i] if len(inputs) == len(node.dims) else None for i in turning],
        node.op, node.device,
    )  # fmt: skip
    outputs = {i: inputs[i] for i in fixed} | {i: (made, k) for k, i in enumerate(turning)}
    return _finished(made), outputs


def _passed_on(edge: Edge) -> Edge:
    while edge[0].type == "Identity" and not edge[0].controls:
        edge = edge[0].inputs[0]
    return edge


def _finished(node: Node) -> Node:
    """Control flow of the other form inside the graphs of a structured node gets its turn here."""
    for inner in subgraphs(node):
        read_late(inner)
        structure(inner)
    node.attrs["effect"] = any(has_effect(n) for inner in subgraphs(node) for n in inner.nodes)
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


def _argument(graph: ClientGraph, index: int, edge: Edge, node: Node) -> Node:
    dtype = edge[0].dtypes[edge[1]].base_dtype
    attrs = {"T": dtype, "index": index}
    made = Node(f"{node.name}/arg_{index}", ARG, attrs, [], [], [dtype], [None], node.op)
    graph.nodes.insert(0, made)
    return made


def _truth(nodes: list[Node], edge: Edge, node: Node) -> Edge:
    """`edge` as a truth value."""
    dtype = edge[0].dtypes[edge[1]].base_dtype
    if dtype is dtypes.bool and not edge[0].dims[edge[1]]:
        return edge  # a scalar, or of unknown rank: nobody decides by a vector of truth values
    made = Node(
        f"{node.name}/pred", TO_BOOL, {"T": dtype}, [edge], [], [dtypes.bool], [()], node.op,
        node.device,
    )  # fmt: skip
    nodes.append(made)
    return made, 0


def _binary(kind: str, name: str, node: Node, x: Edge, y: Edge) -> Node:
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


def _is_index(node: Node, i: int, index: Edge) -> Node:
    number = _constant(f"{node.name}/index_{i}", i, node)
    return _binary("Equal", f"{node.name}/is_{i}", node, index, (number, 0))


def _chosen(
    node: Node, i: int, index: Edge, inputs: Sequence[Edge], rest: ClientGraph, branch: ClientGraph
) -> ClientGraph:
    """A graph of (index, inputs) that is `branch` if the index is `i`, or else `rest`."""
    graph = ClientGraph([], [], [], [])
    args = [_argument(graph, k, edge, node) for k, edge in enumerate([index, *inputs])]
    graph.feeds = [(arg, 0) for arg in args]
    if len(rest.feeds) > len(inputs):
        branch.feeds.insert(0, (_argument(branch, 0, index, node), 0))
        own = graph.feeds
    else:
        own = graph.feeds[1:]
    test = _is_index(node, i, (args[0], 0))
    made, order = _if_node(node, (test, 0), own, [rest, branch])
    made.name = f"{node.name}/branch_{i}"
    graph.nodes += [test.inputs[1][0], test, made]
    graph.fetches = [(made, order.index(k)) for k in range(len(node.dtypes))]
    graph.targets = [made] if made.attrs["effect"] else []
    return graph


def _more(nodes: list[Node], node: Node, counter: Edge, limit: Edge, delta: Edge) -> Edge:
    """Whether a counter has not reached its limit, whichever way it goes."""
    sign = _unary("Sign", f"{node.name}/sign", node, delta)
    left = _binary("Sub", f"{node.name}/left", node, counter, limit)
    ahead = _binary("Mul", f"{node.name}/ahead", node, (left, 0), (sign, 0))
    zero = _constant(f"{node.name}/zero", 0, node)
    more = _binary("Less", f"{node.name}/more", node, (ahead, 0), (zero, 0))
    nodes += [sign, left, ahead, zero, more]
    return more, 0
