"""A cluster as one object of Kubeflow's training operator (version 1).

A TFJob has all jobs, and its operator sets TF_CONFIG. The others have workers alone, and tell them
of their group in variables of their own; TF_CONFIG says the same here.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.cli.launching.kubernetes.pods import Object, pod_template, tf_config, told
from weft.cli.launching.kubernetes.settings import Settings
from weft.cli.launching.plan import Cluster
from weft.cli.launching.request import LaunchError

_INDEX = "training.kubeflow.org/replica-index"


@dataclass(frozen=True)
class Kind:
    """How the operator wants one kind of job: its replicas by our jobs, and the container and port
    that it looks for. `first`: the job whose only task the first worker becomes."""

    kind: str
    replicas: str
    types: dict[str, str]
    container: str
    port_name: str
    port: int | None = None  # none: the one at which tasks serve
    sets_tf_config: bool = False
    first: str = ""


KINDS = {
    "tfjob": Kind(
        "TFJob", "tfReplicaSpecs",
        {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"},
        "tensorflow", "tfjob-port", sets_tf_config=True,
    ),
    "pytorchjob": Kind(
        "PyTorchJob", "pytorchReplicaSpecs", {"chief": "Master", "worker": "Worker"},
        "pytorch", "pytorchjob-port", 23456, first="chief",
    ),
    "jaxjob": Kind("JAXJob", "jaxReplicaSpecs", {"worker": "Worker"}, "jax", "jaxjob-port", 6666),
}  # fmt: skip


def custom_resource(settings: Settings) -> Object:
    """The object of the kind that the settings name."""
    kind = KINDS[settings.form]
    counts = _counts(settings, kind)
    cluster = _cluster(settings, kind, counts)
    policy = {"cleanPodPolicy": "Running", "backoffLimit": settings.request.restarts}
    replicas = {
        kind.types[job]: _replica(settings, kind, cluster, job, count)
        for job, count in counts.items()
    }
    spec: Object = {"runPolicy": policy, kind.replicas: replicas}
    if kind.sets_tf_config and not settings.request.until_chief:
        spec["successPolicy"] = "AllWorkers"
    made = {"apiVersion": "kubeflow.org/v1", "kind": kind.kind}
    return {**made, "metadata": settings.metadata(), "spec": spec}


def _counts(settings: Settings, kind: Kind) -> dict[str, int]:
    """How many tasks each job has, of those that this kind knows."""
    counts = {job: n for job, n in settings.request.counts.items() if n}
    counts |= {"evaluator": 1} if settings.request.evaluator else {}
    if kind.first and kind.first not in counts:
        counts = {kind.first: 1, **counts, "worker": counts["worker"] - 1}
    if unknown := [job for job in counts if job not in kind.types]:
        raise LaunchError(f"a {kind.kind} has no {unknown[0]}: leave it out (--ps 0)")
    return {job: n for job, n in counts.items() if n}


def _cluster(settings: Settings, kind: Kind, counts: dict[str, int]) -> Cluster:
    """The names of the services that the operator makes, one for each task."""
    space = f".{settings.namespace}.svc" if settings.namespace else ""
    return {
        job: [
            f"{settings.name}-{kind.types[job].lower()}-{i}{space}:{settings.port}"
            for i in range(count)
        ]
        for job, count in counts.items()
        if job != "evaluator"
    }


def _replica(settings: Settings, kind: Kind, cluster: Cluster, job: str, count: int) -> Object:
    config = None if kind.sets_tf_config else tf_config(cluster, job)
    template = pod_template(
        settings, job, cluster, _INDEX, container=kind.container,
        ports=[(kind.port_name, kind.port or settings.port)],
        variables=told(settings, job, cluster, config),
    )  # fmt: skip
    return {"replicas": count, "restartPolicy": "OnFailure", "template": template}
