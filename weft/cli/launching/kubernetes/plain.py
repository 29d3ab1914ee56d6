"""A cluster of objects that every Kubernetes has.

Workers, chief and evaluator are Jobs whose pods have numbers (1.33 and later), parameter servers a
StatefulSet; a Service without an address gives all of them names.
"""

from __future__ import annotations

import base64
from typing import Any

from weft.cli.launching.kubernetes.pods import Object, pod_template, tf_config, told
from weft.cli.launching.kubernetes.settings import Settings
from weft.cli.launching.plan import JOBS, Cluster

_JOB_INDEX = "batch.kubernetes.io/job-completion-index"
_SET_INDEX = "apps.kubernetes.io/pod-index"
_USAGE = 2  # the exit code of a program that did not understand its arguments: it never will


def cluster_of(settings: Settings) -> Cluster:
    """The names that the Service gives."""
    counts = {job: settings.request.counts.get(job, 0) for job in JOBS}
    return {
        job: [_address(settings, job, i) for i in range(count)]
        for job, count in counts.items()
        if count
    }


def _address(settings: Settings, job: str, index: int) -> str:
    return f"{settings.name}-{job}-{index}.{settings.name}:{settings.port}"


def workloads(settings: Settings) -> list[Object]:
    """The Service, and the objects that make pods."""
    jobs = [job for job in ("chief", "worker") if settings.request.counts.get(job)]
    jobs += ["evaluator"] * settings.request.evaluator
    servers = [_parameter_servers(settings)] if settings.request.counts.get("ps") else []
    return [_service(settings), *servers, *(_job(settings, job) for job in jobs)]


def _service(settings: Settings) -> Object:
    """Names are there before tasks are ready: they get ready by finding each other."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": settings.metadata(),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": settings.labels,
            "ports": [{"name": "weft", "port": settings.port}],
        },
    }


def _template(settings: Settings, job: str, index_label: str, **pod: Any) -> Object:
    cluster = cluster_of(settings)
    config = tf_config(cluster, job, _address(settings, job, 0))
    variables = told(settings, job, cluster, config)
    return pod_template(
        settings, job, cluster, index_label, variables=variables, subdomain=settings.name, **pod
    )


def _parameter_servers(settings: Settings) -> Object:
    labels = {**settings.labels, "app.kubernetes.io/component": "ps"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": settings.metadata("-ps"),
        "spec": {
            "serviceName": settings.name,
            "replicas": settings.request.counts["ps"],
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": _template(settings, "ps", _SET_INDEX),
        },
    }


def _job(settings: Settings, job: str) -> Object:
    """A pod that fails is made anew, so often; one that Kubernetes itself ends does not count."""
    count = settings.request.counts.get(job, 1)
    mistake = {"containerName": "weft", "operator": "In", "values": [_USAGE]}
    disrupted = [{"type": "DisruptionTarget", "status": "True"}]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": settings.metadata(f"-{job}"),
        "spec": {
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": count,
            "backoffLimitPerIndex": settings.request.restarts,
            "maxFailedIndexes": 0,
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {
                "rules": [
                    {"action": "FailJob", "onExitCodes": mistake},
                    {"action": "Ignore", "onPodConditions": disrupted},
                ]
            },
            "template": _template(settings, job, _JOB_INDEX, restartPolicy="Never"),
        },
    }


# ---- around the pods, whoever makes them ----


def shared_objects(settings: Settings, generated: bool) -> list[Object]:
    """Who may connect; and the program and secrets, unless kustomize makes those from files."""
    objects = [_network_policy(settings)]
    if settings.source is not None and not generated:
        objects.append(_program(settings, settings.source.name, settings.source.read_text()))
    if settings.files and not generated:
        objects.append(_secret(settings))
    return objects


def _network_policy(settings: Settings) -> Object:
    """Only tasks of this run reach its tasks: who can open a session can run anything there."""
    ours = {"podSelector": {"matchLabels": settings.labels}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": settings.metadata(),
        "spec": {**ours, "policyTypes": ["Ingress"], "ingress": [{"from": [ours]}]},
    }


def _program(settings: Settings, name: str, text: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": settings.metadata("-program"),
        "data": {name: text},
    }


def _secret(settings: Settings) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": settings.metadata("-secret"),
        "type": "Opaque",
        "data": {
            key: base64.b64encode(path.read_bytes()).decode()
            for key, path in settings.files.items()
        },
    }
