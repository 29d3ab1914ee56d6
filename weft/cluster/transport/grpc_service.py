"""The methods of this process, for others to call over gRPC.

Requests and responses are bytes here; a request that cannot be parsed is refused.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import grpc

from weft.cluster.guard.limits import COMPLAINTS
from weft.cluster.guard.security import Identity
from weft.cluster.guard.unfinished import Unfinished
from weft.cluster.transport import wire
from weft.cluster.transport.methods import Handler, status_of
from weft.core import errors, flags
from weft.runtime.threads import ThreadPool

_STATUS = {code.value[0]: code for code in grpc.StatusCode}
_MESSAGE_STALLS = 10  # a message may be so many times as long in coming as a pause in one
_LONGEST_MESSAGE = 3072  # of an error that travels in the headers of a response


class Threads:
    """The executor gRPC runs calls on: one that waits for a queue or a tensor holds up no other."""

    def __init__(self) -> None:
        self._pool = ThreadPool("weft-rpc")

    def submit(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        result: Future[Any] = Future()

        def job() -> None:
            try:
                result.set_result(function(*args, **kwargs))
            except BaseException as error:
                result.set_exception(error)

        self._pool.start(job)
        return result

    def close(self) -> None:
        self._pool.close()


class Arrivals:
    """Calls whose request is on its way. One that takes too long is given up: it has a thread.

    gRPC does not tell how far a message has come, so it may take much longer than a pause.
    """

    def __init__(self, unfinished: Unfinished) -> None:
        self.unfinished = unfinished
        self._waiting: dict[Any, float] = {}
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None
        self._lock = threading.Lock()

    def request(self, requests: Iterator[bytes], context: Any) -> bytes:
        """The request of a call."""
        if self._watch is None:
            self._begin()
        self._waiting[context] = time.monotonic()
        try:
            found = next(requests, None)
        except grpc.RpcError:
            raise errors.CancelledError(None, None, "A request that did not come") from None
        finally:
            self._waiting.pop(context, None)
        if found is None:
            raise errors.InvalidArgumentError(None, None, "A call without a request")
        self.unfinished.finish(context.peer(), len(found))
        return found

    def _begin(self) -> None:
        with self._lock:
            if self._watch is None:
                self._watch = threading.Thread(target=self._look, daemon=True)
                self._watch.start()

    def _look(self) -> None:
        while not self._closed.wait(flags.STALL.value / 4):
            latest = time.monotonic() - flags.STALL.value * _MESSAGE_STALLS
            for context, since in list(self._waiting.items()):
                if since < latest:
                    COMPLAINTS.say("arrivals", f"a request of {context.peer()} that did not come")
                    context.cancel()

    def close(self) -> None:
        self._closed.set()
        self.unfinished.close()


class Service(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Looks methods up by their path, for callers that are permitted.

    To gRPC every request is a stream (of one): so it is not read before the caller is known.
    """

    def __init__(
        self,
        methods: dict[str, Handler],
        presences: dict[str, Presence],
        identity: Identity,
        unfinished: Unfinished,
    ) -> None:
        self._identity, self._arrivals = identity, Arrivals(unfinished)
        self._handlers = {
            path: grpc.stream_unary_rpc_method_handler(_guarded(path, method, self._arrivals))
            for path, method in methods.items()
        }
        for path, presence in presences.items():
            self._handlers[path] = grpc.unary_stream_rpc_method_handler(presence)

    def service(self, details: Any) -> Any:
        self._arrivals.unfinished.begin()
        refusal = self._identity.refusal(details.invocation_metadata)
        if refusal:
            COMPLAINTS.say(refusal, f"{details.method}: {refusal}")
            return _refused(refusal)
        return self._handlers.get(details.method)

    def close(self) -> None:
        self._arrivals.close()


def _refused(why: str) -> Any:
    """A method that refuses every call."""

    def refuse(requests: Any, context: Any) -> None:
        context.abort(grpc.StatusCode.UNAUTHENTICATED, why)

    return grpc.stream_unary_rpc_method_handler(refuse)


class GrpcCaller:
    """A `Caller` over gRPC."""

    def __init__(self, context: Any) -> None:
        self._context, self.answered = context, False

    @property
    def peer(self) -> str:
        found: str = self._context.peer()
        return found

    def on_gone(self, action: Callable[[], Any]) -> None:
        def ended() -> None:
            if not self.answered:
                action()

        if not self._context.add_callback(ended):
            action()  # it has gone already


class Presence:
    """Knows which sessions have an owner: it keeps a call open that is never answered.

    `begin(session)` is called with the call, `end(session)` when it breaks or is withdrawn.
    """

    experimental_non_blocking = True  # gRPC's word for a call that needs no thread to stay open

    def __init__(self, begin: Callable[[str], Any], end: Callable[[str], Any]) -> None:
        self._begin, self._end = begin, end
        self._open: set[Any] = set()

    def __call__(self, request: bytes, context: Any, send: Any = None) -> Any:
        self._open.add(context)
        session = request.decode(errors="replace")
        self._begin(session)
        if not context.add_callback(lambda: self._gone(session, context)):
            self._gone(session, context)
        return ()

    def _gone(self, session: str, context: Any) -> None:
        self._open.discard(context)
        with contextlib.suppress(errors.OpError):  # most have closed their session themselves
            self._end(session)

    def close(self) -> None:
        for context in list(self._open):
            context.cancel()


def _guarded(
    path: str, method: Handler, arrivals: Arrivals
) -> Callable[[Iterator[bytes], Any], bytes]:
    """`method`, whose errors become the status of the call."""

    def call(requests: Iterator[bytes], context: Any) -> bytes:
        caller = GrpcCaller(context)
        try:
            return wire.joined(method(arrivals.request(requests, context), caller))
        except Exception as error:
            status = status_of(path, error)
        finally:
            caller.answered = True
        code, text = status
        if len(text) > _LONGEST_MESSAGE:
            text = text[:_LONGEST_MESSAGE] + " ... [truncated]"
        context.abort(_STATUS.get(code, grpc.StatusCode.UNKNOWN), text)
        raise AssertionError("abort raises")

    return call
