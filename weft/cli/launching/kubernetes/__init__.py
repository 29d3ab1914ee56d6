"""The engine `kubernetes`: it writes manifests of a cluster, and runs nothing.

`settings.py` is what was asked for in Kubernetes's words, `pods.py` a task as a pod, `plain.py` and
`kubeflow.py` the objects around the pods, `writing.py` the streams and folders of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from weft.cli.launching.kubernetes.kubeflow import KINDS, custom_resource
from weft.cli.launching.kubernetes.plain import shared_objects, workloads
from weft.cli.launching.kubernetes.settings import Settings, settings_of
from weft.cli.launching.kubernetes.writing import as_json, as_yaml, write_folder
from weft.cli.launching.options import RESOURCES, Option
from weft.cli.launching.request import Request
from weft.cli.terminal import complain

OPTIONS: tuple[Option, ...] = (
    Option("--image", "the image that tasks run in; `weft` must be in it", {"metavar": "IMAGE"}),
    Option(
        "--output", "what is written: a stream of YAML (the default) or JSON, or a folder for"
        " `kubectl apply -k`",
        {"choices": ("yaml", "json", "kustomize")}, "-o",
    ),
    Option("--folder", "where to write for kustomize (the name)", {"metavar": "FOLDER"}),
    Option(
        "--form", "objects of Kubernetes itself (plain, the default), or one of Kubeflow's"
        " training operator",
        {"choices": ("plain", *KINDS)},
    ),
    Option("--name", "of everything (that of PROGRAM)", {"metavar": "NAME"}),
    Option("--namespace", "for everything (the current one)", {"metavar": "NAME"}),
    Option("--port", "at which tasks serve (2222)", {"metavar": "N", "type": int}),
    Option("--memory", "of each task, as 4Gi", {"metavar": "AMOUNT"}),
    Option(
        "--claim", "a PersistentVolumeClaim that all tasks may write, for checkpoints: their /work",
        {"metavar": "NAME"},
    ),
    Option(
        "--secret", "a Secret that exists, and which of token, tls.crt, tls.key, ca.crt are in it"
        " (token); without it, one is written from the files of the options below",
        {"metavar": "NAME[=KEYS]"},
    ),
    Option(
        "--in-image", "PROGRAM is a path in the image; a file from here goes along as a ConfigMap",
        {"action": "store_true"},
    ),
    *RESOURCES,
)  # fmt: skip


def launch(request: Request, options: Mapping[str, Any]) -> int:
    """Writes the manifests."""
    settings = settings_of(request, options)
    if not settings.secret_keys:
        complain("launch", "no token and no TLS: only a NetworkPolicy will guard the tasks")
    output = options.get("output", "yaml")
    if output == "kustomize":
        write_folder(settings, objects_of(settings, generated=True), options.get("folder"))
    else:
        writer = {"yaml": as_yaml, "json": as_json}[output]
        sys.stdout.write(writer(objects_of(settings)))
    return 0


def objects_of(settings: Settings, generated: bool = False) -> list[dict[str, Any]]:
    """All objects. `generated`: but for those that kustomize makes from files."""
    shared = shared_objects(settings, generated)
    if settings.form == "plain":
        return [*shared, *workloads(settings)]
    return [*shared, custom_resource(settings)]
