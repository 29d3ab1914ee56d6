"""The place of this process among those that compute together: rank, size, and where they meet.

Whoever starts the processes tells each its place by variables of the environment. `weft launch`
sets WEFT_*; Open MPI, MPICH, Slurm and Horovod's own starter have names of theirs, and a cluster of
TensorFlow's has TF_CONFIG. The first in `_STARTERS` that is there counts.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RANK, SIZE = "WEFT_RANK", "WEFT_SIZE"
LOCAL_RANK, LOCAL_SIZE = "WEFT_LOCAL_RANK", "WEFT_LOCAL_SIZE"
COORDINATOR = "WEFT_COORDINATOR"
# How far the port where processes meet is from that of the first one's server. Both are ports of
# one process, which TF_CONFIG gives one address.
PORT_DISTANCE = 1000
# glibc asks the system for each large buffer of a step on a CPU, and gives it back: every page is a
# fault then, a third of a step of data-parallel training. With these it keeps buffers of up to a
# gigabyte. It reads them when a process starts.
MEMORY = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str((1 << 31) - 1),
}
_FIRST_PORT, _PORTS = 20_000, 10_000


@dataclass(frozen=True)
class Place:
    """One of `size` processes; `local_rank` is its number among those on its machine.

    The process of rank 0 listens at `coordinator`, a host and a port, for the others; in a group
    that has a keeper, one that is not in the group does.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    coordinator: str = ""
    is_kept: bool = False

    def environment(self) -> dict[str, str]:
        """The variables that tell a process that it has this place."""
        values = self.rank, self.size, self.local_rank, self.local_size, self.coordinator
        return dict(zip((*_STARTERS[0].names, COORDINATOR), map(str, values), strict=True))


@dataclass(frozen=True)
class _Starter:
    """The variables of one way to start processes: rank, size, local rank, local size.

    `job` names one that differs from job to job, from which a port can be made.
    """

    names: tuple[str, str, str, str]
    job: str = ""


_STARTERS = (
    _Starter((RANK, SIZE, LOCAL_RANK, LOCAL_SIZE)),
    _Starter(
        ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"),
        "HOROVOD_GLOO_RENDEZVOUS_PORT",
    ),
    _Starter(
        (
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_SIZE",
        ),
        "PMIX_NAMESPACE",
    ),
    _Starter(("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"), "PMI_ID"),
    _Starter(
        ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"), "SLURM_JOB_ID"
    ),
)


def place(environment: Mapping[str, str] = os.environ) -> Place:
    """The place that the starter of this process gave it; alone, if nobody did."""
    for starter in _STARTERS:
        rank, size, local_rank, local_size = (environment.get(name) for name in starter.names)
        if rank is not None and size is not None:
            return Place(
                _number(starter.names[0], rank),
                _number(starter.names[1], size),
                _number(starter.names[2], local_rank or rank),
                _number(starter.names[3], local_size or size),
                coordinator(environment, starter.job),
            )
    return Place()


def _number(name: str, text: str) -> int:
    try:
        return sum(map(int, text.split("+")))  # manifests cannot add, and write 1+2
    except ValueError:
        raise ValueError(f"{name}={text!r}: expected a number") from None


def coordinator(environment: Mapping[str, str], job: str = "") -> str:
    """Where processes meet: as it was said, or else at a port of this machine, by the job."""
    if COORDINATOR in environment:
        return environment[COORDINATOR]
    host = environment.get("MASTER_ADDR") or environment.get("HOROVOD_GLOO_RENDEZVOUS_ADDR")
    if "MASTER_PORT" in environment:
        return f"{host or 'localhost'}:{environment['MASTER_PORT']}"
    port = _FIRST_PORT + zlib.crc32(environment.get(job, "").encode()) % _PORTS
    return f"{host or 'localhost'}:{port}"


def place_in(
    addresses: Sequence[str], rank: int, environment: Mapping[str, str] = os.environ
) -> Place:
    """The place of number `rank` of the tasks at `addresses`, those that train together."""
    hosts = [address.rpartition(":")[0] for address in addresses]
    return Place(
        rank,
        len(addresses),
        hosts[:rank].count(hosts[rank]),
        hosts.count(hosts[rank]),
        environment.get(COORDINATOR) or _beside(addresses[0]),
    )


def _beside(address: str) -> str:
    host, _, port = address.rpartition(":")
    number = int(port)
    return f"{host}:{number + PORT_DISTANCE * (1 if number < 60_000 else -1)}"
