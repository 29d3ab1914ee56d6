"""Queue runners that run as long as a block of the program."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weft.graph.graph import GraphKeys, get_default_graph
from weft.lib.train.sessions.coordinator import Coordinator


class NestedQueueRunnerError(Exception):
    """Raised where `QueueRunners` are opened inside others."""


_running = threading.Lock()


def _started(session: Any) -> tuple[Coordinator, list[Any]]:
    coordinator = Coordinator()
    runners = get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS)
    made = [runner.create_threads(session, coordinator, True, True) for runner in runners]
    return coordinator, [thread for threads in made for thread in threads]


def _stop(session: Any, coordinator: Coordinator, threads: list[Any]) -> None:
    coordinator.request_stop()
    try:
        coordinator.join(threads, stop_grace_period_secs=120)
    except RuntimeError:
        session.close()


@contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Starts all queue runners of the graph, and stops them at the end."""
    if not _running.acquire(blocking=False):
        raise NestedQueueRunnerError("You cannot nest QueueRunners() blocks")
    try:
        started = _started(session)
        try:
            yield
        finally:
            _stop(session, *started)
    finally:
        _running.release()
