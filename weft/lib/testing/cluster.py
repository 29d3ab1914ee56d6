"""A cluster of servers in this process, for tests of programs that run on one."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.cluster.server import Server


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> tuple[list[Server], list[Server]]:
    """Starts servers of a job `worker` and a job `ps`; returns both lists."""
    from weft.cluster.server import Server
    from weft.lib.train.cluster.cluster_spec import ClusterSpec

    addresses = [f"localhost:{port}" for port in free_ports(num_workers + num_ps)]
    jobs = {"worker": addresses[:num_workers], "ps": addresses[num_workers:]}
    spec = ClusterSpec(jobs)
    configs = {"worker": worker_config, "ps": ps_config}
    workers, ps = (
        [
            Server(spec, job_name=job, protocol=protocol, task_index=i, config=configs[job])
            for i in range(len(jobs[job]))
        ]
        for job in ("worker", "ps")
    )
    return workers, ps


def free_ports(count: int) -> list[int]:
    """Ports of this machine that are free just now."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in held]
