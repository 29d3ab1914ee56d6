"""What a hostile client does to a server, one thing after the other: `python -m tests.fuzz.hostile
TARGET SEED`. It goes on until it is ended."""

from __future__ import annotations

import random
import socket
import sys
import time
from collections.abc import Callable

import grpc

import weft as tf
from tests.fuzz import graphs, mutate
from weft.protos.cluster import message

PAUSE = 0.05  # seconds between two things: what is to be shown is no race for the processor
# Not Reset: changed bytes are a valid request now and then, which ends all sessions of a server for
# whoever may use it, as in TensorFlow.
_METHODS = ("CreateSession", "RunStep", "ExtendSession", "PartialRunSetup", "ListDevices")
_KEPT = 20  # connections that stay open without an end
# An HTTP/2 connection that has begun: its preface, and settings.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
STEPS = (
    "tf.fill(tf.constant([2**40], tf.int64), 1.0)",
    "tf.random_normal(tf.constant([2**31, 2**31], tf.int64))",
    "tf.while_loop(lambda i: i >= 0, lambda i: i + 1 - tf.minimum(i, 1), [0])",
    "tf.strings.regex_full_match(['a' * 5000], '(a+)+b')",
    "tf.FIFOQueue(1, [tf.float32]).dequeue()",
    "tf.tile(['a'], tf.constant([2**40], tf.int64))",
    "tf.py_func(lambda: 1, [], tf.int64)",
    "tf.gather(tf.range(3), 7)",
)


class Hostile:
    """`target` is where the server is, `rng` decides what is done."""

    def __init__(self, target: str, rng: random.Random) -> None:
        self.target, self.rng = target, rng
        self.address = target.removeprefix("grpc://")
        self.open: list[socket.socket] = []
        self.ways: tuple[Callable[[], None], ...] = (
            self.send_nonsense, self.stop_in_the_middle, self.call_with_nonsense,
            self.abandon_a_session, self.run_a_changed_graph, self.ask_for_too_much,
        )  # fmt: skip

    def act(self) -> str:
        """One thing, and what came of it: answered, refused or cut off is all the same."""
        way = self.rng.choice(self.ways)
        try:
            way()
        except Exception as error:
            return f"{way.__name__} {_kind(error)}"
        return f"{way.__name__} ok"

    def _connect(self) -> socket.socket:
        host, _, port = self.address.rpartition(":")
        return socket.create_connection((host, int(port)), 5)

    def send_nonsense(self) -> None:
        with self._connect() as stranger:
            stranger.sendall(self.rng.randbytes(self.rng.choice((1, 100, 10_000))))

    def stop_in_the_middle(self) -> None:
        stranger = self._connect()
        stranger.sendall(mutate.bytes_of(self.rng, _PREFACE + self.rng.randbytes(1000)))
        self.open.append(stranger)
        if len(self.open) > _KEPT:
            self.open.pop(0).close()

    def call_with_nonsense(self) -> None:
        request = mutate.bytes_of(self.rng, _request(0))
        with grpc.insecure_channel(self.address) as channel:
            path = f"/tensorflow.MasterService/{self.rng.choice(_METHODS)}"
            channel.unary_unary(path)(request, timeout=2)

    def abandon_a_session(self) -> None:
        with grpc.insecure_channel(self.address) as channel:
            call = channel.unary_unary("/tensorflow.MasterService/CreateSession")
            call(_request(1), timeout=5)

    def run_a_changed_graph(self) -> None:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graphs.changed(self.rng), name="")
            operations = graph.get_operations()
            self._run(graph, self.rng.choice(operations))

    def ask_for_too_much(self) -> None:
        with tf.Graph().as_default() as graph:
            made = eval(self.rng.choice(STEPS))
            self._run(graph, made)

    def _run(self, graph: tf.Graph, wanted: object) -> None:
        config = tf.ConfigProto(operation_timeout_in_ms=300)
        with tf.Session(self.target, graph=graph, config=config) as session:
            for _ in range(2):
                session.run(wanted)


def _kind(error: Exception) -> str:
    return error.code().name if isinstance(error, grpc.RpcError) else type(error).__name__


def _request(number: int) -> bytes:
    """A request for a session with one of the graphs."""
    graph_def = graphs.bases()[number].SerializeToString()
    data: bytes = message("CreateSessionRequest")(graph_def=graph_def).SerializeToString()
    return data


def main(target: str, seed: int) -> None:
    hostile = Hostile(target, random.Random(seed))
    while True:
        print(hostile.act(), flush=True)
        time.sleep(PAUSE)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
