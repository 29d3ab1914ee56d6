"""Messages that have come in part count together, over real connections."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import grpc
import pytest

import weft as tf
from weft.cluster.guard import unfinished
from weft.cluster.guard.limits import Limits, Meters

MB = 1 << 20
METHOD = "/tensorflow.MasterService/ListDevices"


class Stalling:
    """Stands between a client and a server and hands on only the first bytes of what is sent."""

    def __init__(self, target: str, most: int) -> None:
        self._listener = socket.create_server(("localhost", 0))
        self._target, self._most = target.removeprefix("grpc://"), most
        self.address = f"localhost:{self._listener.getsockname()[1]}"
        self.ended, self._closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        host, _, port = self._target.rpartition(":")
        with self._listener.accept()[0] as here, socket.create_connection((host, int(port))) as up:
            back = threading.Thread(target=self._back, args=(up, here), daemon=True)
            back.start()
            left = self._most
            with contextlib.suppress(OSError):
                while left and (data := here.recv(min(left, 1 << 16))):
                    up.sendall(data)
                    left -= len(data)
            self._closed.wait(120)
            with contextlib.suppress(OSError):
                up.shutdown(socket.SHUT_RDWR)
            back.join(20)

    def _back(self, up: socket.socket, here: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := up.recv(1 << 16):
                here.sendall(data)
        self.ended.set()

    def close(self) -> None:
        self._closed.set()
        self._thread.join(20)
        self._listener.close()


def kernel_tells() -> bool:
    """Whether this system counts what a connection has received; sandboxes do not."""
    with socket.create_server(("localhost", 0)) as listener:
        with socket.create_connection(listener.getsockname()) as out, listener.accept()[0] as into:
            out.sendall(b"12345")
            into.recv(5)
            return unfinished._received(into.fileno()) == 5


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.05)


pytestmark = pytest.mark.skipif(
    not kernel_tells(), reason="the kernel does not tell how much a connection has received"
)


@pytest.fixture
def server() -> Iterator[tf.train.Server]:
    limits = Limits(message=100 * MB, arriving=16 * MB)
    made = tf.train.Server.create_local_server(limits=limits)
    yield made
    made.stop()


def test_what_stands_still_is_closed_when_it_is_too_much(server: tf.train.Server) -> None:
    arriving = server._meters.arriving
    ways = [Stalling(server.target, 5 * MB) for _ in range(8)]
    calls = []  # one that is forgotten is cancelled
    with contextlib.ExitStack() as stack:
        for way in ways:
            channel = stack.enter_context(grpc.insecure_channel(way.address))
            stack.callback(way.close)
            calls.append(channel.stream_unary(METHOD).future(iter([bytes(8 * MB)])))
        until(lambda: sum(way.ended.is_set() for way in ways) >= 5)
        until(lambda: 10 * MB < arriving.used <= 16 * MB)
        assert sum(way.ended.is_set() for way in ways) == 5
        with tf.Session(server.target) as session:  # others go on
            assert session.run(tf.constant(3) + 4) == 7
    until(lambda: arriving.used < MB)


def test_whole_messages_do_not_count(server: tf.train.Server) -> None:
    address = server.target.removeprefix("grpc://")
    with grpc.insecure_channel(address) as channel:
        call = channel.stream_unary(METHOD)
        for _ in range(8):  # nonsense, but each came to its end
            with pytest.raises(grpc.RpcError) as found:
                call(iter([b"\xff" * (6 * MB)]))
            assert found.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        until(lambda: server._meters.arriving.used < MB)
        with pytest.raises(grpc.RpcError) as found:
            call(iter([b"\xff" * (6 * MB)]))
        assert found.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_connection_that_takes_the_descriptor_of_another_is_seen() -> None:
    watch = unfinished.Unfinished(Meters().arriving)
    descriptors = []
    with socket.create_server(("localhost", 0)) as listener:
        watch.port = listener.getsockname()[1]
        for sent in (b"12345", b"123"):
            with (
                socket.create_connection(listener.getsockname()) as out,
                listener.accept()[0] as at,
            ):
                out.sendall(sent)
                at.recv(len(sent))
                descriptors.append(at.fileno())
                watch.look()
                ends = {end[1]: found.received for end, found in watch._connections.items()}
                assert ends == {out.getsockname()[1]: len(sent)}
    assert descriptors[0] == descriptors[1]
