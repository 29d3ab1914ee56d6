"""The current graph and the current session: one stack of each per thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.graph.graph import Graph


class DefaultStack(threading.local):
    """A per-thread stack whose top is the default.

    `enforce_nesting` False lets an entry leave before those above it (InteractiveSession).
    """

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.enforce_nesting = True
        self.dropped = 0  # entries that `reset` took out while their scopes were open

    def top(self) -> Any:
        return self.items[-1] if self.items else None

    def enter(self, item: Any) -> DefaultScope:
        return DefaultScope(self, item)

    def reset(self) -> None:
        """Takes all entries out; the scopes that are open may still be left."""
        self.dropped += len(self.items)
        self.items = []


class DefaultScope:
    """Context manager that makes `item` the default while it is open."""

    __slots__ = ("enforce_nesting", "item", "stack")

    def __init__(self, stack: DefaultStack, item: Any) -> None:
        self.stack, self.item = stack, item
        self.enforce_nesting = True

    def __enter__(self) -> Any:
        self.stack.items.append(self.item)
        return self.item

    def __exit__(self, *exc: Any) -> None:
        items = self.stack.items
        if self.stack.dropped and not items:
            self.stack.dropped -= 1
        elif self.enforce_nesting:
            if not items or items[-1] is not self.item:
                raise AssertionError(
                    f"Nesting violated for default stack of {type(self.item)} objects"
                )
            items.pop()
        elif self.item in items:
            items.remove(self.item)


class _GraphStack(DefaultStack):
    """Below every entered graph lies a global default graph, made when first needed."""

    def __init__(self) -> None:
        super().__init__()
        self.fallback: Graph | None = None


graphs = _GraphStack()
sessions = DefaultStack()

# The graph that all threads have as their global default one, if it is not one of their own.
shared_default: Graph | None = None


def get_default_graph() -> Graph:
    """The innermost graph entered with `as_default`, else the global default graph.

    Returns:
        The graph to which operations are added now.

    Example:
        >>> graph = tf.Graph()
        >>> with graph.as_default():
        ...     print(tf.get_default_graph() is graph)
        True
    """
    if graphs.items:
        top: Graph = graphs.items[-1]
        return top
    # Where a graph was entered, a reset of the stack does not bring eager execution back.
    if shared_default is not None and not graphs.dropped:
        return shared_default
    return global_graph()


def global_graph() -> Graph:
    """This thread's global default graph, below every graph that is entered."""
    if graphs.fallback is None:
        from weft.graph.graph import Graph

        graphs.fallback = Graph()
    return graphs.fallback


def reset_default_graph() -> None:
    """Replaces this thread's global default graph by an empty one; not inside of `with`.

    Raises:
        AssertionError: a graph is entered with `as_default`.

    Example:
        >>> tf.reset_default_graph()
        Traceback (most recent call last):
            ...
        AssertionError: Do not use tf.reset_default_graph() to clear nested graphs.
    """
    if graphs.items:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs.")
    graphs.fallback = None
    if shared_default is not None:  # eager execution has no graph to forget, but collections
        shared_default._collections.clear()


def get_default_session() -> Any:
    """The innermost session entered with `as_default`, or None.

    Returns:
        A session, or None.

    Example:
        >>> with tf.Session() as session:
        ...     print(tf.get_default_session() is session)
        True
    """
    return sessions.top()
