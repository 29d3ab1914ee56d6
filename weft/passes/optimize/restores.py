"""Restoring straight into variables.

A saver restores by one operation for all tensors, and an assignment of each:

    a, b, ... = RestoreV2(prefix, names, slices)
    Assign(variable_a, a)    or    AssignVariableOp(handle_b, Identity(b))

Where the tensors go nowhere else, all this becomes one `_RestoreVariables`, which never holds
more than one of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.ops.files.restore import restore_variables
from weft.passes.client_graph import ClientGraph, Edge, Node, topological


def restore_variables_directly(graph: ClientGraph) -> None:
    """Rewrites every such restore of the graph, in place."""
    restores = [n for n in graph.nodes if n.type == "RestoreV2"]
    if not restores:
        return
    users: dict[Edge, list[Node]] = {}
    for node in graph.nodes:
        for edge in node.inputs:
            users.setdefault(edge, []).append(node)
    leaving = set(graph.fetches) | set(graph.feeds)
    for restore in restores:
        paths = [_path((restore, i), users, leaving) for i in range(len(restore.dtypes))]
        if all(paths) and _unordered(restore, [n for path in paths for n in path]):
            _rewrite(graph, restore, paths)
    graph.nodes = topological(graph.nodes)
    graph.drop_unused()


def _path(edge: Edge, users: dict[Edge, list[Node]], leaving: set[Edge]) -> list[Node]:
    """The nodes from a restored tensor to its assignment; empty when it goes anywhere else."""
    found: list[Node] = []
    while edge not in leaving and len(users.get(edge, [])) == 1:
        (node,) = users[edge]
        found.append(node)
        if node.definition.assigns:
            free = not any(users.get(e) or e in leaving for e in _outputs(node))
            ours = node.inputs[1] == edge and node.inputs[0][0].definition.is_handle
            return found if free and ours else []
        if not node.definition.is_identity:
            return []
        edge = (node, 0)
    return []


def _outputs(node: Node) -> Iterator[Edge]:
    return ((node, i) for i in range(len(node.dtypes)))


def _unordered(restore: Node, path: list[Node]) -> bool:
    """Whether nothing but the restore has to come before its assignments."""
    before = {restore, *restore.controls, *path}
    return all(before.issuperset(node.controls) for node in path)


def _rewrite(graph: ClientGraph, restore: Node, paths: list[list[Node]]) -> None:
    assigns = [path[-1] for path in paths]
    made = Node(
        restore.name,
        restore_variables,
        {"dtypes": restore.attrs["dtypes"], "assigns": assigns},
        [*restore.inputs, *(node.inputs[0] for node in assigns)],
        list(restore.controls),
        [],
        [],
        restore.op,
        restore.device,
    )
    gone = [restore, *(node for path in paths for node in path)]
    graph.nodes[graph.nodes.index(restore)] = made
    dropped = set(gone)
    graph.nodes = [node for node in graph.nodes if node not in dropped]
    graph.replace({}, {node: [made] for node in gone})
