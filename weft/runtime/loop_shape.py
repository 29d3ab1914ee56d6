"""The tasks of an iteration of a loop: the units of its body and its condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.core.deferred import Deferred
from weft.passes.client_graph import ClientGraph, Node
from weft.runtime.tasks import Task, TaskGraph

if TYPE_CHECKING:
    from weft.runtime.plan import Plan
    from weft.runtime.prepared import Prepared


class LoopShape:
    """Variables are numbered as the loop's; the condition (`decider`) is the last task.

    `readers`: the tasks that use each variable. `others`: how many units each unit waits for;
    `pending` counts the variables it uses, too, and the condition.
    The next value of a variable is made by a unit (`makes`), or is an input of the body (`passes`:
    variable, position of the input), or the same every time (`constant`).
    The slots of an iteration are those of the body, then one for the condition.
    """

    def __init__(self, loop: Any, prepared: Prepared) -> None:
        self.name, self.condition, self.prepared = loop.node.name, loop.condition, prepared
        self.limit = max(1, loop.loop.width)
        self.variables: int = loop.variables
        if loop.body.by_tokens:
            self._take_whole(loop.body)
        else:
            self._take_units(prepared)
        self._add_condition(self._decides(loop.loop.condition))

    def _take_whole(self, plan: Plan) -> None:
        """The body as one unit, which needs all variables: its loops or branches have no structure.

        Its slots are its inputs, then its results.
        """
        inputs = len(plan.feed_slots)
        end = inputs + len(plan.fetch_slots)
        self.feed_slots, self.fetch_slots = tuple(range(inputs)), tuple(range(inputs, end))
        self.template: list[Any] = [None] * end
        whole = Task(0, "plain", None, self.name)
        whole.out_slots, whole.outs = self.fetch_slots, [[] for _ in self.fetch_slots]
        whole.run = _starter(plan, self.feed_slots, self.fetch_slots)
        self.graph = TaskGraph([whole], self.template)
        every = list(range(self.variables))
        self.readers: list[list[Task]] = [[whole] for _ in every]
        self.others, self.pending, self.makes = [0], [self.variables + 1], [every]
        self.passes: list[tuple[int, int]] = []
        self.constant: list[int] = []

    def _take_units(self, body: Prepared) -> None:
        self.graph, self.template = body.tasks, body.template
        self.feed_slots, self.fetch_slots = body.feed_slots, body.fetch_slots
        self.others = body.tasks.pending
        graph: ClientGraph = body.graph
        inputs = {node: i for i, (node, _) in enumerate(graph.feeds)}
        units = [unit.nodes for unit in body.layout.units]
        reads = [self._variables_of(nodes, inputs) for nodes in units]
        self.readers = [
            [task for task, used in zip(self.graph.tasks, reads, strict=True) if k in used]
            for k in range(self.variables)
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
        """The variables that the condition looks at."""
        used = {source for node in graph.nodes for source in node.sources}
        used |= {node for node, _ in graph.fetches}
        return {i for i, (arg, _) in enumerate(graph.feeds[: self.variables]) if arg in used}

    def _add_condition(self, decides: set[int]) -> None:
        self.decider = Task(len(self.graph.tasks), "plain", None, f"condition of {self.name}")
        self.decider.out_slots = (len(self.template),)
        self.decider.run = _starter(self.condition, self.feed_slots, self.decider.out_slots)
        self.pending = [*self.pending, len(decides)]
        for k in decides:
            self.readers[k].append(self.decider)


def _starter(plan: Plan, ins: tuple[int, ...], outs: tuple[int, ...]) -> Any:
    """Runs a plan over some slots, into others."""

    def run(values: list[Any]) -> Deferred | None:
        found: Any = plan.start([values[i] for i in ins], list)
        if isinstance(found, Deferred):
            return found
        for slot, value in zip(outs, found, strict=True):
            values[slot] = value
        return None

    return run
