"""Clusters for benchmarks: this process is worker 0, other tasks are processes that only serve.

As a program, it is one of those: `clusters.py IMPL SPEC JOB TASK`. It ends when its standard input
does, so it never outlives whoever has started it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from common import HERE, environment, load


def addresses(**jobs: int) -> dict[str, list[str]]:
    """A cluster spec with so many tasks in each job, at ports that are free."""
    sockets = [socket.socket() for _ in range(sum(jobs.values()))]
    for each in sockets:
        each.bind(("localhost", 0))
    ports = iter([each.getsockname()[1] for each in sockets])
    for each in sockets:
        each.close()
    return {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}


@contextlib.contextmanager
def serving(impl: str, spec: dict[str, list[str]], mine: str = "worker") -> Iterator[None]:
    """All tasks run, but for task 0 of the job `mine`."""
    tasks = [(job, i) for job in spec for i in range(len(spec[job])) if (job, i) != (mine, 0)]
    with contextlib.ExitStack() as stack:
        started = [
            stack.enter_context(process("clusters.py", impl, json.dumps(spec), job, str(i)))
            for job, i in tasks
        ]
        for each in started:
            assert each.stdout is not None and each.stdout.readline(), "a server did not start"
        yield


@contextlib.contextmanager
def process(*program: str) -> Iterator[subprocess.Popen[str]]:
    """A benchmark's process, which has ended at the end."""
    command = [sys.executable, str(HERE / program[0]), *program[1:]]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def end_with_input() -> None:
    """Ends this process when whoever has started it does."""

    def watch() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def session(tf: Any, impl: str, **jobs: int) -> Iterator[Any]:
    """A session of worker 0, which is in this process, on a cluster of processes."""
    spec = addresses(**jobs)
    with serving(impl, spec):
        server = tf.train.Server(spec, "worker", 0)
        with tf.Session(server.target) as opened:
            yield opened


def main() -> None:
    impl, spec, job, task = sys.argv[1:]
    end_with_input()
    tf = load(impl)
    server = tf.train.Server(json.loads(spec), job, int(task))
    print(server.target, flush=True)
    server.join()


if __name__ == "__main__":
    main()
