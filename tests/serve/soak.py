"""Clients ask without pause, and some are killed, while versions come, break and go.

    python -m tests.serve.soak --minutes 30 --clients 32

The server and every client are processes of their own. Version V of the model answers x/2 + V, so
that an answer says which version gave it: it must be one that was served at the time, whole, and no
request may fail. What is printed last is what was found; the exit code is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_CLIENT = Path(__file__).with_name("soak_client.py")
MOST_GROWTH = 1.25  # of memory, from a third of the time on


# ---- versions -----------------------------------------------------------------------------------


class Versions:
    """The folder of the model: what is there now, and the next thing to happen to it."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self._rng = folder, rng
        self.next = 1
        self.there: list[int] = []
        self.done: dict[str, int] = {}

    def add(self) -> None:
        from tests.serve.serving import add_version

        add_version(self.folder, self.next, float(self.next), width=256)
        self.there.append(self.next)
        self.next += 1

    def break_(self) -> None:
        """A version that cannot be loaded, newer than all others."""
        from tests.serve.serving import add_broken

        add_broken(self.folder, self.next)
        self.next += 1

    def roll_back(self) -> None:
        """Takes the newest away, so that the one before is the newest."""
        if len(self.there) > 1:
            shutil.rmtree(self.folder / str(self.there.pop()))

    def remove(self) -> None:
        if len(self.there) > 2:
            shutil.rmtree(self.folder / str(self.there.pop(0)))

    def clean(self) -> None:
        """Takes away what is broken."""
        for path in self.folder.iterdir():
            if path.name.isdigit() and int(path.name) not in self.there:
                shutil.rmtree(path)

    def happen(self) -> None:
        what = self._rng.choice(["add", "add", "break_", "roll_back", "remove", "clean"])
        getattr(self, what)()
        self.done[what] = self.done.get(what, 0) + 1


# ---- all of it ----------------------------------------------------------------------------------


def _memory(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _start_server(folder: Path, work: Path) -> tuple[Any, int, int]:
    from weft.lib.testing.cluster import free_ports

    port, rest = free_ports(2)
    command = [sys.executable, "-m", "weft", "serve", "--model", f"m={folder}", "--poll", "0.2",
               "--port", str(port), "--rest-port", str(rest), "--batch",
               "--batching", str(work / "batching")]  # fmt: skip
    (work / "batching").write_text(
        "max_batch_size { value: 64 } allowed_batch_sizes: 8 allowed_batch_sizes: 64"
        " max_enqueued_batches { value: 1000 }"
    )
    with (work / "server.log").open("w") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert server.stdout is not None
    server.stdout.readline()
    return server, port, rest


class Clients:
    """Processes that ask; some are killed, and others take their place."""

    def __init__(self, count: int, port: int, rest: int, work: Path, pause: float) -> None:
        self._ports, self._work, self.killed, self._pause = (port, rest), work, 0, pause
        self._number = 0
        self._running = [self._started() for _ in range(count)]

    def _started(self) -> tuple[Any, Path]:
        self._number += 1
        log = self._work / f"client{self._number}.log"
        words = [*map(str, self._ports), str(log), str(self._number), str(self._pause)]
        return subprocess.Popen([sys.executable, str(_CLIENT), *words]), log

    def await_all(self) -> None:
        """Until each has begun."""
        while not all(log.exists() for _, log in self._running):
            time.sleep(0.1)

    def kill_one(self, rng: random.Random) -> None:
        number = rng.randrange(len(self._running))
        process, _ = self._running[number]
        process.kill()
        process.wait()
        self.killed += 1
        self._running[number] = self._started()

    def stop(self) -> tuple[int, list[str]]:
        """How many requests were answered by those that lived, and what was wrong with any."""
        for process, _ in self._running:
            process.terminate()
        for process, _ in self._running:
            process.wait(180)
        lines = [
            line for log in self._work.glob("client*.log") for line in log.read_text().splitlines()
        ]
        answered = sum(int(line.split()[1]) for line in lines if line.startswith("answered"))
        return answered, [line for line in lines if not line.startswith("answered")]


def run(minutes: float, clients: int, seed: int = 1, pause: float = 0.0) -> dict[str, Any]:
    """What was found. Needs a machine with /proc."""
    rng = random.Random(seed)
    work = Path(tempfile.mkdtemp())
    folder = work / "m"
    folder.mkdir()
    versions = Versions(folder, rng)
    versions.add()
    server, port, rest = _start_server(folder, work)
    try:
        crowd = Clients(clients, port, rest, work, pause)
        crowd.await_all()
        ends, memory = time.monotonic() + minutes * 60, []
        while time.monotonic() < ends:
            time.sleep(min(1.0, minutes * 60 / 20))
            versions.happen()
            if rng.random() < 0.1:
                crowd.kill_one(rng)
            memory.append(_memory(server.pid))
            if server.poll() is not None:
                break
        answered, wrong = crowd.stop()
        alive = server.poll() is None
    finally:
        server.terminate()
        code = server.wait(60)
        server.stdout.close()
    third = memory[len(memory) // 3 :]
    part = max(1, len(third) // 4)
    found = {
        "answered": answered, "wrong": len(wrong), "examples_of_wrong": wrong[:5],
        "killed_clients": crowd.killed, "versions": versions.next - 1, "events": versions.done,
        "memory_mb": [round(m) for m in memory[:: max(1, len(memory) // 12)]],
        "memory_growth": sum(third[-part:]) / sum(third[:part]), "server_alive": alive,
        "exit_code": code,
    }  # fmt: skip
    if not wrong and alive:
        shutil.rmtree(work)
    else:
        found["logs"] = str(work)
    return found


def is_good(found: dict[str, Any]) -> bool:
    return bool(
        found["answered"] and not found["wrong"] and found["server_alive"]
        and not found["exit_code"]
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.0, help="of a client, in seconds")
    arguments = parser.parse_args()
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parent.parent.parent))
    found = run(arguments.minutes, arguments.clients, arguments.seed, arguments.pause)
    print(json.dumps(found, indent=1))
    return 0 if is_good(found) and found["memory_growth"] < MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
