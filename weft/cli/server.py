"""`weft server`: one task of a cluster."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from weft.cli.credentials import credentials_of
from weft.cli.terminal import complain
from weft.cluster.definitions import make_server_def, task_addresses, task_name
from weft.cluster.guard.limits import Limits
from weft.cluster.guard.security import Identity
from weft.cluster.server import Server
from weft.core import errors
from weft.storage.confinement import ANYWHERE, NOWHERE, confine

_MEGABYTE = 1 << 20


def parse_cluster(text: str) -> dict[str, Any]:
    """Jobs and addresses of 'ps=host:port,host:port;worker=host:port', or of a JSON object."""
    if text.lstrip().startswith("{"):
        found: dict[str, Any] = json.loads(text)
        return found
    jobs: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        job, equals, addresses = part.partition("=")
        if not equals or not addresses:
            raise ValueError(f"{part!r} is not of the form job=host:port,host:port")
        jobs[job.strip()] = [address.strip() for address in addresses.split(",")]
    return jobs


def _task(arguments: Any) -> tuple[dict[str, Any], str | None, int | None]:
    """Cluster, job and number of the task: what was said, or else what TF_CONFIG says."""
    told = _tf_config()
    if arguments.cluster is None and "cluster" not in told:
        raise ValueError("no cluster: it takes --cluster, or TF_CONFIG in the environment")
    cluster = told["cluster"] if arguments.cluster is None else parse_cluster(arguments.cluster)
    task = told.get("task", {}) if arguments.cluster is None else {}
    index = task.get("index") if arguments.task is None else arguments.task
    return cluster, arguments.job or task.get("type"), None if index is None else int(index)


def _tf_config() -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG") or "{}")
    except ValueError as error:
        raise ValueError(f"TF_CONFIG is not JSON: {error}") from None
    return found


def _limits(arguments: Any) -> Limits:
    """What was said on the command line; for the rest, the environment."""
    said: dict[str, int] = {}
    if arguments.max_sessions is not None:
        said["sessions"] = arguments.max_sessions
    for name in ("message", "held", "graphs"):
        megabytes = getattr(arguments, f"max_{name}")
        if megabytes is not None:
            said[name] = megabytes * _MEGABYTE
    return Limits(**said)


def _check_address(
    arguments: Any, cluster: dict[str, Any], job: str | None, index: int | None
) -> None:
    definition = make_server_def(cluster, job, index, None, None)
    task = task_name(definition.job_name, definition.task_index)
    address = task_addresses(definition.cluster)[task]
    Identity(credentials_of(arguments)).check_open_to(address, arguments.insecure)


def run(arguments: Any) -> int:
    """Serves until the process is told to stop."""
    try:
        cluster, job, index = _task(arguments)
        _check_address(arguments, cluster, job, index)
        confine(NOWHERE if arguments.no_file_ops else arguments.file_root or ANYWHERE)
        server = Server(
            cluster, job_name=job, task_index=index,
            credentials=credentials_of(arguments), limits=_limits(arguments),
        )  # fmt: skip
    except (errors.OpError, ValueError, TypeError) as error:
        complain("server", error)
        return 2
    sys.stdout.write(f"{server.task} at {server.target}\n")
    sys.stderr.write(f"weft server: {server.reach}\n")
    sys.stdout.flush()
    try:
        server.join()
    except KeyboardInterrupt:
        server.stop()
    return 0
