"""Requests that are wrong in every way: bytes, JSON, messages, shapes, types, sizes.

As a program: sends so many to a server of its own and prints what they were answered.

    python -m tests.serve.malformed 10000
"""

from __future__ import annotations

import collections
import json
import random
import socket
import sys
from typing import Any

import grpc
import numpy as np

from tests.serve.serving import Client, models, predict_request, started
from weft.graph.tensor_proto import array_to_proto
from weft.protos.serving import message
from weft.serve.grpc_front import METHODS

NAMES = "half_plus_two", "strings", "keras"
# What a request that is wrong may be answered with, besides OK where the change did no harm.
STATUSES = {
    *("OK", "INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "UNIMPLEMENTED"),
    *("RESOURCE_EXHAUSTED", "PERMISSION_DENIED", "OUT_OF_RANGE", "ABORTED"),
}
CODES = {200, 400, 401, 403, 404, 405, 409, 411, 413, 414, 429, 431, 501}
_TYPES = "float32 float64 int8 int32 int64 uint8 bool float16 complex64".split()
_PIECES = (
    *('"instances"', '"inputs"', '"examples"', '"signature_name"', '"b64"', '"x"', "null", "true"),
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "1",
        "-0.5e9",
        "1e999",
        "NaN",
        '"a"',
        '"\\ud800"',
        "\\",
        "\x00",
    ),
    *("99999999999999999999999", '"!!"', "[[[[[[", "é", "'"),
)


def _mutated(data: bytes, rng: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(made) + 1)
        kind = rng.randrange(4)
        if kind == 0 and made:
            made[at % len(made)] = rng.randrange(256)
        elif kind == 1:
            del made[at : at + rng.randrange(1, 9)]
        elif kind == 2:
            made[at:at] = rng.randbytes(rng.randrange(1, 9))
        else:
            made[at:at] = made[: rng.randrange(1, 30)]
    return bytes(made)


def _array(rng: random.Random) -> np.ndarray:
    shape = [rng.choice([0, 1, 2, 3, 7]) for _ in range(rng.randrange(4))]
    if rng.random() < 0.2:
        return np.full(shape, b"\xff\x00text", object)
    return np.ones(shape, rng.choice(_TYPES))


def _tensor(rng: random.Random) -> bytes:
    """A TensorProto, perhaps one that says more than it has."""
    made = array_to_proto(_array(rng))
    if rng.random() < 0.3:
        made.tensor_shape.dim.add(size=rng.choice([-1, -5, 1 << 40, 1 << 62, 3]))
    if rng.random() < 0.2:
        made.dtype = rng.choice([0, 20, 21, 99, 7, 100 + made.dtype])
    if rng.random() < 0.1:
        made.tensor_shape.unknown_rank = True
    return bytes(made.SerializeToString())


def call(rng: random.Random) -> tuple[str, bytes]:
    """The path and the bytes of a call that is wrong."""
    path = rng.choice(list(METHODS)[:-1])
    request = predict_request(rng.choice([*NAMES, "other", ""]), x=np.float32([1.0]))
    if rng.random() < 0.7:
        request.inputs.clear()
        for _ in range(rng.randrange(4)):
            request.inputs[rng.choice(["x", "words", "times", "keras_tensor", ""])] = _tensor(rng)
    if rng.random() < 0.3:
        request.output_filter.extend(rng.choices(["y", "upper", "", "output_0"], k=2))
    if rng.random() < 0.3:
        request.model_spec.signature_name = rng.choice(["classify", "regress", "no", "x" * 1000])
    if rng.random() < 0.2:
        request.model_spec.version.value = rng.choice([0, -1, 2, 1 << 62])
    if path.endswith(("Classify", "Regress", "MultiInference")) and rng.random() < 0.7:
        made = message("ClassificationRequest")(model_spec=request.model_spec)
        made.input.example_list.examples.extend(
            rng.randbytes(rng.randrange(12)) for _ in range(rng.randrange(3))
        )
        request = made
    data = bytes(request.SerializeToString())
    return path, _mutated(data, rng) if rng.random() < 0.5 else data


def text(rng: random.Random) -> tuple[str, str, bytes]:
    """The method, path and body of a request by REST that is wrong."""
    verb = rng.choice(["predict", "classify", "regress", "other"])
    version = rng.choice(["", "", "/versions/1", "/versions/x", "/labels/", f"/versions/{9**30}"])
    path = f"/v1/models/{rng.choice([*NAMES, 'no', '%ff', '..'])}{version}:{verb}"
    good: dict[str, Any] = {rng.choice(["instances", "inputs", "examples"]): [1.0, {"x": 2}]}
    kind = rng.randrange(4)
    if kind == 0:
        body = "".join(rng.choices(_PIECES, k=rng.randrange(30))).encode("utf-8", "surrogatepass")
    elif kind == 1:
        body = _mutated(json.dumps(good).encode(), rng)
    elif kind == 2:
        body = (b'{"instances": ' + b"[" * rng.choice([10, 1000, 100_000])) + b"1"
    else:
        rows = [rng.choice([1, "a", None, [], {}, {"b64": "?"}, [[1.0]], True]) for _ in range(3)]
        body = json.dumps({rng.choice(list(good)): rows}).encode()
    return rng.choice(["POST", "POST", "POST", "GET", "PUT", "HEAD"]), path, body


def raw(rng: random.Random) -> bytes:
    """Bytes that are no HTTP."""
    start = rng.choice([b"POST /v1/models/half_plus_two:predict HTTP/1.1\r\n", b"GET / HTTP/9\r\n"])
    head = rng.choice(
        [b"Content-Length: -4\r\n", b"Content-Length: 5\r\nHost: x\r\n", b"\x00: y\r\n"]
    )
    return _mutated(start + head + b"\r\n{}", rng)


def send(client: Client, rng: random.Random) -> str:
    """Sends one, and says what became of it."""
    kind = rng.random()
    if kind < 0.5:
        path, data = call(rng)
        try:
            client.call(path, data)
        except grpc.RpcError as error:
            return error.code().name
        return "OK"
    if kind < 0.95:
        return str(client.rest(*text(rng))[0])
    with socket.create_connection(("127.0.0.1", client.server.rest_port), 10) as plain:
        plain.sendall(raw(rng))
        plain.shutdown(socket.SHUT_WR)
        line = plain.makefile("rb").readline().split()
        return line[1].decode() if len(line) > 1 else "hung up"


def send_many(client: Client, count: int, seed: int) -> collections.Counter[str]:
    """Sends so many; AssertionError for an answer that puts the blame on the server."""
    rng = random.Random(seed)
    found: collections.Counter[str] = collections.Counter()
    for number in range(count):
        state = rng.getstate()
        answer = send(client, rng)
        found[answer] += 1
        if answer != "hung up":
            good = int(answer) in CODES if answer.isdigit() else answer in STATUSES
            if not good:
                rng.setstate(state)
                raise AssertionError(f"request {number} of seed {seed} was answered {answer}")
    return found


def main(count: int) -> None:
    client = Client(started(models=models(*NAMES)))
    try:
        for answer, times in send_many(client, count, 1).most_common():
            print(f"{answer:20} {times}")
        assert client.predict("half_plus_two", x=np.float32([2.0]))["y"].tolist() == [3.0]
    finally:
        client.close()
        client.server.stop(5.0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
