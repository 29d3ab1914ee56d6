"""Recording a running cluster: every task at once, by calls to their servers.

How far each task's clock is from ours is found by asking for its time: the answer that came
quickest was read halfway between question and answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from weft.cluster.guard.security import NOBODY, Identity
from weft.cluster.transport.grpc_connection import Connection
from weft.core import errors
from weft.runtime.recording.control import unpacked
from weft.runtime.recording.recorder import MOST, now
from weft.traces.merging import merged

_ASKS = 16
_CALL_SECONDS = 20.0
_STOP_SECONDS = 120.0
_LOOK_SECONDS = 0.05
_LEASE_SECONDS = 30.0  # added to the time that a recording is to take


class TracedTask:
    """A task of the cluster, as the one who records it sees it."""

    def __init__(self, task: str, address: str, identity: Identity = NOBODY) -> None:
        self.task, self.address = task, address
        self.ahead = 0.0  # how far its clock is ahead of ours, in seconds
        self._connection = Connection(address, "Trace", task, identity)

    def call(self, name: str, seconds: float = _CALL_SECONDS, **fields: Any) -> bytes:
        request = json.dumps(fields).encode()
        found = self._connection.call(name, request, timeout=seconds)
        return bytes(found)

    def shift(self) -> float:
        """The lead of its clock over ours, in seconds."""
        best, found = float("inf"), 0.0
        for _ in range(_ASKS):
            asked = now()
            theirs = float(json.loads(self.call("Clock")))
            answered = now()
            if answered - asked < best:
                best, found = answered - asked, theirs - (asked + answered) / 2
        return found

    def steps(self) -> int:
        return int(json.loads(self.call("Steps")))

    def stop(self) -> Any:
        """Its recording, with its clock's shift in microseconds."""
        found = unpacked(self.call("Stop", _STOP_SECONDS))
        found["shift"] = self.ahead * 1e6
        return found

    def measure(self) -> None:
        """Compares the clocks."""
        self.ahead = self.shift()

    def close(self) -> None:
        self._connection.close()


def address_of(target: str) -> str:
    """The address that a target listens at. ValueError if it is none."""
    scheme, separator, address = target.partition("://")
    if not separator or scheme not in ("grpc", "grpcs", "http", "https") or ":" not in address:
        raise ValueError(f"{target!r} is not of the form grpc://host:port")
    return address.rstrip("/")


class TracedCluster:
    """All tasks of the cluster that the server at `target` is in; those that answer."""

    def __init__(self, target: str, identity: Identity = NOBODY) -> None:
        address = address_of(target)
        first = TracedTask(target, address, identity)
        try:
            addresses = json.loads(first.call("Tasks"))
        finally:
            first.close()
        self.tasks = [TracedTask(task, at, identity) for task, at in sorted(addresses.items())]
        self.silent: dict[str, str] = {}

    def record(
        self, steps: int = 0, seconds: float = 1.0, operations: bool = True, most: int = MOST
    ) -> dict[str, Any]:
        """A trace of so many steps, or as many as there are in so many seconds."""
        lease = seconds + _LEASE_SECONDS
        self._each(TracedTask.measure)
        self._each(lambda t: t.call("Start", operations=operations, most=most, seconds=lease))
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            counts = self._each(TracedTask.steps)
            if steps and counts and max(counts) >= steps:
                break
            time.sleep(_LOOK_SECONDS if steps else max(0.0, deadline - time.monotonic()))
        self._each(lambda task: task.call("Pause"))
        trace = merged(distinct(self._each(TracedTask.stop)), together=True)
        trace["weft"]["about"] = {"silent": self.silent}
        return trace

    def _each(self, ask: Callable[[TracedTask], Any]) -> list[Any]:
        """The answers of all tasks, asked at once; one that is silent is not asked again."""
        asked = [task for task in self.tasks if task.task not in self.silent]
        with ThreadPoolExecutor(len(asked) or 1) as pool:
            calls = [pool.submit(ask, task) for task in asked]
        answers = []
        for task, call in zip(asked, calls, strict=True):
            try:
                answers.append(call.result())
            except errors.OpError as error:
                self.silent[task.task] = error.message
        if not answers:
            why = next(iter(self.silent.values()), "the cluster has no tasks")
            raise errors.UnavailableError(None, None, why)
        return answers

    def close(self) -> None:
        for task in self.tasks:
            task.close()


def distinct(recordings: Sequence[Any]) -> list[Any]:
    """One recording of each process: several tasks may be one, the second has nothing to tell."""
    found: dict[tuple[str, int], Any] = {}
    for each in recordings:
        key = each["host"], each["pid"]
        if key not in found or len(each["events"]) > len(found[key]["events"]):
            found[key] = each
    return list(found.values())
