"""`tf.train.ClusterSpec`: which task listens where, by job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.cluster_pb2 import ClusterDef

from weft.core import compat

Tasks = dict[int, str]


class ClusterSpec:
    """The tasks of a cluster: job name -> addresses, in a list or by task number.

    Args:
        cluster: a dict from jobs to lists of "host:port" (or dicts from task numbers to them),
            another ClusterSpec, or a `ClusterDef` message.

    Raises:
        TypeError: it is something else, or an address is no string.

    Example:
        >>> cluster = tf.train.ClusterSpec({"ps": ["a:2222"], "worker": ["b:2222", "c:2222"]})
        >>> cluster.num_tasks("worker"), cluster.task_address("worker", 1)
        (2, 'c:2222')
    """

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = ClusterDef.FromString(cluster.as_cluster_def().SerializeToString())
        if isinstance(cluster, ClusterDef):
            self._cluster_def = cluster
            self._cluster_spec = {job.name: dict(job.tasks) for job in cluster.job}
        elif isinstance(cluster, dict):
            self._cluster_spec = {job: _numbered(job, tasks) for job, tasks in cluster.items()}
            self._cluster_def = _cluster_def(self._cluster_spec)
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network"
                " addresses, or a `ClusterDef` protocol buffer"
            )

    def __bool__(self) -> bool:
        return bool(self._cluster_spec)

    def __eq__(self, other: object) -> bool:
        """Whether `other` has the same jobs; a dictionary has to map jobs to numbered tasks."""
        return self._cluster_spec == getattr(other, "_cluster_spec", other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        jobs = (f"{job!r}: {tasks!r}" for job, tasks in sorted(self.as_dict().items()))
        return "ClusterSpec({" + ", ".join(jobs) + "})"

    def as_dict(self) -> dict[str, Any]:
        """Job -> list of addresses where the tasks are numbered without a gap, else a dict."""
        sorted_tasks = {job: dict(sorted(self._tasks(job).items())) for job in self.jobs}
        return {
            job: list(tasks.values()) if tasks and [*tasks] == [*range(len(tasks))] else tasks
            for job, tasks in sorted_tasks.items()
        }

    def as_cluster_def(self) -> Any:
        """The cluster as a `ClusterDef`."""
        return self._cluster_def

    @property
    def jobs(self) -> list[str]:
        return list(self._cluster_spec)

    def num_tasks(self, job_name: str) -> int:
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        return sorted(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        try:
            return self._tasks(job_name)[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job by task number, None where there is no such task."""
        tasks = self._tasks(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _tasks(self, job_name: str) -> Tasks:
        try:
            return self._cluster_spec[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r}") from None


def _numbered(job_name: str, tasks: Any) -> Tasks:
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return dict(tasks)
    raise TypeError(
        f"The tasks for job {job_name!r} must be a list or a dictionary from integers to strings."
    )


def _cluster_def(spec: Mapping[str, Tasks]) -> Any:
    """Jobs sorted by name: one cluster has one message."""
    message = ClusterDef()
    for job_name, tasks in sorted(spec.items()):
        job = message.job.add(name=_text(job_name, "Job name"))
        for i, address in sorted(tasks.items()):
            job.tasks[i] = _text(address, "Task address")
    return message


def _text(value: Any, what: str) -> str:
    try:
        return compat.as_text(value)
    except TypeError:
        raise TypeError(f"{what} {value!r} must be bytes or unicode") from None
