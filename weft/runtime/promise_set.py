"""Several promises seen as one: whoever waits is called when the first of them is kept."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from weft.core.deferred import Deferred, Ends

Explain = Callable[[BaseException, Any], BaseException]


class WaitingFor:
    """The promises that an operation made of others waits for, each with where it belongs.

    `explain(error, place)` is the error to fail with when the promise of that place was broken.
    """

    def __init__(self, explain: Explain) -> None:
        self.explain = explain
        self.arrived: deque[tuple[Deferred, Any, Any, BaseException | None]] = deque()
        self._lock = threading.Lock()
        self._promises: dict[int, Deferred] = {}
        self.ends = Ends()
        self._signal: Deferred | None = None

    def add(self, promise: Deferred, place: Any) -> None:
        self._promises[id(promise)] = promise
        self.ends.add(promise)

        def sink(outputs: Any, error: BaseException | None) -> None:
            self._arrive(promise, place, outputs, error)

        promise.deliver_to(sink)

    def _arrive(
        self, promise: Deferred, place: Any, outputs: Any, error: BaseException | None
    ) -> None:
        with self._lock:
            signal, self._signal = self._signal, None
            if signal is None or error is None:
                self.arrived.append((promise, place, outputs, error))
        if signal is None:
            return
        if error is None:
            signal.complete(())
        else:
            signal.fail(self.explain(error, place))
            self.cancel()

    def take(self) -> tuple[Any, Any]:
        """The place and the outputs of what arrived; if these are another promise, it is added."""
        promise, place, outputs, error = self.arrived.popleft()
        del self._promises[id(promise)]
        try:
            if error is not None:
                raise error
            if promise.then is not None:
                outputs = promise.then(outputs)
        except Exception as problem:
            raise self.explain(problem, place) from problem
        if isinstance(outputs, Deferred):
            self.add(outputs, place)
        return place, outputs

    def promise(self, go_on: Callable[[], Any]) -> Deferred | None:
        """One that is kept by `go_on()` as soon as something arrives; None if something has."""
        with self._lock:
            if self.arrived:
                return None
            self._signal = Deferred(self.cancel, lambda _: go_on(), self.ends.take())
            return self._signal

    def cancel(self) -> None:
        """Nobody wants any of them any more."""
        for promise in list(self._promises.values()):
            promise.cancel()
