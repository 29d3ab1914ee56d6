"""This process's task in a cluster: the variable TF_CONFIG, read and checked."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from weft.lib.platform import tf_logging as logging
from weft.lib.train.cluster.cluster_spec import ClusterSpec

LOCAL_MASTER = ""


class TaskType:
    """The jobs of a cluster that trains an Estimator."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


@dataclass(frozen=True)
class Task:
    """The task of this process, in the order in which a RunConfig shows it."""

    service: Any
    cluster_spec: ClusterSpec
    task_type: str
    task_id: int
    global_id_in_cluster: int | None = None
    master: str = LOCAL_MASTER
    evaluation_master: str = LOCAL_MASTER
    is_chief: bool = False
    num_ps_replicas: int = 0
    num_worker_replicas: int = 0


def tf_config() -> dict[str, Any]:
    """The contents of TF_CONFIG; empty if it is not set."""
    found = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if found:
        logging.info("TF_CONFIG environment variable: %s", found)
    return found


def task_of(config: dict[str, Any]) -> Task:
    """The task that a TF_CONFIG describes."""
    service = config.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}'
        )
    cluster = ClusterSpec(config.get("cluster", {}))
    if not cluster:
        return _alone(service, cluster, config)
    if TaskType.MASTER in cluster.jobs:
        return _under_a_master(service, cluster, config)
    kind, number = _validate_task(cluster, config, TaskType.CHIEF)
    if kind == TaskType.EVALUATOR:
        # An evaluator is outside the cluster: it reads checkpoints, and runs on its own.
        evaluation = config.get("eval_session_master", LOCAL_MASTER)
        return Task(service, ClusterSpec({}), kind, number, evaluation_master=evaluation)
    return _member(service, cluster, kind, number, TaskType.CHIEF, config)


def task_in_group(config: dict[str, Any], extended: Any) -> Task:
    """The task of a worker that only collectives join to the others; the first may be a worker."""
    task, cluster = config["task"], ClusterSpec(config["cluster"])
    workers = [*cluster.as_dict().get(TaskType.CHIEF, ()), *cluster.as_dict()[TaskType.WORKER]]
    return Task(
        config.get("service"), cluster, task["type"], int(task["index"]), extended._place.rank,
        is_chief=extended.should_checkpoint, num_worker_replicas=len(workers),
    )  # fmt: skip


def _alone(service: Any, cluster: ClusterSpec, config: dict[str, Any]) -> Task:
    task = config.get("task", {})
    kind, number = task.get("type", TaskType.WORKER), int(task.get("index", 0))
    if kind != TaskType.WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if number != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return Task(
        service,
        cluster,
        kind,
        number,
        global_id_in_cluster=0,
        master=config.get("session_master", LOCAL_MASTER),
        evaluation_master=config.get("eval_session_master", LOCAL_MASTER),
        is_chief=True,
        num_worker_replicas=1,
    )


def _under_a_master(service: Any, cluster: ClusterSpec, config: dict[str, Any]) -> Task:
    """The older form of a cluster, in which the master also evaluates."""
    if TaskType.CHIEF in cluster.jobs:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    kind, number = _validate_task(cluster, config, TaskType.MASTER)
    if kind == TaskType.EVALUATOR:
        raise ValueError(
            "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
        )
    return _member(service, cluster, kind, number, TaskType.MASTER, config)


def _member(
    service: Any, cluster: ClusterSpec, kind: str, number: int, chief: str, config: dict[str, Any]
) -> Task:
    jobs = cluster.as_dict()
    return Task(
        service=service,
        cluster_spec=cluster,
        task_type=kind,
        task_id=number,
        master=_session_master(cluster, kind, number, config),
        num_ps_replicas=len(jobs.get(TaskType.PS, [])),
        num_worker_replicas=len(jobs.get(TaskType.WORKER, [])) + len(jobs.get(chief, [])),
        global_id_in_cluster=_global_id(cluster, kind, number, chief),
        is_chief=kind == chief,
    )


def is_alone(cluster: ClusterSpec) -> bool:
    """Whether there is one task in all."""
    return [len(cluster.job_tasks(job)) for job in cluster.jobs] == [1]


def _session_master(cluster: ClusterSpec, kind: str, number: int, config: dict[str, Any]) -> str:
    if "session_master" in config:
        return config["session_master"]
    if is_alone(cluster):
        return LOCAL_MASTER
    return f"grpc://{cluster.job_tasks(kind)[number]}"


def _global_id(cluster: ClusterSpec, kind: str, number: int, chief: str) -> int:
    """A number among all tasks: the chief first, parameter servers last."""
    others = [job for job in sorted(cluster.jobs) if job not in (chief, TaskType.PS)]
    order = [chief, *others, *([TaskType.PS] if TaskType.PS in cluster.jobs else [])]
    before = order[: order.index(kind)]
    return sum(len(cluster.job_tasks(job)) for job in before) + number


def _validate_task(cluster: ClusterSpec, config: dict[str, Any], chief: str) -> tuple[str, int]:
    """(type, index) of the task; ValueError where the cluster has no such task."""
    if chief not in cluster.jobs:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if len(cluster.job_tasks(chief)) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    task = config.get("task", {})
    kind, number = task.get("type"), task.get("index")
    for is_set, part in ((bool(kind), "type"), (number is not None, "index")):
        if not is_set:
            raise ValueError(f'If "cluster" is set in TF_CONFIG, task {part} must be set.')
    number = int(number)
    if number < 0:
        raise ValueError("Task index must be non-negative number.")
    if kind == TaskType.EVALUATOR:
        return kind, number
    origin = "\n\nNote that these values may be coming from the TF_CONFIG environment variable."
    if kind not in cluster.jobs:
        raise ValueError(f"{kind} is not a valid task_type in the cluster_spec:\n{cluster}{origin}")
    if number >= len(cluster.job_tasks(kind)):
        raise ValueError(
            f"{number} is not a valid task_id for task_type {kind} in the cluster_spec:\n"
            f"{cluster}{origin}"
        )
    return kind, number
