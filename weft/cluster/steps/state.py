"""The state of a session on a worker: shared with other sessions, and a little of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from weft.cluster.members import renamed
from weft.cluster.transport.inprocess import Peers
from weft.core import errors
from weft.runtime.resources import ResourceStore


class SessionStore(ResourceStore):
    """The resources of a device as one session sees them: shared, but for some of its own.

    A random op starts from its seed in every session, also on a device used before. What nodes keep
    without a shared name, and tensors that a session keeps between steps, go when it does.
    """

    def __init__(self, shared: ResourceStore) -> None:
        self._shared = shared
        self.device, self.lock = shared.device, shared.lock
        self._containers = shared._containers
        self.rng = {}
        self._own = shared.empty()
        self._own.lock = shared.lock

    def get_or_make_private(
        self, container: str, kind: str, node: str, make: Callable[[], Any]
    ) -> Any:
        return self._own.get_or_make(container, kind, node, make)

    def remove(self, resource: Any) -> bool:
        if self._own.remove(resource):
            self.generation += 1
            return True
        return super().remove(resource)

    def end_session(self, containers: list[str] | None = None) -> None:
        self._own.clear(containers)
        self.generation += 1

    def __iter__(self) -> Iterator[tuple[str, str, str, Any]]:
        yield from super().__iter__()
        yield from self._own

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
            renamed(name, peers.home): store.empty() if isolate else SessionStore(store)
            for name, store in shared.items()
        }
        # When it was last asked for, and whether nothing says that its master is there.
        self.used, self.is_loose = time.monotonic(), False
        # How many graphs keep it, where its master has not asked for a session.
        self.holds: int | None = None
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

    def reset(self, containers: list[str] | None) -> None:
        """Lets go of its share of the containers that a server empties for all."""
        if not self.isolated:
            for store in self.stores.values():
                store.end_session(containers)

    def clear(self) -> None:
        with self._lock:
            self._graphs.clear()
        for store in self.stores.values():
            store.end_session()
        if not self.peers.is_servers_own:
            self.peers.close()
