"""The rendezvous of a step that several workers take part in.

Whoever sends keeps the value until it is asked for. Whoever receives from another task asks that
task, and has the answer when it comes; nobody waits in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.cluster.inprocess import Peers
from weft.core import errors
from weft.core.deferred import Deferred
from weft.runtime.rendezvous import Rendezvous


def sending_task(key: str) -> str:
    """The task that sends what `key` stands for."""
    return key.partition(";")[0].partition("/device:")[0]


class RemoteRendezvous(Rendezvous):
    """As seen by the task `peers.home`."""

    def __init__(self, step_id: int, peers: Peers) -> None:
        super().__init__()
        self.step_id, self.peers = step_id, peers
        self._calls: dict[str, Deferred] = {}
        self._when_taken: Callable[[], None] | None = None

    def recv(self, key: str) -> Any:
        """The value sent under `key` in a list of one, or a `Deferred` of that."""
        source = sending_task(key)
        if source == self.peers.home:
            return self.recv_here(key)
        with self._lock:
            if self._error is not None:
                raise self._error
            if key in self._wanted:
                raise errors.InternalError(None, None, f"Duplicate receive of {key}")
            result = Deferred(lambda: self._withdraw(key))
            self._wanted[key] = result
        call = self.peers(source).recv_tensor(self.step_id, key)
        with self._lock:
            if key in self._wanted:
                self._calls[key] = call
        call.deliver_to(lambda value, error: self._arrived(key, value, error))
        if result is not self._wanted.get(key):
            call.cancel()  # the step has been aborted meanwhile, or this is a cancel after the fact
        return result

    def recv_here(self, key: str) -> Any:
        """As `recv`, of what this task sends itself."""
        found = super().recv(key)
        if self._when_taken is not None and not self._sent:
            self._when_taken()
        return found

    def when_taken(self, action: Callable[[], None]) -> None:
        """Everything has been sent; `action` is called when all of it has been received."""
        with self._lock:
            if self._sent:
                self._when_taken = action
                return
        action()

    def _arrived(self, key: str, value: Any, error: BaseException | None) -> None:
        with self._lock:
            waiting = self._wanted.pop(key, None)
            self._calls.pop(key, None)
        if waiting is None:
            return
        if error is not None:
            waiting.fail(error)
        else:
            waiting.complete(value)

    def _withdraw(self, key: str) -> None:
        with self._lock:
            call = self._calls.pop(key, None)
        super()._withdraw(key)
        if call is not None:
            call.cancel()

    def abort(self, error: Exception) -> None:
        super().abort(error)
        with self._lock:
            calls, self._calls = list(self._calls.values()), {}
        for call in calls:
            call.cancel()
