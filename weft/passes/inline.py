"""Calls of functions -> what the functions do, before anything else looks at the graph of a step.

A call is replaced by its body, its nodes named `call/inner`; `If` and `While` become the structured
nodes that `fold.py` makes of Switch and Merge. The body waits for everything that the call waits
for, and a node that waits for the call waits for all of its effects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes
from weft.core.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from weft.core.step_limits import limits
from weft.graph.function import body_of, gradient_body
from weft.graph.function_def import Body
from weft.graph.op_def import FuncRef, lookup
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.fold import fold_control_flow, is_settled, subgraphs
from weft.passes.control_flow.functional import (
    RANGE_START,
    argument,
    binary,
    chosen,
    if_node,
    is_index,
    more,
    truth,
    while_node,
)
from weft.passes.inlined_size import check_inlined_size
from weft.passes.narrow import (
    is_lowered,
    live_variables,
    narrow_branches,
    narrow_loop,
    used_outputs,
    with_outputs,
)
from weft.passes.prune import prune
from weft.passes.ref_reads import sink_ref_reads


def inline(
    graph: ClientGraph, library: dict[str, Any] | None = None, path: tuple[str, ...] = ()
) -> None:
    """Replaces all calls in place. `path`: the functions whose bodies `graph` is inside of.

    ResourceExhaustedError or InvalidArgumentError where they are too many, or too deep.
    """
    call = next((node for node in graph.nodes if node.definition.calls), None)
    if call is None:
        return
    if library is None:
        assert call.op is not None
        library = call.op.graph._functions
    check_inlined_size(graph, library)
    try:
        _replace_calls(graph, library, path)
    except RecursionError:
        raise nested_too_deeply(call) from None


def nested_too_deeply(call: Node) -> InvalidArgumentError:
    message = f"The functions that {call.name} calls are nested too deeply"
    return InvalidArgumentError(None, call.op, message)


def _replace_calls(graph: ClientGraph, library: dict[str, Any], path: tuple[str, ...]) -> None:
    if not any(node.definition.calls for node in graph.nodes):
        return
    work = Inliner(library, path, any(node.definition.control_flow for node in graph.nodes))
    work.rewrite(graph)


class Inliner:
    """One graph in the making: `nodes` so far, `old` outputs of calls and what they are now.

    `branches`: whether some nodes of the graph may not run at all.
    """

    def __init__(self, library: dict[str, Any], path: tuple[str, ...], branches: bool) -> None:
        self.library, self.path, self.branches = library, path, branches
        self.used: dict[Node, set[int]] = {}
        self.nodes: list[Node] = []
        self.old: dict[Edge, Edge] = {}
        self.gone: dict[Node, list[Node]] = {}
        self.targets: list[Node] = []

    def rewrite(self, graph: ClientGraph) -> None:
        self.used = used_outputs(graph)
        for node in graph.nodes:
            self.take(node)
        graph.nodes = self.nodes
        graph.targets = [*graph.targets, *self.targets]
        graph.replace(self.old, self.gone)

    def take(self, node: Node) -> None:
        kind = node.definition.calls
        if kind is None:
            self.nodes.append(node)
            return
        node.inputs = [self._final(edge) for edge in node.inputs]
        HANDLERS[kind](self, node)

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
        body = body_of(self.library, function)
        if is_lowered(node):
            body = body.lowered()
        return self._prepared(node, body, function.name, prefix)

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
        limits.check()
        _replace_calls(inner, self.library, (*self.path, label))
        # An effect inside of a branch may never happen, but the branching as a whole does.
        sink_ref_reads(inner)
        fold_control_flow(inner)
        rename(inner, prefix, node)
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
        # A call inside that does nothing may have left its argument as what to wait for.
        inner.targets = [target for target in inner.targets if target not in args]
        effects = _sure_effects(inner)
        self.targets += [target for target in inner.targets if target not in effects]
        if effects:
            outputs = [self._after(node, i, edge, effects) for i, edge in enumerate(outputs)]
        elif controls:
            outputs = [self._held(node, i, edge, controls) for i, edge in enumerate(outputs)]
        self.old |= {(node, i): edge for i, edge in enumerate(outputs)}
        ends = [*effects, *(e[0] for e in outputs)]
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
        kept = self._narrow(node, graphs)
        self._put_if(node, kept, truth(self.nodes, predicate, node), inputs, graphs)

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
        kept = self._narrow(node, graphs)
        rest, part = graphs[-1], with_outputs(node, kept)
        for i in range(len(graphs) - 2, 0, -1):
            rest = chosen(part, i, index, inputs, rest, graphs[i])
        first = self._equals(node, index)
        # The index goes along as the first argument of what is left to decide.
        if len(graphs) > 2:
            graphs[0].feeds.insert(0, (argument(graphs[0], 0, index, node), 0))
            inputs = [index, *inputs]
        self._put_if(node, kept, first, inputs, [rest, graphs[0]])

    def _narrow(self, node: Node, graphs: list[ClientGraph]) -> list[int]:
        """The outputs that are left of a conditional; its branches lose the others."""
        if not is_lowered(node):
            return list(range(len(node.dtypes)))
        kept = sorted(self.used[node])
        narrow_branches(graphs, kept)
        return kept

    def _equals(self, node: Node, index: Edge) -> Edge:
        test = is_index(node, 0, index)
        self.nodes += [test.inputs[1][0], test]
        return test, 0

    def _put_if(
        self, node: Node, kept: list[int], predicate: Edge, inputs: Sequence[Edge],
        graphs: list[ClientGraph],
    ) -> None:  # fmt: skip
        made = if_node(with_outputs(node, kept), predicate, inputs, graphs)
        self._put(node, made, {i: (made, k) for k, i in enumerate(kept)})

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
        condition.fetches = [truth(condition.nodes, condition.fetches[0], node)]
        kept = list(range(len(node.inputs)))
        if is_lowered(node):
            kept = live_variables(condition, body, self.used[node])
            narrow_loop(condition, body, kept)
        inputs = [node.inputs[i] for i in kept]
        made, outputs = while_node(with_outputs(node, kept), condition, body, inputs)
        self._put(node, made, {i: outputs[k] for k, i in enumerate(kept)})

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
        args = [argument(condition, i, edge, node) for i, edge in enumerate(edges)]
        condition.feeds = [(arg, 0) for arg in args]
        counter, low, step = args[0], args[-2], args[-1]
        condition.fetches = [more(condition.nodes, node, (counter, 0), (low, 0), (step, 0))]
        last = argument(body, len(inputs) + 1, limit, node)
        change = argument(body, len(inputs) + 2, delta, node)
        following = binary("AddV2", f"{node.name}/next", node, body.feeds[0], (change, 0))
        body.nodes.append(following)
        body.feeds += [(last, 0), (change, 0)]
        body.fetches = [(following, 0), *body.fetches, (last, 0), (change, 0)]
        made, outputs = while_node(node, condition, body, edges)
        self._put(node, made, {i: outputs[i + 1] for i in range(len(inputs))})

    def _put(self, node: Node, made: Node, outputs: dict[int, Edge]) -> None:
        self.nodes.append(made)
        self.old |= {(node, i): edge for i, edge in outputs.items()}
        self.gone[node] = [made]


HANDLERS: dict[str, Callable[[Inliner, Node], None]] = {
    "function": lambda work, node: work.call(node, own_function(node), node.inputs),
    "attribute": lambda work, node: work.call(node, called_function(node), node.inputs),
    "remote": lambda work, node: work.call(node, node.attrs["f"], node.inputs[1:]),
    "gradient": Inliner.gradient,
    "if": Inliner.if_,
    "case": Inliner.case,
    "while": Inliner.while_,
    "for": Inliner.for_,
}


def _check_results(node: Node, kind: str, body: ClientGraph, wanted: int) -> None:
    if len(body.fetches) != wanted:
        raise InvalidArgumentError(
            None, node.op,
            f"{kind} loop body returned {len(body.fetches)} arguments. Expected: {wanted}",
        )  # fmt: skip


def called_function(node: Node) -> FuncRef:
    """The function that an attribute names, if the executor asked for exists."""
    if node.attrs["executor_type"] not in ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR"):
        raise NotFoundError(
            None, node.op,
            "No executor factory registered for the given executor type:"
            f" {node.attrs['executor_type']}",
        )  # fmt: skip
    function: FuncRef = node.attrs["f"]
    return function


def own_function(node: Node) -> FuncRef:
    """The function whose name a node has for a type."""
    return FuncRef(node.type, tuple((k, v) for k, v in node.attrs.items() if v is not None))


def _sure_effects(graph: ClientGraph) -> list[Node]:
    """The targets that run whenever the graph does: none that a Switch may keep from running."""
    unsure: set[Node] = set()
    for node in graph.nodes:
        if node.definition.control_flow or not unsure.isdisjoint(node.sources):
            unsure.add(node)
    return [target for target in graph.targets if target not in unsure]


def _waits_inside(node: Node, args: dict[Node, Edge]) -> bool:
    """Whether a node comes after another of its body, or may come before all."""
    if is_settled(node):
        return True
    return any(source not in args and not is_settled(source) for source in node.sources)


def rename(graph: ClientGraph, prefix: str, call: Node) -> None:
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
            rename(inner, prefix, call)
