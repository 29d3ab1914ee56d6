"""The steps that a worker knows of: those it runs, and those that others ask it about."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from weft.cluster import wire
from weft.cluster.inprocess import Peers
from weft.cluster.remote_rendezvous import RemoteRendezvous
from weft.core import errors
from weft.runtime.running import RunningSteps

_REMEMBERED = 4096


class WorkerStep:
    """What the calls about one step share: where its tensors meet, and how to end it."""

    def __init__(self, rendezvous: RemoteRendezvous) -> None:
        self.rendezvous, self.running = rendezvous, RunningSteps()
        self.partial: Any = None  # the outcome of a partial run, once that has started

    def abort(self, error: errors.OpError) -> None:
        self.rendezvous.abort(error)
        self.running.close(error)


class WorkerSteps:
    """Step id -> step. A step that is over stays over: who asks late gets an error, not a wait."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self._steps: dict[int, WorkerStep] = {}
        # Code and message of how they ended; an error itself would keep alive what it has seen.
        self._over: OrderedDict[int, tuple[int, str]] = OrderedDict()
        self._closed: errors.OpError | None = None
        self._lock = threading.Lock()

    def open(self, step_id: int) -> WorkerStep:
        """The step of this number, begun if it is new."""
        with self._lock:
            if self._closed is not None:
                raise self._closed
            step = self._steps.get(step_id)
            if step is None:
                if step_id in self._over:
                    raise wire.from_status(*self._over[step_id])
                step = WorkerStep(RemoteRendezvous(step_id, self._peers))
                self._steps[step_id] = step
            return step

    def end(self, step_id: int, error: errors.OpError | None = None) -> None:
        """The step is over; whatever still waits in it fails."""
        home = self._peers.home
        why = error or errors.AbortedError(None, None, f"Step {step_id} is over on {home}")
        with self._lock:
            step = self._steps.pop(step_id, None)
            self._over.setdefault(step_id, wire.to_status(why))
            while len(self._over) > _REMEMBERED:
                self._over.popitem(last=False)
        if step is not None:
            step.abort(why)

    def close(self, error: errors.OpError) -> None:
        """Ends all steps; no other can start."""
        with self._lock:
            self._closed = error
            steps, self._steps = list(self._steps.values()), {}
        for step in steps:
            step.abort(error)

    def __len__(self) -> int:
        return len(self._steps)
