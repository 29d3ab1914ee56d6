"""Where the sends and receives of one step meet, by key.

A key is TensorFlow's: source device, its incarnation, destination, name of the edge, and frame and
iteration. Each is sent once and received once. No thread waits here: a receive that comes
first leaves a `Deferred`, which the send completes.
"""

from __future__ import annotations

import threading
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred


class Rendezvous:
    """`send` and `recv` come in any order, from any thread; `abort` ends all, also later ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: dict[str, Any] = {}
        self._wanted: dict[str, Deferred] = {}
        self._error: Exception | None = None

    def send(self, key: str, value: Any) -> None:
        with self._lock:
            if self._error is not None:
                return  # the step has failed already, and its runner knows why
            waiting = self._wanted.pop(key, None)
            if waiting is None:
                if key in self._sent:
                    raise errors.InternalError(None, None, f"Duplicate send of {key}")
                self._sent[key] = value
                return
        waiting.complete([value])

    def recv(self, key: str) -> Any:
        """The value sent under `key` in a list of one, or a `Deferred` of that."""
        with self._lock:
            if self._error is not None:
                raise self._error
            if key in self._sent:
                return [self._sent.pop(key)]
            if key in self._wanted:
                raise errors.InternalError(None, None, f"Duplicate receive of {key}")
            deferred = Deferred(lambda: self._withdraw(key))
            self._wanted[key] = deferred
            return deferred

    def flush(self) -> None:
        """Passes on everything sent so far: the sender will be busy with something else."""

    def _withdraw(self, key: str) -> None:
        with self._lock:
            waiting = self._wanted.pop(key, None)
        if waiting is not None:
            waiting.fail(errors.CancelledError(None, None, f"The receive of {key} was cancelled"))

    def abort(self, error: Exception) -> None:
        """Fails every receive that waits and all that come later; the first error stays."""
        with self._lock:
            if self._error is not None:
                return
            self._error = error
            waiting, self._wanted = list(self._wanted.values()), {}
            self._sent.clear()
        for deferred in waiting:
            deferred.fail(error)

    def is_empty(self) -> bool:
        """Whether no value is kept here and no receive waits."""
        return not self._sent and not self._wanted

    def awaited(self) -> list[str]:
        """The keys that receives wait for."""
        with self._lock:
            return sorted(self._wanted)
