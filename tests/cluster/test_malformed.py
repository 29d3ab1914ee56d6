"""Nonsense, sent to a server: it is refused with the right status, and the server goes on.

The long form (`-m slow`) sends more of the same.
"""

from __future__ import annotations

import os
import random
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

import weft as tf
from weft.cluster.guard.limits import COMPLAINTS, Limits
from weft.cluster.server import Server
from weft.cluster.steps.master_methods import MasterMethods
from weft.cluster.steps.worker_methods import WorkerMethods
from weft.cluster.transport import inprocess, shared_memory, wire
from weft.cluster.transport.frames import GREETING
from weft.cluster.transport.methods import HOLD, HOLD_WORKER, SERVICE
from weft.graph.tensor_proto import proto_to_array
from weft.protos.cluster import message

pytestmark = pytest.mark.timeout(120)
PATHS = [SERVICE.format("Master", name) for name in MasterMethods.NAMES.split()]
PATHS += [SERVICE.format("Worker", name) for name in WorkerMethods.NAMES.split()]
# Whatever is wrong with a request, these are what to say about it.
REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.ABORTED, grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS, grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.UNIMPLEMENTED,
}  # fmt: skip
# Of these, a request that makes sense may wait for a tensor or a peer.
WAITING = {*REFUSALS, grpc.StatusCode.OK, grpc.StatusCode.DEADLINE_EXCEEDED}


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server.create_local_server(limits=Limits(message=50_000_000))
    inprocess.unregister(made.target, made.master)
    yield made
    made.stop()


@pytest.fixture
def channel(server: Server) -> Iterator[grpc.Channel]:
    COMPLAINTS._said.clear()
    with grpc.insecure_channel(server.target.removeprefix("grpc://")) as made:
        yield made


def call(channel: grpc.Channel, path: str, data: bytes, seconds: float = 5.0) -> Any:
    """(status, details) of a call."""
    answer = channel.unary_unary(path).with_call
    try:
        answer(data, timeout=seconds)
    except grpc.RpcError as error:
        return error.code(), error.details()
    return grpc.StatusCode.OK, ""


def still_serves(server: Server) -> None:
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        x = tf.placeholder(tf.float32, [None])
        assert sess.run(tf.reduce_sum(x), {x: np.ones(100_000, np.float32)}) == 100_000


def request(name: str, **fields: Any) -> bytes:
    data: bytes = message(f"{name}Request")(**fields).SerializeToString()
    return data


# ---- one by one -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_bytes_that_are_no_request(server: Server, channel: grpc.Channel, path: str) -> None:
    if path.endswith(("Logging", "Tracing", "MarkRecvFinished", "GetStatus")):
        assert call(channel, path, b"\xff" * 30)[0] is grpc.StatusCode.OK  # it is not looked at
        return
    for data in (b"\xff" * 30, b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x05ab", b"\x80" * 1000):
        status, details = call(channel, path, data)
        assert status is grpc.StatusCode.INVALID_ARGUMENT, (data, details)
        assert "could not be parsed" in details or "Cannot read a parcel" in details


@pytest.mark.parametrize(
    "service, name, fields, status, says",
    [
        ("Master", "RunStep", {"session_handle": "?"}, "ABORTED", "is not found"),
        ("Master", "RunStep", {}, "ABORTED", "is not found"),
        ("Master", "CloseSession", {"session_handle": "?"}, "ABORTED", "is not found"),
        ("Master", "ExtendSession", {"session_handle": "?"}, "ABORTED", "is not found"),
        ("Master", "PartialRunSetup", {"session_handle": "?"}, "ABORTED", "is not found"),
        ("Master", "RunCallable", {"session_handle": "?", "handle": 7}, "ABORTED", "not found"),
        ("Master", "CreateSession", {"graph_def": b"\xff"}, "INVALID_ARGUMENT", "parse"),
        ("Master", "CreateSession", {"config": b"\x0a\x09"}, "INVALID_ARGUMENT", "parse"),
        ("Worker", "CreateWorkerSession", {}, "ALREADY_EXISTS", "has a session '' already"),
        ("Worker", "RegisterGraph", {"graph_def": b"\xff"}, "INVALID_ARGUMENT", "parse"),
        (
            "Worker", "RegisterGraph",
            {"session_handle": "?", "create_worker_session_called": True},
            "ABORTED", "Session handle is not found",
        ),
        ("Worker", "RunGraph", {"graph_handle": "?"}, "ABORTED", "Session handle is not found"),
        ("Worker", "DeregisterGraph", {"graph_handle": "?"}, "ABORTED", "is not found"),
        ("Worker", "RecvTensor", {"rendezvous_key": "nonsense"}, "INVALID_ARGUMENT", "nonsense"),
        ("Worker", "RecvTensor", {"rendezvous_key": "a;zz;b;c;0:0"}, "INVALID_ARGUMENT", "zz"),
        (
            "Worker", "RecvTensor",
            {
                "step_id": 1 << 62,
                "rendezvous_key": "/job:local/replica:0/task:0/device:CPU:0;0f;x;y;0:0",
            },
            "ABORTED", "incarnation",
        ),
    ],
)  # fmt: skip
def test_handles_and_keys_that_are_none(
    channel: grpc.Channel, service: str, name: str, fields: dict[str, Any], status: str, says: str
) -> None:
    got, details = call(channel, SERVICE.format(service, name), request(name, **fields))
    assert (got.name, says in details) == (status, True), details


def test_methods_that_are_none(channel: grpc.Channel) -> None:
    for path in ("/tensorflow.MasterService/Nothing", "/nothing/at.all", "/weft.Presence/Hold2"):
        assert call(channel, path, b"x")[0] is grpc.StatusCode.UNIMPLEMENTED


def test_sessions_held_that_are_none(server: Server, channel: grpc.Channel) -> None:
    for path in (HOLD, HOLD_WORKER):
        for data in (b"", b"no such session", b"\xff\xfe"):
            held = channel.unary_stream(path)(data)
            held.cancel()
    still_serves(server)


def tensor(kind: int, shape: list[int], **fields: Any) -> bytes:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    made = TensorProto(dtype=kind, **fields)
    for size in shape:
        made.tensor_shape.dim.add().size = size
    data: bytes = made.SerializeToString()
    return data


ABSURD = {
    "more than the memory": (tensor(1, [1 << 40], float_val=[1.0]), "memory"),
    "far more": (tensor(1, [1 << 62, 1 << 62], float_val=[1.0]), "memory"),
    "nothing of it": (tensor(3, [1 << 50]), "memory"),
    "negative": (tensor(1, [-5], float_val=[1.0]), "negative"),
    "negative content": (tensor(1, [-5], tensor_content=b"1234"), "Cannot parse"),
    "short content": (tensor(1, [4], tensor_content=b"123456"), "Cannot parse"),
    "other size": (tensor(1, [1 << 40], tensor_content=b"12345678"), "Cannot parse"),
    "no type": (tensor(0, [1]), ""),
    "unknown type": (tensor(1, [1]).replace(b"\x08\x01", b"\x08\x63", 1), ""),
    "strings": (tensor(7, [1 << 40], tensor_content=b"\x01a"), "There are not"),
    "more strings": (tensor(7, [1 << 40], string_val=[b"a"]), "memory"),
    "too many": (tensor(1, [1], float_val=[1.0, 2.0, 3.0]), "Too many elements"),
    "a shape that is a number": (b"\x08\x01\x10\x05\x22\x041234", "Cannot parse"),
    "content that is a number": (b"\x08\x01\x20\x90\x80\x80\x80\x80\x80\x01", "Cannot parse"),
    "an endless number": (b"\x08" + b"\xff" * 5000, "parse"),
}


@pytest.mark.parametrize("what", ABSURD)
def test_tensors_that_are_none(server: Server, channel: grpc.Channel, what: str) -> None:
    """As feeds of a step, in an answer of RecvTensor, and in a graph."""
    data, says = ABSURD[what]
    feed = wire.head(1, 3) + b"x:0" + wire.head(2, len(data)) + data
    step = request("RunStep", session_handle="?") + wire.head(2, len(feed)) + feed
    status, details = call(channel, SERVICE.format("Master", "RunStep"), step)
    assert status in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED)
    assert says in details
    answer = wire.head(1, len(data)) + data
    with pytest.raises((tf.errors.OpError, ValueError, TypeError)):
        wire.read_received(answer)


def test_a_name_that_is_a_number(channel: grpc.Channel) -> None:
    feed = b"\x08" + wire.varint(1 << 60)  # field 1, which should be bytes
    step = wire.head(2, len(feed)) + feed
    status, _ = call(channel, SERVICE.format("Master", "RunStep"), step)
    assert status is grpc.StatusCode.INVALID_ARGUMENT


def test_a_constant_larger_than_the_machine() -> None:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"more than the .* bytes of memory"):
        proto_to_array(TensorProto.FromString(ABSURD["more than the memory"][0]))


def test_a_refusal_is_logged_once(channel: grpc.Channel, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(5):
        call(channel, SERVICE.format("Master", "RunStep"), b"\xff" * 30)
    log = capfd.readouterr().err
    assert log.count("refused: ") == 1 and "MasterService/RunStep" in log


@pytest.mark.skipif(not shared_memory.IS_POSSIBLE, reason="there is no shared memory")
def test_shared_memory_that_could_harm_its_readers(tmp_path: Path) -> None:
    """Memory that can shrink kills whoever reads it; files are none of ours."""
    loose = os.memfd_create("loose", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(loose, 4096)
    with open(tmp_path / "file", "wb+") as file:
        file.write(bytes(4096))
        file.flush()
        for fd in (loose, file.fileno()):
            with pytest.raises((ValueError, OSError)):
                shared_memory.Views(os.getpid()).open(shared_memory.Place(1, fd, 4096, 10))
    os.close(loose)
    segment = shared_memory.Segment(1, 4096)
    assert os.fstat(segment.fd).st_mode & 0o777 == 0o600
    with pytest.raises(PermissionError):
        os.ftruncate(segment.fd, 0)
    views = shared_memory.Views(os.getpid())
    assert len(views.open(shared_memory.Place(1, segment.fd, 4096, 10))) == 10
    with pytest.raises(ValueError):
        views.open(shared_memory.Place(1, segment.fd, 4096, 5000))
    segment.close()


# ---- at random --------------------------------------------------------------------------------


def seeds(channel: grpc.Channel, server: Server) -> Iterator[tuple[str, bytes]]:
    """Requests that make sense, to be spoiled."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 2], name="x")
        tf.matmul(x, tf.Variable(np.eye(2, dtype=np.float32)), name="y")
        graph_def = graph.as_graph_def().SerializeToString()
        config = tf.ConfigProto(allow_soft_placement=True).SerializeToString()
    created = channel.unary_unary(SERVICE.format("Master", "CreateSession"))(
        request("CreateSession", graph_def=graph_def, config=config)
    )
    handle = message("CreateSessionResponse").FromString(created).session_handle
    device = server.worker.devices[0]
    key = f"{device.name};{device.incarnation:x};{device.name};edge;0:0"
    small = request("RunStep", session_handle=handle, fetch=["y:0"])
    yield (
        SERVICE.format("Master", "CreateSession"),
        request("CreateSession", graph_def=graph_def, config=config),
    )
    yield (
        SERVICE.format("Master", "ExtendSession"),
        request("ExtendSession", session_handle=handle, graph_def=graph_def),
    )
    step = wire.joined(wire.with_named(small, 2, [("x:0", np.ones((2, 2), np.float32))]))
    yield SERVICE.format("Master", "RunStep"), step
    yield (
        SERVICE.format("Worker", "RegisterGraph"),
        request("RegisterGraph", session_handle=handle, graph_def=graph_def),
    )
    yield (
        SERVICE.format("Worker", "RunGraph"),
        request("RunGraph", session_handle=handle, graph_handle="1", step_id=5),
    )
    yield (
        SERVICE.format("Worker", "RecvTensor"),
        request("RecvTensor", step_id=7, rendezvous_key=key),
    )


def spoiled(data: bytes, draw: random.Random) -> bytes:
    """`data`, cut, flipped, doubled, or with something else in it."""
    spoilt = bytearray(data)
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(len(spoilt) + 1)
        how = draw.randrange(5)
        if how == 0 and spoilt:
            spoilt[at % len(spoilt)] ^= 1 << draw.randrange(8)
        elif how == 1:
            spoilt[at:at] = draw.randbytes(draw.randint(1, 9))
        elif how == 2:
            del spoilt[at : at + draw.randint(1, 9)]
        elif how == 3:
            spoilt[at:at] = b"\xff" * draw.randint(1, 10)
        else:
            spoilt[at:] = spoilt[at // 2 :]
    return bytes(spoilt)


def fuzz_grpc(server: Server, channel: grpc.Channel, seed: int, count: int) -> None:
    draw = random.Random(seed)
    known = list(seeds(channel, server))
    for i in range(count):
        path, data = known[i % len(known)]
        if draw.random() < 0.1:
            path = draw.choice([p for p in PATHS if not p.endswith("Reset")])
        data = spoiled(data, draw)
        status, details = call(channel, path, data, 0.5)
        assert status in WAITING, (path, data, status, details)
    still_serves(server)


def fuzz_frames(server: Server, seed: int, count: int) -> None:
    assert server._frames is not None
    draw = random.Random(seed)
    name = SERVICE.format("Worker", "RunGraph").encode()
    frame = struct.pack("<BHQQ", 0, len(name), 1, 4) + name + b"abcd"
    place = struct.pack("<BHQQ", 16, len(name), 1, 32) + name + bytes(range(32))
    start = GREETING + b"\x00\x00"
    for _ in range(count):
        said = draw.choice([start + frame * 3, start + place, start + draw.randbytes(60), start])
        said = spoiled(said, draw) if draw.random() < 0.8 else said
        talk(server._frames.port, said)
    still_serves(server)


def talk(port: int, said: bytes) -> None:
    """Says something, and hangs up."""
    with socket.create_connection(("localhost", port), 5) as stranger:
        try:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(1 << 16):
                pass
        except OSError:
            pass  # it has hung up first


def test_requests_at_random(server: Server, channel: grpc.Channel) -> None:
    fuzz_grpc(server, channel, seed=1, count=60)


def test_frames_at_random(server: Server) -> None:
    fuzz_frames(server, seed=1, count=60)


def test_bytes_at_random_to_the_grpc_port(server: Server) -> None:
    draw = random.Random(1)
    port = int(server.target.rpartition(":")[2])
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    for start in (
        b"",
        preface,
        preface + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        b"GET / HTTP/1.",
    ):
        for _ in range(3):
            talk(port, start + draw.randbytes(draw.randint(0, 200)))
    still_serves(server)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
def test_a_long_day(server: Server, channel: grpc.Channel, seed: int) -> None:
    fuzz_grpc(server, channel, seed, 600)
    fuzz_frames(server, seed, 600)


@pytest.mark.parametrize("seed", range(3))
def test_messages_that_are_read_in_pieces(seed: int) -> None:
    """The readers of `wire` give what was written, or refuse; they do nothing else."""
    draw = random.Random(seed)
    values = [("a:0", np.arange(6.0).reshape(2, 3)), ("b:0", np.array([b"x", b"yz"], object))]
    whole = wire.joined(wire.with_named(b"\x0a\x03abc", 2, values))
    readers: list[Callable[[bytes], Any]] = [
        lambda data: wire.read_named(wire.split(data, 2)[1]),
        wire.read_received,
        lambda data: wire.read_tensor(memoryview(data)),
    ]
    for _ in range(300):
        data = spoiled(whole, draw)
        for read in readers:
            try:
                read(data)
            except (tf.errors.OpError, ValueError, TypeError):
                pass


def test_a_graph_that_makes_no_sense(channel: grpc.Channel) -> None:
    """Attributes of another kind than the operation has, inputs that are not there."""
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    for attr, value in (("value", {"s": b"text"}), ("dtype", {"i": 5}), ("dtype", {"type": 999})):
        graph = GraphDef()
        node = graph.node.add(name="c", op="Const")
        node.attr["dtype"].type = 1
        node.attr["value"].tensor.dtype = 1
        for name, given in value.items():
            setattr(node.attr[attr], name, given)
        graph.node.add(name="y", op="Neg", input=["c:7", "c", "^nobody"])
        data = request("CreateSession", graph_def=graph.SerializeToString())
        status, details = call(channel, SERVICE.format("Master", "CreateSession"), data)
        assert status is grpc.StatusCode.INVALID_ARGUMENT, details
