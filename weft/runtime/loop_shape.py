"""What does not change about the iterations of a loop: who waits for what in them."""

from __future__ import annotations

from typing import Any

from weft.passes.client_graph import ClientGraph, Node


class LoopShape:
    """Variables are numbered as the loop's, units as those of the plan of the body.

    `readers`: the units that use each variable. `others`: how many units each unit waits for;
    `pending` counts the variables it uses, too, and the condition. `decides`: the variables that
    the condition looks at.
    The next value of a variable is made by a unit (`makes`), or is an input of the body (`passes`:
    variable, position of the input), or the same every time (`constant`).
    """

    def __init__(self, loop: Any) -> None:
        self.name, self.body, self.condition = loop.node.name, loop.body, loop.condition
        self.limit = max(1, loop.node.attrs.get("parallel_iterations", 10))
        self.variables: int = loop.variables
        self.tasks = self.body.tasks
        self.users = [[task.index for task in t.control_outs] for t in self.tasks.tasks]
        self.others = self.tasks.pending
        graph: ClientGraph = self.body.graph
        inputs = {node: i for i, (node, _) in enumerate(graph.feeds)}
        units = [unit.nodes for unit in self.body.layout.units]
        reads = [self._variables_of(nodes, inputs) for nodes in units]
        self.readers = [
            [i for i, used in enumerate(reads) if k in used] for k in range(self.variables)
        ]
        self.pending = [n + len(used) + 1 for n, used in zip(self.others, reads, strict=True)]
        home = {node: i for i, nodes in enumerate(units) for node in nodes}
        made = [(k, node) for k, (node, _) in enumerate(graph.fetches)]
        self.makes = [[k for k, node in made if home.get(node) == i] for i in range(len(units))]
        self.passes = [(k, inputs[node]) for k, node in made if node in inputs]
        self.constant = [k for k, node in made if node not in home and node not in inputs]
        self.decides = self._decides(loop.node.attrs["cond"])

    def _variables_of(self, nodes: list[Node], inputs: dict[Node, int]) -> set[int]:
        used = {inputs[s] for node in nodes for s in node.sources if s in inputs}
        return {k for k in used if k < self.variables}

    def _decides(self, graph: ClientGraph) -> set[int]:
        used = {source for node in graph.nodes for source in node.sources}
        used |= {node for node, _ in graph.fetches}
        return {i for i, (arg, _) in enumerate(graph.feeds[: self.variables]) if arg in used}
