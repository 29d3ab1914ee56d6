"""The loop frames of each node of a step, and the nodes that an untaken branch may keep dead."""

from __future__ import annotations

from weft.passes.client_graph import ClientGraph, Node

Frames = tuple[str, ...]  # from the outermost in; () is the step itself


def frames(graph: ClientGraph) -> dict[Node, Frames]:
    """The frames of every node. Enter and Exit count as inside of their loop."""
    found: dict[Node, Frames] = {}
    for node in graph.nodes:
        inputs = [inner for n in node.sources if (inner := leaving(n, found)) is not None]
        # A constant may be used in any frame: the deepest input says where a node is.
        place = max(inputs, key=len, default=())
        if node.definition.control_flow == "enter":
            place = (*place, node.attrs["frame_name"])
        found[node] = place
    return found


def leaving(node: Node, found: dict[Node, Frames]) -> Frames | None:
    """The frames that the outputs of a node are in; None while it has not been reached."""
    place = found.get(node)
    if place and node.definition.control_flow == "exit":
        return place[:-1]
    return place


def entering(node: Node, found: dict[Node, Frames]) -> Frames:
    """The frames that the inputs of a node are in."""
    place = found[node]
    return place[:-1] if node.definition.control_flow == "enter" else place


def other_turns(graph: ClientGraph, found: dict[Node, Frames]) -> dict[Node, list[Node]]:
    """For each exit, what ends an iteration of its loop: all that may have to be done before it."""
    ends: dict[Frames, list[Node]] = {}
    for node in graph.nodes:
        if node.definition.control_flow == "next_iteration":
            ends.setdefault(found[node], []).append(node)
    exits = [n for n in graph.nodes if n.definition.control_flow == "exit"]
    return {n: ends.get(found[n], []) for n in exits}


def may_be_dead(graph: ClientGraph) -> set[Node]:
    """Nodes that some step may decide not to run: those between a Switch and its Merge."""
    depth: dict[Node, int] = {}
    for node in graph.nodes:
        before = max((depth[n] for n in node.sources if n in depth), default=0)
        kind = node.definition.control_flow
        if kind == "switch":
            before += 1
        elif kind == "exit" or (kind == "merge" and not _closes_loop(node)):
            before = max(0, before - 1)
        elif kind == "trigger":
            before = 0
        depth[node] = before
    return {node for node, d in depth.items() if d}


def _closes_loop(merge: Node) -> bool:
    return any(n.definition.control_flow == "next_iteration" for n, _ in merge.inputs)
