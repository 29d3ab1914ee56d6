"""The distribution strategy in force on this thread, and whether inside one of its replicas.

The strategies are in `weft/distribute`, far down the layers. What lies above them and still has to
know (metrics, summaries, slots, optimizers) asks here, and gets None where there is no strategy.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from weft.graph.constant_value import constant_value
from weft.graph.graph import Graph, colocate_with, get_default_graph
from weft.graph.tensor import Tensor


@dataclass(frozen=True)
class Mode:
    """A strategy, and the replica of it that the code belongs to; None: it is for all of them."""

    strategy: Any
    replica: Any = None


class _Modes(threading.local):
    """The modes entered on this thread, innermost last, for each graph."""

    def __init__(self) -> None:
        self.of: weakref.WeakKeyDictionary[Graph, list[Mode]] = weakref.WeakKeyDictionary()
        self.update_device: Any = None


_modes = _Modes()


def current_mode() -> Mode | None:
    """The innermost mode of the default graph, or of the graph that it is built inside of."""
    graph: Graph | None = get_default_graph()
    while graph is not None:
        entered = _modes.of.get(graph)
        if entered:
            return entered[-1]
        graph = graph.outer_graph
    return None


@contextmanager
def entered(mode: Mode) -> Iterator[None]:
    """Code of the default graph runs in `mode`."""
    modes = _modes.of.setdefault(get_default_graph(), [])
    modes.append(mode)
    try:
        yield
    finally:
        modes.pop()


@contextmanager
def updating(device: Any) -> Iterator[None]:
    """An update of the copies of variables on `device` is being made."""
    before, _modes.update_device = _modes.update_device, device
    try:
        yield
    finally:
        _modes.update_device = before


def update_device() -> Any:
    """The device whose copies are being updated, or None."""
    return _modes.update_device


def strategy_in_force() -> Any:
    """The strategy whose scope is open, or None."""
    mode = current_mode()
    return None if mode is None else mode.strategy


def replica_in_force() -> Any:
    """The context of the replica that this code belongs to; None without a strategy, too."""
    mode = current_mode()
    return None if mode is None else mode.replica


def before_replicas() -> bool:
    """Whether the code only builds what replicas will call again, each by itself."""
    mode = current_mode()
    outside = mode is not None and mode.replica is None
    return outside and bool(mode.strategy.extended._runs_in_replicas)  # type: ignore[union-attr]


def replica_number() -> int:
    """The number of this replica; 0 outside of replicas, and where only a step will tell."""
    replica = replica_in_force()
    if replica is None:
        return 0
    number = replica.replica_id_in_sync_group
    known = constant_value(number) if isinstance(number, Tensor) else number
    return 0 if known is None else int(known)


def across_replicas(make: Callable[..., Any], *variables: Any) -> Any:
    """`make(*variables)` where variables stand for all of their copies."""
    replica = replica_in_force()
    if replica is None:
        return make(*variables)
    return replica.merge_call(lambda strategy, *given: make(*given), variables)


def beside(primary: Any) -> AbstractContextManager[Any]:
    """A scope for variables that shall be where the variable `primary` is."""
    strategy = strategy_in_force()
    if strategy is None:
        return colocate_with(primary.op)
    beside_it: AbstractContextManager[Any] = strategy.extended.colocate_vars_with(primary)
    return beside_it
