"""Sessions whose client, or whose master, has gone."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

import weft as tf
from tests.cluster.conftest import ROOT
from weft.cluster.guard.clients import Clients, address_of, connected
from weft.cluster.interfaces import Worker
from weft.cluster.server import Server
from weft.cluster.steps.worker_steps import WorkerSteps
from weft.cluster.transport import outcome
from weft.cluster.transport.inprocess import Peers
from weft.cluster.transport.methods import SERVICE
from weft.core import flags
from weft.core.deferred import Deferred
from weft.protos.cluster import message

pytestmark = pytest.mark.timeout(60)
TENSORFLOW = ROOT / ".venv-tf" / "bin" / "python"
PEER = "ipv4:10.0.0.7:4321"
Servers = Callable[..., dict[str, list[Server]]]


def soon(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


# ---- who is there --------------------------------------------------------------------------------


def test_addresses_as_grpc_and_the_kernel_write_them() -> None:
    assert address_of(PEER) == (bytes([10, 0, 0, 7]), 4321)
    assert address_of("ipv6:%5B::1%5D:80") == (bytes(15) + b"\1", 80)
    assert address_of("ipv6:[::ffff:10.0.0.7]:4321") == address_of(PEER)
    assert address_of("unix:/tmp/socket") is None and address_of("nonsense") is None


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the kernel does not say")
def test_open_connections_are_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with socket.create_connection(listener.getsockname()) as client:
            theirs, _ = listener.accept()
            address = address_of(f"ipv4:127.0.0.1:{client.getsockname()[1]}")
            assert address in (connected() or ())
        theirs.close()
        soon(lambda: address not in (connected() or ()))


def test_a_client_without_a_connection_is_gone_after_a_while() -> None:
    there = {address_of(PEER)}
    clients = Clients(lambda: there)  # type: ignore[arg-type,return-value]
    clients.called("s", PEER, 0.0, is_new=True)
    assert clients.gone(100.0, 60.0, 0.0) == []
    there.clear()
    assert clients.gone(110.0, 60.0, 0.0) == []
    clients.called("s", PEER, 120.0)  # it has another connection
    assert clients.gone(171.0, 60.0, 0.0) == []
    assert clients.gone(230.0, 60.0, 0.0) == []
    assert clients.gone(231.0, 60.0, 0.0) == ["s"]
    assert clients.gone(500.0, 60.0, 0.0) == []


def test_a_connection_that_was_not_used_for_long_may_have_been_dropped() -> None:
    clients = Clients(set)
    clients.called("s", PEER, 0.0, is_new=True)
    assert clients.gone(1800.0, 60.0, 0.0) == [] == clients.gone(9000.0, 60.0, 0.0)
    assert clients.gone(9001.0, 60.0, 9000.0) == ["s"]


def test_a_client_that_says_when_it_goes_is_not_watched() -> None:
    clients = Clients(set)
    clients.called("s", PEER, 0.0, is_new=True)
    clients.forget("s")
    clients.called("s", PEER, 1.0)
    assert clients.gone(1000.0, 0.0, 1.0) == []


def test_where_the_kernel_says_nothing_only_time_does() -> None:
    clients = Clients(lambda: None)
    clients.called("s", PEER, 0.0, is_new=True)
    assert clients.gone(1000.0, 1.0, 0.0) == []
    assert clients.gone(1000.0, 1.0, 900.0) == ["s"]


# ---- sessions that go with their owner -----------------------------------------------------------


def test_a_silent_client_is_collected(remote_server: Server) -> None:
    """One that holds no call open, as TensorFlow's do not."""
    sess = tf.Session(remote_server.target)
    sess.run(tf.constant(1))
    master, handle = remote_server.master, sess._runner._handle
    master.clients.called(handle, "ipv4:192.0.2.1:9", time.monotonic(), is_new=True)
    with flags.ABANDONED.override(0):
        master._collect()
    assert not master._sessions
    soon(lambda: not remote_server.worker._sessions)
    with pytest.raises(tf.errors.AbortedError):
        sess.run(tf.constant(2))
    sess.close()


def test_masters_that_make_no_sessions_hold_them_by_their_graphs(remote_server: Server) -> None:
    """TensorFlow's make some for isolated sessions only."""
    worker = remote_server.worker
    with grpc.insecure_channel(remote_server.target.removeprefix("grpc://")) as channel:

        def ask(name: str, **fields: Any) -> Any:
            request = message(f"{name}Request")(**fields).SerializeToString()
            answer = channel.unary_unary(SERVICE.format("Worker", name))(request, timeout=20)
            return message(f"{name}Response").FromString(answer)

        graphs = [
            (handle, ask("RegisterGraph", session_handle=handle).graph_handle)
            for handle in ("one", "two", "one")
        ]
        wrong = tf.GraphDef()
        wrong.node.add(name="x", op="NoSuchOperation")
        with pytest.raises(grpc.RpcError, match="NoSuchOperation"):
            ask("RegisterGraph", session_handle="three", graph_def=wrong.SerializeToString())
        assert sorted(worker._sessions) == ["one", "two"]
        for left in (["one", "two"], ["one"], []):
            handle, graph = graphs.pop(0)
            ask("DeregisterGraph", session_handle=handle, graph_handle=graph)
            assert sorted(worker._sessions) == left


def test_a_master_that_dies_leaves_no_session_on_workers(servers: Servers) -> None:
    found = servers(a=2)
    with tf.device("/job:a/task:1"):
        v = tf.Variable(1.0)
    sess = tf.Session(found["a"][0].target)
    sess.run(v.initializer)
    worker = found["a"][1].worker
    assert len(worker._sessions) == 1
    found["a"][0]._peers.close()  # its connections break
    soon(lambda: not worker._sessions and not len(worker.steps))
    sess.close()


def test_steps_go_with_their_session() -> None:
    steps = WorkerSteps(Peers("/job:a/replica:0/task:0", {}))
    step, other = steps.open(1), steps.open(2)
    step.session, other.session = "one", "two"
    waiting = step.rendezvous.recv_here("/job:a/replica:0/task:0/device:CPU:0;1;x;edge;0:0")
    steps.end_all("one", tf.errors.CancelledError(None, None, "gone"))
    assert len(steps) == 1
    with pytest.raises(tf.errors.CancelledError, match="gone"):
        waiting.wait()
    steps.close(tf.errors.CancelledError(None, None, "over"))


# ---- workers that do not answer ------------------------------------------------------------------


class Silent(Worker):
    """A worker at the end of a cut cable."""

    def get_status(self, timeout: float | None = None) -> Deferred:
        result = Deferred()
        result.fail(tf.errors.DeadlineExceededError(None, None, "Deadline Exceeded"))
        return result

    def nothing(self, *args: object, **kwargs: object) -> Deferred:
        return Deferred()

    create_worker_session = delete_worker_session = register_graph = deregister_graph = nothing
    run_graph = recv_tensor = cleanup_graph = cleanup_all = nothing

    def close(self) -> None:
        pass


Silent.__abstractmethods__ = frozenset()


def test_a_worker_that_takes_no_graph_is_given_up() -> None:
    worker = Silent()
    with flags.HEALTH.override(1), pytest.raises(tf.errors.UnavailableError, match="not answer"):
        outcome.wait_for_worker(worker.register_graph(), worker, "/job:a/replica:0/task:1")
    with pytest.raises(tf.errors.DeadlineExceededError):
        late = time.monotonic() + 0.05
        outcome.wait_for_worker(worker.register_graph(), worker, "/job:a", late)


def test_a_step_that_waits_for_a_silent_task_ends() -> None:
    home, far = "/job:a/replica:0/task:0", "/job:a/replica:0/task:1"
    peers = Peers(home, {far: "nowhere:1"})
    peers.add(far, Silent())
    with flags.HEALTH.override(1):
        steps = WorkerSteps(peers)
        waiting = steps.open(1).rendezvous.recv(f"{far}/device:CPU:0;1;x;edge;0:0")
        with pytest.raises(tf.errors.UnavailableError, match="task:1"):
            waiting.wait()
        steps.open(2)  # asked about, and forgotten
        soon(lambda: not len(steps))
    steps.close(tf.errors.CancelledError(None, None, "over"))


# ---- clients of TensorFlow's ---------------------------------------------------------------------

CLIENT = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
sess = tf.Session(sys.argv[1])
queue = tf.FIFOQueue(1, tf.int32)
print("up", sess.run(tf.constant(1)), flush=True)
sess.run(queue.dequeue())
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.skipif(not TENSORFLOW.exists(), reason="no .venv-tf: there is no TensorFlow")
def test_a_tensorflow_client_that_dies_leaves_no_session() -> None:
    with flags.HEALTH.override(1), flags.ABANDONED.override(1):
        server = Server.create_local_server()
        try:
            command = [str(TENSORFLOW), "-c", CLIENT, server.target]
            client = subprocess.Popen(command, stdout=subprocess.PIPE)
            assert client.stdout is not None and client.stdout.readline() == b"up 1\n"
            time.sleep(3.0)  # it is alive, and not collected
            assert len(server.master._sessions) == 1
            client.kill()
            client.wait()
            client.stdout.close()
            soon(lambda: not server.master._sessions and not len(server.worker.steps))
            soon(lambda: len(server.worker._sessions) == 1)
        finally:
            server.stop()


@pytest.mark.slow
@pytest.mark.timeout(280)
def test_many_clients_some_of_which_are_killed(tmp_path: Path) -> None:
    """A short form of `many_clients.py`; what 20 seconds tell about memory is nothing."""
    command = [sys.executable, "-m", "tests.cluster.many_clients", "--minutes", "0.35"]
    command += ["--clients", "6", "--seed", "1", "--forget-memory"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
