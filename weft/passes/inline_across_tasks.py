"""Calls of functions that are spread over tasks -> their bodies, for a master to cut.

A master leaves calls to the worker that runs them, unless a body says by itself where its nodes
belong: then its nodes become nodes of the step, and the conditional or loop around them, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.device_name import parse
from weft.core.step_limits import limits
from weft.graph.function import body_of
from weft.graph.function_def import Body
from weft.graph.op_def import FuncRef
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.control_flow.unfold import Unfolded
from weft.passes.inline import (
    HANDLERS,
    Inliner,
    called_function,
    nested_too_deeply,
    own_function,
    rename,
)
from weft.passes.inlined_size import check_inlined_size
from weft.passes.prune import prune

_FUNCTIONS: dict[str, Callable[[Node], list[FuncRef]]] = {
    "function": lambda node: [own_function(node)],
    "attribute": lambda node: [called_function(node)],
    "if": lambda node: [node.attrs["else_branch"], node.attrs["then_branch"]],
    "while": lambda node: [node.attrs["cond"], node.attrs["body"]],
}


def spread(
    graph: ClientGraph, library: dict[str, Any] | None = None, path: tuple[str, ...] = ()
) -> None:
    """Replaces those calls in place. `path`: the functions whose bodies `graph` is inside of.

    ResourceExhaustedError or InvalidArgumentError where they are too many, or too deep.
    """
    call = next((node for node in graph.nodes if node.definition.calls in _FUNCTIONS), None)
    if call is None:
        return
    if library is None:
        assert call.op is not None
        library = call.op.graph._functions
    if not path:
        check_inlined_size(graph, library)
    work = _Spreader(library, path, any(node.definition.control_flow for node in graph.nodes))
    try:
        work.rewrite(graph)
    except RecursionError:
        raise nested_too_deeply(call) from None


class _Spreader(Inliner):
    def take(self, node: Node) -> None:
        kind = node.definition.calls
        if kind is None or not self._names_tasks(node, self.path):
            self.nodes.append(node)
            return
        node.inputs = [self._final(edge) for edge in node.inputs]
        if kind == "if" and _is_flag(node):
            self._flatten(node, ("else", "then"), Unfolded(node).conditional)
        elif kind == "while" and node.inputs:
            self._flatten(node, ("cond", "body"), lambda graphs: Unfolded(node).loop(*graphs))
        elif kind in ("if", "while"):
            self.nodes.append(node)
        else:
            HANDLERS[kind](self, node)

    def _flatten(
        self, node: Node, names: tuple[str, ...], make: Callable[[list[ClientGraph]], Unfolded]
    ) -> None:
        functions = _FUNCTIONS[node.definition.calls or ""](node)
        graphs = [
            self.graph_of(node, function, f"{node.name}/{name}")
            for function, name in zip(functions, names, strict=True)
        ]
        flat = make(graphs)
        self.nodes += flat.nodes
        self.targets += flat.targets
        self.old |= {(node, i): edge for i, edge in enumerate(flat.outputs)}
        self.gone[node] = flat.ends

    def _names_tasks(self, node: Node, path: tuple[str, ...]) -> bool:
        """Whether a call, if that is what a node is, runs nodes that say where they belong."""
        functions = _FUNCTIONS.get(node.definition.calls or "")
        return functions is not None and any(
            self._body_names_tasks(function, path)
            for function in functions(node)
            if function.name not in path  # its recursion is an error of the step that runs it
        )

    def _body_names_tasks(self, function: FuncRef, path: tuple[str, ...]) -> bool:
        limits.check()
        body = body_of(self.library, function)
        inner = prune(body.inputs, body.outputs, body.effects)
        return any(
            _names_task(node.device) or self._names_tasks(node, (*path, function.name))
            for node in inner.nodes
        )

    def _prepared(self, node: Node, body: Body, label: str, prefix: str) -> ClientGraph:
        inner = prune(body.inputs, body.outputs, body.effects)
        spread(inner, self.library, (*self.path, label))
        rename(inner, prefix, node)
        return inner


def _is_flag(node: Node) -> bool:
    source, i = node.inputs[0]
    return source.dtypes[i].base_dtype is dtypes.bool


def _names_task(device: str) -> bool:
    parts = parse(device)
    return parts.job is not None or parts.task is not None
