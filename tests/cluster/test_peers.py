"""What a peer may do: how much it may ask for, and of whom."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import numpy as np
import pytest
from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.tensor_pb2 import TensorProto

import weft as tf
from weft.cli.main import main
from weft.cluster.guard.clients import Clients, address_of
from weft.cluster.guard.graphs import size_of
from weft.cluster.guard.limits import COMPLAINTS, Budget, Limits
from weft.cluster.guard.security import NOBODY, Credentials, Identity, is_of_this_machine
from weft.cluster.server import Server
from weft.cluster.transport import inprocess, wire
from weft.cluster.transport.frames import _HEAD, REQUEST, Channel, Closed
from weft.cluster.transport.methods import SERVICE
from weft.core import flags
from weft.ops.functions.py_tokens import own_token, sign_foreign, sign_own
from weft.protos.cluster import message

pytestmark = pytest.mark.timeout(120)
MB = 1 << 20
Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server of one task with limits; all goes over sockets."""
    servers: list[Server] = []

    def start(**limits: int) -> Server:
        COMPLAINTS._said.clear()
        server = Server.create_local_server(limits=Limits(**limits))
        servers.append(server)
        inprocess.unregister(server.target, server.master)
        return server

    yield start
    for each in servers:
        each.stop()


def open_session(channel: Any, graph: GraphDef | None = None) -> Any:
    """The answer to a CreateSession of a client that says no more."""
    request = message("CreateSessionRequest")(
        graph_def=(graph or GraphDef()).SerializeToString(),
        config=ConfigProto().SerializeToString(),
    )
    call = channel.unary_unary(SERVICE.format("Master", "CreateSession"))
    return message("CreateSessionResponse").FromString(
        call(request.SerializeToString(), timeout=30)
    )


def channel_to(server: Server) -> Any:
    return grpc.insecure_channel(server.target.removeprefix("grpc://"))


# ---- where a server listens ----


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("localhost:1", True), ("127.0.0.1:1", True), (":1", True), ("[::1]:1", True),
        ("127.8.9.1:1", True), ("0.0.0.0:1", False), ("[::]:1", False), ("10.1.2.3:1", False),
        ("no.such.host.invalid:1", False),
    ],
)  # fmt: skip
def test_who_could_come(address: str, local: bool, tmp_path: Any) -> None:
    assert is_of_this_machine(address) == local
    if local:
        NOBODY.check_open_to(address, anyone=False)
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"--token-file.*--insecure"):
            NOBODY.check_open_to(address, anyone=False)
    NOBODY.check_open_to(address, anyone=True)
    (tmp_path / "token").write_text("secret")
    (tmp_path / "token").chmod(0o600)
    known = Identity(Credentials(token_file=str(tmp_path / "token")))
    known.check_open_to(address, anyone=False)
    assert known.reach(address).endswith("with a token")
    assert NOBODY.reach(address).endswith("there is no token")
    assert ("this machine only" in NOBODY.reach(address)) == local


def test_the_command_refuses_other_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["server", "--cluster", "a=0.0.0.0:0"]) == 2
    assert "say --insecure" in capsys.readouterr().err
    assert main(["server", "--cluster", "a=localhost:0", "--file-root", "/no/such/folder"]) == 2
    assert "is not a folder" in capsys.readouterr().err


# ---- sessions ----


def test_abandoned_sessions_lock_nobody_out(serve: Serve, capfd: Any) -> None:
    server = serve(sessions=20)
    with channel_to(server) as channel, channel_to(server):
        handles = [open_session(channel).session_handle for _ in range(30)]
        for number in range(3):
            with tf.Graph().as_default(), tf.Session(server.target) as session:
                assert session.run(tf.constant(number)) == number
        assert handles[0] not in server.master._sessions
        assert len(server.master._sessions) <= 20
    assert "to make room for another" in capfd.readouterr().err


def test_sessions_that_have_a_client_stay(serve: Serve) -> None:
    server = serve(sessions=3)
    c = tf.constant(1)
    with tf.Session(server.target) as mine:
        assert mine.run(c) == 1
        with channel_to(server) as channel:
            for _ in range(6):
                open_session(channel)
        assert mine.run(c) == 1


def test_abandoned_sessions_of_masters_lock_nobody_out(serve: Serve) -> None:
    server = serve(sessions=5)
    with tf.Graph().as_default(), tf.Session(server.target) as mine, channel_to(server) as channel:
        assert mine.run(tf.constant(1)) == 1
        create = channel.unary_unary(SERVICE.format("Worker", "CreateWorkerSession"))
        for i in range(20):
            request = message("CreateWorkerSessionRequest")(session_handle=f"s{i}")
            create(request.SerializeToString(), timeout=30)
        assert mine.run(tf.constant(2)) == 2
        assert "s0" not in server.worker._sessions and "s19" in server.worker._sessions
        assert len(server.worker._sessions) <= 6  # and the one that all share


ONE, TWO, AWAY = "ipv4:10.0.0.1:1", "ipv4:10.0.0.2:2", "ipv4:10.0.0.3:3"


@pytest.mark.parametrize(
    ("sessions", "spare"),
    [
        ([], None),
        ([("a", ONE)], None),
        ([("a", ONE), ("b", TWO)], None),
        ([("a", ONE), ("b", TWO), ("c", TWO)], "b"),
        ([("a", TWO), ("b", ONE), ("c", TWO)], "a"),
        ([("a", ONE), ("b", ONE), ("c", AWAY)], "c"),
        ([("busy", ONE), ("b", ONE), ("c", ONE)], "b"),
        ([("a", ""), ("b", ONE)], None),
    ],
)
def test_which_session_is_spared(sessions: list[tuple[str, str]], spare: str | None) -> None:
    there = {address_of(ONE), address_of(TWO)}
    clients = Clients(lambda: there)  # type: ignore[arg-type, return-value]
    for i, (name, peer) in enumerate(sessions):
        clients.called(name, peer, float(i), is_new=True)
    assert clients.spare(lambda name: name != "busy") == spare


# ---- messages ----


def unfinished(budget: Budget, size: int, sent: int) -> tuple[Any, Any]:
    """A channel that has received a part of a message, and its other end."""
    here, there = socket.socketpair()
    channel = Channel(there, 100 * MB, arriving=budget)
    head = _HEAD.pack(REQUEST, 1, 7, size) + b"m"
    threading.Thread(target=lambda: here.sendall(head + bytes(sent)), daemon=True).start()
    return channel, here


def test_unfinished_messages_count_together() -> None:
    budget = Budget(10 * MB, "bytes of messages", flags.MAX_ARRIVING)
    budget.take(4 * MB)  # of others
    channel, other = unfinished(budget, 8 * MB, 8 * MB)
    frame = channel.receive()
    assert isinstance(frame.refused, tf.errors.ResourceExhaustedError)
    assert "WEFT_MAX_ARRIVING" in frame.refused.message and len(frame.data) == 0
    other.sendall(_HEAD.pack(REQUEST, 1, 8, 2) + b"nxy")
    assert channel.receive().data == b"xy"  # the channel goes on
    budget.give_back(4 * MB)
    other.close()
    channel.release()
    channel, other = unfinished(budget, 8 * MB, 8 * MB)
    frame = channel.receive()
    assert frame.refused is None and len(frame.data) == 8 * MB and budget.used == 0
    other.close()
    channel.release()


def test_what_was_not_sent_does_not_count() -> None:
    budget = Budget(10 * MB, "bytes of messages", flags.MAX_ARRIVING)
    channel, other = unfinished(budget, 100 * MB, MB)
    receiver = threading.Thread(target=lambda: _until_closed(channel), daemon=True)
    receiver.start()
    second, its_other = unfinished(budget, 5 * MB, 5 * MB)
    assert second.receive().refused is None
    assert budget.used <= 4 * MB
    other.close()
    receiver.join(20)
    assert budget.used == 0
    its_other.close()
    second.release()
    channel.release()


def _until_closed(channel: Channel) -> None:
    with pytest.raises(Closed):
        channel.receive()


def test_a_message_may_not_trickle(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(10 * MB, "bytes of messages", flags.MAX_ARRIVING)
    monkeypatch.setattr("weft.cluster.transport.frames._SLOWEST", 1 << 60)
    with flags.STALL.override(1):
        channel, other = unfinished(budget, 8 * MB, 100)
    with flags.STALL.override(0), pytest.raises(Closed, match="too long in coming"):
        channel.receive()
    assert budget.used == 0
    other.close()
    channel.release()


# ---- graphs and tensors ----


def claiming(*sizes: int) -> TensorProto:
    tensor = TensorProto(dtype=1)
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
    return tensor


def constant(tensor: TensorProto) -> GraphDef:
    graph = GraphDef()
    node = graph.node.add(name="c", op="Const")
    node.attr["dtype"].type = 1
    node.attr["value"].tensor.CopyFrom(tensor)
    return graph


def test_graphs_are_as_large_as_they_say(serve: Serve) -> None:
    plain = constant(claiming(10))
    assert size_of(plain) == plain.ByteSize()
    assert size_of(constant(claiming(1000, 1000))) == pytest.approx(4_000_000, abs=100)
    inside = GraphDef()
    inside.library.function.add().node_def.extend(constant(claiming(10**6)).node)
    assert size_of(inside) == pytest.approx(4_000_000, abs=100)
    written = tf.make_tensor_proto(np.ones(10**5, np.float32))
    assert size_of(constant(written)) == constant(written).ByteSize()
    server = serve(graphs=1_000_000)
    with channel_to(server) as channel:
        with pytest.raises(grpc.RpcError, match="bytes of graphs"):
            open_session(channel, constant(claiming(2 * 10**9)))
        open_session(channel, constant(claiming(10)))


def test_the_nodes_of_a_graph() -> None:
    graph = GraphDef()
    for i in range(11):
        graph.node.add(name=f"n{i}", op="NoOp")
    with flags.MAX_NODES.override(10):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="A graph of 11 nodes"):
            size_of(graph)


def test_tensors_on_the_wire_are_as_large_as_they_say() -> None:
    for values in [], [1.0], [1.0, 2.0]:
        tensor = claiming(10**5, 10**4)
        tensor.float_val.extend(values)
        with pytest.raises(tf.errors.ResourceExhaustedError, match="WEFT_MAX_EXPANDED"):
            wire.read_tensor(memoryview(tensor.SerializeToString()))
    tensor = claiming(2, 3)
    assert wire.read_tensor(memoryview(tensor.SerializeToString())).tolist() == [[0.0] * 3] * 2


# ---- Python functions ----


def test_functions_of_ones_own_process_are_called(serve: Serve) -> None:
    server = serve()
    ours = tf.py_func(lambda x: x * 2, [tf.constant(4.0)], tf.float32)
    with tf.Session(server.target) as session:
        assert session.run(ours) == 8.0
        more = tf.py_func(lambda x: x + 1, [ours], tf.float32)
        assert session.run(more) == 9.0
    assert b"@" not in ours.op.get_attr("token")


@pytest.mark.parametrize("inside", [False, True])
def test_functions_of_another_process_are_refused(serve: Serve, inside: bool) -> None:
    """A token that happens to be one of ours as well."""
    called: list[Any] = []
    ours = tf.py_func(lambda: called.append(1), [], [])
    token = ours.get_attr("token")
    graph = GraphDef()
    node = graph.node.add(name="p", op="PyFunc")
    node.attr["token"].s = token
    node.attr["Tin"].list.SetInParent()
    node.attr["Tout"].list.SetInParent()
    if inside:
        function = graph.library.function.add()
        function.signature.name = "f"
        function.signature.is_stateful = True
        function.node_def.add().CopyFrom(node)
        node.Clear()
        node.name, node.op = "p", "f"
    server = serve()
    with channel_to(server) as channel:
        handle = open_session(channel, graph).session_handle
        request = message("RunStepRequest")(session_handle=handle, target=["p"])
        run = channel.unary_unary(SERVICE.format("Master", "RunStep"))
        with pytest.raises(grpc.RpcError, match="function of another process"):
            run(request.SerializeToString(), timeout=30)
    assert not called


def test_tokens_say_whose_they_are() -> None:
    graph = GraphDef()
    node = graph.node.add(op="PyFunc")
    node.attr["token"].s = b"pyfunc_1"
    sign_own(graph)
    signed = node.attr["token"].s.decode()
    sign_foreign(graph)
    assert node.attr["token"].s.decode() == signed
    assert own_token(signed) == own_token("pyfunc_1") == "pyfunc_1"
    assert own_token("pyfunc_1@0123") is own_token("pyfunc_1@") is None
