"""Connections to a server: over gRPC, and by frames where the server offers that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import grpc

from weft.cluster import wire
from weft.cluster.frame_transport import FrameConnection
from weft.cluster.methods import HOLD, SERVICE, Message
from weft.core import errors, flags
from weft.core.deferred import Deferred

# No limit on messages; a peer that comes back is found again soon; channels share nothing.
CHANNEL_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
)


def to_error(failure: Any, where: str) -> errors.OpError:
    """The status that a call ended with, as an error."""
    code, details = failure.code(), failure.details() or ""
    if code is grpc.StatusCode.UNAVAILABLE and where not in details:
        return errors.UnavailableError(None, None, f"{where}: {details}")
    if code is grpc.StatusCode.UNKNOWN and details == "Stream removed":
        return errors.UnavailableError(None, None, f"{where}: {details}")
    return wire.from_status(code.value[0], details)


class Connection:
    """The methods of one service at one address, with messages as bytes."""

    def __init__(self, address: str, service: str, called: str = "") -> None:
        self.where = f"{called} at {address}" if called else address
        self.service = service
        self.channel = grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
        self._methods: dict[str, Any] = {}

    def _method(self, name: str) -> Any:
        method = self._methods.get(name)
        if method is None:
            method = self.channel.unary_unary(SERVICE.format(self.service, name))
            self._methods[name] = method
        return method

    def start(
        self, name: str, request: Message, decode: Callable[[bytes], Any],
        timeout: float | None = None,
    ) -> Deferred:  # fmt: skip
        """Calls a method; `decode(response)` is the result, when it comes."""
        try:
            call = self._method(name).future(wire.joined(request), timeout=timeout)
        except ValueError as error:  # the channel is closed
            result = Deferred()
            result.fail(errors.CancelledError(None, None, f"{self.where}: {error}"))
            return result
        result = Deferred(call.cancel)

        def done(finished: Any) -> None:
            try:
                if finished.code() is grpc.StatusCode.OK:
                    result.complete(decode(finished.result()))
                else:
                    result.fail(to_error(finished, self.where))
            except Exception as error:
                result.fail(error)

        call.add_done_callback(done)
        return result

    def call(
        self, name: str, request: Message, timeout: float | None = None, probe: bytes | None = None,
        patience: float | None = None,
    ) -> bytes:  # fmt: skip
        """Calls a method and blocks until there is an answer.

        With `probe`, a ListDevices request, whoever keeps us waiting is asked for a sign of life;
        with `patience`, a server that is not there yet is waited for, so many seconds.
        """
        limit = timeout or patience
        wait = patience is not None and timeout is None
        data = wire.joined(request)
        call = self._method(name).future(data, timeout=limit, wait_for_ready=wait)
        try:
            while True:
                try:
                    response: bytes = call.result(None if probe is None else flags.HEALTH.value)
                    return response
                except grpc.FutureTimeoutError:
                    assert probe is not None
                    self.check(probe)
        except grpc.RpcError as error:
            raise to_error(error, self.where) from None
        except grpc.FutureCancelledError:
            raise errors.CancelledError(None, None, f"{self.where}: {name}") from None
        except BaseException:
            call.cancel()  # a keyboard interrupt: whoever works on the answer may stop
            raise

    def hold(self, session: str) -> Any:
        """A call that is never answered: as long as it is open, the session has a client."""
        return self.channel.unary_stream(HOLD)(session.encode())

    def check(self, probe: bytes) -> None:
        """UnavailableError if the master gives no sign of life."""
        try:
            self._method("ListDevices")(probe, timeout=flags.HEALTH.value)
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise errors.UnavailableError(
                    None, None, f"{self.where} does not answer: {error.details()}"
                ) from None

    def close(self) -> None:
        self.channel.close()


class Frames:
    """The connection by frames to a server that gRPC has found, if there is one."""

    def __init__(self, address: str, where: str) -> None:
        self._host = address.rpartition(":")[0] or "localhost"
        self._where = where
        self._known: FrameConnection | None = None
        self._asked = self._closed = False
        self._lock = threading.Lock()

    @property
    def connection(self) -> FrameConnection | None:
        known = self._known
        return known if known is not None and known.is_open else None

    def may_ask(self) -> bool:
        """Whether nobody has asked the server yet, since it was found or the connection broke."""
        with self._lock:
            broken = self._known is not None and not self._known.is_open
            if self._asked and not broken:
                return False
            self._known, self._asked = None, True
            return flags.FRAMES.value and not self._closed

    def connect(self, port: int) -> None:
        """Connects, in a thread of its own, if the server has told a port."""
        with self._lock:
            self._asked = True
            if not port or not flags.FRAMES or self.connection is not None or self._closed:
                return
        threading.Thread(target=self.connect_now, args=(port,), daemon=True).start()

    def connect_now(self, port: int) -> None:
        try:
            made = FrameConnection(self._host, port, self._where)
        except OSError:
            return  # something is between us; gRPC gets through
        with self._lock:
            keep = self.connection is None and not self._closed
            if keep:
                self._known = made
        if not keep:
            made.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
        if self._known is not None:
            self._known.close()
