"""A server for the task that TF_CONFIG describes."""

from __future__ import annotations

import json
import os
from typing import Any

from weft.cluster.server import Server


def run_standard_tensorflow_server(session_config: Any = None) -> Server:
    """Starts the server of this task."""
    found = json.loads(os.environ.get("TF_CONFIG", "{}"))
    for key in ("cluster", "task"):
        if key not in found:
            raise ValueError(f'"{key}" is not found in TF_CONFIG.')
    task = found["task"]
    if "type" not in task:
        raise ValueError('"task_type" is not found in the `task` part of TF_CONFIG.')
    if not {"chief", "worker"} & set(found["cluster"]):
        raise ValueError("You must have `chief` or `worker` jobs in the `cluster_spec`.")
    return Server(
        found["cluster"],
        job_name=task["type"],
        task_index=int(task.get("index", 0)),
        protocol=found.get("rpc_layer", "grpc"),
        config=session_config,
    )
