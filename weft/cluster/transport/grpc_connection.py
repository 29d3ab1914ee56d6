"""Connections to a server: over gRPC, and by frames where the server offers that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import grpc

from weft.cluster.guard.diagnosis import IN_HASTE, SECONDS, diagnose, unreachable
from weft.cluster.guard.limits import message_limit
from weft.cluster.guard.security import NOBODY, Identity
from weft.cluster.transport import wire
from weft.cluster.transport.frame_transport import FrameConnection
from weft.cluster.transport.methods import HOLD, HOLD_WORKER, SERVICE, Message
from weft.core import errors, flags
from weft.core.deferred import Deferred

# A peer that comes back is found again soon; channels share nothing.
CHANNEL_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5000),  # so long a connection may take to be made
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
)


_LONGEST = (1 << 31) - 1  # that gRPC can be told of; beyond, there is no limit but its own
_DIAGNOSE_SECONDS = 1.0
_TOO_MANY_CALLS = "Concurrent RPC limit exceeded!"  # as gRPC says it


_DAY = 24 * 60 * 60 * 1000  # milliseconds


def keepalive_options(is_server: bool = False) -> tuple[tuple[str, int], ...]:
    """A server asks silent clients for a sign of life.

    Clients do not: TensorFlow's servers take that for an attack. But by saying that they would ask
    once a day, they make gRPC close connections on which nothing gets through any more.
    """
    limit = 1000 * int(flags.HEALTH.value)
    return (
        ("grpc.keepalive_time_ms", limit if is_server else _DAY),
        ("grpc.keepalive_timeout_ms", limit),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    )


def received_up_to(size: int) -> tuple[str, int]:
    """The option that limits messages."""
    return "grpc.max_receive_message_length", size if size <= _LONGEST else -1


def to_error(failure: Any, where: str) -> errors.OpError:
    """The status that a call ended with, as an error."""
    code, details = failure.code(), failure.details() or ""
    if code is grpc.StatusCode.UNAVAILABLE and where not in details:
        return errors.UnavailableError(None, None, f"{where}: {details}")
    if code is grpc.StatusCode.UNKNOWN and details == "Stream removed":
        return errors.UnavailableError(None, None, f"{where}: {details}")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in details:
        details += f": {flags.MAX_MESSAGE.name}, at the receiving end, sets the limit"
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and details == _TOO_MANY_CALLS:
        details = f"{where} has too many calls at once: {flags.MAX_CALLS.name} there is the limit"
    return wire.from_status(code.value[0], details)


class Connection:
    """The methods of one service at one address, with messages as bytes."""

    def __init__(
        self, address: str, service: str, called: str = "", identity: Identity = NOBODY
    ) -> None:
        self.where = f"{called} at {address}" if called else address
        self.service = service
        self._address, self._identity, self._metadata = address, identity, identity.metadata
        options = (*CHANNEL_OPTIONS, *keepalive_options(), received_up_to(message_limit()))
        self.channel = identity.channel(address, options)
        self._has_worked = False
        self._methods: dict[str, Any] = {}

    def _method(self, name: str) -> Any:
        method = self._methods.get(name)
        if method is None:
            method = self.channel.unary_unary(SERVICE.format(self.service, name))
            self._methods[name] = method
        return method

    def _error(self, failure: Any) -> errors.OpError:
        """The error of a failed call; of the first one on a connection, the real reason."""
        code = failure.code()
        if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
            late = code is grpc.StatusCode.DEADLINE_EXCEEDED
            wrong = self._diagnosis(failure.details() or "", IN_HASTE if late else SECONDS)
            return wrong or to_error(failure, self.where)
        self._has_worked = self._has_worked or code is not grpc.StatusCode.CANCELLED
        return to_error(failure, self.where)

    def _diagnosis(self, details: str = "", seconds: float = SECONDS) -> errors.OpError | None:
        """UnauthenticatedError if the two ends do not trust each other, and never have."""
        if self._has_worked or "Connection refused" in details:
            return None
        wrong = diagnose(self._address, self._identity, seconds)
        return errors.UnauthenticatedError(None, None, f"{self.where}: {wrong}") if wrong else None

    def start(
        self, name: str, request: Message, decode: Callable[[bytes], Any],
        timeout: float | None = None,
    ) -> Deferred:  # fmt: skip
        """Calls a method; `decode(response)` is the result, when it comes."""
        data = wire.joined(request)
        try:
            call = self._method(name).future(data, timeout=timeout, metadata=self._metadata)
        except ValueError as error:  # the channel is closed
            result = Deferred()
            result.fail(errors.CancelledError(None, None, f"{self.where}: {error}"))
            return result
        result = Deferred(call.cancel)

        def done(finished: Any) -> None:
            try:
                if finished.code() is grpc.StatusCode.OK:
                    self._has_worked = True
                    result.complete(decode(finished.result()))
                else:
                    result.fail(self._error(finished))
            except Exception as error:
                result.fail(error)

        call.add_done_callback(done)
        return result

    def call(
        self, name: str, request: Message, timeout: float | None = None,
        patience: float | None = None,
    ) -> bytes:  # fmt: skip
        """Calls a method and blocks until there is an answer.

        With `patience`, a server that is not there yet is waited for, so many seconds. Without any
        limit, a server that does not answer is asked for a sign of life.
        """
        limit = timeout or patience
        deadline = None if limit is None else time.monotonic() + limit
        wait = patience is not None and timeout is None
        data = wire.joined(request)
        call = self._method(name).future(
            data, timeout=limit, wait_for_ready=wait, metadata=self._metadata
        )
        pause = flags.HEALTH.value if limit is None else _DIAGNOSE_SECONDS if wait else None
        try:
            while True:
                try:
                    response: bytes = call.result(pause)
                    self._has_worked = True
                    return response
                except grpc.FutureTimeoutError:
                    self._look_after(deadline)
        except grpc.RpcError as error:
            raise self._explained(self._error(error)) from None
        except grpc.FutureCancelledError:
            raise errors.CancelledError(None, None, f"{self.where}: {name}") from None
        except BaseException:
            call.cancel()  # a keyboard interrupt: the server may stop working on the answer
            raise

    def _explained(self, error: errors.OpError) -> errors.OpError:
        """Says whom we have waited for in vain, if there has never been an answer."""
        if self._has_worked or not isinstance(error, errors.DeadlineExceededError):
            return error
        why = unreachable(self._address) or "somebody listens there, but says nothing"
        return errors.DeadlineExceededError(
            None, None, f"{error.message}: no answer from {self.where} ({why})"
        )

    def _look_after(self, deadline: float | None) -> None:
        """An error if there is no use in waiting any longer."""
        if deadline is None:
            self.check()
            return
        left = max(deadline - time.monotonic(), IN_HASTE)
        if (wrong := self._diagnosis(seconds=min(left, SECONDS))) is not None:
            raise wrong

    def hold(self, session: str) -> Any:
        """A call that is never answered: as long as it is open, the session has an owner."""
        path = HOLD if self.service == "Master" else HOLD_WORKER
        return self.channel.unary_stream(path)(session.encode(), metadata=self._metadata)

    def check(self) -> None:
        """UnavailableError if the server gives no sign of life."""
        try:
            # Every server has a worker, which can always say that.
            method = self.channel.unary_unary(SERVICE.format("Worker", "GetStatus"))
            method(b"", timeout=flags.HEALTH.value, metadata=self._metadata)
        except grpc.RpcError as error:
            if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise errors.UnavailableError(
                    None, None, f"{self.where} does not answer: {error.details()}"
                ) from None

    def close(self) -> None:
        self.channel.close()


class Frames:
    """The connection by frames to a server that gRPC has found, if there is one.

    Frames are not encrypted: where TLS is wanted, there is none.
    """

    def __init__(self, address: str, where: str, identity: Identity = NOBODY) -> None:
        self._host = address.rpartition(":")[0].strip("[]") or "localhost"
        self._where, self._token = where, identity.token
        self._is_wanted = not identity.uses_tls
        self._known: FrameConnection | None = None
        self._asked = self._closed = False
        self._lock = threading.Lock()

    @property
    def connection(self) -> FrameConnection | None:
        known = self._known
        return known if known is not None and known.is_open else None

    def may_ask(self) -> bool:
        """Whether the server has not been asked yet, since it was found or the connection broke."""
        with self._lock:
            broken = self._known is not None and not self._known.is_open
            if self._asked and not broken:
                return False
            self._known, self._asked = None, True
            return flags.FRAMES.value and self._is_wanted and not self._closed

    def connect(self, port: int, name: str) -> None:
        """Connects, in a thread of its own, if the server has told where."""
        with self._lock:
            self._asked = True
            if not port or not flags.FRAMES or self.connection is not None or self._closed:
                return
        threading.Thread(target=self.connect_now, args=(port, name), daemon=True).start()

    def connect_now(self, port: int, name: str) -> None:
        if not self._is_wanted:
            return
        try:
            made = FrameConnection(self._host, port, self._where, self._token, name)
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
