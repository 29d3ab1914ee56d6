"""A task as a pod: a container without rights, with what it is told, what it may write, and a look
at whether it serves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.launching.kubernetes.settings import PROGRAM_FOLDER, SECRET_FOLDER, Settings
from weft.cli.launching.plan import Cluster, filled_in, trains
from weft.core.processes import COORDINATOR, RANK, place_in

Object = dict[str, Any]
INDEX = "TASK_INDEX"  # a variable of every container: the number of its task
USER = 1000  # of the image
# A server listens at its own name, which DNS may not know yet when the pod starts.
WAIT_FOR_NAME = """\
import os, socket, sys, time
host = sys.argv[1 + int(os.environ["TASK_INDEX"])]
while True:
    try:
        sys.exit(not socket.getaddrinfo(host, None))
    except OSError:
        time.sleep(0.5)
"""
_CONFINED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
_SECRET_MODE = 0o440
_PROBE_SECONDS = 10
_STARTS_WITHIN = 60  # probes


def tf_config(cluster: Cluster, job: str, evaluator: str = "") -> str:
    """What the tasks of a job are told: one text for all, in which Kubernetes puts the number."""
    if job == "evaluator":
        cluster = {**cluster, job: [evaluator]}
    marker = "task-index"
    text = json.dumps({"cluster": cluster, "task": {"type": job, "index": marker}})
    return text.replace(f'"{marker}"', f"$({INDEX})")


def told(settings: Settings, job: str, cluster: Cluster, config: str | None) -> dict[str, str]:
    """The variables that tell a task of the others: `config` as TF_CONFIG, and its rank.

    Those that train without parameter servers are a group, for collectives. Tasks that know each
    other by rank are told of nothing else.
    """
    alike = settings.request.alike
    kept = {} if config is None or alike else {"TF_CONFIG": config}
    members = [
        (each, i) for each in cluster if trains((each, 0)) for i in range(len(cluster[each]))
    ]
    if "ps" in cluster or (job, 0) not in members:
        return kept
    first = members.index((job, 0))
    addresses = [cluster[each][i] for each, i in members]
    place = place_in(addresses, first, {COORDINATOR: addresses[0]} if alike else {})
    number = f"{first}+$({INDEX})" if first else f"$({INDEX})"
    return {**place.environment(), RANK: number, **kept}


def pod_template(
    settings: Settings, job: str, cluster: Cluster, index_label: str, *, container: str = "weft",
    ports: Sequence[tuple[str, int]] = (), variables: Mapping[str, str] = {}, **pod: Any,
) -> Object:  # fmt: skip
    """The template of all pods of a job. The label holds the number of a task; `pod` goes to the
    specification as it is."""
    return {
        "metadata": {"labels": {**settings.labels, "app.kubernetes.io/component": job}},
        "spec": {
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "terminationGracePeriodSeconds": max(1, round(2 * settings.request.grace)),
            **pod,
            **_waiting(settings, cluster.get(job, ()), index_label),
            "containers": [
                {
                    "name": container,
                    "image": settings.image,
                    "command": ["weft"],
                    "args": _arguments(settings, job, cluster),
                    "workingDir": "/work",
                    "env": _variables(settings, index_label, variables),
                    "ports": [{"name": n, "containerPort": p} for n, p in _ports(settings, ports)],
                    "resources": _resources(settings, job),
                    "securityContext": _CONFINED,
                    "volumeMounts": _mounts(settings),
                    **_probes(settings, job),
                }
            ],
            "volumes": _volumes(settings),
        },
    }  # fmt: skip


def _waiting(settings: Settings, addresses: Sequence[str], index_label: str) -> Object:
    """A container that ends once the name of the pod is known."""
    hosts = [address.rpartition(":")[0] for address in addresses]
    if not hosts:
        return {}
    waits = {
        "name": "wait-for-name",
        "image": settings.image,
        "command": ["python", "-c", WAIT_FOR_NAME, *hosts],
        "env": _variables(settings, index_label, {})[:1],
        "securityContext": _CONFINED,
    }
    return {"initContainers": [waits]}


def _arguments(settings: Settings, job: str, cluster: Cluster) -> list[str]:
    """Kubernetes expands `$(NAME)`; what the user means by it is kept."""
    kept = [each.replace("$(", "$$(") for each in settings.arguments]
    return filled_in(kept, cluster, job, f"$({INDEX})")


def _variables(settings: Settings, index_label: str, more: Mapping[str, str]) -> list[Object]:
    """The number comes first: Kubernetes puts in only what was said before."""
    number = {"fieldRef": {"fieldPath": f"metadata.labels['{index_label}']"}}
    kept = {name: v.replace("$(", "$$(") for name, v in settings.environment.items()}
    others = [{"name": name, "value": value} for name, value in {**kept, **more}.items()]
    return [{"name": INDEX, "valueFrom": number}, *others]


def _ports(settings: Settings, ports: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Ports with names; tasks serve at the one of that number, which `weft` names if none does."""
    own = [] if settings.port in dict(ports).values() else [("weft", settings.port)]
    return [*ports, *own]


def _resources(settings: Settings, job: str) -> Object:
    wanted: Object = {"cpu": f"{settings.request.cpus:g}"}
    if settings.memory:
        wanted["memory"] = settings.memory
    limits = {"memory": settings.memory} if settings.memory else {}
    if settings.request.gpus_of(job):
        limits["nvidia.com/gpu"] = str(settings.gpus)
    return {"requests": wanted, **({"limits": limits} if limits else {})}


def _probes(settings: Settings, job: str) -> Object:
    """A parameter server must serve, or it is started again. Others may have reasons not to: they
    only count as ready when they do."""
    look = {"tcpSocket": {"port": settings.port}, "periodSeconds": _PROBE_SECONDS}
    if job == "evaluator":
        return {}
    if job != "ps":
        return {"readinessProbe": look}
    return {
        "startupProbe": {**look, "failureThreshold": _STARTS_WITHIN},
        "readinessProbe": look,
        "livenessProbe": {**look, "failureThreshold": 6},
    }


def _mounts(settings: Settings) -> list[Object]:
    mounts: list[Object] = [
        {"name": "work", "mountPath": "/work"},
        {"name": "tmp", "mountPath": "/tmp"},
    ]
    if settings.source is not None:
        mounts.append({"name": "program", "mountPath": PROGRAM_FOLDER, "readOnly": True})
    if settings.secret_keys:
        mounts.append({"name": "secret", "mountPath": SECRET_FOLDER, "readOnly": True})
    return mounts


def _volumes(settings: Settings) -> list[Object]:
    claim = {"persistentVolumeClaim": {"claimName": settings.claim}}
    volumes: list[Object] = [
        {"name": "work", **(claim if settings.claim else {"emptyDir": {}})},
        {"name": "tmp", "emptyDir": {}},
    ]
    if settings.source is not None:
        volumes.append({"name": "program", "configMap": {"name": f"{settings.name}-program"}})
    if settings.secret_keys:
        secret = {"secretName": settings.secret, "defaultMode": _SECRET_MODE}
        volumes.append({"name": "secret", "secret": secret})
    return volumes
