"""Servers for tests: in this process, or each in a process of its own. Loopback only."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weft.cluster.server import Server
from weft.cluster.transport import inprocess
from weft.lib.testing.cluster import free_ports as free_ports

ROOT = Path(__file__).parent.parent.parent


def cluster_of(**jobs: int) -> dict[str, list[str]]:
    """A cluster spec with so many tasks in each job."""
    ports = iter(free_ports(sum(jobs.values())))
    return {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}


@pytest.fixture
def server() -> Iterator[Server]:
    """A cluster of one task, in this process."""
    made = Server.create_local_server()
    yield made
    made.stop()


@pytest.fixture
def remote_server(server: Server) -> Server:
    """The same, but sessions do not know that it is in this process: all goes over gRPC."""
    inprocess.unregister(server.target, server.master)
    return server


@pytest.fixture
def servers() -> Iterator[Callable[..., dict[str, list[Server]]]]:
    """Makes a cluster whose tasks are all in this process, and talk over gRPC."""
    made: list[Server] = []

    def make(**jobs: int) -> dict[str, list[Server]]:
        spec = cluster_of(**jobs)
        found = {
            job: [Server(spec, job, i) for i in range(len(tasks))] for job, tasks in spec.items()
        }
        made.extend(each for tasks in found.values() for each in tasks)
        return found

    yield make
    for each in made:
        each.stop()


class Processes:
    """A cluster each of whose tasks is a process of `weft server`."""

    def __init__(self, **jobs: int) -> None:
        self.spec = cluster_of(**jobs)
        self.processes = {
            (job, i): self._start(job, i) for job, n in jobs.items() for i in range(n)
        }
        for each in self.processes.values():
            assert each.stdout is not None
            assert b" at grpc://" in each.stdout.readline(), "a server did not start"

    def _start(self, job: str, task: int) -> subprocess.Popen[bytes]:
        spec = ";".join(f"{name}={','.join(tasks)}" for name, tasks in self.spec.items())
        command = [sys.executable, "-m", "weft", "server", "--cluster", spec]
        command += ["--job", job, "--task", str(task)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=_environment())

    def target(self, job: str, task: int = 0) -> str:
        return f"grpc://{self.spec[job][task]}"

    def kill(self, job: str, task: int = 0) -> None:
        _end(self.processes[job, task])

    def restart(self, job: str, task: int = 0) -> None:
        process = self.processes[job, task] = self._start(job, task)
        assert process.stdout is not None
        assert b" at grpc://" in process.stdout.readline(), "a server did not start"

    def close(self) -> None:
        for process in self.processes.values():
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def _environment() -> dict[str, str]:
    return {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}


@pytest.fixture
def processes() -> Iterator[Callable[..., Processes]]:
    """Starts a cluster of processes: `processes(ps=1, worker=2)`."""
    made: list[Processes] = []

    def start(**jobs: int) -> Processes:
        made.append(Processes(**jobs))
        return made[-1]

    yield start
    for each in made:
        each.close()
