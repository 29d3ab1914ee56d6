"""Functions of the library as kernels call them: a plan each, on the resources of the kernel.

A dataset's kernel asks its context for the `Function` that an attribute names. Whoever iterates
takes an `Instance` of it and gives that back at the end: an instance is a plan with random
generators of its own, which start afresh with every taking.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.errors import CancelledError
from weft.graph.function import body_of, function_named
from weft.graph.function_def import Body
from weft.graph.op_def import FuncRef, lookup
from weft.passes.client_graph import ClientGraph, Node
from weft.passes.control_flow.structured_nodes import nodes_inside
from weft.passes.inline import inline
from weft.passes.pipeline import ALL, finish
from weft.passes.prune import prune
from weft.runtime.continuation import StepContext
from weft.runtime.limits import RunningSteps, in_session
from weft.runtime.plan import Plan
from weft.runtime.resources import ResourceStore, Variable

_serial = itertools.count()


def library_of(graph: Any) -> dict[str, Any]:
    """The functions that nodes of a graph, or of a function's body, may name."""
    while getattr(graph, "outer_graph", None) is not None:
        graph = graph.outer_graph
    found: dict[str, Any] = graph._functions
    return found


def client_graph(body: Body, library: dict[str, Any], name: str) -> ClientGraph:
    """A body as the graph of a step of its own."""
    graph = prune(body.inputs, body.outputs, body.effects)
    inline(graph, library, (name,))
    for node in graph.nodes:
        node.device = ""
    finish(graph, ALL)
    return graph


def name_variables(graph: ClientGraph, values: Sequence[Any]) -> None:
    """Makes arguments that are variables nodes that name them, which a program can hold."""
    definition = lookup("VarHandleOp")
    for (node, _), value in zip(graph.feeds, values, strict=True):
        if isinstance(value, Variable):
            node.definition, node.attrs = definition, _name_of(value)
    graph.feeds = [edge for edge in graph.feeds if edge[0].definition is not definition]


def _name_of(cell: Variable) -> dict[str, Any]:
    return {
        "container": cell.container, "shared_name": cell.name, "dtype": cell.dtype,
        "shape": cell.dims,
    }  # fmt: skip


class Function:
    """A function of `library`, to be called with what `store` holds."""

    def __init__(
        self, reference: FuncRef, library: dict[str, Any], store: ResourceStore,
        body: Body | None = None, label: str = "",
    ) -> None:  # fmt: skip
        self.reference, self.library, self.store = reference, library, store
        self.name, self._body = reference.name + label, body
        self.key = function_named(library, reference.name), repr(reference.attrs), label
        with store.lock:
            self._idle: list[Instance] = store.functions.setdefault(self.key, [])

    def body(self) -> Body:
        """The body of the function. Not to be changed."""
        return self._body or body_of(self.library, self.reference)

    def derived(self, label: str, make: Callable[[Body], Body | None]) -> Function | None:
        """The function that `make` makes of this one's body, if it can."""
        known, key = self.store.functions, (*self.key, label, "body")
        with self.store.lock:
            if key not in known:
                known[key] = make(self.body())
            body = known[key]
        if body is None:
            return None
        return Function(self.reference, self.library, self.store, body, f" {label}")

    def graph(self) -> ClientGraph:
        """The body of the function as the graph of a step of its own."""
        return client_graph(self.body(), self.library, self.name)

    def take(self) -> Instance:
        """An unused instance, with new random generators."""
        with self.store.lock:
            instance = self._idle.pop() if self._idle else None
        if instance is None:
            return Instance(self.graph(), self.store)
        instance.start_again()
        return instance

    def give_back(self, instance: Instance) -> None:
        if not instance.is_closed:
            with self.store.lock:
                self._idle.append(instance)


class Instance:
    """A function ready to be called, from any thread, by several at a time.

    `runs_python`: it calls Python functions; `blocks`: it has operations that wait; `may_wait`:
    one or the other. `is_stateful`: calls may have effects, or give something else each time (a
    dataset is the same thing each time, though TensorFlow calls many that make one stateful).
    """

    def __init__(self, graph: ClientGraph, store: ResourceStore) -> None:
        prefix = f"function {next(_serial)}"
        inner = [n for node in graph.nodes for n in [node, *nodes_inside(node)]]
        self._random = [n for n in inner if n.definition.takes_rng]
        for node in self._random:
            node.name = f"{prefix}/{node.name}"
        self.runs_python = any(_is_python(n) for n in inner)
        self.blocks = any(n.definition.blocking for n in inner)
        self.may_wait = self.runs_python or self.blocks
        self.is_stateful = any(n.definition.stateful and not _makes_variant(n) for n in inner)
        self.graph, self._store, self._running = graph, store, RunningSteps()
        self._plan = Plan(graph, store)
        self._may_end = self.may_wait or self._plan.has_loops
        self._under_way: list[None] = []  # one for each call
        self.is_closed = False
        self._dtypes = [node.dtypes[i] for node, i in graph.fetches]
        self._reads = [i for i, dtype in enumerate(self._dtypes) if dtype._is_ref_dtype]
        self._plain = all(not d._is_ref_dtype and d not in _OBJECTS for d in self._dtypes)

    def start_again(self) -> None:
        for node in self._random:
            self._store.rng.pop(node.name, None)

    def __call__(self, args: Sequence[Any]) -> list[Any]:
        """The results of a call, on the host."""
        values = self._run(args) if self._may_end else self._plan.run(args)
        for i in self._reads:
            values[i] = values[i].read()
        if self._plain:
            return [v if type(v) is np.ndarray else np.asarray(v) for v in values]
        return [
            value if dtype in _OBJECTS else np.asarray(value)
            for value, dtype in zip(values, self._dtypes, strict=True)
        ]

    def _run(self, args: Sequence[Any]) -> list[Any]:
        """As the plan does, until `cancel`."""
        self._under_way.append(None)
        try:
            with in_session(self._running):
                return self._plan.run(args, StepContext(running=self._running))
        finally:
            self._under_way.pop()

    @property
    def is_looping(self) -> bool:
        """Whether a call is under way that need not end by itself."""
        return self._plan.has_loops and bool(self._under_way)

    def cancel(self) -> None:
        """Ends calls that wait; there can be no further ones."""
        self.is_closed = True
        self._running.close(CancelledError(None, None, "Function call was cancelled"))


class BoundInstance:
    """A graph with all calls in it replaced, for arguments some of which are always the same
    variables: its programs read and write those themselves.

    `label` goes before the names of resources that have none of their own.
    """

    def __init__(
        self, graph: ClientGraph, store: ResourceStore, values: Sequence[Any], label: str = ""
    ) -> None:
        name_variables(graph, values)
        self._places = [i for i, v in enumerate(values) if not isinstance(v, Variable)]
        self._variables = [v for v in values if isinstance(v, Variable)]
        for node in graph.nodes:
            node.device = ""
            if node.definition.is_handle and not node.attrs.get("shared_name"):
                node.name = f"{label}/{node.name}"
        finish(graph, ALL)
        self._instance = Instance(graph, store)

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The results of a call, on the host; `values` are all arguments."""
        return self._instance([values[i] for i in self._places])


_OBJECTS = (dtypes.resource, dtypes.variant)


def _makes_variant(node: Node) -> bool:
    return any(dtype is dtypes.variant for dtype in node.dtypes)


def _is_python(node: Node) -> bool:
    return node.definition.calls_python
