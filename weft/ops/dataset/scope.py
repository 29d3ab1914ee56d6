"""The shared state of the iterators of one traversal: instances of functions, and its end."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from weft.core.at_exit import watch
from weft.core.errors import CancelledError

Made = TypeVar("Made")
_CALLS = ("each", "reduced")  # the steps to what a function makes


class Scope:
    """From the initialization of an iterator to the next one, or to the end of its session.

    Functions keep their random generators within a scope, however often a dataset is repeated.
    Shuffles do so at their `place`: the way there from the outermost dataset, where it forks.
    """

    place: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.closed = False
        self._instances: dict[Any, tuple[Any, Any]] = {}
        self._made: dict[tuple[Any, ...], Any] = {}
        # Those with threads. A pipeline may open any number of them, one after the other.
        self._members: weakref.WeakSet[Any] = weakref.WeakSet()
        self._threads = 0
        # Who is told what datasets measure: `measure(tag, value)`.
        self.measure: Callable[[str, float], None] | None = None
        # Whether results may come in any order: whichever is there first.
        self.any_order = False
        # Rewrites: a repeated shuffle is one dataset, and one that changes nothing is left out.
        # So are functions and batches of their results: an error takes its whole batch along.
        self.fuses = self.leaves_out = self.batches_results = False

    def instance(self, function: Any) -> Any:
        """An instance of a function, the same for everyone on one branch of this scope."""
        key = function.name, function.reference.attrs, self._branch()
        with self.lock:
            found = self._instances.get(key)
            if found is None:
                found = self._instances[key] = function, function.take()
            return found[1]

    def _branch(self) -> tuple[int, ...]:
        """Which of several datasets this is part of, as it stands in the program.

        What a function makes of its elements is on one branch, however often it is called.
        """
        forks = itertools.takewhile(lambda step: step not in _CALLS, self.place)
        return tuple(step for step in forks if isinstance(step, int))

    def at(self, *fork: Any) -> Scope:
        """This scope, as it is seen from one place further on."""
        return _Part(self, (*self.place, *fork))

    def first(self, make: Callable[[], Made]) -> Made:
        """What `make` gave when this place was first opened."""
        with self.lock:
            if self.place not in self._made:
                self._made[self.place] = make()
            return self._made[self.place]

    def draws(self) -> bool:
        """Whether opening something may take seeds."""
        return bool(self._made)

    def start(self, run: Callable[[], None], name: str) -> None:
        """Runs something on a thread of its own. It must notice when the scope is closed."""
        with self.lock:
            self._threads += 1
        label = f"weft-data-{name}"
        thread = threading.Thread(target=self._run, args=(run,), name=label, daemon=True)
        watch(self, thread)
        thread.start()

    def _run(self, run: Callable[[], None]) -> None:
        try:
            run()
        finally:
            with self.lock:
                self._threads -= 1
            self._give_back()

    def add(self, member: Any) -> None:
        """`member.close()` is called when the scope is closed, if it is still there."""
        with self.lock:
            self._members.add(member)
            closed = self.closed
        if closed:
            member.close()

    def check(self) -> None:
        if self.closed:
            raise CancelledError(None, None, "Iterator was cancelled")

    def close(self, for_good: bool = False) -> None:
        """Ends what waits; `for_good`, what loops as well. Threads end as soon as they notice."""
        with self.lock:
            if self.closed:
                return
            self.closed = True
            members = list(self._members)
            instances = list(self._instances.values())
        for member in members:
            member.close()
        for _, instance in instances:
            if instance.blocks or (for_good and instance.is_looping):
                instance.cancel()
        self._give_back()

    def _give_back(self) -> None:
        """Gives the functions back for other traversals, once no thread calls them any more."""
        with self.lock:
            if not self.closed or self._threads:
                return
            instances, self._instances = self._instances, {}
        for function, instance in instances.values():
            function.give_back(instance)


class _Part(Scope):
    """The same scope, all of its state, at another place."""

    __slots__ = ("place",)

    def __init__(self, whole: Scope, place: tuple[Any, ...]) -> None:
        self.__dict__ = whole.__dict__
        self.place = place
