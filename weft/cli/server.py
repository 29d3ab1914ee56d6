"""`weft server`: one task of a cluster."""

from __future__ import annotations

import json
import sys
from typing import Any

from weft.cli.credentials import credentials_of
from weft.cluster.limits import Limits
from weft.cluster.server import Server
from weft.core import errors

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


def run(arguments: Any) -> int:
    """Serves until the process is told to stop."""
    try:
        cluster = parse_cluster(arguments.cluster)
        server = Server(
            cluster, job_name=arguments.job, task_index=arguments.task,
            credentials=credentials_of(arguments), limits=_limits(arguments),
        )  # fmt: skip
    except (errors.OpError, ValueError, TypeError) as error:
        sys.stderr.write(f"weft server: {error}\n")
        return 2
    sys.stdout.write(f"{server.task} at {server.target}\n")
    sys.stdout.flush()
    try:
        server.join()
    except KeyboardInterrupt:
        server.stop()
    return 0
