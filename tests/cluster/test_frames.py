"""Calls by frames on a socket, without masters or workers."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.cluster.interfaces import Caller
from weft.cluster.transport import frame_transport, grpc_connection, outcome, wire
from weft.cluster.transport.frame_transport import FrameConnection, FrameServer
from weft.cluster.transport.frames import GREETING, Channel
from weft.core import flags

pytestmark = pytest.mark.timeout(30)


class Echo:
    """Methods to call: one that answers, one that fails, one that waits until nobody wants it."""

    def __init__(self) -> None:
        self.waiting, self.gone = threading.Event(), threading.Event()

    def same(self, data: wire.Chunk, caller: Caller) -> list[wire.Chunk]:
        return [b"", memoryview(data)]

    def fail(self, data: wire.Chunk, caller: Caller) -> bytes:
        raise tf.errors.OutOfRangeError(None, None, "no more")

    def wait(self, data: wire.Chunk, caller: Caller) -> bytes:
        caller.on_gone(self.gone.set)
        self.waiting.set()
        self.gone.wait(10)
        return b""


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def server(echo: Echo) -> Iterator[FrameServer]:
    made = FrameServer("localhost", {"/same": echo.same, "/fail": echo.fail, "/wait": echo.wait})
    made.start()
    yield made
    made.close()


@pytest.fixture(params=["tcp", "local"])
def connection(server: FrameServer, request: pytest.FixtureRequest) -> Iterator[FrameConnection]:
    name = server.name if request.param == "local" else ""
    made = FrameConnection("localhost", server.port, "there", name=name)
    is_local = made._channel._socket.family == socket.AF_UNIX
    assert is_local == (request.param == "local" and sys.platform == "linux")
    yield made
    made.close()


def test_a_name_that_nobody_listens_to_does_no_harm(server: FrameServer) -> None:
    made = FrameConnection("localhost", server.port, "there", name="weft-elsewhere")
    assert outcome.wait(made.start("/same", [b"x"], bytes)) == b"x"
    made.close()


@pytest.mark.parametrize("local", [False, True])
def test_a_server_that_hangs_up_at_once_leaves_nothing_open(
    server: FrameServer, monkeypatch: pytest.MonkeyPatch, local: bool
) -> None:
    """When it is stopped while somebody connects; gRPC will say what there is to say."""
    made: list[Channel] = []

    class Noted(Channel):
        def __init__(self, connection: socket.socket, **options: Any) -> None:
            super().__init__(connection, **options)
            made.append(self)

    monkeypatch.setattr(frame_transport, "Channel", Noted)
    monkeypatch.setattr(frame_transport, "greet", lambda to, _: to.shutdown(socket.SHUT_RDWR))
    name = server.name if local else ""
    with pytest.raises(OSError, match="Broken pipe"):
        FrameConnection("localhost", server.port, "there", name=name)
    frames = grpc_connection.Frames(f"localhost:{server.port}", "there")
    frames.connect_now(server.port, name)
    assert frames.connection is None
    for channel in made:
        assert channel._socket.fileno() == -1
        assert channel._offer is None or channel._offer._fd is None
    assert len(made) == 2


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 20_000_000])
def test_messages_of_any_size(connection: FrameConnection, size: int) -> None:
    sent = np.random.default_rng(0).integers(0, 256, size, np.uint8)
    pieces = [sent[:7].data, sent[7:].data]
    got = outcome.wait(connection.start("/same", pieces, bytes))
    assert got == sent.tobytes()


def test_calls_at_once_keep_apart(connection: FrameConnection) -> None:
    calls = [connection.start("/same", [b"%d" % i], bytes) for i in range(100)]
    assert [outcome.wait(call) for call in calls] == [b"%d" % i for i in range(100)]


def test_errors_keep_their_class(connection: FrameConnection) -> None:
    with pytest.raises(tf.errors.OutOfRangeError, match="no more"):
        outcome.wait(connection.start("/fail", [], bytes))
    with pytest.raises(tf.errors.UnimplementedError, match="/nothing"):
        outcome.wait(connection.start("/nothing", [], bytes))

    def refuse(data: bytes) -> None:
        raise ValueError("cannot read it")

    with pytest.raises(ValueError, match="cannot read it"):
        outcome.wait(connection.start("/same", [b"x"], refuse))


def test_a_call_that_is_cancelled(connection: FrameConnection, echo: Echo) -> None:
    call = connection.start("/wait", [], bytes)
    assert echo.waiting.wait(5)
    call.cancel()
    with pytest.raises(tf.errors.CancelledError):
        outcome.wait(call)
    assert echo.gone.wait(5)


@pytest.mark.parametrize("who", ["server", "connection"])
def test_the_end_of_a_connection_ends_its_calls(
    server: FrameServer, connection: FrameConnection, echo: Echo, who: str
) -> None:
    call = connection.start("/wait", [], bytes)
    assert echo.waiting.wait(5)
    (server if who == "server" else connection).close()
    error = {"server": tf.errors.UnavailableError, "connection": tf.errors.CancelledError}[who]
    with pytest.raises(error, match="there"):
        outcome.wait(call)
    assert echo.gone.wait(5)
    with pytest.raises(tf.errors.UnavailableError):
        outcome.wait(connection.start("/same", [b"x"], bytes))


@pytest.mark.parametrize(
    "said", [b"GET / HTTP/1.1\r\n\r\n", b"weft frames 0\n" + b"\xff" * 40, b""]
)
def test_strangers_are_not_served(server: FrameServer, said: bytes) -> None:
    assert answer(server, said) == b""


def test_a_frame_that_is_none_ends_the_connection(server: FrameServer) -> None:
    with flags.SHARED_MEMORY.override(False):
        assert answer(server, GREETING + b"\xff" * 40) == b""


def answer(server: FrameServer, said: bytes) -> bytes:
    """All that the server says to that, until it hangs up."""
    with socket.create_connection(("localhost", server.port)) as stranger:
        try:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            return stranger.recv(1)
        except OSError:  # it has hung up without a look at all of it
            return b""


def test_a_wait_that_looks_around(connection: FrameConnection, echo: Echo) -> None:
    looked: list[int] = []

    def look() -> None:
        looked.append(1)
        if len(looked) == 3:
            raise tf.errors.UnavailableError(None, None, "enough")

    check: Callable[[], None] = look
    with pytest.raises(tf.errors.UnavailableError, match="enough"):
        outcome.wait_watching(connection.start("/wait", [], bytes), 0.01, check)
    assert echo.gone.wait(5)
