"""The master of a process: sessions of clients, on the workers of a cluster."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Sequence
from typing import Any

from weft.cluster.definitions import server_def, task_addresses
from weft.cluster.guard.clients import Clients
from weft.cluster.guard.graphs import size_of
from weft.cluster.guard.limits import COMPLAINTS, Meters
from weft.cluster.interfaces import Master, StepCall, StepResult, Watch
from weft.cluster.members import STATUS_SECONDS, devices_of, passes
from weft.cluster.steps.master_session import MasterSession
from weft.cluster.transport import outcome
from weft.cluster.transport.inprocess import Peers
from weft.core import errors, flags
from weft.runtime.debug import report
from weft.runtime.devices.device import Device

_LOOKS = 4  # how often we look after others in the time that they have to give a sign of life


class LocalMaster(Master):
    """A master in this process. `peers` are the tasks of its cluster, and how to reach them."""

    def __init__(self, peers: Peers, config: Any, meters: Meters | None = None) -> None:
        self.peers, self.config, self.meters = peers, config, meters or Meters()
        self.clients = Clients()
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
        peers = self._peers(merged.cluster_def, target)
        try:
            devices = devices_of(peers, merged.device_filters, deadline, not peers.is_servers_own)
            session = MasterSession(secrets.token_hex(8), peers, devices, merged)
            self._make_room()
            self.meters.sessions.take_for(session)
            self.meters.graphs.take_for(session, size_of(graph_def))
            version = session.extend(graph_def)
            self._join(session, deadline)
        except errors.OpError:
            if not peers.is_servers_own:
                peers.close()
            raise
        with self._lock:
            self._sessions[session.handle] = session
            if self._watch is None and not self._closed.is_set():
                self._watch = threading.Thread(target=self._look_after, daemon=True)
                self._watch.start()
        return session.handle, version

    def _make_room(self) -> None:
        """Closes a session that seems to be forgotten, if there are as many as there may be."""
        budget = self.meters.sessions
        if budget.used < budget.most:
            return
        spare = self.clients.spare(lambda handle: not self._is_busy(handle))
        if spare is not None:
            COMPLAINTS.say("forgotten", f"session {spare} is closed to make room for another")
            with contextlib.suppress(errors.OpError):
                self.close_session(spare)

    def _is_busy(self, handle: str) -> bool:
        session = self._sessions.get(handle)
        return session is not None and len(session.running) > 0

    def _peers(self, cluster: Any, target: str) -> Peers:
        """The cluster of a session: this server's, or one that the client tells it about."""
        if not cluster.job:
            return self.peers
        addresses = task_addresses(cluster)
        mine = target.partition("//")[2]
        home = next((task for task, address in addresses.items() if address == mine), None)
        if home is None:
            raise errors.InvalidArgumentError(
                None, None, f"The cluster of the session has no task at {mine}, the target"
            )
        return self.peers.renamed(home, addresses)

    def _join(self, session: MasterSession, deadline: float) -> None:
        """Makes the session known to all workers that it may use."""
        own = not session.peers.is_servers_own
        shared = session.config.experimental.share_session_state_in_clusterspec_propagation
        isolate = session.config.isolate_session_state or (own and not shared)
        calls = [
            worker.create_worker_session(
                session.handle,
                server_def(session.config.cluster_def, task) if own else None,
                isolate,
            )
            for task, worker in session.workers.items()
        ]
        try:
            for call, (task, worker) in zip(calls, session.workers.items(), strict=True):
                outcome.wait_for_worker(call, worker, task, deadline)
        except errors.OpError:
            session.close()
            raise

    def _look_after(self) -> None:
        """Finds out when a worker that a step waits for, or a client, is there no more."""
        limit = float(flags.HEALTH.value)
        while not self._closed.wait(limit / _LOOKS):
            for session in list(self._sessions.values()):
                session.check(limit)
            self._collect()

    def _collect(self) -> None:
        """Closes the sessions of clients that have vanished."""
        limits = float(flags.ABANDONED.value), float(flags.IDLE.value)
        for session in self.clients.gone(time.monotonic(), *limits):
            report.say(1, f"Session {session} has no client any more and is closed".__str__)
            with contextlib.suppress(errors.OpError):
                self.close_session(session)

    def _session(self, handle: str) -> MasterSession:
        found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(
                None, None, f"Session {handle} is not found. Possibly, this master has restarted."
            )
        return found

    def extend_session(self, session: str, graph_def: Any, version: int) -> int:
        found = self._session(session)
        self.meters.graphs.take_for(found, size_of(graph_def))
        return found.extend(graph_def, version)

    def list_devices(self, session: str) -> tuple[list[Device], list[Device]]:
        if session:
            devices = self._session(session).devices
        else:
            devices = devices_of(self.peers, (), time.monotonic() + _patience(self.config))
        home = devices[0].name.partition("/device:")[0]
        mine = [d for d in devices if d.name.startswith(home + "/")]
        return mine, [d for d in devices if d not in mine]

    # ---- steps ----

    def run_step(self, call: StepCall, watch: Watch | None = None) -> StepResult:
        session = self._session(call.session)
        if call.partial:
            return session.partials.advance(call, watch)
        return _learned(session, session.run(call, watch))

    def partial_run_setup(
        self, session: str, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]
    ) -> str:
        return self._session(session).partials.begin(feeds, fetches, targets)

    def make_callable(self, session: str, options: Any) -> int:
        return self._session(session).make_callable(options)

    def run_callable(
        self, session: str, handle: int, feeds: Sequence[Any], watch: Watch | None = None
    ) -> StepResult:
        found = self._session(session)
        return _learned(found, found.run_callable(handle, feeds, watch))

    def release_callable(self, session: str, handle: int) -> None:
        self._session(session).release_callable(handle)

    # ---- the end ----

    def close_session(self, session: str) -> None:
        found = self._session(session)
        with self._lock:
            self._sessions.pop(session, None)
        self.clients.forget(session)
        found.close()
        self.meters.sessions.give_back_for(found)
        found.place.keep()

    def reset(self, containers: Sequence[str], device_filters: Sequence[str]) -> None:
        home = self.peers.home
        tasks = [t for t in self.peers.addresses if t == home or passes(t, device_filters)]
        calls = [self.peers(task).cleanup_all(containers) for task in tasks]
        deadline = time.monotonic() + STATUS_SECONDS
        for call in calls:
            outcome.wait(call, deadline)
        self._close_all(errors.AbortedError(None, None, "The session was ended by a reset"))

    def _close_all(self, error: errors.OpError) -> None:
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.close(error)
            self.meters.sessions.give_back_for(session)
            session.place.keep()

    def close(self) -> None:
        self._closed.set()
        self._close_all(errors.CancelledError(None, None, "The server has stopped"))


def _learned(session: MasterSession, result: StepResult) -> StepResult:
    """The result; a traced step's measured costs count for graphs that are placed from now on."""
    metadata = result.metadata
    if metadata is not None and metadata.step_stats.dev_stats:
        session.place.learn(metadata.step_stats)
        metadata.cost_graph.CopyFrom(session.place.costs.to_proto())
    return result


def _patience(config: Any) -> float:
    """For how many seconds a session waits for workers that are not there yet."""
    limit: int = config.operation_timeout_in_ms
    return limit / 1000 if limit else float(flags.PEERS.value)
