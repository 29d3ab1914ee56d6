"""A client of `soak.py`, with nothing of weft in it: messages are put together by hand.

    python soak_client.py PORT REST_PORT LOG SEED PAUSE

Version V of the model answers x/2 + V. Every fourth client asks by REST, the others by gRPC. The
log has a line for each answer that is wrong, and for each request that failed; at the end, told to
stop, how many were answered.
"""

from __future__ import annotations

import http.client
import json
import random
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc

Answer = tuple[list[float], int | None]


def _field(number: int, data: bytes) -> bytes:
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def _fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(number, value of a varint, bytes) of each field of a small message."""
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
        tag, value, content = varint(), varint(), b""
        if tag & 7 == 2:
            content, at = data[at : at + value], at + value
        yield tag >> 3, value, content


def _part(data: bytes, *numbers: int) -> bytes:
    """What is in a field of a field of ..."""
    for number in numbers:
        data = next(content for each, _, content in _fields(data) if each == number)
    return data


def by_grpc(port: int) -> Callable[[list[float]], Answer]:
    channel = grpc.insecure_channel(f"localhost:{port}")
    predict = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")

    def ask(x: list[float]) -> Answer:
        shape = _field(2, bytes([8, len(x)]))
        tensor = b"\x08\x01" + _field(2, shape) + _field(4, struct.pack(f"<{len(x)}f", *x))
        request = _field(1, _field(1, b"m")) + _field(2, _field(1, b"x") + _field(2, tensor))
        data = predict(request, timeout=120, wait_for_ready=True)
        packed = _part(data, 1, 2, 5)
        (version,) = [value for number, value, _ in _fields(_part(data, 2, 2)) if number == 1]
        return list(struct.unpack(f"<{len(packed) // 4}f", packed)), version

    return ask


def by_rest(port: int) -> Callable[[list[float]], Answer]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(x: list[float]) -> Answer:
        try:
            connection.request("POST", "/v1/models/m:predict", json.dumps({"instances": x}))
            text = connection.getresponse().read()
            return json.loads(text)["predictions"], None
        except BaseException:
            connection.close()
            raise

    return ask


def complaint(x: list[float], found: list[float], version: int | None) -> str:
    """What is wrong with an answer, or ""."""
    biases = {y - each / 2 for each, y in zip(x, found, strict=False)}
    if len(found) != len(x) or len(biases) != 1 or not biases.pop().is_integer():
        return f"wrong: {x} was answered {found}"
    if version is not None and found[0] - x[0] / 2 != version:
        return f"wrong: version {version} answered {found} to {x}"
    return ""


def main(port: int, rest_port: int, log: Path, seed: int, pause: float) -> None:
    rng, count = random.Random(seed), 0
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    ask = by_rest(rest_port) if seed % 4 == 0 else by_grpc(port)
    with log.open("w", buffering=1) as file:
        while not stopped:
            x = [float(rng.randrange(1000)) for _ in range(rng.randrange(1, 9))]
            try:
                wrong = complaint(x, *ask(x))
                count += 1
            except Exception as error:
                wrong = f"failed: {type(error).__name__}: {error}".replace("\n", " ")
            if wrong:
                file.write(f"{wrong}\n")
            time.sleep(pause)
        file.write(f"answered {count}\n")


if __name__ == "__main__":
    main(
        int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
    )
