"""Feeds, fetches and targets -> the nodes they need, and no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core.errors import InvalidArgumentError
from weft.core.walk import postorder
from weft.graph import shape_fn as s
from weft.graph.input_types import mismatch
from weft.graph.op_def import OpDef, op
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.graph.traits import ARGUMENT
from weft.passes.client_graph import ClientGraph, Edge, Node


def _arg() -> OpDef:
    attrs = "T: type, index: int >= 0"

    @op("_Arg", outputs="output: T", attrs=attrs, shape=s.unknown, traits=ARGUMENT)
    def arg(xp: Any, *, index: int) -> Any:
        raise AssertionError("a feed is never computed")

    return arg


ARG = _arg()


def prune(
    feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation],
    checked: bool = True,
) -> ClientGraph:  # fmt: skip
    """Walks back from fetches and targets, stopping at feeds.

    Unless `checked`, nodes may be there that cannot run.
    """
    args = {tensor: _feed_node(i, tensor) for i, tensor in enumerate(feeds)}
    made: dict[Operation, Node] = {}
    for op_ in _order([t.op for t in fetches if t not in args] + list(targets), args):
        made[op_] = as_node(op_, checked)

    def edge(t: Tensor) -> Edge:
        return (args[t], 0) if t in args else (made[t.op], t.value_index)

    for op_, node in made.items():
        node.inputs = [edge(t) for t in op_.inputs]
        # A fed operation does not run, so nothing waits for it either.
        node.controls = [made[c] for c in op_._control_inputs if c in made]
    graph = ClientGraph(
        [*args.values(), *made.values()],
        [(args[t], 0) for t in feeds],
        [edge(t) for t in fetches],
        [made[t] for t in targets],
    )
    if checked:
        _check_no_cycle(graph)
    return graph


def as_node(op_: Operation, checked: bool = True) -> Node:
    """An operation by itself, without its inputs."""
    if checked and op_ in op_.graph._retyped:
        _check_types(op_)
    if checked and op_ in op_.graph._broken:
        raise InvalidArgumentError(op_.node_def, op_, op_.graph._broken[op_])
    return Node(
        op_.name, op_.definition, op_.attrs, [], [], [t.dtype for t in op_.outputs],
        [t.dims for t in op_.outputs], op_, op_._device,
    )  # fmt: skip


def _check_types(op_: Operation) -> None:
    """Rewiring, as of the back edges of loops, can lead to a node what it does not take."""
    if problem := mismatch(op_.definition, op_.name, op_.inputs, op_.attrs):
        raise InvalidArgumentError(None, None, problem)


def _check_no_cycle(graph: ClientGraph) -> None:
    """Rewriting a graph can close a circle; only loops have one, from NextIteration to Merge."""
    placed: set[Node] = set()
    for node in graph.nodes:
        for source in node.sources:
            if source not in placed and source.definition.control_flow != "next_iteration":
                raise _cycle_error(source, node)
        placed.add(node)


def _cycle_error(first: Node, last: Node) -> Exception:
    """`first` needs `last`, which takes `first`."""
    way, seen = [[first]], {first}
    for path in way:
        if path[-1] is last:
            break
        for source in [n for n, _ in path[-1].inputs] + path[-1].controls:
            if source not in seen:
                seen.add(source)
                way.append([*path, source])
    names = ", ".join(node.name for node in path)
    return InvalidArgumentError(
        None, None,
        f"Graph is invalid, contains a cycle with {len(path)} nodes, including: {names}",
    )  # fmt: skip


def _feed_node(index: int, tensor: Tensor) -> Node:
    attrs = {"T": tensor.dtype.base_dtype, "index": index}
    name = f"_feed_{index}_{tensor.op.name}"
    return Node(name, ARG, attrs, [], [], [tensor.dtype.base_dtype], [tensor.dims], tensor.op)


def _order(roots: list[Operation], args: dict[Tensor, Node]) -> list[Operation]:
    """Depth-first postorder over data and control inputs. A loop's back edges come after it."""
    later = list(roots)

    def before(op_: Operation) -> list[Operation]:
        found = [t.op for t in op_.inputs if t not in args]
        found += [c for c in op_._control_inputs if not _all_fed(c, args)]
        if op_.definition.control_flow == "merge":
            back = [b for b in found if b.definition.control_flow == "next_iteration"]
            later.extend(back)
            found = [b for b in found if b not in back]
        return found

    return postorder(later, before)


def _all_fed(op_: Operation, args: dict[Tensor, Node]) -> bool:
    """Whether every output of the operation is fed, so that it need not run."""
    return bool(op_.outputs) and all(t in args for t in op_.outputs)
