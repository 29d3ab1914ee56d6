"""Results that come later, without a thread that waits for them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

Sink = Callable[[Any, BaseException | None], None]


class Deferred:
    """The promise of an operation's outputs. Completed once, from any thread.

    `on_cancel()` is called, at most once, when the step no longer wants the result, also when the
    result is on its way: its maker withdraws the request, or takes back what it granted.
    `then(outputs)` is what is left to do once the outputs are there. The waiting step runs it, on
    its own thread; it returns the operation's outputs, or another `Deferred`.
    `at_end()` is called once when the step that waited is over, however it ended.
    `help_until(is_done)`, if not None, lets a thread that waits anyway do what it waits for.
    """

    __slots__ = ("_lock", "_result", "_sink", "at_end", "help_until", "on_cancel", "then")

    def __init__(
        self,
        on_cancel: Callable[[], None] | None = None,
        then: Callable[[Any], Any] | None = None,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self.on_cancel, self.then, self.at_end = on_cancel, then, at_end
        self.help_until: Callable[[Callable[[], bool]], None] | None = None
        self._lock = threading.Lock()
        self._result: tuple[Any, BaseException | None] | None = None
        self._sink: Sink | None = None

    def complete(self, outputs: Any) -> bool:
        """Delivers the outputs; False (and no effect) if there was a result already."""
        return self._finish((outputs, None))

    def fail(self, error: BaseException) -> bool:
        return self._finish((None, error))

    def _finish(self, result: tuple[Any, BaseException | None]) -> bool:
        with self._lock:
            if self._result is not None:
                return False
            # Sinks often know the promise they wait for: kept, they would keep the result alive.
            self._result, sink, self._sink = result, self._sink, None
        if sink is not None:
            sink(*result)
        return True

    def deliver_to(self, sink: Sink) -> None:
        """`sink(outputs, error)` gets the result, now or when it comes."""
        with self._lock:
            result = self._result
            if result is None:
                self._sink = sink
        if result is not None:
            sink(*result)

    def wait(self) -> Any:
        """Blocks this thread until the outputs are there: for what runs outside of an executor."""
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.deliver_to(lambda *result: arrived.put(result))
        outputs = self.take(*arrived.get())
        return outputs.wait() if isinstance(outputs, Deferred) else outputs

    def take(self, outputs: Any, error: BaseException | None) -> Any:
        """Does what is left to do with a result: the operation's outputs, or another `Deferred`.

        There is nothing to withdraw any more. What `then` and `on_cancel` know often knows the
        promise, and would stay in memory with it until garbage is collected.
        """
        then, self.then, self.on_cancel = self.then, None, None
        if error is not None:
            raise error
        return outputs if then is None else then(outputs)

    def cancel(self) -> None:
        """The step no longer wants the result."""
        with self._lock:
            withdraw, self.on_cancel = self.on_cancel, None
        if withdraw is not None:
            withdraw()


class Ends(list[Callable[[], None]]):
    """The `at_end` calls of the promises that a step waited for: most steps have none."""

    __slots__ = ()

    def add(self, promise: Deferred) -> None:
        if promise.at_end is not None:
            self.append(promise.at_end)

    def take(self) -> Callable[[], None] | None:
        """One call for all that was added, which the caller has to make from now on."""
        if not self:
            return None
        taken = Ends(self)
        self.clear()
        return taken.over

    def over(self) -> None:
        """The step is over."""
        while self:
            self.pop(0)()

    def kept(self, outputs: Any) -> Any:
        """Outputs as they are, or as a promise that says what to do at the end."""
        if not self:
            return outputs
        promise = Deferred(at_end=self.take())
        promise.complete(outputs)
        return promise
