"""Debug servers: tensors, graphs and lines of Python that watched runs send over gRPC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib import debug
from weft.lib.debug.server import EventListenerBaseServicer, EventListenerBaseStreamHandler

RECEIVED: dict[str, Any] = {}


class Handler(EventListenerBaseStreamHandler):
    """Keeps what one run sends."""

    def on_core_metadata_event(self, event: Any) -> Any:
        RECEIVED["metadata"] = event.log_message.message

    def on_graph_def(self, graph_def: Any, device_name: Any, wall_time: int) -> Any:
        RECEIVED["graph"] = {node.name for node in graph_def.node}

    def on_value_event(self, event: Any) -> Any:
        value = debug.load_tensor_from_event(event)
        RECEIVED["values"][event.summary.value[0].node_name] = value


class Server(EventListenerBaseServicer):
    """Keeps stacks and files, too."""

    def SendTracebacks(self, request: Any, context: Any) -> Any:
        RECEIVED["traceback"] = request
        return super().SendTracebacks(request, context)

    def SendSourceFiles(self, request: Any, context: Any) -> Any:
        RECEIVED["files"] += [each.file_path for each in request.source_files]
        return super().SendSourceFiles(request, context)


@pytest.fixture
def server() -> Iterator[Server]:
    RECEIVED.clear()
    RECEIVED.update(values={}, files=[])
    made = Server(0, Handler)
    made.run_server(blocking=False)
    yield made
    made.stop_server(grace=0).wait()


def model() -> tuple[tf.Tensor, tf.Tensor]:
    x = tf.placeholder(tf.float32, [2], name="x")
    return x, tf.multiply(x, 3.0, name="y")


def test_all_tensors_are_sent(server: Server) -> None:
    x, y = model()
    with tf.Session() as session:
        wrapped = debug.GrpcDebugWrapperSession(session, f"localhost:{server.port}")
        assert wrapped.run(y, {x: [1.0, 2.0]}).tolist() == [3.0, 6.0]
    np.testing.assert_array_equal(RECEIVED["values"]["y:0:DebugIdentity"], [3.0, 6.0])
    assert {"y", "_arg_x_0_0"} <= RECEIVED["graph"] and '"y:0"' in RECEIVED["metadata"]


def test_a_server_asks_for_the_tensors_it_wants(server: Server) -> None:
    x, y = model()
    with tf.Session() as session:
        wrapped = debug.TensorBoardDebugWrapperSession(session, f"grpc://localhost:{server.port}")
        wrapped.run(y, {x: [1.0, 2.0]})
        assert RECEIVED["values"] == {}
        assert ("y", 0, "DebugIdentity") in server.gated_grpc_debug_watches()
        server.request_watch("y", 0, "DebugIdentity")
        wrapped.run(y, {x: [1.0, 2.0]})  # its answer opens the gate
        wrapped.run(y, {x: [2.0, 3.0]})
        assert list(RECEIVED["values"]) == ["y:0:DebugIdentity"]
        server.request_unwatch("y", 0, "DebugIdentity")
        wrapped.run(y, {x: [1.0, 2.0]})
        RECEIVED["values"].clear()
        wrapped.run(y, {x: [1.0, 2.0]})
        assert RECEIVED["values"] == {}
    assert __file__ in RECEIVED["files"] and "y:0" in RECEIVED["traceback"].call_key


def test_hooks_send_as_well(server: Server) -> None:
    y = tf.add(tf.constant(1.0), 2.0, name="y")
    hook = debug.GrpcDebugHook([f"localhost:{server.port}"])
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(y) == 3.0
    assert RECEIVED["values"]["y:0:DebugIdentity"] == 3.0


def test_servers_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.runtime.debug.publish._SECONDS", 0.2)
    x, y = model()
    with tf.Session() as session:
        wrapped = debug.GrpcDebugWrapperSession(session, "localhost:1")
        error = wrapped.run(y, {x: [1.0, 2.0]})
        assert "Cannot publish to the debug server at localhost:1" in str(error)
        with pytest.raises(TypeError, match="Expected type str or list"):
            debug.GrpcDebugWrapperSession(session, 7)
