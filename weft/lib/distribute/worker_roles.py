"""The roles of the tasks in a cluster of workers."""

from __future__ import annotations

from typing import Any

from weft.lib.train.cluster.cluster_spec import ClusterSpec

_ROLES = ("chief", "worker", "evaluator", "ps")


def cluster_jobs(cluster_spec: Any) -> dict[str, list[str]]:
    """The addresses of a cluster, by job."""
    jobs: dict[str, list[str]] = ClusterSpec(cluster_spec).as_dict()
    return jobs


def cluster_devices(cluster_spec: Any, gpus_per_worker: int) -> list[str]:
    """The devices of all tasks that train."""
    jobs = cluster_jobs(cluster_spec)
    tasks = [
        f"/job:{job}/task:{i}" for job in ("chief", "worker") for i in range(len(jobs.get(job, [])))
    ]
    if not gpus_per_worker:
        return tasks
    return [f"{task}/device:GPU:{i}" for task in tasks for i in range(gpus_per_worker)]


def _checked_jobs(cluster_spec: Any, task_type: Any, task_id: Any) -> dict[str, list[str]]:
    if cluster_spec is None or task_type is None or task_id is None:
        raise ValueError("None of `cluster_spec`, `task_type`, and `task_id` should be `None`.")
    jobs = cluster_jobs(cluster_spec)
    if task_type not in _ROLES:
        raise ValueError(
            f'Unrecognized task_type: {task_type!r}, valid task types are: "chief", "worker",'
            ' "evaluator" and "ps".'
        )
    if task_type not in jobs:
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    for job in ("chief", "evaluator"):
        if len(jobs.get(job, [])) > 1:
            raise ValueError(f"There must be at most one '{job}' job.")
    if task_id >= len(jobs[task_type]):
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")
    return jobs


def is_chief(cluster_spec: Any, task_type: Any, task_id: Any) -> bool:
    """Whether the task writes checkpoints and starts variables: the chief, else worker 0."""
    jobs = _checked_jobs(cluster_spec, task_type, task_id)
    if task_type in ("chief", "evaluator"):
        return True
    return "chief" not in jobs and task_type == "worker" and task_id == 0


def worker_count(cluster_spec: Any, task_type: Any) -> int:
    """How many tasks train, or evaluate, together with one of this type."""
    jobs = _checked_jobs(cluster_spec, task_type, 0)
    if task_type == "ps":
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    counted = ("evaluator",) if task_type == "evaluator" else ("chief", "worker")
    return sum(len(jobs.get(job, ())) for job in counted)


def id_in_cluster(cluster_spec: Any, task_type: Any, task_id: int) -> int:
    """The number of a task among those of `worker_count`; the chief comes first."""
    jobs = _checked_jobs(cluster_spec, task_type, task_id)
    if task_type == "ps":
        raise ValueError(f"There is no id for task_type {task_type!r}")
    return task_id + len(jobs.get("chief", [])) * (task_type == "worker")
