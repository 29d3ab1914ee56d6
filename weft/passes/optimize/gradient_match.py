"""Finds what tf.gradients made of some nodes of a graph.

Nobody can list the forms of a derivative: they depend on how the program spelled the function, and
on which shapes are known. So the derivative is made once more, of a copy of the nodes, and the
graph is searched for nodes like those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.autodiff.gradients import gradients
from weft.graph.graph import Graph, Tensor
from weft.graph.op_def import raw
from weft.passes.client_graph import ClientGraph, Edge, Node, origin
from weft.passes.optimize.tidy import tidy
from weft.passes.prune import prune

Readers = Callable[[Node], Iterable[Node]]


def derivative(
    nodes: Sequence[Node], inputs: Sequence[Edge], output: Node, count: int
) -> ClientGraph:
    """A graph of `nodes` and of the gradients of their `output` for the first `count` inputs.

    Its feeds stand for the inputs and the gradient of the output; its fetches are the output and
    the gradients.
    """
    graph = Graph()
    with graph.as_default():
        args = [_placeholder(edge) for edge in inputs]
        copies = dict(zip(inputs, args, strict=True))
        for node in nodes:
            _copy(graph, node, copies)
        result = copies[output, 0]
        arriving = _placeholder((output, 0))
        found = gradients(result, args[:count], arriving)
    fetches = [result, *(g for g in found if isinstance(g, Tensor))]
    return _tidied([*args, arriving], [*inputs, (output, 0)], fetches)


def _tidied(args: list[Tensor], originals: list[Edge], fetches: list[Tensor]) -> ClientGraph:
    """Only what stands for a feed is fed, since less is known of the shapes of feeds."""
    fed = [a for a, (node, _) in zip(args, originals, strict=True) if node.definition.is_argument]
    made = prune(fed, fetches, [])
    by_op = {node.op: (node, 0) for node in made.nodes}
    tidy(made, simple=True, folded=True, shared=True)
    made.feeds = [by_op[arg.op] for arg in args]
    return made


def _placeholder(edge: Edge) -> Tensor:
    node, i = edge
    made: Tensor = raw.Placeholder(dtype=node.dtypes[i].base_dtype, shape=node.dims[i])
    return made


def _copy(graph: Graph, node: Node, copies: dict[Edge, Tensor]) -> None:
    for edge in node.inputs:
        if edge not in copies:  # a constant, or an identity
            _copy(graph, edge[0], copies)
    inputs = tuple(copies[edge] for edge in node.inputs)
    made = graph.add_op(node.definition, inputs, node.dtypes, dict(node.attrs), node.type)
    copies |= {(node, i): tensor for i, tensor in enumerate(made.outputs)}


def match(pattern: ClientGraph, inputs: Sequence[Edge], readers: Readers) -> dict[Edge, Edge]:
    """Edges of `pattern`, whose first feeds are `inputs`, and those like them elsewhere."""
    alike = {feed: origin(edge) for feed, edge in zip(pattern.feeds, inputs, strict=False)}
    for node in pattern.nodes:
        found = _like(node, alike, readers)
        if found is not None:
            alike |= {(node, i): (found, i) for i in range(len(node.dtypes))}
    return alike


def arriving(pattern: ClientGraph, alike: dict[Edge, Edge], readers: Readers) -> Iterator[Edge]:
    """Edges that may be the last feed of the pattern, going by the nodes that read it."""
    last = pattern.feeds[-1]
    for node in pattern.nodes:
        inputs = [origin(edge) for edge in node.inputs]
        if last not in inputs or not any(edge in alike for edge in inputs):
            continue
        for other in readers(next(alike[edge][0] for edge in inputs if edge in alike)):
            if len(other.inputs) == len(inputs):
                edge = origin(other.inputs[inputs.index(last)])
                if _is_like(node, other, {**alike, last: edge}):
                    yield edge


def _like(node: Node, alike: dict[Edge, Edge], readers: Readers) -> Node | None:
    known = [alike[edge][0] for edge in map(origin, node.inputs) if edge in alike]
    for candidate in dict.fromkeys(reader for source in known[:1] for reader in readers(source)):
        if _is_like(node, candidate, alike):
            return candidate
    return None


def _is_like(node: Node, other: Node, alike: dict[Edge, Edge]) -> bool:
    if node.type != other.type or len(node.inputs) != len(other.inputs):
        return False
    if _attrs(node) != _attrs(other):
        return False
    pairs = zip(map(origin, node.inputs), map(origin, other.inputs), strict=True)
    return all(
        alike.get(mine) == theirs or _equal_constants(mine, theirs) for mine, theirs in pairs
    )


def _attrs(node: Node) -> dict[str, Any]:
    return {key: value for key, value in node.attrs.items() if not key.startswith("_")}


def _equal_constants(one: Edge, other: Edge) -> bool:
    if not (one[0].definition.is_constant and other[0].definition.is_constant):
        return False
    a, b = one[0].attrs["value"], other[0].attrs["value"]
    return a is b or (a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b))
