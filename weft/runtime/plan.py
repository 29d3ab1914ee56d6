"""The graph of a step -> flat lists that a run only has to walk through.

A plan is made once per (fetches, feeds) signature, or per body of a loop, branch or function. What
depends on the graph alone (units, slots, kernels, the last reader of a value) is worked out when it
is made; what depends on the store (handles, and the regions that hold them) is a `Prepared`, which
`ready` makes anew when the store has lost something, or a node turned out not to compile.

Slots never change after a plan is made, so that a run that began with one `Prepared` is not
disturbed by another. `ready` is the only place that replaces it, under the store's lock; a region
takes its own lock first, the store's second.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred
from weft.core.errors import raise_from
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.control_flow.liveness_units import pieces
from weft.passes.control_flow.structured_nodes import has_loops, nodes_inside, subgraphs
from weft.passes.pipeline import has_frames
from weft.passes.ref_reads import is_reference
from weft.passes.regions.for_host import mark_fed, mark_for_host
from weft.passes.regions.group import group
from weft.passes.regions.host_gathers import host_gathers
from weft.passes.regions.host_indexing import index_arithmetic
from weft.passes.regions.units import Layout, Unit
from weft.passes.resource_edges import is_cell
from weft.runtime.continuation import NO_CONTEXT, Finish, StepContext, promised
from weft.runtime.executor import Executor, Stop
from weft.runtime.fetched import handed_over
from weft.runtime.frames import DEAD
from weft.runtime.host.interpret import HostNode, Observer, is_numeric
from weft.runtime.host.program_call import DirectStep
from weft.runtime.limits import in_session
from weft.runtime.prepared import Prepared
from weft.runtime.resources import ResourceStore
from weft.runtime.xla.compile import translate

# A step of so few units is run in order, as long as nothing has to wait.
_FEW = 256


class Plan:
    """One graph, ready to run any number of times, by any number of threads at once.

    `in_order`: nothing in it waits, and its units run one after another. `by_tokens`: loops and
    branches have no structure, and the executor finds out what runs. Else its units run in order as
    long as none has to wait; from there on it is up to the executor. `may_wait` makes such a plan
    of a graph in which nothing waits; `nested` says that a loop, not a user, feeds it.
    """

    def __init__(
        self,
        graph: ClientGraph,
        store: ResourceStore,
        nested: bool = False,
        may_wait: bool = False,
        by_tokens: bool = False,
    ) -> None:
        self.graph, self.store, self.nested = graph, store, nested
        self.by_tokens = (
            by_tokens or has_frames(graph) or any("_may_be_dead" in n.attrs for n in graph.nodes)
        )
        waits = self.by_tokens or may_wait or any(n.definition.blocking for n in graph.nodes)
        self.in_order = not waits
        gathers = host_gathers(graph) if store.is_host else frozenset()
        self.on_host: frozenset[Node] = index_arithmetic(graph, gathers)
        self.slots: dict[Edge, int] = {}
        for node in graph.nodes:
            for i in range(len(node.dtypes)):
                self.slots[node, i] = len(self.slots)
        self.feed_slots = tuple(self.slots[edge] for edge in graph.feeds)
        self.fetch_slots = tuple(self.slots[edge] for edge in graph.fetches)
        self._arrange()
        self._prepare()

    def store_of(self, node: Node) -> ResourceStore:
        """Where the resources of a node are."""
        return self.store

    @property
    def graphs(self) -> list[ClientGraph]:
        return [self.graph]

    # ---- up to date ----

    def ready(self) -> Prepared:
        """The units that a run walks through, as the store is now."""
        prepared = self.prepared
        if self.refused or prepared.generation != self.store.generation:
            return self._refresh()
        return prepared

    def _refresh(self) -> Prepared:
        with self.store.lock:
            if self.refused:
                self._arrange_anew()
            if self.refused or not self.prepared.is_up_to_date():
                self._prepare()
            self.prepared.generation = self.store.generation
            return self.prepared

    def _prepare(self) -> None:
        self.refused: list[Node] = []  # nodes that could not be compiled where they are
        self.direct: DirectStep | None = None  # the whole step as one call
        self.prepared = Prepared(self, self.refused.append)

    def _arrange_anew(self) -> None:
        """Takes what could not be compiled out of its region, so that the rest can be."""
        inner = {n: outer for outer in self.graph.nodes for n in nodes_inside(outer)}
        self.on_host |= {inner.get(node, node) for node in self.refused}
        self._arrange()

    def _arrange(self) -> None:
        if self.by_tokens:
            self.layout: Layout = pieces(self.graph, self.on_host)
        else:
            self.layout = group(self.graph, self.on_host, apart=not self.in_order)
        if not (self.nested or self.store.is_host):
            mark_for_host(self.layout.units)
            mark_fed(self.graph, self.layout.units)
        is_step = self.store.is_host and not self.nested
        self.handed_over = handed_over(self.graph, self.layout.units if is_step else [])
        self.nodes = self._host_nodes()
        self.has_loops = has_loops(self.nodes)

    def _host_nodes(self) -> dict[Node, HostNode]:
        """Every node as the interpreter runs it, in the order of the units."""
        home = {n: u for u in self.layout.units for n in u.nodes}
        made = {n: HostNode(n, self.slots, self.store_of(n)) for n in home}
        for node, item in made.items():
            item.set_converts(
                tuple(i for i, edge in enumerate(node.inputs) if self._on_device(edge, node, home))
            )
        self._set_frees(made)
        return made

    def _on_device(self, edge: Edge, user: Node, home: dict[Node, Unit]) -> bool:
        """Whether an edge may bring a host node a value that lies on a device, by detours even."""
        source, i = edge
        if is_cell(edge) or not is_numeric(source.dtypes[i]):
            return False
        if self.by_tokens:
            if home.get(source) is home[user] or is_reference(edge):
                return False  # what a reference names is read on the host
            if source.definition.control_flow is not None:
                return True
        if source.definition.is_argument:
            return self.nested  # users feed NumPy; a loop feeds what its last iteration made
        if subgraphs(source) or source.definition.transfer is not None:
            return True
        return source in home and home[source].is_region and home[source] is not home[user]

    def _set_frees(self, made: dict[Node, HostNode]) -> None:
        kept = set(self.graph.fetches)
        if not self.in_order:
            kept |= {e for u in self.layout.units for e in [*u.inputs, *u.outputs]}
            alone = {n for u in self.layout.units if not u.is_region for n in u.nodes}
            kept |= {e for n in made for e in n.inputs if n in alone or e[0] in alone}
        last: dict[Edge, HostNode] = {}
        for node, item in made.items():
            for edge in node.inputs:
                if edge[0] in made:
                    last[edge] = item
        frees: dict[HostNode, list[int]] = {}
        for edge, item in last.items():
            if edge not in kept:
                frees.setdefault(item, []).append(self.slots[edge])
        for item, slots in frees.items():
            item.frees = tuple(slots)

    # ---- running ----

    def run(self, feeds: Sequence[Any], context: StepContext = NO_CONTEXT) -> list[Any]:
        """Runs one step. Returns the values of the fetches as they are, on host or device."""
        if not self.in_order:
            with in_session(context.running) if self.has_loops else nullcontext():
                found = self._set_out(feeds, context)
                values = found if isinstance(found, list) else found[0].run(found[1])
            return self.results(values)
        if context.observe is not None:
            return self.results(self.ready().run_observed(feeds, context.observe))
        if self.direct is not None:
            try:
                results = self.direct(feeds)
            except Exception as error:
                raise_from(translate(error), error)
            if results is not None:
                return results
        prepared = self.ready()
        values = prepared.begin(feeds)
        if self.has_loops:
            with in_session(context.running):
                prepared.run(values)
        else:
            for unit in prepared.units:
                unit.run(values)
        if prepared.whole is not None and prepared.whole.is_settled:
            self.direct = prepared.whole.direct(values, self.feed_slots, self.fetch_slots)
        return [values[i] for i in self.fetch_slots]

    def run_observed(self, feeds: Sequence[Any], observe: Observer) -> list[Any]:
        """As `run`; `observe` sees each node."""
        return self.run(feeds, StepContext(observe))

    def start(self, feeds: Sequence[Any], finish: Finish, context: StepContext = NO_CONTEXT) -> Any:
        """`finish(fetches)` of a step, or a promise of it; no thread waits."""
        if self.in_order:
            return finish(self.run(feeds, context))
        found = self._set_out(feeds, context)
        if isinstance(found, list):
            return finish(self.results(found))
        return self._promised(*found, finish)

    def start_at(
        self, prepared: Prepared, values: list[Any], unit: int, promise: Deferred | None,
        finish: Finish,
    ) -> Any:  # fmt: skip
        """The same, of a run that has come up to a unit, or up to what that waits for."""
        executor = NO_CONTEXT.executor(prepared.tasks, values)
        return self._promised(executor, (unit, promise), finish)

    def _set_out(
        self, feeds: Sequence[Any], context: StepContext
    ) -> list[Any] | tuple[Executor, Stop | None]:
        """Runs units in order if they may, up to one that has to wait: the executor goes on there.

        Gives the slots if none has to wait.
        """
        prepared = self.ready()
        few = len(prepared.units) <= _FEW
        if self.by_tokens or not (context is NO_CONTEXT or (few and context.only_running())):
            tasks = prepared.tasks_for(context.observe)
            return context.executor(tasks, prepared.begin(feeds), self.by_tokens), None
        if context.running is not None:
            context.running.check()
        values = prepared.begin(feeds)
        stop = prepared.advance(values)
        if stop is None:
            return values
        return context.executor(prepared.tasks, values), stop

    def _promised(self, executor: Executor, at: Stop | None, finish: Finish) -> Any:
        return promised(executor, lambda values: finish(self.results(values)), at)

    def results(self, values: list[Any]) -> list[Any]:
        """The fetches, of the slots of a run that is over."""
        results = [values[i] for i in self.fetch_slots]
        if self.by_tokens:
            for edge, value in zip(self.graph.fetches, results, strict=True):
                if value is DEAD:
                    raise errors.InvalidArgumentError(
                        None, None,
                        f"Retval[0] does not have value: {edge[0].name} was not computed",
                    )  # fmt: skip
        return results

    def is_tiny(self) -> bool:
        """Whether everything seen so far ran faster on the host than XLA could be called."""
        return not self.by_tokens and all(unit.tiny for unit in self.prepared.units)
