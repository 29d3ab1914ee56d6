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


@contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Starts all queue runners of the graph, and stops them at the end."""
    if not _running.acquire(blocking=False):
        raise NestedQueueRunnerError("You cannot nest QueueRunners() blocks")
    try:
        runners = get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS)
        coordinator = Coordinator()
        threads = []
        for runner in runners:
            threads += runner.create_threads(session, coord=coordinator, daemon=True, start=True)
        try:
            yield
        finally:
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=120)
            except RuntimeError:
                session.close()
    finally:
        _running.release()
