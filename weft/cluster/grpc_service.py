"""The methods of this process, for others to call over gRPC.

Requests and responses are bytes here; a request that cannot be parsed is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from weft.cluster import wire
from weft.cluster.interfaces import Master
from weft.cluster.methods import HOLD, Handler
from weft.core import errors
from weft.runtime import report
from weft.runtime.crew import Crew

_STATUS = {code.value[0]: code for code in grpc.StatusCode}
_LONGEST_MESSAGE = 3072  # of an error that travels in the headers of a response


class Threads:
    """What gRPC runs calls on: one that waits, for a queue or a tensor, holds up no other."""

    def __init__(self) -> None:
        self._crew = Crew("weft-rpc")

    def submit(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        result: Future[Any] = Future()

        def job() -> None:
            try:
                result.set_result(function(*args, **kwargs))
            except BaseException as error:
                result.set_exception(error)

        self._crew.start(job)
        return result

    def close(self) -> None:
        self._crew.close()


class Service(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Looks methods up by their path."""

    def __init__(self, methods: dict[str, Handler], presence: Presence) -> None:
        self._handlers = {
            path: grpc.unary_unary_rpc_method_handler(_guarded(path, method))
            for path, method in methods.items()
        }
        self._handlers[HOLD] = grpc.unary_stream_rpc_method_handler(presence)

    def service(self, details: Any) -> Any:
        return self._handlers.get(details.method)


class GrpcCaller:
    """A `Caller` over gRPC."""

    def __init__(self, context: Any) -> None:
        self._context, self.answered = context, False

    def on_gone(self, action: Callable[[], Any]) -> None:
        def ended() -> None:
            if not self.answered:
                action()

        if not self._context.add_callback(ended):
            action()  # it has gone already


class Presence:
    """Knows which sessions have a client: each keeps a call open that is never answered."""

    experimental_non_blocking = True  # gRPC's word for a call that needs no thread to stay open

    def __init__(self, master: Master) -> None:
        self.master = master
        self._open: set[Any] = set()

    def __call__(self, request: bytes, context: Any, send: Any = None) -> Any:
        self._open.add(context)
        if not context.add_callback(lambda: self._gone(request.decode(), context)):
            self._gone(request.decode(), context)
        return ()

    def _gone(self, session: str, context: Any) -> None:
        self._open.discard(context)
        with contextlib.suppress(errors.OpError):  # most have closed their session themselves
            self.master.close_session(session)

    def close(self) -> None:
        for context in list(self._open):
            context.cancel()


def _guarded(path: str, method: Handler) -> Callable[[bytes, Any], bytes]:
    """`method`, whose errors become the status of the call."""

    def call(request: bytes, context: Any) -> bytes:
        caller = GrpcCaller(context)
        try:
            return wire.joined(method(request, caller))
        except DecodeError as error:
            status = errors.INVALID_ARGUMENT, f"{path}: a request could not be parsed: {error}"
        except Exception as error:
            status = wire.to_status(error)
            if not isinstance(error, errors.OpError):
                report.say(1, f"{path}: {error!r}".__str__)
        finally:
            caller.answered = True
        code, text = status
        if len(text) > _LONGEST_MESSAGE:
            text = text[:_LONGEST_MESSAGE] + " ... [truncated]"
        context.abort(_STATUS.get(code, grpc.StatusCode.UNKNOWN), text)
        raise AssertionError("abort raises")

    return call
