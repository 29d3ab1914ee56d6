"""The worker of a process: its devices, the state on them, and its share of every step."""

from __future__ import annotations

import dataclasses
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from weft.cluster.definitions import task_addresses, task_name
from weft.cluster.guard.graphs import size_of
from weft.cluster.guard.limits import COMPLAINTS, Meters
from weft.cluster.interfaces import NOTHING, Failed, GraphCall, GraphResult, Worker
from weft.cluster.steps.registered import RegisteredGraph
from weft.cluster.steps.state import WorkerSession
from weft.cluster.steps.worker_steps import WorkerStep, WorkerSteps
from weft.cluster.transport import outcome
from weft.cluster.transport.inprocess import Peers
from weft.core import errors, flags
from weft.core.deferred import Deferred, Ends
from weft.core.exceptions import kind_of, message_of
from weft.runtime.continuation import Continuation, StepContext
from weft.runtime.devices.device import Device, local_devices
from weft.runtime.limits import deadline_scope
from weft.runtime.resources import ResourceStore
from weft.runtime.step import options_from
from weft.runtime.threads import CallerQueue, Job, ThreadPool


def new_incarnation() -> int:
    """A number that tells this life of a device from earlier ones."""
    return random.SystemRandom().getrandbits(63) | 1


class LocalWorker(Worker):
    """A worker in this process. `peers` are the tasks of its cluster, and how to reach them."""

    cleans_up = True

    def __init__(self, peers: Peers, config: Any = None, meters: Meters | None = None) -> None:
        self.task, self.peers, self.meters = peers.home, peers, meters or Meters()
        self.devices: list[Device] = [
            dataclasses.replace(device, incarnation=new_incarnation())
            for device in local_devices(config, self.task)
        ]
        self.stores = {d.name: ResourceStore(d.handle) for d in self.devices}
        self.pool = ThreadPool("weft-worker")
        self.steps = WorkerSteps(peers, self.meters)
        # By kind and number: sessions may know the task by another name.
        self._incarnations = {_short(d.name): d.incarnation for d in self.devices}
        self._sessions: dict[str, WorkerSession] = {}
        self._lock = threading.Lock()

    def get_status(self, timeout: float | None = None) -> Deferred:
        return outcome.known(list(self.devices))

    # ---- sessions ----

    def create_worker_session(self, session: str, cluster: Any, isolate: bool) -> Deferred:
        return outcome.attempt(lambda: self._create_session(session, cluster, isolate))

    def _create_session(self, session: str, cluster: Any, isolate: bool) -> None:
        self._make_room()
        peers = self.peers
        if cluster is not None and cluster.cluster.job:
            home = task_name(cluster.job_name, cluster.task_index)
            peers = peers.renamed(home, task_addresses(cluster.cluster))
        with self._lock:
            if not session or session in self._sessions:
                raise errors.AlreadyExistsError(
                    None, None, f"The worker has a session {session!r} already"
                )
            self._make_session(session, isolate, peers)

    def _make_session(self, session: str, isolate: bool, peers: Peers) -> WorkerSession:
        made = WorkerSession(self.stores, isolate, peers)
        self.meters.worker_sessions.take_for(made)
        self._sessions[session] = made
        return made

    def hold_session(self, session: str) -> None:
        """Makes a session for a master that asks for none; its graphs keep it."""
        self._make_room()
        with self._lock:
            found = self._sessions.get(session)
            if found is None:
                found = self._make_session(session, False, self.peers)
                found.is_loose, found.holds = True, 0
            if found.holds is not None:
                found.holds += 1

    def let_go_session(self, session: str) -> None:
        """Ends such a session with its last graph."""
        with self._lock:
            found = self._sessions.get(session)
            if found is None or found.holds is None:
                return
            found.holds -= 1
            is_over = not found.holds
        if is_over:
            self.delete_worker_session(session)

    def _make_room(self) -> None:
        """Ends the session that was not used for longest, if all are taken and it seems forgotten.

        Those of masters that say they are there, and those at work, stay.
        """
        budget = self.meters.worker_sessions
        if budget.used < budget.most:
            return
        with self._lock:
            loose = {h: s for h, s in self._sessions.items() if s.is_loose}
        spare = [handle for handle in loose if not self.steps.are_under_way(handle)]
        if spare:
            oldest = min(spare, key=lambda handle: loose[handle].used)
            COMPLAINTS.say("forgotten", f"session {oldest} is ended to make room for another")
            self.delete_worker_session(oldest)

    def set_loose(self, session: str, is_loose: bool) -> None:
        """Whether the master of a session, elsewhere, does not say that it is there."""
        found = self._sessions.get(session)
        if found is not None:
            found.is_loose = is_loose

    def delete_worker_session(self, session: str) -> Deferred:
        with self._lock:
            gone = self._sessions.pop(session, None)
        if gone is not None:
            why = errors.CancelledError(None, None, f"Session {session} was closed on {self.task}")
            self.steps.end_all(session, why)
            gone.clear()
            self.meters.worker_sessions.give_back_for(gone)
        return outcome.known(None)

    def session(self, handle: str) -> WorkerSession:
        found = self._sessions.get(handle)
        if found is None:
            raise errors.AbortedError(
                None, None,
                f'Session handle is not found: {handle}. Possibly this worker ("{self.task}") just'
                " restarted.",
            )  # fmt: skip
        if found.is_loose:
            found.used = time.monotonic()
        return found

    # ---- graphs ----

    def register_graph(
        self, session: str, graph_def: Any, options: Any, watches: Any = None
    ) -> Deferred:
        return outcome.attempt(lambda: self._register(session, graph_def, options, watches))

    def _register(self, session: str, graph_def: Any, options: Any, watches: Any) -> str:
        from tensorboard.compat.proto.config_pb2 import ConfigProto

        owner = self.session(session)
        passes = options_from(ConfigProto(graph_options=options))
        size = size_of(graph_def)
        if size > self.meters.graphs.most:
            raise self.meters.graphs.refusal(size)
        with deadline_scope(time.monotonic() + flags.MAX_PLAN.value):
            graph = RegisteredGraph(graph_def, owner.stores, passes, self.pool, watches)
        self.meters.graphs.take_for(graph, size)
        return owner.add(graph)

    def deregister_graph(self, session: str, graph: str) -> Deferred:
        return outcome.attempt(lambda: self.session(session).remove(graph))

    # ---- steps ----

    def run_graph(self, call: GraphCall, here: bool = False) -> Deferred:
        result = Deferred(lambda: self.steps.end(call.step_id, _cancelled(call.step_id)))
        is_plain = call.recording is NOTHING and not call.partial
        try:
            graph: RegisteredGraph = self.session(call.session).graph(call.graph)
            if is_plain and graph.is_quick():  # it is over sooner than a thread would wake up
                result.complete(graph.run_quickly(call))
                return result
        except Exception as error:
            result.fail(error)
            return result
        if here:
            self._run_here(call, graph, result)
        else:
            self.pool.start(lambda: self._drive(call, graph, result, self.pool.start))
        return result

    def _run_here(self, call: GraphCall, graph: RegisteredGraph, result: Deferred) -> None:
        caller = CallerQueue(self.pool)
        result.deliver_to(lambda *_: caller.over())
        try:
            self._drive(call, graph, result, caller.start)
            caller.attend()
        except BaseException:  # a keyboard interrupt
            caller.leave()
            raise

    def _begin(self, call: GraphCall, graph: RegisteredGraph) -> WorkerStep:
        step = self.steps.open(call.step_id)
        step.session = call.session
        step.rendezvous.begin(self.session(call.session).peers, graph.pushes)
        return step

    def _drive(
        self, call: GraphCall, graph: RegisteredGraph, result: Deferred,
        start: Callable[[Job], None],
    ) -> None:  # fmt: skip
        """Runs a step on this thread up to where it has to wait; from there on, by `start`."""
        try:
            step = self._begin(call, graph)
        except Exception as error:
            result.fail(error)
            return
        ends = Ends()

        def done(outputs: Any, error: BaseException | None) -> None:
            ends.over()
            try:
                if error is None and not call.partial:
                    self.steps.finish(call.step_id, step)
            except Exception as too_much:
                error = too_much
            if error is None:
                result.complete(outputs)
            else:
                errors.let_go(error)  # it may be kept until garbage is next collected
                self.steps.end(call.step_id, _as_status(error))
                result.fail(error)

        begin = self._run_partial if call.partial else RegisteredGraph.start
        limits = StepContext(running=step.running)
        Continuation(start, limits, ends, done).go(lambda: begin(graph, call, step))

    def _run_partial(self, graph: RegisteredGraph, call: GraphCall, step: WorkerStep) -> Deferred:
        """One call of a step in several: what it feeds and fetches goes through the rendezvous."""
        if step.partial is None:
            step.partial = self._start_partial(graph, call.step_id, step)
        for key, value in call.feeds:
            step.rendezvous.send(key, value)
        awaited = [step.rendezvous.recv_here(key) for key in call.fetches]
        found = outcome.gathered([*awaited, step.partial] if call.last else awaited)
        keys = call.fetches
        found.then = lambda values: GraphResult([(k, v[0]) for k, v in zip(keys, values)])  # noqa: B905
        return found

    def _start_partial(self, graph: RegisteredGraph, step_id: int, step: WorkerStep) -> Deferred:
        """All of a partial run; gives the promise of its end."""
        over, ends = Deferred(), Ends()

        def done(outputs: Any, error: BaseException | None) -> None:
            ends.over()
            if error is None:
                step.rendezvous.flush()
                over.complete(None)
            else:
                over.fail(error)
                self.steps.end(step_id, _as_status(error))

        limits = StepContext(None, None, step.running, step.rendezvous)
        drive = Continuation(self.pool.start, limits, ends, done)
        plan = graph.partial_plan()
        self.pool.start(lambda: drive.go(lambda: plan.start([], list, limits)))
        return over

    def recv_tensor(self, step_id: int, key: str) -> Deferred:
        def find() -> Any:
            self._check_incarnation(key)
            return self.steps.open(step_id).rendezvous.recv_here(key)

        try:
            found = find()
        except Exception as error:
            result = Deferred()
            result.fail(error)
            return result
        return found if isinstance(found, Deferred) else outcome.known(found)

    def push_tensors(
        self, step_id: int, keys: Sequence[str], values: Sequence[Any], failed: Failed
    ) -> None:
        try:
            self.steps.arrive(step_id, keys, values)
        except errors.OpError:
            pass  # the step is over: the tensors are not needed

    def _check_incarnation(self, key: str) -> None:
        device, _, rest = key.partition(";")
        meant = int(rest.partition(";")[0] or "0", 16)
        mine = self._incarnations.get(_short(device))
        if mine is None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{self.task} was asked for a tensor of {device}, which it does not have",
            )
        if mine != meant:
            raise errors.AbortedError(
                None, None,
                f"RecvTensor expects a different device incarnation: {meant} vs. {mine}. Your"
                f' worker job ("{self.task}") was probably restarted. Check your worker job for the'
                " reason why it was restarted.",
            )  # fmt: skip

    def cleanup_graph(self, step_id: int) -> Deferred:
        self.steps.end(step_id)
        return outcome.known(None)

    def cleanup_all(self, containers: Sequence[str]) -> Deferred:
        named = list(containers) or None
        for store in self.stores.values():
            store.clear(named)
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.reset(named)
        return outcome.known(None)

    def close(self) -> None:
        self.steps.close(
            errors.CancelledError(None, None, f"The server of {self.task} has stopped")
        )
        self.pool.close()


def _short(device: str) -> str:
    """A device of this process by its kind and number."""
    return device.partition("/device:")[2]


def _cancelled(step_id: int) -> errors.OpError:
    return errors.CancelledError(None, None, f"Step {step_id} was cancelled")


def _as_status(error: BaseException) -> errors.OpError:
    """An error in the form that requests for the step's tensors fail with."""
    if isinstance(error, errors.OpError):
        return error
    made: errors.OpError = kind_of(error)(None, None, message_of(error))
    return made
