"""tf.wrap_function: a function of TensorFlow 1's style as one that can be called and pruned."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from weft.core import nest
from weft.graph.function import LibraryFunction
from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.functions.arguments import Arguments
from weft.lib.functions.concrete import ConcreteFunction, trace
from weft.ops.functions.traced_graph import TracedGraph
from weft.ops.state.variable_creators import last_creator_scope


class WrappedFunction(ConcreteFunction):
    """A traced function whose inside can be looked at, and cut out of by `prune`."""

    def prune(
        self, feeds: Any, fetches: Any, name: str = "pruned", input_signature: Any = None
    ) -> WrappedFunction:
        """The part of it that computes `fetches` from `feeds`, both tensors or names of them."""
        feeds = [self._element(feed) for feed in nest.flatten(feeds, expand_composites=True)]
        fetches = nest.map_structure(self._element, fetches, expand_composites=True)
        for feed in feeds:
            if not isinstance(feed, Tensor):
                raise ValueError(
                    "Feeds must be tensors of the function, or names of them; got an operation"
                    f" {feed.name}"
                )
        return _pruned(self, feeds, fetches, name)

    def _element(self, item: Any) -> Any:
        return self.graph.as_graph_element(getattr(item, "name", item))


class _Cut(TracedGraph):
    """A graph that shows the operations of another one."""

    def __init__(self, name: str, source: TracedGraph, kept: set[Operation]) -> None:
        with source.outer_graph.as_default() if source.outer_graph else source.as_default():
            super().__init__(name)
        self._source, self._kept = source, kept
        self._functions, self._collections = source._functions, source._collections

    def get_operations(self) -> list[Operation]:
        return [op for op in self._source.get_operations() if op in self._kept]

    def own(self, value: Any) -> Tensor:
        return self._source.own(value)


def _pruned(
    whole: WrappedFunction, feeds: list[Tensor], fetches: Any, name: str
) -> WrappedFunction:
    source = whole.graph
    flat = nest.flatten(fetches, expand_composites=True)
    wanted = [x.op if isinstance(x, Tensor) else x for x in flat]
    kept = _needed(wanted, {feed.op for feed in feeds})
    graph = _Cut(name, source, kept)
    captured = [i for i, arg in enumerate(source.extra_args) if arg.op in kept]
    graph.extra_args = [source.extra_args[i] for i in captured]
    graph.extra_inputs = [source.extra_inputs[i] for i in captured]
    graph.inputs = [*feeds, *graph.extra_args]
    inside = [t for t in source.inputs if t.op in kept and t not in graph.inputs]
    if inside:
        raise ValueError(
            f"Fetches depend on placeholders that are not fed: {[t.name for t in inside]}"
        )
    given = Arguments(tuple(feeds), {}, [feed.op.name for feed in feeds])
    result = nest.map_structure(_fetched, fetches)
    return WrappedFunction(graph, given, result)


def _fetched(item: Any) -> Any:
    """An operation is run for its effect."""
    return None if isinstance(item, Operation) else item


def _needed(roots: list[Operation], stops: set[Operation]) -> set[Operation]:
    found = set(stops)
    waiting = list(roots)
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting += [tensor.op for tensor in op.inputs]
            waiting += op._control_inputs
    return found


class VariableHolder:
    """Makes the variables of a function, and gives the same ones when it is traced again."""

    def __init__(self, fn: Callable[..., Any], share_variables: bool = False) -> None:
        self._fn, self._share = fn, share_variables
        self._by_name: dict[str, Any] = {}

    @property
    def variables(self) -> dict[str, Any]:
        return self._by_name

    def _create(self, next_creator: Any, **kwargs: Any) -> Any:
        from weft.lib.functions.polymorphic import _create

        name = kwargs.get("name")
        if self._share and name in self._by_name:
            return self._by_name[name]
        variable = _create([], next_creator, **kwargs)
        self._by_name[variable.name.partition(":")[0]] = variable
        return variable

    def scope(self) -> AbstractContextManager[None]:
        return last_creator_scope(self._create)


def wrap_function(
    fn: Callable[..., Any], signature: Any, name: str | None = None
) -> WrappedFunction:
    """`fn` traced with tensors of `signature`, without automatic control dependencies."""
    holder = VariableHolder(fn)
    args = tuple(signature) if isinstance(signature, (list, tuple)) else (signature,)
    names = [f"arg{i}" for i in range(len(args))]
    label = str(name or getattr(fn, "__name__", ""))
    label = label if label.isidentifier() else "wrapped_function"
    made = trace(fn, label, Arguments(args, {}, names), args, ordered=False, scope=holder.scope)
    wrapped = WrappedFunction.__new__(WrappedFunction)
    vars(wrapped).update(vars(made))
    vars(wrapped)["_holder"] = holder
    return wrapped


def function_from_graph_def(graph_def: Any, inputs: Any, outputs: Any) -> WrappedFunction:
    """A function made of a GraphDef, given the names of what goes in and comes out."""
    from weft.graph.importer import import_graph_def

    def load() -> None:
        import_graph_def(graph_def, name="")

    whole = wrap_function(load, [])
    feeds = nest.map_structure(whole.graph.as_graph_element, inputs)
    return whole.prune(feeds, nest.map_structure(whole.graph.as_graph_element, outputs))


__all__ = [
    "Graph", "LibraryFunction", "VariableHolder", "WrappedFunction", "function_from_graph_def",
    "wrap_function",
]  # fmt: skip
