"""The steps that a worker knows of: those it runs, and those that others ask it about."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import Any

from weft.cluster.guard.limits import Meters
from weft.cluster.transport import outcome, wire
from weft.cluster.transport.inprocess import Peers
from weft.cluster.transport.remote_rendezvous import RemoteRendezvous, sending_task
from weft.core import errors, flags
from weft.runtime.limits import RunningSteps

_REMEMBERED = 4096
_NEVER = 8  # a step that has not begun in so many times WEFT_HEALTH never will
_LOOKS = 4  # how often we look after others in the time that they have to give a sign of life


class WorkerStep:
    """The state shared by calls about one step: its rendezvous, and how to end it."""

    def __init__(self, rendezvous: RemoteRendezvous) -> None:
        self.rendezvous, self.running = rendezvous, RunningSteps()
        self.partial: Any = None  # the outcome of a partial run, once that has started
        self.session: str | None = None  # whose step it is, once a part of it runs here
        self.began = time.monotonic()
        self.heard = self.began  # when it began, or others were last asked about it
        self.held = 0  # bytes of tensors that others have yet to take

    def is_forgotten(self) -> bool:
        """Whether other tasks have asked for the step in vain, gone away, and left nothing here."""
        if self.session is not None or self.rendezvous.awaited():
            return False
        old = time.monotonic() - self.began >= _NEVER * flags.HEALTH.value
        return old or self.rendezvous.is_empty()

    def awaited_tasks(self) -> set[str]:
        """The other tasks whose tensors the step waits for."""
        senders = {sending_task(key) for key in self.rendezvous.awaited()}
        return senders - {self.rendezvous.peers.home}

    def abort(self, error: errors.OpError) -> None:
        self.rendezvous.abort(error)
        self.running.close(error)


class WorkerSteps:
    """Step id -> step. A step that is over stays over: a late request fails and does not wait."""

    def __init__(self, peers: Peers, meters: Meters | None = None) -> None:
        self._peers, self._meters = peers, meters or Meters()
        self._steps: dict[int, WorkerStep] = {}
        # Code and message of how they ended; an error itself would keep alive what it has seen.
        # None: as it should.
        self._over: OrderedDict[int, tuple[int, str] | None] = OrderedDict()
        self._closed: errors.OpError | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._watch: threading.Thread | None = None

    def open(self, step_id: int) -> WorkerStep:
        """The step of this number, begun if it is new."""
        with self._lock:
            if self._closed is not None:
                raise self._closed
            step = self._steps.get(step_id)
            if step is None:
                if step_id in self._over:
                    raise self._end_of(step_id)
                self._meters.steps.take()
                step = WorkerStep(RemoteRendezvous(step_id, self._peers))
                self._steps[step_id] = step
                if self._watch is None:
                    self._watch = threading.Thread(target=self._look_after, daemon=True)
                    self._watch.start()
            return step

    def _look_after(self) -> None:
        """Finds out when a task that a step waits for is there no more.

        The master asks, too, but what it reaches may be out of reach from here.
        """
        limit = float(flags.HEALTH.value)
        while not self._ended.wait(limit / _LOOKS):
            for step_id, step in list(self._steps.items()):
                if time.monotonic() - step.heard >= limit:
                    self._check(step_id, step, limit)

    def _check(self, step_id: int, step: WorkerStep, limit: float) -> None:
        step.heard = time.monotonic()
        if step.is_forgotten():
            self.end(step_id)
        step.rendezvous.ask_again()
        for task in step.awaited_tasks():
            status = step.rendezvous.peers(task).get_status(limit)
            status.deliver_to(partial(self._checked, step_id, task))

    def _checked(self, step_id: int, task: str, devices: Any, error: BaseException | None) -> None:
        if isinstance(error, (errors.UnavailableError, errors.DeadlineExceededError)):
            self.end(step_id, outcome.silent(task, error))

    def finish(self, step_id: int, step: WorkerStep) -> None:
        """All has been computed; the step is over when others have taken what it holds for them.

        ResourceExhaustedError if that is too much.
        """
        if held := step.rendezvous.held_bytes():
            self._hold(step_id, step, held)
        step.rendezvous.when_taken(partial(self.end, step_id))

    def arrive(self, step_id: int, keys: Sequence[str], values: Sequence[Any]) -> None:
        """Takes tensors that another task has pushed; holds them if the step has not begun here."""
        step = self.open(step_id)
        try:
            if step.session is None:
                self._hold(step_id, step, sum(getattr(v, "nbytes", 0) for v in values))
            step.rendezvous.arrive(keys, values)
        except errors.ResourceExhaustedError as error:
            self.end(step_id, error)

    def _hold(self, step_id: int, step: WorkerStep, held: int) -> None:
        with self._lock:
            if self._steps.get(step_id) is step:
                self._meters.held.take(held)
                step.held += held

    def end(self, step_id: int, error: errors.OpError | None = None) -> None:
        """Ends a step; everything that still waits in it fails."""
        with self._lock:
            step = self._steps.pop(step_id, None)
            if step is not None:
                self._meters.steps.give_back()
                self._meters.held.give_back(step.held)
            self._over.setdefault(step_id, None if error is None else wire.to_status(error))
            while len(self._over) > _REMEMBERED:
                self._over.popitem(last=False)
        if step is not None:
            step.abort(error or self._end_of(step_id))

    def _end_of(self, step_id: int) -> errors.OpError:
        """The error of a request that comes after the end of the step."""
        how = self._over.get(step_id)
        if how is not None:
            return wire.from_status(*how)
        return errors.AbortedError(None, None, f"Step {step_id} is over on {self._peers.home}")

    def are_under_way(self, session: str) -> bool:
        """Whether steps of a session are."""
        with self._lock:
            return any(step.session == session for step in self._steps.values())

    def end_all(self, session: str, error: errors.OpError) -> None:
        """Ends the steps of one session."""
        with self._lock:
            found = [number for number, step in self._steps.items() if step.session == session]
        for number in found:
            self.end(number, error)

    def close(self, error: errors.OpError) -> None:
        """Ends all steps; no other can start."""
        self._ended.set()
        with self._lock:
            self._closed = error
            steps, self._steps = list(self._steps.values()), {}
        for step in steps:
            step.abort(error)

    def __len__(self) -> int:
        return len(self._steps)
