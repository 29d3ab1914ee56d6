"""Servers that `serving.py` compares with; each says its ports and serves until it is ended.

`echo`: bare grpcio and uvicorn servers that send back what they get. `tensorflow FOLDER`:
`session.run` of TensorFlow on the SavedModels there, behind the same bare grpcio server.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

FOUND_AT = Path(__file__)
_THREADS = 80


def grpc_server(answer: Callable[[bytes], bytes]) -> int:
    """A server whose every method is `answer`; its port."""
    import grpc

    class Any_(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(lambda data, context: answer(data))

    server = grpc.server(ThreadPoolExecutor(_THREADS))
    server.add_generic_rpc_handlers((Any_(),))
    port: int = server.add_insecure_port("localhost:0")
    server.start()
    globals()["_kept"] = server
    return port


def echo() -> None:
    import uvicorn

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)

    def say_ports() -> None:
        while not server.started:
            time.sleep(0.01)
        print(f"grpc:{grpc_server(lambda data: data)}", flush=True)
        print(f"http:{server.servers[0].sockets[0].getsockname()[1]}", flush=True)

    threading.Thread(target=say_ports, daemon=True).start()
    server.run()


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of the fields of a message that are bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag, value = varint(), varint()
        if tag & 7 == 2:
            yield tag >> 3, data[at : at + value]
            at += value


def _one(data: bytes, *numbers: int) -> bytes:
    for number in numbers:
        data = next(content for each, content in _fields(data) if each == number)
    return data


def tensorflow(folder: Path) -> None:
    import tensorflow.compat.v1 as tf
    from tensorflow.core.framework.tensor_pb2 import TensorProto

    tf.disable_v2_behavior()
    calls = {}
    for path in folder.iterdir():
        if path.is_dir():
            session = tf.Session(graph=tf.Graph())
            meta = tf.saved_model.loader.load(session, ["serve"], str(path / "1"))
            signature = meta.signature_def["serving_default"]
            x, y = signature.inputs["x"].name, signature.outputs["y"].name
            with session.graph.as_default():
                x, y = (session.graph.get_tensor_by_name(name) for name in (x, y))
                calls[path.name.encode()] = session.make_callable(y, [x])

    def answer(data: bytes) -> bytes:
        value = tf.make_ndarray(TensorProto.FromString(_one(data, 2, 2)))
        return tf.make_tensor_proto(calls[_one(data, 1, 1)](value)).SerializeToString()

    print(f"grpc:{grpc_server(answer)}\nhttp:0", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    if sys.argv[1] == "echo":
        echo()
    else:
        tensorflow(Path(sys.argv[2]))
