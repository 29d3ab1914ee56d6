"""Many clients at once on one server, some of which are killed.

    python -m tests.cluster.many_clients [--minutes 10] [--clients 16] [--seed N]

The server is in this process. Every client opens one session after the other and uses it
(`client_program.py`); where there is a `.venv-tf`, one in four is a client of TensorFlow's. At
the end nothing may be left of any of them, and the memory of the server must not have grown since
it had warmed up.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PROGRAM = Path(__file__).parent / "client_program.py"
TENSORFLOW = ROOT / ".venv-tf" / "bin" / "python"
_PAGE = os.sysconf("SC_PAGE_SIZE")
_ABANDONED_SECONDS = 5
# Of the memory after warming up: allocators do not give back all that they could.
_GROWTH = 1.10
# How much of the time goes by until the server counts as warm: all clients must have come up, and
# threads, arenas and programs be as many as they will ever be at once.
_WARM = 0.5


def resident() -> float:
    """The memory of this process, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / 2**20


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@dataclass
class Client:
    """A client that runs, under a number that it shares with those before and after it."""

    number: int
    kind: str
    process: subprocess.Popen[bytes]
    output: Path

    def rounds(self) -> int:
        return self.output.read_bytes().count(b"round")


@dataclass
class Crowd:
    """The clients of a server: as many as are wanted, all the time."""

    target: str
    folder: Path
    seconds: float
    rng: random.Random
    tensorflow: int = 0  # how many of them are TensorFlow's
    clients: list[Client] = field(default_factory=list)
    ended: Counter = field(default_factory=Counter)
    rounds: int = 0
    until: float = 0.0

    def start(self, number: int) -> Client:
        kind = "tensorflow" if number < self.tensorflow else "weft"
        python = str(TENSORFLOW) if kind == "tensorflow" else sys.executable
        left = max(0.0, self.until - time.monotonic())
        output = self.folder / f"{number}.{time.monotonic_ns()}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
        command = [python, str(PROGRAM), kind, self.target, str(number), str(left)]
        with output.open("wb") as file:
            process = subprocess.Popen(
                command, stdout=file, stderr=subprocess.STDOUT, env=environment
            )
        return Client(number, kind, process, output)

    def run(self, count: int, kill_every: float, sample: Any) -> None:
        self.until = time.monotonic() + self.seconds
        self.clients = [self.start(number) for number in range(count)]
        next_kill = time.monotonic() + kill_every
        while time.monotonic() < self.until:
            time.sleep(0.1)
            if time.monotonic() >= next_kill:
                next_kill = time.monotonic() + self.rng.uniform(0.5, 1.5) * kill_every
                self.rng.choice(self.clients).process.send_signal(signal.SIGKILL)
            self._replace()
            sample()
        for client in self.clients:
            self._end(client, client.process.wait(120))

    def _replace(self) -> None:
        for i, client in enumerate(self.clients):
            code = client.process.poll()
            if code is not None:
                self._end(client, code)
                self.clients[i] = self.start(client.number)

    def _end(self, client: Client, code: int) -> None:
        how = "killed" if code == -signal.SIGKILL else "done" if code == 0 else "failed"
        self.ended[f"{client.kind} {how}"] += 1
        self.rounds += client.rounds()
        if how == "failed":
            sys.stderr.write(client.output.read_text()[-2000:])
        client.output.unlink()


def left_behind(server: Any) -> dict[str, int]:
    """What the server knows of clients."""
    return {
        "sessions": len(server.master._sessions),
        "worker_sessions": len(server.worker._sessions) - 1,  # one belongs to nobody
        "steps": len(server.worker.steps),
        "clients": len(server.master.clients._clients),
    }


class Memory:
    """What this process takes, now and then in so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._start = seconds, time.monotonic()
        self._samples: list[tuple[float, float]] = []

    def sample(self) -> None:
        now = time.monotonic() - self._start
        if not self._samples or now - self._samples[-1][0] >= self._seconds / 60:
            self._samples.append((now, resident()))
            sys.stderr.write(f"{now:.0f} s: {self._samples[-1][1]:.0f} MB\n")

    def report(self) -> dict[str, Any]:
        """In MB: at first, once the server is warm, and at last (the mean of some)."""
        sizes = [size for _, size in self._samples]
        warm = max(size for when, size in self._samples if when <= self._seconds * _WARM)
        last = sum(sizes[-5:]) / len(sizes[-5:])
        return {
            "memory_first_mb": round(sizes[0]),
            "memory_warm_mb": round(warm),
            "memory_last_mb": round(last),
            "memory_mb": [round(size) for size in sizes[:: max(1, len(sizes) // 20)]],
        }


def serve(
    folder: Path, seconds: float, clients: int, kill_every: float, seed: int
) -> dict[str, Any]:
    """Serves so many clients; returns what was seen. "wrong" must be empty."""
    from weft.cluster.server import Server
    from weft.core import flags

    memory = Memory(seconds)
    start = time.monotonic()
    tensorflow = clients // 4 if TENSORFLOW.exists() else 0
    with flags.ABANDONED.override(_ABANDONED_SECONDS), flags.HEALTH.override(5):
        server = Server.create_local_server()
        files, threads = open_files(), threading.active_count()
        crowd = Crowd(server.target, folder, seconds, random.Random(seed), tensorflow)
        try:
            crowd.run(clients, kill_every, memory.sample)
            left = _settled(server)
            more_files = open_files() - files
            idle_threads = threading.active_count() - threads
        finally:
            for client in crowd.clients:
                client.process.kill()
                client.process.wait()
            server.stop()
    found = {
        "seconds": round(time.monotonic() - start, 1),
        "clients": clients,
        "ended": dict(crowd.ended),
        "rounds": crowd.rounds,
        **memory.report(),
        "left": left,
        "more_open_files": more_files,
        "idle_threads": idle_threads,
    }
    return {**found, "wrong": _wrong(found)}


def _settled(server: Any, seconds: float = 60.0) -> dict[str, int]:
    """What is left when the server has had time to notice that all have gone."""
    until = time.monotonic() + seconds
    while any(left_behind(server).values()) and time.monotonic() < until:
        time.sleep(0.2)
    return left_behind(server)


def _wrong(found: dict[str, Any]) -> list[str]:
    tests = {
        "something is left behind": not any(found["left"].values()),
        "files are left open": found["more_open_files"] < found["clients"],
        "the memory has grown": found["memory_last_mb"] <= found["memory_warm_mb"] * _GROWTH,
        "a client failed": not any("failed" in how for how in found["ended"]),
        "nobody got anything done": found["rounds"] > 0,
    }
    return [text for text, holds in tests.items() if not holds]


def main() -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--kill-every", type=float, default=8.0, help="seconds")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--forget-memory", action="store_true", help="the run is too short")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    with tempfile.TemporaryDirectory() as folder:
        result = serve(
            Path(folder), 60 * options.minutes, options.clients, options.kill_every, seed
        )
    if options.forget_memory:
        result["wrong"] = [text for text in result["wrong"] if "memory" not in text]
    print(json.dumps({**result, "seed": seed}))
    sys.exit(bool(result["wrong"]))


if __name__ == "__main__":
    main()
