"""TensorFlow Serving's services over gRPC, and gRPC's own service for health."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc

from weft.cluster.guard.limits import COMPLAINTS
from weft.cluster.guard.security import Identity
from weft.cluster.transport.grpc_connection import (
    CHANNEL_OPTIONS,
    keepalive_options,
    received_up_to,
)
from weft.cluster.transport.methods import status_of
from weft.protos.serving import message
from weft.serve.call_threads import CallThreads
from weft.serve.observe import Observer, Seen
from weft.serve.requests import Requests

_PREDICTION = "/tensorflow.serving.PredictionService/"
_MODEL = "/tensorflow.serving.ModelService/"
_SESSION = "/tensorflow.serving.SessionService/"
_HEALTH = "/grpc.health.v1.Health/"
_LONGEST_MESSAGE = 3072  # of an error, which travels in the headers of a response
_STATUS = {code.value[0]: code for code in grpc.StatusCode}
_HANDSHAKE_MS = 20_000
_FOREVER = 1e8  # seconds: calls without a deadline have one that is further away
_WATCH_SECONDS = 1.0
_SERVING, _NOT_SERVING, _SERVICE_UNKNOWN = 1, 2, 3
_SERVICES = ("", *(path.strip("/") for path in (_PREDICTION, _MODEL, _SESSION)))

# Path -> name of the method of `Requests`. Those after the first few are not about one model.
METHODS = {
    f"{_PREDICTION}Predict": "predict",
    f"{_PREDICTION}Classify": "classify",
    f"{_PREDICTION}Regress": "regress",
    f"{_PREDICTION}MultiInference": "multi_inference",
    f"{_PREDICTION}GetModelMetadata": "get_model_metadata",
    f"{_SESSION}SessionRun": "session_run",
    f"{_MODEL}GetModelStatus": "get_model_status",
    f"{_MODEL}HandleReloadConfigRequest": "handle_reload_config_request",
}


class GrpcFront:
    """The gRPC server. `addresses` may be sockets of the file system ("unix:path") too."""

    def __init__(
        self,
        requests: Requests,
        observer: Observer,
        identity: Identity,
        is_ready: Callable[[], bool],
        message_limit: int,
        calls: int,
        threads: int,
    ) -> None:
        self._threads = CallThreads(threads, "weft-grpc")
        options = [
            *CHANNEL_OPTIONS, *keepalive_options(is_server=True), ("grpc.so_reuseport", 0),
            ("grpc.server_handshake_timeout_ms", _HANDSHAKE_MS), received_up_to(message_limit),
        ]  # fmt: skip
        self._server = grpc.server(self._threads, options=options, maximum_concurrent_rpcs=calls)
        self._identity = identity
        self._handler = _Handler(requests, observer, identity, is_ready)
        self._server.add_generic_rpc_handlers((self._handler,))

    def listen(self, address: str) -> int:
        """Opens a port; 0, or RuntimeError, if that cannot be."""
        return self._identity.listen(self._server, address)

    def start(self) -> None:
        self._server.start()

    def stop(self, seconds: float) -> None:
        """Takes no more calls; those under way have so long."""
        self._handler.closed.set()
        self._server.stop(seconds).wait()
        self._threads.close()


class _Handler(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Looks methods up by their path, for those who may call them."""

    def __init__(
        self,
        requests: Requests,
        observer: Observer,
        identity: Identity,
        is_ready: Callable[[], bool],
    ) -> None:
        self._identity, self._is_ready = identity, is_ready
        self.closed = threading.Event()
        self._handlers = {
            path: grpc.unary_unary_rpc_method_handler(
                _answering(path, getattr(requests, name), observer)
            )
            for path, name in METHODS.items()
        }
        self._health = {
            f"{_HEALTH}Check": grpc.unary_unary_rpc_method_handler(self._check),
            f"{_HEALTH}Watch": grpc.unary_stream_rpc_method_handler(self._watch),
        }

    def service(self, details: Any) -> Any:
        health = self._health.get(details.method)
        if health is not None:
            return health  # of those who look after processes, which have no token
        refusal = self._identity.refusal(details.invocation_metadata)
        if refusal:
            COMPLAINTS.say(refusal, f"{details.method}: {refusal}")
            return _refused(refusal)
        return self._handlers.get(details.method)

    def _status(self, data: bytes) -> int:
        if message("HealthCheckRequest").FromString(data).service not in _SERVICES:
            return _SERVICE_UNKNOWN
        return _SERVING if self._is_ready() and not self.closed.is_set() else _NOT_SERVING

    def _check(self, data: bytes, context: Any) -> bytes:
        status = _guarded(lambda: self._status(data), f"{_HEALTH}Check", context)
        if status == _SERVICE_UNKNOWN:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return bytes(message("HealthCheckResponse")(status=status).SerializeToString())

    def _watch(self, data: bytes, context: Any) -> Iterator[bytes]:
        """The status whenever it changes, until the caller goes."""
        said = None
        while context.is_active():
            status = _guarded(lambda: self._status(data), f"{_HEALTH}Watch", context)
            if status != said:
                said = status
                yield bytes(message("HealthCheckResponse")(status=status).SerializeToString())
            if self.closed.wait(_WATCH_SECONDS) and said == _NOT_SERVING:
                return


def _refused(why: str) -> Any:
    """A method that answers no one; what was sent is not read."""

    def refuse(requests: Any, context: Any) -> None:
        context.abort(grpc.StatusCode.UNAUTHENTICATED, why)

    return grpc.stream_unary_rpc_method_handler(refuse)


def _answering(path: str, method: Any, observer: Observer) -> Callable[[bytes, Any], bytes]:
    """`method`, whose errors become the status of the call, seen by the observer."""
    name = path.rpartition("/")[2]

    def call(data: bytes, context: Any) -> bytes:
        left = context.time_remaining()
        deadline = time.monotonic() + left if left is not None and left < _FOREVER else None
        seen = Seen(observer, name, "GRPC", len(data))
        try:
            answer: bytes = method(data, deadline, seen.about)
        except Exception as error:
            code, text = status_of(path, error)
        else:
            seen.end(0)
            return answer
        seen.end(code)
        _abort(context, code, text)
        raise AssertionError("abort raises")

    return call


def _guarded(function: Callable[[], int], path: str, context: Any) -> int:
    try:
        return function()
    except Exception as error:
        _abort(context, *status_of(path, error))
        raise AssertionError("abort raises") from None


def _abort(context: Any, code: int, text: str) -> None:
    if len(text) > _LONGEST_MESSAGE:
        text = text[:_LONGEST_MESSAGE] + " ... [truncated]"
    context.abort(_STATUS.get(code, grpc.StatusCode.UNKNOWN), text)
