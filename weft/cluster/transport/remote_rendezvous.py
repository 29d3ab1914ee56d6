"""The rendezvous of a step that several workers take part in.

A tensor goes to another task in one of two ways, and a registered graph says which. It is *pulled*:
the sender keeps the value until it is asked for, and the receiver asks. Or it is *pushed*,
between weft's own workers: small values that are ready at the same time go together, unasked.
No thread waits here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from weft.cluster.transport.inprocess import Peers
from weft.core import errors
from weft.core.deferred import Deferred
from weft.runtime.inbox import Mailbox
from weft.runtime.rendezvous import Rendezvous

Inbox = Mailbox
"""Gets lists of (key, value), or the error that ends the step."""


def sending_task(key: str) -> str:
    """The task that sends what `key` stands for."""
    return key.partition(";")[0].partition("/device:")[0]


@dataclass(frozen=True)
class Pushes:
    """Of one graph: the task that each key is pushed to, and the keys that others push."""

    out: Mapping[str, str] = field(default_factory=dict)
    into: Collection[str] = frozenset()


_NONE = Pushes()


class RemoteRendezvous(Rendezvous):
    """As seen by the task `peers.home`."""

    def __init__(self, step_id: int, peers: Peers) -> None:
        super().__init__()
        self.step_id, self.peers = step_id, peers
        self._pushes = _NONE
        self._came: dict[str, Any] = {}  # pushed to us, and not wanted yet
        self._inboxes: dict[str, Inbox] = {}  # receives of tensors that will be pushed
        self._outbox: dict[str, list[tuple[str, Any]]] = {}
        self._doubts: dict[str, BaseException | None] = {}
        self._calls: dict[str, Deferred] = {}
        self._when_taken: Callable[[], None] | None = None

    def begin(self, peers: Peers, pushes: Pushes) -> None:
        """A graph of the session with these `peers` runs in the step."""
        self.peers, self._pushes = peers, pushes

    # ---- out ----

    def send(self, key: str, value: Any) -> None:
        task = self._pushes.out.get(key)
        if task is None:
            super().send(key, value)
            return
        with self._lock:
            if self._error is not None:
                return
            waiting = self._wanted.pop(key, None)
            if waiting is None:
                self._outbox.setdefault(task, []).append((key, value))
                return
        waiting.complete([value])  # a receiver that waits for long asks

    def flush(self) -> None:
        if not self._outbox:
            return
        with self._lock:
            outbox, self._outbox = self._outbox, {}
        for task, items in outbox.items():
            keys, values = zip(*items, strict=True)
            self.peers(task).push_tensors(self.step_id, keys, values, self.abort)

    def recv_here(self, key: str) -> Any:
        """As `recv`, of what this task sends itself."""
        found = super().recv(key)
        if self._when_taken is not None and not self._sent:
            self._when_taken()
        return found

    def held_bytes(self) -> int:
        """The size of what has been sent and not been taken."""
        with self._lock:
            return sum(getattr(value, "nbytes", 0) for value in self._sent.values())

    def when_taken(self, action: Callable[[], None]) -> None:
        """Everything has been sent; `action` is called when all of it has been received."""
        with self._lock:
            if self._sent:
                self._when_taken = action
                return
        action()

    # ---- in ----

    def recv(self, key: str) -> Any:
        """The value sent under `key` in a list of one, or a `Deferred` of that."""
        source = sending_task(key)
        if source == self.peers.home:
            return self.recv_here(key)
        pushed = key in self._pushes.into
        with self._lock:
            if self._error is not None:
                raise self._error
            if key in self._came:
                return [self._came.pop(key)]
            if key in self._wanted:
                raise errors.InternalError(None, None, f"Duplicate receive of {key}")
            result = Deferred(lambda: self._withdraw(key))
            self._wanted[key] = result
        if not pushed:
            self._pull(source, key)
            if result is not self._wanted.get(key):
                # The step has been aborted meanwhile, or this is a cancel after the fact.
                self._drop_call(key)
        return result

    def want(self, keys: Sequence[str], inbox: Inbox) -> None:
        """`inbox` gets the values of other tasks, those that come together in one list."""
        there: list[tuple[str, Any]] = []
        missing: list[str] = []
        with self._lock:
            if self._error is not None:
                raise self._error
            for key in keys:
                if key in self._came:
                    there.append((key, self._came.pop(key)))
                else:
                    missing.append(key)
                    self._inboxes[key] = inbox
        if there:
            inbox.put(there)
        for key in missing:
            if key not in self._pushes.into:
                self._pull(sending_task(key), key)

    def arrive(self, keys: Sequence[str], values: Sequence[Any]) -> None:
        """Another task has pushed these."""
        lists: dict[Inbox, list[tuple[str, Any]]] = {}
        promises = []
        with self._lock:
            if self._error is not None:
                return
            for key, value in zip(keys, values, strict=True):
                inbox = self._inboxes.pop(key, None)
                if inbox is not None:
                    lists.setdefault(inbox, []).append((key, value))
                elif key in self._wanted:
                    promises.append((self._wanted.pop(key), value))
                else:
                    self._came[key] = value
        for inbox, found in lists.items():
            inbox.put(found)
        for promise, value in promises:
            promise.complete([value])

    def _pull(self, source: str, key: str) -> None:
        call = self.peers(source).recv_tensor(self.step_id, key)
        with self._lock:
            if key in self._wanted or key in self._inboxes:
                self._calls[key] = call
        call.deliver_to(partial(self._pulled, key))

    def _pulled(self, key: str, value: Any, error: BaseException | None) -> None:
        with self._lock:
            self._calls.pop(key, None)
            if error is not None and key in self._pushes.into:
                self._doubts[key] = error  # it may be on its way all the same
                return
            promise, inbox = self._wanted.pop(key, None), self._inboxes.pop(key, None)
        if promise is not None and error is not None:
            promise.fail(error)
        elif promise is not None:
            promise.complete(value)
        elif inbox is not None:
            inbox.put(error or [(key, value[0])])

    def ask_again(self) -> None:
        """Asks for what should have been pushed long ago: whatever is between us may have lost it.

        Called again and again. What was waited for at the last call already is asked for; if
        there was no answer to that but an error, the step ends with it.
        """
        with self._lock:
            late = [*self._inboxes, *(key for key in self._wanted if key in self._pushes.into)]
            missing = [key for key in late if key not in self._calls]
            known, self._doubts = self._doubts, dict.fromkeys(missing)
        for key in missing:
            error = known.get(key)
            if isinstance(error, Exception):
                self.abort(error)
                return
            if key in known:
                self._pull(sending_task(key), key)

    def awaited(self) -> list[str]:
        with self._lock:
            return sorted({*self._wanted, *self._inboxes})

    def is_empty(self) -> bool:
        return super().is_empty() and not self._came and not self._inboxes

    # ---- the end ----

    def _withdraw(self, key: str) -> None:
        super()._withdraw(key)
        self._drop_call(key)

    def _drop_call(self, key: str) -> None:
        with self._lock:
            call = self._calls.pop(key, None)
        if call is not None:
            call.cancel()

    def abort(self, error: Exception) -> None:
        super().abort(error)
        with self._lock:
            calls, self._calls = list(self._calls.values()), {}
            inboxes, self._inboxes = set(self._inboxes.values()), {}
            self._came.clear()
            self._outbox.clear()
        for inbox in inboxes:
            inbox.put(error)
        for call in calls:
            call.cancel()
