"""The state of a server of a cluster: as data, and as a page."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from weft.cluster.guard.security import Credentials
from weft.cluster.server import Server
from weft.cluster.transport import outcome
from weft.core import errors
from weft.pages import resources
from weft.pages.pictures import items_of, picture
from weft.pages.site import Site
from weft.traces import files
from weft.traces.cluster import TracedCluster

Json = dict[str, Any]
FILES = "look.css", "status.js", "make.js"
_HEALTH_SECONDS = 2.0
_MOST_WAITS = 8


class ServerStatus:
    """The state of a server. It only looks; no step waits for it."""

    def __init__(self, server: Server) -> None:
        self._server, self._began = server, time.time()

    def state(self, query: Mapping[str, str] | None = None) -> Json:
        """Everything, for the page and for machines."""
        worker, master = self._server.worker, self._server.master
        return {
            "title": self._server.task,
            "target": self._server.target,
            "uptime": time.time() - self._began,
            "process": resources.process(),
            "tasks": self._tasks(),
            "sessions": [_session(each) for each in list(master._sessions.values())],
            "steps": _steps(worker),
            "graphs": _graphs(worker),
            "devices": resources.devices(worker.devices, worker.stores),
            "variables": resources.variables(worker.stores),
            "queues": resources.queues(worker.stores),
        }

    def _tasks(self) -> list[Json]:
        """The tasks of the cluster, asked for a sign of life all at once."""
        peers = self._server.worker.peers
        asked = [(t, a, peers(t).get_status(_HEALTH_SECONDS)) for t, a in peers.addresses.items()]
        return [self._health(*each) for each in asked]

    def _health(self, task: str, address: str, call: Any) -> Json:
        try:
            devices = outcome.wait(call, time.monotonic() + _HEALTH_SECONDS)
        except errors.OpError as error:
            return {"task": task, "address": address, "answers": False, "error": error.message}
        names = [device.name.partition("/device:")[2] for device in devices]
        return {"task": task, "address": address, "answers": True, "devices": names}

    def graph(self, query: Mapping[str, str]) -> Json:
        """The picture of a session's graph; `open` are the scopes that are shown by their nodes."""
        session = self._server.master._sessions.get(query.get("session", ""))
        if session is None:
            raise errors.NotFoundError(None, None, "There is no such session here")
        opened = [scope for scope in query.get("open", "").split(",") if scope]
        return picture(items_of(session.graph), opened)

    def trace(self, query: Mapping[str, str]) -> bytes:
        """A trace of the next steps of all tasks, as a file."""
        cluster = TracedCluster(self._server.target, self._server._identity)
        try:
            return files.to_bytes(cluster.record(**trace_limits(query)))
        finally:
            cluster.close()

    def site(self, credentials: Credentials) -> Site:
        return Site(
            "status.html", FILES, {"status.json": self.state, "graph.json": self.graph},
            {"trace": self.trace}, credentials,
        )  # fmt: skip


def trace_limits(query: Mapping[str, str]) -> Json:
    """The length of a trace, as a request has it."""
    try:
        return {
            "steps": int(query.get("steps", "0")),
            "seconds": min(60.0, float(query.get("seconds", "1"))),
            "operations": query.get("ops", "1") != "0",
        }
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None


def _session(session: Any) -> Json:
    running = session.running.steps()
    return {
        "session": session.handle,
        "nodes": session.graph.version,
        "signatures": len(session._steps),
        "steps": session.steps_run,
        "under_way": len(running),
        "workers": [task.replace("/replica:0", "") for task in session.workers],
    }


def _steps(worker: Any) -> list[Json]:
    """The steps that are under way here, and what they wait for."""
    now = time.monotonic()
    with worker.steps._lock:
        steps = list(worker.steps._steps.items())
    return [
        {
            "step": f"{number:014x}",
            "session": step.session,
            "seconds": now - step.began,
            "waits_for": _awaited(step)[:_MOST_WAITS],
        }
        for number, step in steps
    ]


def _awaited(step: Any) -> list[str]:
    """The tensors of other tasks, and the nodes, that a step waits for."""
    nodes = [n for run in step.running.steps() for n in getattr(run, "awaited", list)()]
    return [_wanted(key) for key in step.rendezvous.awaited()] + nodes


def _wanted(key: str) -> str:
    parts = key.split(";")
    return f"{parts[3]} of {parts[0]}" if len(parts) > 3 else key


def _graphs(worker: Any) -> list[Json]:
    """The graphs that are registered here, by session."""
    found = []
    with worker._lock:
        sessions = list(worker._sessions.items())
    for handle, session in sessions:
        for number, graph in list(session._graphs.items()):
            found.append(
                {
                    "session": handle,
                    "graph": number.lstrip("0"),
                    "nodes": len(graph.operations),
                    "sends": len(graph.pushes.out),
                    "ends": [op.name for op in graph.operations[-3:]],
                }
            )
    return found
