"""The graph in which models are described: the default one or, in eager execution, another."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.client.eager import EagerExecution, symbolic_graph
from weft.core import nest
from weft.graph.graph import Graph, get_default_graph
from weft.graph.tensor import Tensor
from weft.lib.functions.polymorphic import _create
from weft.ops.kit.eager import EagerTensor
from weft.ops.state.variable_creators import last_creator_scope


def runs_eagerly() -> bool:
    """Whether what is made now is computed at once."""
    return isinstance(get_default_graph(), EagerExecution)


def eager_program() -> EagerExecution | None:
    """Eager execution, if the program is in it, or describes a model while it is."""
    graph = get_default_graph()
    while graph.outer_graph is not None:
        graph = graph.outer_graph
    return graph if isinstance(graph, EagerExecution) else None


def in_symbolic_graph() -> bool:
    """Whether a model is being described by a program that runs eagerly."""
    program = eager_program()
    return program is not None and get_default_graph() is program.symbolic


def get_graph() -> Graph:
    """The graph in which models are described: the current one, or that beside eager execution."""
    return symbolic_graph() if runs_eagerly() else get_default_graph()


@contextmanager
def model_graph(graph: Graph | None = None) -> Iterator[None]:
    """A context in which operations go into a graph, and variables are those of the program."""
    if not runs_eagerly():
        yield
        return
    make_outside = functools.partial(_create, [])
    with (graph or symbolic_graph()).as_default(), last_creator_scope(make_outside):
        yield


def in_model_graph(method: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function run in `model_graph()`; a method of a model, in the graph of that model."""

    @functools.wraps(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        with model_graph(_described_in(args)):
            return method(*args, **kwargs)

    return run


def _described_in(args: tuple[Any, ...]) -> Graph | None:
    """A model stays where it was described, even if Keras has begun another graph since."""
    outputs = getattr(args[0], "outputs", None) if args else None
    symbols = [x for x in outputs or () if isinstance(x, Tensor) and not has_value(x)]
    return symbols[0].graph if symbols else None


def describes_a_model(inputs: Any) -> bool:
    """Whether a program that runs eagerly passes tensors that have no values."""
    return runs_eagerly() and any(
        isinstance(x, Tensor) and not isinstance(x, EagerTensor)
        for x in nest.flatten(inputs, expand_composites=True)
    )


def has_value(x: Any) -> bool:
    """Whether `x` is a tensor or variable of eager execution, whatever graph is current."""
    return isinstance(getattr(x, "graph", None), EagerExecution)


def value_of(x: Any) -> Any:
    """The value of something that `has_value`."""
    with x.graph.as_default():
        return x.numpy()


def as_arrays(structure: Any) -> Any:
    """`structure` with the values of eager tensors in their place."""
    if not runs_eagerly():
        return structure
    return nest.map_structure(lambda x: x.numpy() if isinstance(x, EagerTensor) else x, structure)
