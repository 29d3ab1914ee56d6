"""partial_run: one step in several calls, each feeding and fetching a part of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from weft.core import errors
from weft.core.walk import reached
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.control_flow.structured_nodes import nodes_inside
from weft.passes.inline import inline
from weft.passes.pipeline import Options, finish
from weft.passes.prune import prune
from weft.runtime.continuation import StepContext
from weft.runtime.fetched import to_user
from weft.runtime.limits import in_session
from weft.runtime.plan import Plan
from weft.runtime.resources import ResourceStore
from weft.runtime.task_graphs import node_tasks


class _PlanOverDevices(Plan):
    """Runs on the host, node by node; what a node keeps is kept on the device it is placed on."""

    def __init__(
        self, graph: ClientGraph, stores: dict[str, ResourceStore], store: ResourceStore
    ) -> None:
        self.stores = stores
        super().__init__(graph, store)

    def store_of(self, node: Node) -> ResourceStore:
        return self.stores.get(_home(node), self.store)


def _home(node: Node) -> str:
    """Where what a node uses is kept; of a loop or conditional, what is used inside of it."""
    inside = {n.device: None for n in nodes_inside(node) if n.definition.is_handle}
    if len(inside) > 1:
        raise errors.UnimplementedError(
            None, None, f"{node.name} uses what is on {' and '.join(inside)}: a step with that"
            " cannot come in several calls",
        )  # fmt: skip
    return next(iter(inside), node.device)


class PartialRun:
    """A step whose nodes run when a call first needs them, each at most once."""

    def __init__(
        self,
        runner: Any,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
    ) -> None:
        graph = prune(feeds, fetches, targets)
        inline(graph)
        runner.place(graph)
        # Unoptimized, so that every fetch and feed keeps its own node.
        finish(graph, Options(False, False, False))
        self.plan = _PlanOverDevices(graph, runner.stores, runner.store)
        self.fetches = {t.name: edge for t, edge in zip(fetches, graph.fetches, strict=True)}
        self.targets = {op.name: n for op, n in zip(targets, graph.targets, strict=True)}
        self.waiting = {t.name: edge for t, edge in zip(feeds, graph.feeds, strict=True)}
        self.known = {t.name for t in [*fetches, *feeds]} | {op.name for op in targets}
        self.values = self.plan.ready().template.copy()
        self.done: set[Node] = {*self.plan.layout.handles, *self.plan.layout.constants}
        self.running = runner.running
        self.lock = threading.Lock()
        for item in self.plan.nodes.values():
            item.frees = ()

    def advance(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        values: Sequence[Any],
    ) -> list[Any]:
        with self.lock:
            for tensor, value in zip(feeds, values, strict=True):
                edge = self._take(self.waiting, tensor.name, "fed")
                self.values[self.plan.slots[edge]] = value
                self.done.add(edge[0])
            edges = [self._take(self.fetches, t.name, "fetched") for t in fetches]
            wanted = [n for n, _ in edges]
            wanted += [self._take(self.targets, op.name, "fetched") for op in targets]
            self._run(self._needed(wanted))
            return [to_user(self.values[self.plan.slots[edge]]) for edge in edges]

    def _run(self, needed: set[Node]) -> None:
        """Runs nodes as their inputs allow; this thread waits if one of them must."""
        plan = self.plan
        others = {node for node in plan.graph.nodes if node not in needed}
        tasks = node_tasks(plan.graph, plan.nodes, plan.slots, others, self.values)
        with in_session(self.running):
            StepContext(running=self.running).executor(tasks, self.values, plan.by_tokens).run()

    def _take(self, table: dict[str, Any], name: str, done: str) -> Any:
        if name not in table:
            what = "feed" if done == "fed" else "fetch"
            why = "was not specified in partial_run_setup."
            if name in self.known:
                why = f"has already been {done}."
            raise errors.InvalidArgumentError(None, None, f"The {what} {name} {why}")
        return table.pop(name)

    def _needed(self, wanted: list[Node]) -> set[Node]:
        """The nodes that `wanted` takes and that have not run."""
        need = reached(wanted, lambda n: [] if n in self.done else n.sources) - self.done
        for node in need:
            if node.definition.is_argument:
                raise errors.InvalidArgumentError(
                    None, None, f"Computing the fetches needs {node.op.name!r}, which has not been"  # type: ignore[union-attr]
                    " fed",
                )  # fmt: skip
        self.done |= need
        return need
