"""The methods of the runtime that are recorded, and the event that each one makes.

A wrap is called once, when recording starts. Its result may be held longer than that, by tasks that
keep bound methods, so what it adds after the end is ignored.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from weft.core.deferred import Deferred
from weft.ops.functions import py_func
from weft.passes.client_graph import Node
from weft.passes.devices import describe
from weft.passes.place.cost import estimated_time
from weft.runtime.continuation import NO_CONTEXT
from weft.runtime.executor import Executor
from weft.runtime.inbox import Arrival, Inbox
from weft.runtime.plan import Plan
from weft.runtime.prepared import HostUnit, Prepared
from weft.runtime.recording.recorder import Probe, Recorder
from weft.runtime.step import StepRunner
from weft.runtime.tasks import Task
from weft.runtime.xla.region import Region

_SHORTEST_COMPILATION = 1e-3  # seconds: below, the program was there
_MOST_NAMES = 40
_MOST_STEPS = 4096
_steps = itertools.count(1)
Method = Callable[..., Any]
Label = tuple[str, dict[str, Any]]  # name and detail of events


# ---- names ---------------------------------------------------------------------------------------


def shown(names: Sequence[str]) -> str:
    """Some names in a few words."""
    if len(names) <= 2:
        return ", ".join(names)
    return f"{names[0]}, {names[1]}, +{len(names) - 2}"


@functools.lru_cache(4096)
def label_of(region: Region) -> Label:
    """Name and detail of a region: its costliest node stands for all."""
    nodes = region.unit.nodes
    host = describe("/device:CPU:0")
    first = max(nodes, key=lambda node: estimated_time(node, host))
    return _label(first, nodes)


@functools.lru_cache(4096)
def host_label(unit: HostUnit) -> Label:
    nodes = [item.node for item in unit.nodes]
    return _label(nodes[0], nodes)


def _label(first: Node, nodes: Sequence[Node]) -> Label:
    name = first.name if len(nodes) == 1 else f"{first.name} +{len(nodes) - 1}"
    detail: dict[str, Any] = {"node": first.name, "op": first.type}
    if first.device:
        detail["device"] = first.device
    if len(nodes) > 1:
        detail["nodes"] = [node.name for node in nodes[:_MOST_NAMES]]
    return name, detail


@functools.lru_cache(16384)
def _node_detail(node: Node) -> dict[str, Any]:
    return _label(node, [node])[1]


def forget_labels() -> None:
    """Lets go of the plans that labels were made for."""
    for cache in (label_of, host_label, _node_detail, _ends):
        cache.cache_clear()
    _known_steps.clear()


# ---- steps ---------------------------------------------------------------------------------------


def step_of_session(original: Method, recorder: Recorder, remote: bool = False) -> Method:
    """`run(fetches, targets, feeds, values, ...)` of the two kinds of sessions.

    Nodes of `remote` steps run in processes that do not know which lines have made them.
    """

    def run(
        self: Any, fetches: Any, targets: Any, feeds: Any, values: Any,
        options: Any = None, metadata: Any = None, key: Any = None,
    ) -> Any:  # fmt: skip
        start = perf_counter()
        try:
            return original(self, fetches, targets, feeds, values, options, metadata, key)
        finally:
            label = _known_steps.get(key)
            if label is None:
                recorder.note_graph(self.graph, remote)
                label = _new_step(key, [*fetches, *targets])
            recorder.steps["session"] += 1
            recorder.add("step", label[0], start, label[1])

    return run


_known_steps: dict[Any, Label] = {}  # by the key that stands for fetches


def _new_step(key: Any, ends: Sequence[Any]) -> Label:
    """The label of a step that was not met before."""
    names = [each.name for each in ends]
    first = names[0].partition(":")[0] if names else ""
    label = f"Session.run {shown(names)}", {"node": first, "fetches": names[:8]}
    if key is not None and len(_known_steps) < _MOST_STEPS:
        _known_steps[key] = label
    return label


def _plan_run(original: Method, recorder: Recorder) -> Method:
    """Only a step that is one call: of others, the units are recorded."""

    def run(self: Plan, feeds: Any, context: Any = NO_CONTEXT) -> Any:
        whole = self.prepared.whole
        if self.direct is None or whole is None:
            return original(self, feeds, context)
        start = perf_counter()
        try:
            return original(self, feeds, context)
        finally:
            kind = "program" if whole.has_program else "interpreted"
            recorder.add(kind, *_at(start, label_of(whole)))

    return run


def _at(start: float, label: Label) -> tuple[str, float, dict[str, Any]]:
    return label[0], start, label[1]


def _make_plan(original: Method, recorder: Recorder) -> Method:
    def make(self: Any, fetches: Any, targets: Any, *args: Any) -> Any:
        start = perf_counter()
        try:
            return original(self, fetches, targets, *args)
        finally:
            names = [each.name for each in (*fetches, *targets)]
            recorder.add("plan", f"plan {shown(names)}", start)

    return make


# ---- units ---------------------------------------------------------------------------------------


def _region_run(original: Method, recorder: Recorder) -> Method:
    def run(self: Region, values: list[Any]) -> Any:
        start = perf_counter()
        try:
            return original(self, values)
        finally:
            kind = "program" if self.has_program else "interpreted"
            recorder.add(kind, *_at(start, label_of(self)))

    return run


def _region_compile(original: Method, recorder: Recorder) -> Method:
    def compile_(self: Region, *args: Any, **kwargs: Any) -> Any:
        start = perf_counter()
        try:
            return original(self, *args, **kwargs)
        finally:
            if perf_counter() - start > _SHORTEST_COMPILATION:
                name, detail = label_of(self)
                recorder.add("compile", f"compile {name}", start, detail)

    return compile_


def _host_run(original: Method, recorder: Recorder) -> Method:
    def run(self: HostUnit, values: list[Any]) -> Any:
        start = perf_counter()
        try:
            return original(self, values)
        finally:
            recorder.add("node", *_at(start, host_label(self)))

    return run


def _advance(original: Method, recorder: Recorder) -> Method:
    """Unit by unit, not by the function that was made of all of them."""

    def advance(self: Prepared, values: list[Any], first: int = 0) -> Any:
        for i in range(first, len(self.units)):
            run = functools.partial(self.run_unit, i, values)
            deferred = _timed_task(recorder, self.tasks.tasks[i], run)
            if deferred is not None:
                return i, deferred
        return None

    return advance


def _compute(original: Method, recorder: Recorder) -> Method:
    def compute(self: Executor, task: Task, *args: Any) -> None:
        _timed_task(recorder, task, lambda: original(self, task, *args))

    return compute


def _timed_task(recorder: Recorder, task: Task, run: Callable[[], Any]) -> Any:
    start = perf_counter()
    try:
        return run()
    finally:
        if task.node is not None:
            recorder.add("node", task.name, start, _node_detail(task.node))
        else:
            unit = getattr(task.run, "__self__", None)
            if isinstance(unit, Region) and not hasattr(task.run, "__wrapped__"):
                kind = "program" if unit.has_program else "interpreted"
                recorder.add(kind, *_at(start, label_of(unit)))


def _python_call(original: Method, recorder: Recorder) -> Method:
    def call(input: Any, token: str, types: Any) -> Any:
        start = perf_counter()
        try:
            return original(input, token, types)
        finally:
            recorder.add("python", *_at(start, _python_label(py_func.function_of(token))))

    return call


def _eager_call(original: Method, recorder: Recorder) -> Method:
    def call(self: py_func.PyFunction, *args: Any) -> Any:
        start = perf_counter()
        try:
            return original(self, *args)
        finally:
            recorder.add("python", *_at(start, _python_label(self)))

    return call


def _python_label(holder: py_func.PyFunction) -> Label:
    function = holder.function
    code = getattr(function, "__code__", None)
    detail = {} if code is None else {"at": [code.co_filename, code.co_firstlineno]}
    return getattr(function, "__qualname__", "function"), detail


# ---- waits and transfers -------------------------------------------------------------------------


def _expect(original: Method, recorder: Recorder) -> Method:
    def expect(self: Inbox, deferred: Deferred, task: Task, *args: Any) -> None:
        asked = self.__dict__.setdefault("asked", {})
        asked[id(deferred)] = perf_counter()
        original(self, deferred, task, *args)

    return expect


def _next(original: Method, recorder: Recorder) -> Method:
    def next_(self: Inbox) -> Arrival:
        event: Arrival = original(self)
        start = self.__dict__.get("asked", {}).pop(id(event.deferred), None)
        task = event.task
        if start is not None and task.kind != "recv":
            detail = {} if task.node is None else _node_detail(task.node)
            recorder.add_loose("wait", f"waits in {task.name}", start, detail)
        return event

    return next_


def note_receive(executor: Any, task: Task) -> None:
    """Notes when the executor asked for what a task receives."""
    executor.__dict__.setdefault("asked", {}).setdefault(task, perf_counter())


def _recv(original: Method, recorder: Recorder) -> Method:
    def recv(self: Executor, task: Task, *args: Any) -> None:
        note_receive(self, task)
        original(self, task, *args)

    return recv


def _received(original: Method, recorder: Recorder) -> Method:
    def received(self: Executor, value: Any, task: Task, *args: Any) -> None:
        start = self.__dict__.get("asked", {}).pop(task, None) or perf_counter()
        name, detail = _transfer(self, task, f"waits for {_ends(task)[0]} ")
        recorder.add_loose("receive", name, start, detail)
        original(self, value, task, *args)

    return received


def _send(original: Method, recorder: Recorder) -> Method:
    def send(self: Executor, task: Task, *args: Any) -> None:
        start = perf_counter()
        try:
            original(self, task, *args)
        finally:
            name, detail = _transfer(self, task, f"send to {_ends(task)[1]} ")
            recorder.add("send", name, start, detail)

    return send


def _transfer(executor: Executor, task: Task, how: str) -> Label:
    """Name and detail of a transfer; `flow` is the same at both ends."""
    node = _ends(task)[2]
    detail = {"node": node, "flow": f"{step_number(executor)};{task.transfer_key}"}
    name = node
    if task.kind == "send" and task.node is not None:
        name = detail["tensor"] = f"{node}:{task.node.inputs[0][1]}"
    return how + name, detail


def step_number(executor: Any) -> int:
    """The number of a step: the same in all processes, if several take part in it."""
    rendezvous = executor.rendezvous
    number: int | None = getattr(rendezvous, "step_id", None)
    # Its address would do for the time of the step, but the next step may have the same.
    return number or rendezvous.__dict__.setdefault("recorded_as", next(_steps))


@functools.lru_cache(16384)
def _ends(task: Task) -> tuple[str, str, str]:
    """Sender, receiver and node of a transfer."""
    source, _, target, tensor = task.transfer_key.split(";")[:4]
    if tensor.startswith("edge_"):  # and a number
        tensor = tensor.split("_", 2)[2]
    return _short(source), _short(target), tensor


def _short(device: str) -> str:
    """The task of a device in a cluster; in one process, the device itself."""
    task, _, kind = device.partition("/device:")
    if task.startswith("/job:localhost"):
        return f"/device:{kind}"
    return task.replace("/replica:0", "")


PROBES = [
    Probe(StepRunner, "run", step_of_session),
    Probe(StepRunner, "make_plan", _make_plan),
    Probe(Plan, "run", _plan_run),
    Probe(Region, "run", _region_run),
    Probe(Region, "_compile", _region_compile),
    Probe(HostUnit, "run", _host_run),
    Probe(Prepared, "advance", _advance),
    Probe(Executor, "compute", _compute),
    Probe(Executor, "_recv", _recv),
    Probe(Executor, "received", _received),
    Probe(Executor, "_send", _send),
    Probe(Inbox, "expect", _expect),
    Probe(Inbox, "next", _next),
    Probe(py_func, "_call_with_arrays", _python_call),
    Probe(py_func.PyFunction, "call", _eager_call),
    # Clients are a layer above; where there are none, nothing is to be recorded.
    Probe(
        "weft.client.remote.RemoteRunner", "run", functools.partial(step_of_session, remote=True)
    ),
]
