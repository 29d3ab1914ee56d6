"""The master of a process: sessions of clients, on the workers of a cluster."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.cluster import outcome
from weft.cluster.interfaces import Master, StepCall, StepResult, Watch, Worker
from weft.cluster.master_session import MasterSession
from weft.core import device_name, errors, flags
from weft.core.deferred import Deferred
from weft.runtime import report
from weft.runtime.device import Device

# How often a worker that does not answer is asked again, and how long an answer may take.
_RETRY_SECONDS = 0.2
_STATUS_SECONDS = 5.0


class LocalMaster(Master):
    """A master in this process.

    `tasks` are all tasks of the cluster with their addresses; `worker(task)` is how to reach one.
    """

    def __init__(
        self, home: str, tasks: Mapping[str, str], worker: Callable[[str], Worker], config: Any
    ) -> None:
        self.home, self.tasks, self._worker, self.config = home, tasks, worker, config
        self._sessions: dict[str, MasterSession] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None

    # ---- sessions ----

    def create_session(self, graph_def: Any, config: Any, target: str = "") -> tuple[str, int]:
        merged = type(self.config)()
        merged.CopyFrom(self.config)
        merged.MergeFrom(config)
        deadline = time.monotonic() + _patience(merged)
        devices = self._devices(merged.device_filters, deadline)
        workers = {d.name.partition("/device:")[0]: None for d in devices}
        reached = {task: self._worker(task) for task in workers}
        handle = secrets.token_hex(8)
        session = MasterSession(handle, self.home, reached, devices, merged)
        version = session.extend(graph_def)
        isolate = merged.isolate_session_state
        calls = [w.create_worker_session(handle, None, isolate) for w in reached.values()]
        try:
            for call in calls:
                outcome.wait(call, deadline)
        except errors.OpError:
            session.close()
            raise
        with self._lock:
            self._sessions[handle] = session
            if self._watch is None and not self._closed.is_set():
                self._watch = threading.Thread(target=self._look_after, daemon=True)
                self._watch.start()
        return handle, version

    def _look_after(self) -> None:
        """Finds out when a worker that a step waits for is there no more."""
        limit = float(flags.HEALTH.value)
        while not self._closed.wait(limit):
            for session in list(self._sessions.values()):
                session.check(limit)

    def _devices(self, filters: Sequence[str], deadline: float) -> list[Device]:
        """The devices of this task, then those of the tasks that `filters` let through."""
        tasks = [t for t in self.tasks if t != self.home and _passes(t, filters)]
        found = self._ask([self.home, *sorted(tasks, key=_order)], deadline)
        return [device for devices in found for device in devices]

    def _ask(self, tasks: Sequence[str], deadline: float) -> list[list[Device]]:
        """The devices of all `tasks`, once all have answered."""
        known: dict[str, list[Device]] = {}
        told: set[str] = set()
        while True:
            waiting = {
                t: self._worker(t).get_status(_STATUS_SECONDS) for t in tasks if t not in known
            }
            missing: dict[str, errors.OpError] = {}
            for task, call in waiting.items():
                self._settle(task, call, known, missing)
            if not missing:
                return [known[task] for task in tasks]
            for task in missing.keys() - told:
                report.log(
                    f"CreateSession still waiting for response from worker: {task} at"
                    f" {self.tasks[task]}"
                )
            told |= missing.keys()
            if time.monotonic() >= deadline:
                raise self._missing(missing)
            time.sleep(_RETRY_SECONDS)

    def _settle(
        self, task: str, call: Deferred, known: dict[str, list[Device]],
        missing: dict[str, errors.OpError],
    ) -> None:  # fmt: skip
        try:
            devices = outcome.wait(call)
        except (errors.UnavailableError, errors.DeadlineExceededError) as error:
            missing[task] = error
            return
        wrong = [d.name for d in devices if not d.name.startswith(task + "/")]
        if wrong:
            raise errors.InvalidArgumentError(
                None, None, f"{self.tasks[task]} should be {task}, but it says that it has"
                f" {wrong[0]}: the cluster specs of the two servers differ",
            )  # fmt: skip
        known[task] = devices

    def _missing(self, missing: Mapping[str, errors.OpError]) -> errors.OpError:
        lines = [f"{task} at {self.tasks[task]}: {e.message}" for task, e in missing.items()]
        return errors.UnavailableError(
            None, None, "No answer from workers of the cluster:\n  " + "\n  ".join(lines)
        )

    def _session(self, handle: str) -> MasterSession:
        found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(
                None, None, f"Session {handle} is not found. Possibly, this master has restarted."
            )
        return found

    def extend_session(self, session: str, graph_def: Any, version: int) -> int:
        return self._session(session).extend(graph_def, version)

    def list_devices(self, session: str) -> tuple[list[Device], list[Device]]:
        if session:
            devices = self._session(session).devices
        else:
            devices = self._devices((), time.monotonic() + _patience(self.config))
        mine = [d for d in devices if d.name.startswith(self.home + "/")]
        return mine, [d for d in devices if d not in mine]

    # ---- steps ----

    def run_step(self, call: StepCall, watch: Watch | None = None) -> StepResult:
        session = self._session(call.session)
        if call.partial:
            return session.partials.advance(call, watch)
        return session.run(call, watch)

    def partial_run_setup(
        self, session: str, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]
    ) -> str:
        return self._session(session).partials.begin(feeds, fetches, targets)

    def make_callable(self, session: str, options: Any) -> int:
        return self._session(session).make_callable(options)

    def run_callable(
        self, session: str, handle: int, feeds: Sequence[Any], watch: Watch | None = None
    ) -> StepResult:
        return self._session(session).run_callable(handle, feeds, watch)

    def release_callable(self, session: str, handle: int) -> None:
        self._session(session).release_callable(handle)

    # ---- the end ----

    def close_session(self, session: str) -> None:
        found = self._session(session)
        with self._lock:
            self._sessions.pop(session, None)
        found.close()

    def reset(self, containers: Sequence[str], device_filters: Sequence[str]) -> None:
        tasks = [t for t in self.tasks if t == self.home or _passes(t, device_filters)]
        calls = [self._worker(task).cleanup_all(containers) for task in tasks]
        deadline = time.monotonic() + _STATUS_SECONDS
        for call in calls:
            outcome.wait(call, deadline)
        self._close_all(errors.AbortedError(None, None, "The session was ended by a reset"))

    def _close_all(self, error: errors.OpError) -> None:
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.close(error)

    def close(self) -> None:
        self._closed.set()
        self._close_all(errors.CancelledError(None, None, "The server has stopped"))


def _patience(config: Any) -> float:
    """For how many seconds a session waits for workers that are not there yet."""
    limit: int = config.operation_timeout_in_ms
    return limit / 1000 if limit else float(flags.PEERS.value)


def _passes(task: str, filters: Sequence[str]) -> bool:
    return not filters or any(device_name.is_compatible(f, task) for f in filters)


def _order(task: str) -> tuple[str, int]:
    parts = device_name.parse(task)
    return parts.job or "", parts.task or 0
