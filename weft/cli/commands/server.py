"""`weft server`: one task of a cluster."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from weft.cli.credentials import add_arguments, credentials_of
from weft.cli.numbers import count, positive
from weft.cli.terminal import complain
from weft.cluster.definitions import make_server_def, task_addresses, task_name
from weft.cluster.guard.limits import Limits
from weft.cluster.guard.security import Identity
from weft.cluster.server import Server
from weft.core import errors
from weft.storage.confinement import ANYWHERE, NOWHERE, confine

EXAMPLES = """\
  weft server --cluster 'ps=localhost:2222;worker=localhost:2223' --job ps --task 0
                                        one task of a cluster
"""

_MEGABYTE = 1 << 20
_MISSING = "the page of --status needs libraries: pip install 'weft[serve]' (missing: {})"


def add_parser(commands: Any) -> Any:
    server = commands.add_parser(
        "server",
        help="run one task of a cluster",
        description="Serves a task of a cluster until it is stopped. What the options leave out,"
        " TF_CONFIG says.",
    )
    where = "the addresses by job, as 'ps=host:port,host:port;worker=host:port', or as JSON"
    server.add_argument("--cluster", metavar="SPEC", help=where)
    server.add_argument("--job", metavar="NAME", help="the job of this task")
    server.add_argument("--task", metavar="N", type=count, help="its number in the job (0)")
    add_arguments(server)
    server.add_argument(
        "--insecure", action="store_true",
        help="listen to other machines without a token or TLS: anyone who reaches the port may run"
        " anything",
    )  # fmt: skip
    server.add_argument(
        "--status", metavar="PORT", type=count,
        help="show the state of the server in a page at this port (0: one that is free)",
    )  # fmt: skip
    server.add_argument(
        "--status-host", metavar="HOST", default="localhost",
        help="where the page is shown (localhost, to this machine only)",
    )  # fmt: skip
    files = server.add_argument_group("files that graphs may read and write (default: all)")
    only = files.add_mutually_exclusive_group()
    only.add_argument("--no-file-ops", action="store_true", help="none")
    only.add_argument("--file-root", metavar="DIR", help="those below this folder")
    limits = server.add_argument_group("limits (default: what the WEFT_MAX_* switches say)")
    limits.add_argument("--max-sessions", metavar="N", type=positive, help="sessions at once")
    for name, what in (
        ("message", "one message"),
        ("held", "tensors that wait for other tasks"),
        ("graphs", "graphs"),
    ):
        limits.add_argument(f"--max-{name}", metavar="MB", type=positive, help=f"memory for {what}")
    return server


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


def _show_status(arguments: Any, server: Server) -> None:
    """Starts the page of the server, if one is wanted."""
    if arguments.status is None:
        return
    try:
        from weft.pages.status import ServerStatus
    except ModuleNotFoundError as error:
        raise ValueError(_MISSING.format(error.name)) from None
    credentials = credentials_of(arguments)
    Identity(credentials).check_open_to(f"{arguments.status_host}:0", arguments.insecure)
    site = ServerStatus(server).site(credentials)
    sys.stdout.write(f"status at {site.listen(arguments.status_host, arguments.status)}\n")


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
        sys.stdout.write(f"{server.task} at {server.target}\n")
        _show_status(arguments, server)
    except (errors.OpError, ValueError, TypeError) as error:
        complain("server", error)
        return 2
    sys.stderr.write(f"weft server: {server.reach}\n")
    sys.stdout.flush()
    try:
        server.join()
    except KeyboardInterrupt:
        server.stop()
    return 0
