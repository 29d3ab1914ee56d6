"""The state of a session on a worker: shared with other sessions, and a little of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from weft.cluster.members import renamed
from weft.cluster.transport.inprocess import Peers
from weft.core import errors
from weft.ops.state.session_tensors import SESSION_TENSORS
from weft.runtime.resources import ResourceStore


class SessionStore(ResourceStore):
    """The resources of a device as one session sees them: shared, but for some of its own.

    A random op starts from its seed in every session, also on a device used before; and tensors
    that a session keeps between steps go when it does.
    """

    def __init__(self, shared: ResourceStore) -> None:
        self._shared = shared
        self.device, self.lock = shared.device, shared.lock
        self._containers = shared._containers
        self.rng = {}
        self._own: dict[str, Any] = {}

    def get_or_make(self, container: str, kind: str, name: str, make: Callable[[], Any]) -> Any:
        if kind != SESSION_TENSORS:
            return super().get_or_make(container, kind, name, make)
        with self.lock:
            if name not in self._own:
                self._own[name] = make()
            return self._own[name]

    @property
    def generation(self) -> int:
        return self._shared.generation

    @generation.setter
    def generation(self, value: int) -> None:
        self._shared.generation = value

    @property
    def shape_epoch(self) -> int:
        return self._shared.shape_epoch

    @shape_epoch.setter
    def shape_epoch(self, value: int) -> None:
        self._shared.shape_epoch = value


class WorkerSession:
    """One session of a worker: a store per device, and the graphs registered for it.

    The worker is `peers.home` to the session, whatever it is to others.
    """

    def __init__(self, shared: Mapping[str, ResourceStore], isolate: bool, peers: Peers) -> None:
        self.isolated, self.peers = isolate, peers
        self.stores: dict[str, ResourceStore] = {
            renamed(name, peers.home): (
                ResourceStore(store.device) if isolate else SessionStore(store)
            )
            for name, store in shared.items()
        }
        # When it was last asked for, and whether nothing says that its master is there.
        self.used, self.is_loose = time.monotonic(), False
        self._graphs: dict[str, Any] = {}
        self._count = 0
        self._lock = threading.Lock()

    def add(self, graph: Any) -> str:
        with self._lock:
            self._count += 1
            handle = f"{self._count:016x}"
            self._graphs[handle] = graph
            return handle

    def graph(self, handle: str) -> Any:
        found = self._graphs.get(handle)
        if found is None:
            raise errors.AbortedError(
                None, None,
                f"Graph handle is not found: {handle}. Possibly, this worker just restarted.",
            )  # fmt: skip
        return found

    def remove(self, handle: str) -> None:
        self.graph(handle)
        with self._lock:
            self._graphs.pop(handle, None)

    def clear(self) -> None:
        with self._lock:
            self._graphs.clear()
        if self.isolated:
            for store in self.stores.values():
                store.clear()
        if not self.peers.is_servers_own:
            self.peers.close()
