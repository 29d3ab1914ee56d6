"""ServerDef and ClusterDef: made of what users give, checked, and looked up."""

from __future__ import annotations

from typing import Any

from weft.core import compat, device_name, errors

_LAST_PORT = 65535


def task_name(job: str, index: int) -> str:
    return f"/job:{job}/replica:0/task:{index}"


def task_addresses(cluster: Any) -> dict[str, str]:
    """Task -> address, for every task of a ClusterDef."""
    return {
        task_name(job.name, index): address
        for job in cluster.job
        for index, address in sorted(job.tasks.items())
    }


def is_address(text: str) -> bool:
    """Whether it is of the form host:port; without a host it is this machine."""
    _, colon, port = text.rpartition(":")
    return bool(colon) and port.isdecimal() and int(port) <= _LAST_PORT


def server_def(cluster: Any, task: str) -> Any:
    """The ServerDef of one task of a cluster."""
    from weft.protos.server import ServerDef

    parts = device_name.parse(task)
    made = ServerDef(job_name=parts.job, task_index=parts.task, protocol="grpc")
    made.cluster.ParseFromString(cluster.SerializeToString())
    return made


def make_server_def(
    given: Any, job_name: str | None, task_index: int | None, protocol: str | None, config: Any
) -> Any:
    """A ServerDef of everything that was said, checked."""
    from weft.protos.server import ServerDef

    made = ServerDef()
    if isinstance(given, ServerDef):
        made.CopyFrom(given)
    else:
        made.cluster.ParseFromString(_cluster_def(given).SerializeToString())
    if job_name is not None:
        made.job_name = job_name
    if task_index is not None:
        made.task_index = task_index
    if protocol is not None:
        made.protocol = protocol
    if config is not None:
        made.default_session_config.ParseFromString(config.SerializeToString())
    made.protocol = made.protocol or "grpc"
    _choose_task(made, job_name is None and not made.job_name)
    _check(made)
    return made


def _cluster_def(given: Any) -> Any:
    from tensorboard.compat.proto.cluster_pb2 import ClusterDef

    if hasattr(given, "as_cluster_def"):
        return given.as_cluster_def()
    if isinstance(given, ClusterDef):
        return given
    if not isinstance(given, dict):
        raise TypeError(
            "Could not convert server_or_cluster_def: a ServerDef, ClusterDef, ClusterSpec or"
            f" dictionary is wanted, not {type(given).__name__}"
        )
    made = ClusterDef()
    for job, tasks in given.items():
        _add_tasks(made.job.add(name=_text(job, "a job")).tasks, job, tasks)
    made.job.sort(key=lambda entry: entry.name)
    return made


def _add_tasks(entry: Any, job: str, tasks: Any) -> None:
    if not isinstance(tasks, (dict, list, tuple)):
        raise TypeError(
            f"The tasks of job {job!r} are a list of addresses, or a dictionary from task numbers"
            f" to addresses, not {tasks!r}"
        )
    for index, address in tasks.items() if isinstance(tasks, dict) else enumerate(tasks):
        entry[int(index)] = _text(address, f"task {index} of job {job!r}")


def _text(value: Any, what: str) -> str:
    try:
        return compat.as_text(value)
    except TypeError:
        raise TypeError(f"{value!r} is no name or address of {what}: text is wanted") from None


def _choose_task(definition: Any, choose_job: bool) -> None:
    """A cluster of one job, or of one task, leaves no choice."""
    jobs = definition.cluster.job
    if not choose_job:
        return
    if len(jobs) != 1:
        raise ValueError("Must specify an explicit `job_name`.")
    definition.job_name = jobs[0].name
    if definition.task_index == 0 and len(jobs[0].tasks) == 1:
        definition.task_index = next(iter(jobs[0].tasks))


def _check(definition: Any) -> None:
    if definition.protocol != "grpc":
        raise errors.NotFoundError(
            None, None, "No server factory registered for the given ServerDef: protocol"
            f" {definition.protocol!r}. The available server factories are: [ GRPC_SERVER ]",
        )  # fmt: skip
    addresses = task_addresses(definition.cluster)
    name = task_name(definition.job_name, definition.task_index)
    if name not in addresses:
        known = ", ".join(addresses) or "no task at all"
        raise errors.InvalidArgumentError(
            None, None, f"{name} is not in the cluster, which has {known}"
        )
    for task, address in addresses.items():
        if not is_address(address):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Could not parse the address {address!r} of {task}: host:port is wanted",
            )
    seen: dict[str, str] = {}
    for task, address in addresses.items():
        if address in seen and not address.endswith(":0"):
            raise errors.InvalidArgumentError(
                None, None, f"{seen[address]} and {task} have the same address, {address}"
            )
        seen[address] = task
