"""What does not change about the iterations of a loop: who waits for what in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft.core.deferred import Deferred
from weft.passes.client_graph import ClientGraph, Node

if TYPE_CHECKING:
    from weft.runtime.plan import Plan
    from weft.runtime.prepared import Prepared


class WholeBody:
    """A body in which loops or branches have no structure: one unit, which needs all inputs.

    Has what `LoopFlow` asks of a `Prepared`; its slots are the inputs, then the results.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.inputs = plan, len(plan.feed_slots)
        self.feed_slots = range(self.inputs)
        self.fetch_slots = range(self.inputs, self.inputs + len(plan.fetch_slots))
        self.template: list[Any] = [None] * self.fetch_slots.stop

    def begin(self, feeds: Sequence[Any]) -> list[Any]:
        return [*feeds, *self.template[self.inputs :]]

    def run_unit(self, i: int, values: list[Any]) -> Deferred | None:
        found: Any = self.plan.start(values[: self.inputs], list)
        if isinstance(found, Deferred):
            return found
        self.fill(values, i, found)
        return None

    def fill(self, values: list[Any], i: int, outputs: Sequence[Any]) -> None:
        """Puts what the body gives into the slots."""
        values[self.inputs :] = outputs

    def node_at(self, i: int) -> Node | None:
        return None


class LoopShape:
    """Variables are numbered as the loop's, units as those of the plan of the body.

    `readers`: the units that use each variable. `others`: how many units each unit waits for;
    `pending` counts the variables it uses, too, and the condition. `decides`: the variables that
    the condition looks at.
    The next value of a variable is made by a unit (`makes`), or is an input of the body (`passes`:
    variable, position of the input), or the same every time (`constant`).
    """

    def __init__(self, loop: Any, prepared: Prepared) -> None:
        self.name, self.condition, self.prepared = loop.node.name, loop.condition, prepared
        self.limit = max(1, loop.node.attrs.get("parallel_iterations", 10))
        self.variables: int = loop.variables
        self.decides = self._decides(loop.node.attrs["cond"])
        if loop.body.by_tokens:
            self._take_whole(loop.body)
        else:
            self._take_units(prepared)

    def _take_whole(self, plan: Plan) -> None:
        """The body as one unit."""
        self.body: Prepared | WholeBody = WholeBody(plan)
        everything = list(range(self.variables))
        self.users: list[list[int]] = [[]]
        self.others = [0]
        self.readers, self.pending = [[0] for _ in everything], [self.variables + 1]
        self.makes = [everything]
        self.passes: list[tuple[int, int]] = []
        self.constant: list[int] = []

    def _take_units(self, body: Prepared) -> None:
        self.body = body
        self.users = [[task.index for task in t.control_outs] for t in body.tasks.tasks]
        self.others = body.tasks.pending
        graph: ClientGraph = body.graph
        inputs = {node: i for i, (node, _) in enumerate(graph.feeds)}
        units = [unit.nodes for unit in body.layout.units]
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

    def _variables_of(self, nodes: list[Node], inputs: dict[Node, int]) -> set[int]:
        used = {inputs[s] for node in nodes for s in node.sources if s in inputs}
        return {k for k in used if k < self.variables}

    def _decides(self, graph: ClientGraph) -> set[int]:
        used = {source for node in graph.nodes for source in node.sources}
        used |= {node for node, _ in graph.fetches}
        return {i for i, (arg, _) in enumerate(graph.feeds[: self.variables]) if arg in used}
