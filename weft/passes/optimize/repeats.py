"""Sums of gradients that name a row twice, in a form that can be compiled.

Optimizers make every row of a sparse gradient appear once:

    rows, places = Unique(indices)
    sums = UnsortedSegmentSum(values, places, StridedSlice(Shape(rows), 0))

This becomes `sums, rows = _SumRepeated(values, indices)`, which may give rows too many, marked as
such. So everything that comes of `rows` and `sums` has to be an update that drops those rows, or
work on each row by itself on the way to one.
"""

from __future__ import annotations

from weft.core import dtypes
from weft.ops.array.unique_sums import sum_repeated
from weft.passes.client_graph import ClientGraph, Edge, Node, needed, topological


def sum_repeats(graph: ClientGraph) -> None:
    """Rewrites every such sum of the graph, in place."""
    for unique in [n for n in graph.nodes if n.type == "Unique"]:
        total = _matched(unique, graph)
        if total is not None:
            _rewrite(graph, unique, total)


def _matched(unique: Node, graph: ClientGraph) -> Node | None:
    """The sum that belongs to `unique`, if it can be done otherwise."""
    sums = [n for n in graph.nodes if n.type == "UnsortedSegmentSum" and (unique, 1) in n.inputs]
    if len(sums) != 1 or not sums[0].dtypes[0].is_floating:
        return None
    total = sums[0]
    counting = _counting(total, unique)
    leaving = {n for n, _ in graph.fetches} | {n for n, _ in graph.feeds} | set(graph.targets)
    if counting is None or leaving & {unique, total, *counting}:
        return None
    rows = {unique, total}
    before = needed([total.inputs[0][0], *total.controls])
    if unique in before:
        return None  # the values follow from the rows
    for node in graph.nodes:
        sources = {source for source, _ in node.inputs}
        if node in counting or node is total or not sources & (rows | counting):
            continue
        kind = _kind(node, rows)
        if kind is None or sources & counting or (unique, 1) in node.inputs:
            return None
        if kind == "rows":
            if node in leaving:
                return None
            rows.add(node)
    return total


def _counting(total: Node, unique: Node) -> set[Node] | None:
    """The nodes that count the rows of `unique`, if that is what the sum is told."""
    found: set[Node] = set()
    node, _ = total.inputs[2]
    while node is not unique:
        if node.type not in ("StridedSlice", "Shape", "Size", "Cast", "Identity"):
            return None
        found.add(node)
        node, output = node.inputs[0]
        if node is unique and output != 0:
            return None
    return found


def _kind(node: Node, rows: set[Node]) -> str | None:
    """ "update" for what drops left-over rows, "rows" for what gives one row for each."""
    if node.definition.updates_rows:
        return "update" if _takes_rows_only(node, rows) else None
    if node.definition.gathers_rows:
        ours = [i for i, (source, _) in enumerate(node.inputs) if source in rows]
        return "rows" if ours == [1] else None
    if node.definition.is_identity or _is_elementwise(node):
        alike = all(n in rows or n.dims[i] == () for n, i in node.inputs)
        return "rows" if alike else None
    return None


def _is_elementwise(node: Node) -> bool:
    """Whether a node works on each element alone, and cannot fail: whole numbers divide by zero."""
    return node.definition.elementwise and not node.dtypes[0].is_integer


def _takes_rows_only(node: Node, rows: set[Node]) -> bool:
    """Whether all that is not a variable or a scalar among the inputs are rows of ours."""
    for source, output in node.inputs:
        dtype = source.dtypes[output]
        is_variable = dtype._is_ref_dtype or dtype is dtypes.resource
        if not is_variable and source not in rows and source.dims[output] != ():
            return False
    return True


def _rewrite(graph: ClientGraph, unique: Node, total: Node) -> None:
    values, indices = total.inputs[0], unique.inputs[0]
    dims = total.dims[0]
    made = Node(
        f"{total.name}/repeats",
        sum_repeated,
        {"T": total.dtypes[0], "Tindices": unique.dtypes[0]},
        [values, indices],
        [*unique.controls, *total.controls],
        [total.dtypes[0], unique.dtypes[0]],
        [dims and (None, *dims[1:]), (None,)],
        total.op,
        total.device,
    )
    old: dict[Edge, Edge] = {(unique, 0): (made, 1), (total, 0): (made, 0)}
    graph.nodes[graph.nodes.index(total)] = made
    graph.replace(old, {unique: [made], total: [made]})
    graph.drop_unused()
    # What used the rows may have come before what makes them now.
    graph.nodes = topological(graph.nodes)
