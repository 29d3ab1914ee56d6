"""Keras's state of each graph: counts of names, variables to initialize, the learning phase.

It hangs on the graph, so that it goes when the graph does.
"""

from __future__ import annotations

import collections
import weakref
from typing import Any

from weft.graph.graph import Graph, get_default_graph


class GraphState:
    """The part of Keras's state that belongs to one graph."""

    def __init__(self) -> None:
        self.uids: dict[Any, int] = collections.defaultdict(int)
        # In the order they were made: a session remembers how many of them it has looked at.
        self.variables: list[Any] = []
        self.tracked: set[int] = set()
        self.tf_optimizers: list[Any] = []
        # Of models whose checkpoint was read before all their variables were made: what reads on.
        self.restores: dict[int, Any] = {}
        # The one that Keras computes with, where no session is the default.
        self.session: Any = None
        # A placeholder, or the number it was fixed to; None until it is asked for.
        self.learning_phase: Any = None


_states: weakref.WeakSet[GraphState] = weakref.WeakSet()


def state_of(graph: Graph | None = None) -> GraphState:
    """The state of `graph`, by default the current one; functions share that of their program."""
    found: Any = get_default_graph() if graph is None else graph
    while found.outer_graph is not None:
        found = found.outer_graph
    if not hasattr(found, "_keras_state"):
        found._keras_state = GraphState()
        _states.add(found._keras_state)
    return found._keras_state


def get_uid(prefix: str = "") -> int:
    """How often this has been called with `prefix` in the current graph."""
    uids = state_of().uids
    uids[prefix] += 1
    return uids[prefix]


def reset_uids() -> None:
    """Starts all counts again."""
    for state in _states:
        state.uids.clear()


def get_default_graph_uid_map() -> dict[Any, int]:
    return state_of().uids


def unique_object_name(
    name: str,
    name_uid_map: dict[Any, int] | None = None,
    avoid_names: Any = None,
    namespace: str = "",
    zero_based: bool = False,
) -> str:
    """`name` with a number that makes it new: dense, dense_1, ... or dense_1, dense_2, ..."""
    counts = get_default_graph_uid_map() if name_uid_map is None else name_uid_map
    key = (namespace, name)
    while True:
        counts[key] += 1
        number = counts[key] - 1 if zero_based else counts[key]
        proposed = f"{name}_{number}" if number else name
        if proposed not in (avoid_names or ()):
            return proposed


def track_variable(variable: Any) -> None:
    """Has `variable` initialized when Keras next needs a session."""
    state = state_of(getattr(variable, "graph", None))
    if id(variable) not in state.tracked:
        state.tracked.add(id(variable))
        state.variables.append(variable)


def track_tf_optimizer(optimizer: Any) -> None:
    """As `track_variable`, for whatever variables `optimizer.optimizer` makes."""
    state_of().tf_optimizers.append(optimizer)


def tracked_variables(graph: Graph) -> list[Any]:
    """All variables of `graph` that Keras initializes."""
    state = state_of(graph)
    for optimizer in state.tf_optimizers:
        for variable in optimizer.optimizer.variables():
            track_variable(variable)
    return state.variables
