"""The creation of variables by `tf.Variable(...)`, and the creators that take part in it."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.graph.graph import Graph, get_default_graph
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.get_variable import get_variable_scope
from weft.ops.state.ref_variable import RefVariable
from weft.ops.state.resource_variable import ResourceVariable
from weft.ops.state.variable_store import resource_variables_enabled
from weft.ops.state.variables import Variable, VariableAggregation, VariableSynchronization


class _Creators(threading.local):
    """The variable creators in force, innermost last, for each graph."""

    def __init__(self) -> None:
        self.of: weakref.WeakKeyDictionary[Graph, list[Any]] = weakref.WeakKeyDictionary()


_creators = _Creators()


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Variables are made by `variable_creator(next_creator, **kwargs)`, innermost scope first."""
    stack = _creators.of.setdefault(get_default_graph(), [])
    stack.append(variable_creator)
    try:
        yield
    finally:
        stack.pop()


@contextmanager
def last_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Like `variable_creator_scope`; all others are asked before this one, which calls no other."""
    stack = _creators.of.setdefault(get_default_graph(), [])
    stack.insert(0, variable_creator)
    try:
        yield
    finally:
        stack.remove(variable_creator)


def share_creators(graph: Graph, outer: Graph) -> None:
    """The creators in force in one graph are so in another that is built inside of it."""
    _creators.of[graph] = list(_creators.of.get(outer, ()))


def creators_in_force(graph: Graph) -> list[Any]:
    """The creators of a graph on this thread, for another thread to go on with."""
    return list(_creators.of.get(graph, ()))


@contextmanager
def holding_creators(graph: Graph, creators: list[Any]) -> Iterator[None]:
    """The creators of a graph on this thread are these."""
    before = _creators.of.get(graph, [])
    _creators.of[graph] = list(creators)
    try:
        yield
    finally:
        _creators.of[graph] = before


def create_variable(
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Any = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    shape: Any = None,
) -> Variable:
    """The call `tf.Variable(...)`."""
    arguments = dict(locals())
    if aggregation is None:
        arguments["aggregation"] = VariableAggregation.NONE
    create: Callable[..., Any] = _create_by_default
    for creator in _creators.of.get(get_default_graph(), ()):
        create = functools.partial(creator, create)
    return create(**arguments)


def _create_by_default(
    use_resource: bool | None = None, expected_shape: Any = None, **kwargs: Any
) -> Variable:
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = resource_variables_enabled()
    if executing_eagerly():
        use_resource = True
    return ResourceVariable(**kwargs) if use_resource else RefVariable(**kwargs)
