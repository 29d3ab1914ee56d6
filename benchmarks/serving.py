"""How many requests does `weft serve` answer, and how soon, beside what its front could at most?

    python benchmarks/serving.py [--seconds 3] [--clients 1 8 64] [--models tiny mlp cnn]
                                 [--json results.json] [--no-tensorflow]

All in one run: `weft serve` without and with batching, a bare grpcio (or uvicorn) server that sends
the payload back (the limit), and TensorFlow's `session.run` on the same SavedModel behind a bare
grpcio server. Servers are processes of their own; the clients are tasks of one process, each of
which asks again as soon as it has its answer. Times depend on the machine; the ratios hold.
Where the machine has other work, the processor's time for a request says more than the clock does:
it is measured too, where there is a /proc.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import itertools
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from common import HERE, load
from serving_servers import FOUND_AT

INPUTS = {"tiny": (1,), "mlp": (784,), "cnn": (28, 28, 1)}
MLP = (784, 4096, 4096, 10)
# Half as many as there are clients: while one batch runs, the next one fills up.
BATCHING = """
max_batch_size { value: 32 } batch_timeout_micros { value: 0 } max_enqueued_batches { value: 100 }
num_batch_threads { value: 1 }
"""
TURNS = 4
PREDICT = "/tensorflow.serving.PredictionService/Predict"


# ---- models -------------------------------------------------------------------------------------


def export(folder: Path) -> None:
    """The three models, as SavedModels."""
    tf = load("weft")
    makers = {"tiny": _tiny, "mlp": _mlp, "cnn": _cnn}
    for name, make in makers.items():
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, *INPUTS[name]], name="x")
            y = make(tf, x)
            session.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(session, str(folder / name / "1"), {"x": x}, {"y": y})


def _tiny(tf: Any, x: Any) -> Any:
    return 0.5 * x + tf.get_variable("b", initializer=2.0)


def _mlp(tf: Any, x: Any) -> Any:
    for i, (inputs, outputs) in enumerate(itertools.pairwise(MLP)):
        weights = tf.get_variable(f"w{i}", [inputs, outputs])
        x = tf.matmul(x, weights)
        x = tf.nn.relu(x) if outputs != MLP[-1] else x
    return x


def _cnn(tf: Any, x: Any) -> Any:
    for i, filters in enumerate((16, 32)):
        x = tf.layers.conv2d(x, filters, 5, padding="same", activation=tf.nn.relu, name=f"c{i}")
        x = tf.layers.max_pooling2d(x, 2, 2)
    return tf.layers.dense(tf.layers.flatten(x), 10)


class Server(NamedTuple):
    """A process, and the ports of gRPC and HTTP."""

    pid: int
    grpc: int
    http: int

    def cpu_seconds(self) -> float:
        """What it has had of processors so far; 0 where that cannot be seen."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ---- servers ------------------------------------------------------------------------------------


@contextlib.contextmanager
def running(command: list[str], environment: dict[str, str] | None = None) -> Iterator[Server]:
    """A server, when it has said where it listens."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | (environment or {}),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        ports = []
        while len(ports) < 2:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"{command} ended: {process.wait()}")
            if line.strip():
                ports.append(int(line.rsplit(":", 1)[1]))
        yield Server(process.pid, *ports)
    finally:
        process.terminate()
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


def serve_command(folder: Path, batching: str, ports: list[int]) -> list[str]:
    options = [word for name in INPUTS for word in ("--model", f"{name}={folder / name}")]
    if batching:
        (folder / "batching").write_text(batching)
        options += ["--batching", str(folder / "batching")]
    return [sys.executable, "-m", "weft", "serve", *options, "--port", str(ports[0]),
            "--rest-port", str(ports[1]), "--poll", "0"]  # fmt: skip


def free_ports(count: int) -> list[int]:
    import socket

    taken = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


# ---- requests -----------------------------------------------------------------------------------


def _field(number: int, data: bytes) -> bytes:
    size, length = len(data), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2]) + bytes([*length, size]) + data


def request(name: str) -> bytes:
    """A PredictRequest of one row."""
    shape = (1, *INPUTS[name])
    count = 1
    for extent in shape:
        count *= extent

    def dim(extent: int) -> bytes:
        small = bytes([8, extent]) if extent < 128 else bytes([8, extent & 127 | 128, extent >> 7])
        return _field(2, small)

    content = struct.pack(f"<{count}f", *([0.5] * count))
    tensor = b"\x08\x01" + _field(2, b"".join(map(dim, shape))) + _field(4, content)
    spec = _field(1, _field(1, name.encode()))
    return spec + _field(2, _field(1, b"x") + _field(2, tensor))


def by_grpc(port: int, name: str, clients: int, seconds: float) -> list[float]:
    """Seconds of each request."""
    import grpc

    async def ask(call: Any, until: float, found: list[float], data: bytes) -> None:
        while (began := time.perf_counter()) < until:
            await call(data)
            found.append(time.perf_counter() - began)

    async def all_of_them() -> list[float]:
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(f"localhost:{port}", options=options) as channel:
            call, data = channel.unary_unary(PREDICT), request(name)
            found: list[float] = []
            until = time.perf_counter() + seconds
            await asyncio.gather(*(ask(call, until, found, data) for _ in range(clients)))
            return found

    return asyncio.run(all_of_them())


def by_http(port: int, name: str, clients: int, seconds: float) -> list[float]:
    """The same by REST, one thread and connection for each client."""
    row = [[0.5] * INPUTS[name][0]]
    body, found = json.dumps({"instances": row}), []  # type: str, list[float]

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while (began := time.perf_counter()) < until:
            connection.request("POST", f"/v1/models/{name}:predict", body)
            connection.getresponse().read()
            found.append(time.perf_counter() - began)
        connection.close()

    until = time.perf_counter() + seconds
    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


Ask = Callable[[int, str, int, float], list[float]]


class Turn(NamedTuple):
    """Seconds of each request, of all of them together, and of the server's processor."""

    times: list[float]
    elapsed: float
    cpu: float


def take_turn(server: Server, ask: Ask, name: str, clients: int, seconds: float) -> Turn:
    """What a server does with so many clients, for a while."""
    port = server.http if ask is by_http else server.grpc
    before, began = server.cpu_seconds(), time.perf_counter()
    times = ask(port, name, clients, seconds)
    # The last answers come after the time is over.
    return Turn(times, time.perf_counter() - began, server.cpu_seconds() - before)


def figures(turns: list[Turn]) -> dict[str, float]:
    times = sorted(seconds for turn in turns for seconds in turn.times)
    return {
        "per_second": len(times) / sum(turn.elapsed for turn in turns),
        "p50_ms": 1e3 * statistics.median(times),
        "p99_ms": 1e3 * times[int(0.99 * (len(times) - 1))],
        "cpu_ms": 1e3 * sum(turn.cpu for turn in turns) / len(times),
    }


# ---- all of it ----------------------------------------------------------------------------------


def measure(servers: dict[str, tuple[Server, Ask]], arguments: Any) -> list[dict[str, Any]]:
    """Every server with every model and number of clients."""
    rows = []
    for name, clients in itertools.product(arguments.models, arguments.clients):
        asked = {t: each for t, each in servers.items() if name == "tiny" or each[1] is by_grpc}
        for title, turns in taken_in_turn(asked, name, clients, arguments.seconds).items():
            found = figures(turns)
            rows.append({"server": title, "model": name, "clients": clients, **found})
            print(
                f"{name:5} {clients:3} clients  {title:15} {found['per_second']:7.0f}/s"
                f"  p50 {found['p50_ms']:8.2f} ms  p99 {found['p99_ms']:8.2f} ms"
                f"  cpu {found['cpu_ms']:6.2f} ms", flush=True,
            )  # fmt: skip
    return rows


def taken_in_turn(
    servers: dict[str, tuple[Server, Ask]], name: str, clients: int, seconds: float
) -> dict[str, list[Turn]]:
    """Several short turns of each server: other work of the machine then meets all of them."""
    turns: dict[str, list[Turn]] = {title: [] for title in servers}
    for number in range(1 + TURNS):
        for title, (server, ask) in servers.items():
            found = take_turn(server, ask, name, clients, seconds / TURNS)
            if number:  # the first is to warm up
                turns[title].append(found)
    return turns


def ratios(rows: list[dict[str, Any]], clients: list[int]) -> dict[str, float]:
    """The figures that are promised."""
    known = {(row["server"], row["model"], row["clients"]): row for row in rows}
    made: dict[str, float] = {}

    def add(title: str, one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
        if one in known and other in known:
            made[title] = known[one]["per_second"] / known[other]["per_second"]
            if known[one]["cpu_ms"]:
                made[f"{title}, by processor"] = known[other]["cpu_ms"] / known[one]["cpu_ms"]

    for count in clients:
        for model in INPUTS:
            batched, alone = ("weft, batching", model, count), ("weft", model, count)
            add(f"{model}, {count} clients: batching / no batching", batched, alone)
            add(f"{model}, {count} clients: weft / TensorFlow", alone, ("TensorFlow", model, count))
        echo = ("grpcio echo", "tiny", count)
        add(f"tiny, {count} clients: grpcio echo / weft", echo, ("weft", "tiny", count))
        add(f"tiny, {count} clients: uvicorn echo / weft REST", ("uvicorn echo", "tiny", count),
            ("weft REST", "tiny", count))  # fmt: skip
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="for each figure")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--models", nargs="+", choices=list(INPUTS), default=list(INPUTS))
    parser.add_argument("--json", help="write the figures here")
    parser.add_argument("--no-tensorflow", action="store_true")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter that has TensorFlow")
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH")))
    )
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        folder = Path(temporary)
        export(folder)
        alone = stack.enter_context(running(serve_command(folder, "", free_ports(2))))
        batched = stack.enter_context(running(serve_command(folder, BATCHING, free_ports(2))))
        echo = stack.enter_context(running([sys.executable, str(FOUND_AT), "echo"]))
        servers: dict[str, tuple[Server, Ask]] = {
            "grpcio echo": (echo, by_grpc),
            "weft": (alone, by_grpc),
            "weft, batching": (batched, by_grpc),
            "uvicorn echo": (echo, by_http),
            "weft REST": (alone, by_http),
        }
        if not arguments.no_tensorflow:
            import tensorflow_env

            python = arguments.tensorflow or str(tensorflow_env.interpreter())
            command = [python, str(FOUND_AT), "tensorflow", str(folder)]
            found = stack.enter_context(
                running(command, {"PYTHONPATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"})
            )
            servers["TensorFlow"] = (found, by_grpc)
        rows = measure(servers, arguments)
    made = ratios(rows, arguments.clients)
    for title, ratio in made.items():
        print(f"{title:65} {ratio:6.2f}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"rows": rows, "ratios": made}, indent=1))


if __name__ == "__main__":
    main()
