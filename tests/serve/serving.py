"""What tests of the model server share: clients, models, versions that come and break."""

from __future__ import annotations

import http.client
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import numpy as np

from tests.serve.extra import LIBRARIES as LIBRARIES
from weft.graph.tensor_proto import array_to_proto, proto_to_array
from weft.protos.serving import message
from weft.serve.config import ModelConfig
from weft.serve.server import ModelServer, Options

DATA = Path(__file__).parent / "data"
PREDICTION = "/tensorflow.serving.PredictionService/"


class Client:
    """Asks a server, by gRPC and by REST."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.channel = grpc.insecure_channel(f"localhost:{server.grpc_port}")

    def call(self, path: str, request: Any, seconds: float | None = 60.0, **options: Any) -> bytes:
        """The bytes of a response; `request` is a message, or bytes."""
        data = request if isinstance(request, bytes) else request.SerializeToString()
        return self.channel.unary_unary(path)(data, timeout=seconds, **options)

    def predict(
        self, name: str, seconds: float | None = 60.0, **inputs: Any
    ) -> dict[str, np.ndarray]:
        request = predict_request(name, **inputs)
        found = message("PredictResponse").FromString(
            self.call(f"{PREDICTION}Predict", request, seconds)
        )
        return {alias: read_tensor(data) for alias, data in found.outputs.items()}

    def status(self, name: str) -> dict[int, str]:
        _, text = self.get(f"/v1/models/{name}")
        return {
            int(each["version"]): each["state"]
            for each in json.loads(text).get("model_version_status", ())
        }

    def rest(
        self, method: str, path: str, body: str | bytes | None = None, **headers: str
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.rest_port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "surrogateescape")
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        return self.rest("GET", path, **headers)

    def post(self, path: str, body: Any) -> tuple[int, str]:
        return self.rest("POST", path, body if isinstance(body, (str, bytes)) else json.dumps(body))

    def close(self) -> None:
        self.channel.close()


def read_tensor(data: bytes) -> np.ndarray:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    return proto_to_array(TensorProto.FromString(data))


def predict_request(name: str, **inputs: Any) -> Any:
    request = message("PredictRequest")()
    request.model_spec.name = name
    for alias, value in inputs.items():
        request.inputs[alias] = array_to_proto(np.asarray(value)).SerializeToString()
    return request


Start = Callable[..., Client]


def started(**options: Any) -> ModelServer:
    """A server at ports that are free, which looks for versions when it is told to."""
    given = Options(grpc_port=0, rest_port=0, poll_seconds=0.0)
    server = ModelServer(replace(given, **options))
    server.start()
    return server


def models(*names: str, **fields: Any) -> tuple[ModelConfig, ...]:
    """Models of the data, by name."""
    return tuple(ModelConfig(name, str(DATA / name), **fields) for name in names)


def add_version(folder: Path, version: int, bias: float = 2.0, width: int = 0) -> None:
    """A version of half_plus_two whose b is another, put in place at once.

    `width`: of a layer that adds nothing, but is worth compiling.
    """
    import weft as tf

    made = folder / f".{version}"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        a = tf.get_variable("a", initializer=0.5)
        b = tf.get_variable("b", initializer=bias)
        y = tf.add(a * x, b, name="y")
        if width:
            wide = tf.tile(x[:, None], [1, width])
            y += tf.reduce_sum(tf.matmul(wide, tf.get_variable("w", [width, width],
                                         initializer=tf.zeros_initializer())), 1)  # fmt: skip
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(made), {"x": x}, {"y": y})
    made.rename(folder / str(version))


def add_broken(folder: Path, version: int) -> None:
    """A version whose variables are cut short."""
    shutil.copytree(DATA / "half_plus_two" / "1", folder / str(version))
    for file in (folder / str(version) / "variables").iterdir():
        file.write_bytes(file.read_bytes()[:5])
