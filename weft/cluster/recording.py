"""Recording the tasks of a cluster: what is recorded there, and the calls that ask for it.

The calls are weft's own, beside TensorFlow's services and under the same guard. `Clock` is for the
caller to find out how far its own clock is from this one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

from weft.cluster.interfaces import Caller, GraphCall, StepCall
from weft.cluster.steps import flow
from weft.cluster.steps.master_session import MasterSession
from weft.cluster.steps.registered import RegisteredGraph
from weft.cluster.steps.worker import LocalWorker
from weft.cluster.steps.worker_steps import WorkerStep, WorkerSteps
from weft.cluster.transport import wire
from weft.cluster.transport.methods import Handler, methods_of
from weft.runtime.recording.control import CONTROL, packed
from weft.runtime.recording.probes import note_receive, shown
from weft.runtime.recording.recorder import RECORDER, Probe, Recorder, now
from weft.runtime.tasks import Task

Method = Callable[..., Any]


class TraceMethods:
    """The calls by which a worker is recorded."""

    NAMES = "Clock Tasks Start Steps Pause Stop"

    def __init__(self, worker: LocalWorker) -> None:
        self.worker = worker
        if worker.task not in RECORDER.tasks:
            RECORDER.tasks.append(worker.task)
        RECORDER.register(PROBES)

    def methods(self) -> dict[str, Handler]:
        return methods_of("Trace", self, self.NAMES)

    def _Clock(self, data: wire.Chunk, caller: Caller) -> bytes:
        return json.dumps(now()).encode()

    def _Tasks(self, data: wire.Chunk, caller: Caller) -> bytes:
        """The tasks of the cluster by name, with their addresses."""
        return json.dumps(dict(self.worker.peers.addresses)).encode()

    def _Start(self, data: wire.Chunk, caller: Caller) -> bytes:
        CONTROL.start(**json.loads(bytes(data)))
        return b""

    def _Steps(self, data: wire.Chunk, caller: Caller) -> bytes:
        """The number of steps that have ended here since the start."""
        return json.dumps(max(RECORDER.steps.values(), default=0)).encode()

    def _Pause(self, data: wire.Chunk, caller: Caller) -> bytes:
        CONTROL.pause()
        return b""

    def _Stop(self, data: wire.Chunk, caller: Caller) -> bytes:
        return packed(CONTROL.stop())


# ---- probes --------------------------------------------------------------------------------------


def _master_run(original: Method, recorder: Recorder) -> Method:
    def run(self: MasterSession, call: StepCall, *args: Any) -> Any:
        start = perf_counter()
        try:
            return original(self, call, *args)
        finally:
            names = [*call.fetches, *call.targets]
            detail = {"session": call.session, "fetches": names[:8]}
            recorder.add("master", f"step of {shown(names)}", start, detail)

    return run


def _worker_begin(original: Method, recorder: Recorder) -> Method:
    def begin(self: LocalWorker, call: GraphCall, graph: RegisteredGraph) -> WorkerStep:
        step: WorkerStep = original(self, call, graph)
        step.__dict__.setdefault("recorded", (perf_counter(), _label(graph)))
        return step

    return begin


def _worker_finish(original: Method, recorder: Recorder) -> Method:
    def finish(self: WorkerSteps, step_id: int, step: WorkerStep) -> None:
        recorded = step.__dict__.pop("recorded", None)
        if recorded is not None:
            recorder.steps["worker"] += 1
            start, name = recorded
            recorder.add_loose("worker", name, start, {"step": f"{step_id:014x}"})
        original(self, step_id, step)

    return finish


def _run_quickly(original: Method, recorder: Recorder) -> Method:
    def run(self: RegisteredGraph, call: GraphCall) -> Any:
        start = perf_counter()
        try:
            return original(self, call)
        finally:
            recorder.steps["worker"] += 1
            recorder.add("worker", _label(self), start, {"step": f"{call.step_id:014x}"})

    return run


def _label(graph: RegisteredGraph) -> str:
    """The part of a step that a graph is, by the ends of it."""
    if "recorded" not in graph.__dict__:
        parts = graph.plan.graphs
        ends = [node for part in parts for node in (*part.targets, *(n for n, _ in part.fetches))]
        names = [node.name for node in ends if node.definition.transfer is None]
        sent = [node.inputs[0][0].name for node in ends if node.definition.transfer == "send"]
        sends = f"sends {shown(list(dict.fromkeys(sent)))}"
        graph.__dict__["recorded"] = f"part of {shown(names)}" if names else sends
    label: str = graph.__dict__["recorded"]
    return label


def _push(original: Method, recorder: Recorder) -> Method:
    def push(self: Any, task: Task, *args: Any) -> None:
        if task.kind == "recv":
            note_receive(self, task)
        original(self, task, *args)

    return push


PROBES = [
    Probe(MasterSession, "run", _master_run),
    Probe(LocalWorker, "_begin", _worker_begin),
    Probe(WorkerSteps, "finish", _worker_finish),
    Probe(RegisteredGraph, "run_quickly", _run_quickly),
    Probe(flow._Step, "push", _push),
]
