"""What a server takes on, and how it says no to more."""

from __future__ import annotations

import gc
import socket
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import weft as tf
from tests.cluster.conftest import cluster_of
from weft.cluster.guard.limits import Budget, Complaints, Limits, Meters
from weft.cluster.interfaces import GraphCall
from weft.cluster.server import Server
from weft.cluster.steps.worker_steps import WorkerSteps
from weft.cluster.transport import inprocess
from weft.cluster.transport.frames import GREETING
from weft.core import flags, machine
from weft.protos.cluster import message

pytestmark = pytest.mark.timeout(60)
Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server of one task with limits; all goes over sockets."""
    servers: list[Server] = []

    def start(**limits: int) -> Server:
        server = Server.create_local_server(limits=Limits(**limits))
        servers.append(server)
        inprocess.unregister(server.target, server.master)
        return server

    yield start
    for each in servers:
        each.stop()


def test_defaults_come_from_switches() -> None:
    assert Limits().sessions == 1000 and Limits().message == machine.memory() // 2
    with flags.MAX_MESSAGE.override(3), flags.MAX_SESSIONS.override(5):
        assert Limits().message == 3 << 20 and Limits().sessions == 5
        assert Limits(sessions=7).sessions == 7


def test_limits_that_would_let_nobody_in() -> None:
    for wrong in ({"sessions": 0}, {"message": -1}, {"calls": "many"}):
        with pytest.raises(tf.errors.InvalidArgumentError, match="a number from 1 on"):
            Limits(**wrong)
    with flags.MAX_SESSIONS.override(0), pytest.raises(tf.errors.InvalidArgumentError):
        Limits()


def test_a_budget_is_given_back_with_its_owner() -> None:
    class Owner:
        """Something that can be let go."""

    budget = Budget(10, "things", flags.MAX_CALLS)
    owner = Owner()
    budget.take_for(owner, 6)
    with pytest.raises(
        tf.errors.ResourceExhaustedError, match=r"6 of at most 10 things, .* 5 more. WEFT_MAX_CALLS"
    ):
        budget.take(5)
    owner.itself = owner  # type: ignore[attr-defined]  # garbage, but not gone yet
    del owner
    other = Owner()
    budget.take_for(other, 10)
    budget.give_back_for(other)  # it is still there
    assert budget.used == 0
    budget.take_for(other, 3)
    del other
    assert budget.used == 0


@pytest.mark.parametrize("frames", [True, False], ids=["frames", "gRPC"])
def test_messages(serve: Serve, frames: bool) -> None:
    with flags.FRAMES.override(frames), flags.SHARED_MEMORY.override(False):
        server = serve(message=1_000_000)
        x = tf.placeholder(tf.float32, [None])
        total = tf.reduce_sum(x)
        with tf.Session(server.target) as sess:
            for _ in range(2):
                with pytest.raises(
                    tf.errors.ResourceExhaustedError, match=r"larger than .*WEFT_MAX_MESSAGE"
                ):
                    sess.run(total, {x: np.ones(300_000, np.float32)})
                assert sess.run(total, {x: np.ones(200_000, np.float32)}) == 200_000


def test_messages_in_shared_memory(serve: Serve) -> None:
    server = serve(message=1_000_000)
    x = tf.placeholder(tf.float32, [None])
    with tf.Session(server.target) as sess:
        assert sess.run(tf.size(x), {x: np.ones(200_000, np.float32)}) == 200_000
        with pytest.raises(tf.errors.ResourceExhaustedError, match="WEFT_MAX_MESSAGE"):
            sess.run(tf.size(x), {x: np.ones(300_000, np.float32)})
        assert sess.run(tf.size(x), {x: np.ones(200_000, np.float32)}) == 200_000


@pytest.mark.parametrize("frames", [True, False], ids=["frames", "gRPC"])
def test_answers(serve: Serve, frames: bool) -> None:
    """Who asks has a limit as well."""
    with flags.FRAMES.override(frames), flags.SHARED_MEMORY.override(False):
        server = serve()
        n = tf.placeholder(tf.int32, [])
        with flags.MAX_MESSAGE.override(1), tf.Session(server.target) as sess:
            with pytest.raises(tf.errors.ResourceExhaustedError, match="WEFT_MAX_MESSAGE"):
                sess.run(tf.zeros([n]), {n: 300_000})
            assert sess.run(tf.zeros([n]), {n: 20}).shape == (20,)


def test_sessions(serve: Serve) -> None:
    server = serve(sessions=2)
    c = tf.constant(1)
    with tf.Session(server.target) as one, tf.Session(server.target) as two:
        assert one.run(c) == two.run(c) == 1
        with (
            tf.Session(server.target) as three,
            pytest.raises(tf.errors.ResourceExhaustedError, match="at most 2 sessions"),
        ):
            three.run(c)
        assert one.run(c) == 1
    with tf.Session(server.target) as later:
        assert later.run(c) == 1


def test_graphs(serve: Serve) -> None:
    server = serve(graphs=1_000_000)
    with tf.Session(server.target) as sess:
        assert sess.run(tf.constant(1)) == 1
        with pytest.raises(tf.errors.ResourceExhaustedError, match="bytes of graphs"):
            sess.run(tf.constant(np.zeros(200_000, np.float64)) + 1.0)
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        assert sess.run(tf.constant(2)) == 2
    gc.collect()
    assert server._meters.graphs.used < 10_000


def test_tensors_that_nobody_takes() -> None:
    """The sender refuses; the receiver, which never asked, gets the error."""
    spec = cluster_of(a=2)
    servers = [Server(spec, "a", i, limits=Limits(held=1_000_000)) for i in range(2)]
    held = servers[1]._meters.held
    step = servers[1].worker.steps.open(99)
    step.rendezvous.send("kept", np.zeros(100_000, np.float64))
    servers[1].worker.steps.finish(99, step)
    assert held.used == 800_000
    other = servers[1].worker.steps.open(100)
    other.rendezvous.send("kept", np.zeros(100_000, np.float64))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="tensors that wait to be taken"):
        servers[1].worker.steps.finish(100, other)
    assert step.rendezvous.recv_here("kept")[0].shape == (100_000,)
    assert held.used == 0
    for each in servers:
        each.stop()


def test_tensors_that_are_pushed_to_a_step_that_never_begins() -> None:
    server = Server.create_local_server(limits=Limits(held=1_000_000))
    steps, held = server.worker.steps, server._meters.held
    steps.arrive(7, ["a"], [np.zeros(100_000, np.float64)])
    assert held.used == 800_000
    steps.arrive(8, ["a"], [np.zeros(100_000, np.float64)])
    with pytest.raises(tf.errors.ResourceExhaustedError, match="wait to be taken"):
        steps.open(8)  # whoever runs it gets to know
    assert not steps._steps[7].is_forgotten()
    steps._steps[7].began -= 1_000_000
    assert steps._steps[7].is_forgotten()
    steps.end(7)
    assert held.used == 0
    server.stop()


def test_steps_that_others_ask_about() -> None:
    server = Server.create_local_server(limits=Limits(calls=20))
    steps: WorkerSteps = server.worker.steps
    for number in range(20):
        steps.open(number)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="20 of at most 20 open steps"):
        steps.open(20)
    steps.end(3)
    steps.open(20)
    with pytest.raises(tf.errors.AbortedError):
        server.worker.run_graph(GraphCall("", "no such graph", 21), here=True).wait()
    server.stop()


@pytest.mark.parametrize("frames", [True, False], ids=["frames", "gRPC"])
def test_calls_at_once(serve: Serve, frames: bool) -> None:
    with flags.FRAMES.override(frames):
        server = serve(calls=12)
        waits = tf.FIFOQueue(2, tf.int32).dequeue()
        ended: list[BaseException] = []

        def wait(sess: tf.Session) -> None:
            try:
                sess.run(waits)
            except tf.errors.OpError as error:
                ended.append(error)

        with tf.Session(server.target) as sess:
            sess.run(tf.constant(1))
            threads = [threading.Thread(target=wait, args=(sess,)) for _ in range(16)]
            for each in threads:
                each.start()
            limit = time.monotonic() + 20
            while not ended and time.monotonic() < limit:
                time.sleep(0.01)
            assert isinstance(ended[0], tf.errors.ResourceExhaustedError)
            assert "WEFT_MAX_CALLS" in ended[0].message
            server.master._close_all(tf.errors.CancelledError(None, None, "enough"))
            for each in threads:
                each.join(10)
        with tf.Session(server.target) as sess:
            assert sess.run(tf.constant(2)) == 2


def test_connections_at_once(serve: Serve) -> None:
    server = serve(calls=8)
    assert server._frames is not None
    strangers = [socket.create_connection(("localhost", server._frames.port)) for _ in range(12)]
    for each in strangers[8:]:
        each.settimeout(5)
        assert each.recv(1) == b""
    for each in strangers:
        each.close()
    limit = time.monotonic() + 10
    while server._meters.calls.used and time.monotonic() < limit:
        time.sleep(0.01)
    with tf.Session(server.target) as sess:
        assert sess.run(tf.constant(3)) == 3


@pytest.mark.parametrize("said", [b"", GREETING[:5], GREETING + b"\x05\x00ab"])
def test_who_connects_and_says_nothing_is_not_waited_for(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr("weft.cluster.transport.frames._GREETING_SECONDS", 0.2)
    server = serve()
    assert server._frames is not None
    with socket.create_connection(("localhost", server._frames.port), 5) as stranger:
        stranger.sendall(said)
        assert stranger.recv(1) == b""


def test_a_frame_that_stops_in_the_middle_is_not_waited_for(serve: Serve) -> None:
    with flags.STALL.override(1), flags.SHARED_MEMORY.override(False):
        server = serve()
        assert server._frames is not None
        with socket.create_connection(("localhost", server._frames.port), 10) as slow:
            slow.sendall(GREETING + b"\x00\x00" + b"\x00\x00")
            assert slow.recv(1) == b""
        with socket.create_connection(("localhost", server._frames.port), 10) as idle:
            idle.sendall(GREETING + b"\x00\x00")  # who has nothing to say may stay
            idle.settimeout(1.5)
            with pytest.raises(TimeoutError):
                idle.recv(1)


def test_a_request_over_grpc_that_never_comes(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    import grpc

    monkeypatch.setattr("weft.cluster.transport.grpc_service._MESSAGE_STALLS", 1)
    with flags.STALL.override(1):
        server = serve()
        never = threading.Event()

        def nothing() -> Iterator[bytes]:
            never.wait(10)
            yield from ()

        with grpc.insecure_channel(server.target.removeprefix("grpc://")) as channel:
            call = channel.stream_unary("/tensorflow.MasterService/ListDevices")
            answer = call.future(nothing(), timeout=10)
            assert isinstance(answer.exception(8), grpc.RpcError)
            assert answer.code() is grpc.StatusCode.CANCELLED
            never.set()


def test_sessions_that_were_abandoned_lock_nobody_out(serve: Serve) -> None:
    import grpc

    server = serve(sessions=20)
    graph_def = tf.Graph().as_graph_def().SerializeToString()
    request = message("CreateSessionRequest")(graph_def=graph_def)
    for _ in range(3):  # as TensorFlow's clients, which say nothing when they go
        with grpc.insecure_channel(server.target.removeprefix("grpc://")) as channel:
            create = channel.unary_unary("/tensorflow.MasterService/CreateSession")
            for _ in range(30):
                create(request.SerializeToString(), timeout=20)
    with tf.Session(server.target) as sess:
        assert sess.run(tf.constant(3)) == 3


def test_complaints_do_not_fill_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    complaints = Complaints()
    for _ in range(100):
        complaints.say("a kind", "nonsense")
    complaints.say("another", "rubbish")
    assert capfd.readouterr().err == "weft: refused: nonsense\nweft: refused: rubbish\n"
    complaints._said["a kind"] -= 1000
    complaints.say("a kind", "nonsense")
    assert capfd.readouterr().err == "weft: refused: nonsense (and 99 more like it)\n"


def test_meters_without_limits_are_those_of_the_switches() -> None:
    with flags.MAX_CALLS.override(77):
        assert Meters().calls.most == 77
