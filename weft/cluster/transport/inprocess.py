"""Masters and workers that are in this process: reached without a message."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

from weft.cluster.guard.security import NOBODY, Identity
from weft.cluster.interfaces import Master, Worker
from weft.core import errors

_masters: dict[str, Master] = {}
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    # A child has copies of these, with state that goes its own way: not what it means.
    os.register_at_fork(after_in_child=_masters.clear)


def register(target: str, master: Master) -> None:
    """From now on, sessions of this process on `target` call `master` itself."""
    with _lock:
        _masters[target] = master


def unregister(target: str, master: Master) -> None:
    with _lock:
        if _masters.get(target) is master:
            del _masters[target]


def master_at(target: str) -> Master | None:
    """The master that listens at `target`, if it is in this process."""
    return _masters.get(target.replace("grpcs://", "grpc://", 1))


class Peers:
    """The tasks of a cluster as this process reaches them: its own directly, others over gRPC.

    To those, this process shows its `identity`.
    """

    def __init__(
        self, home: str, addresses: Mapping[str, str], is_servers_own: bool = True,
        identity: Identity = NOBODY,
    ) -> None:  # fmt: skip
        self.home, self.addresses, self.is_servers_own = home, addresses, is_servers_own
        self.identity = identity
        self._workers: dict[str, Worker] = {}
        self._closed = False
        self._lock = threading.Lock()

    def add(self, task: str, worker: Worker) -> None:
        self._workers[task] = worker

    def __call__(self, task: str) -> Worker:
        found = self._workers.get(task)
        return found if found is not None else self._connect(task)

    def _connect(self, task: str) -> Worker:
        from weft.cluster.transport.grpc_transport import GrpcWorker

        if task not in self.addresses:
            raise errors.NotFoundError(None, None, f"There is no {task} in the cluster")
        with self._lock:
            if self._closed:
                raise errors.CancelledError(None, None, f"The server of {self.home} has stopped")
            if task not in self._workers:
                self._workers[task] = GrpcWorker(task, self.addresses[task], self.identity)
            return self._workers[task]

    def renamed(self, home: str, addresses: Mapping[str, str]) -> Peers:
        """Another cluster that this process is a task of, under the name `home`."""
        other = Peers(home, addresses, is_servers_own=False, identity=self.identity)
        other.add(home, self(self.home))
        return other

    def close(self) -> None:
        with self._lock:
            self._closed = True
            workers = [w for task, w in self._workers.items() if task != self.home]
        for worker in workers:
            worker.close()
