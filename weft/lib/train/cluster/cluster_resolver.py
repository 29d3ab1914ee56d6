"""Cluster resolvers: where a program learns which tasks there are, and which of them it is."""

from __future__ import annotations

import collections
import json
import os
from collections.abc import Callable
from typing import Any

from weft.core import compat
from weft.lib.train.cluster.cluster_spec import ClusterSpec


def _set_or(name: str, ask: Callable[[Any], Any]) -> Any:
    """An attribute that is what it was set to, or else what `ask` finds out."""

    def get(self: Any) -> Any:
        own = self._own.get(name)
        return ask(self) if own is None else own

    def put(self: Any, value: Any) -> None:
        self._own[name] = value

    return property(get, put)


def url_of(address: str, rpc_layer: str | None) -> str:
    """The target of a session for an address."""
    return f"{rpc_layer}://{address}" if rpc_layer else address


class ClusterResolver:
    """The base of all resolvers. `task_type` and `task_id` say which task the program is."""

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = None

    def cluster_spec(self) -> ClusterSpec:
        """The cluster, as it is now."""
        raise NotImplementedError("cluster_spec is not implemented.")

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The target of a session on a task, or on the task that is the resolver's own."""
        raise NotImplementedError("master is not implemented.")

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many devices of each type a task has, or with nothing said, the cluster."""
        from weft.client.session import Session

        with Session(self.master(task_type, task_id), config=config_proto) as session:
            devices = session.list_devices()
        found: dict[str, int] = collections.defaultdict(int)
        task = f"/job:{task_type}/replica:0/task:{task_id}/"
        for device in devices:
            if None in (task_type, task_id) or device.name.startswith(task):
                found[device.device_type] += 1
        return found

    @property
    def environment(self) -> str | None:
        """The kind of environment that the program runs in; empty if it is not set."""
        return ""


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is known."""

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._cluster_spec, self._master = cluster_spec, master
        self._environment, self._num_accelerators = environment, num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster_spec

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        if task_type is None or task_id is None:
            return url_of(self._master, rpc_layer or self.rpc_layer)
        address = self._cluster_spec.task_address(task_type, task_id)
        return url_of(address, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        return self._num_accelerators or {}

    @property
    def environment(self) -> str | None:
        return self._environment


class TFConfigClusterResolver(ClusterResolver):
    """The cluster of the environment variable TF_CONFIG, unless an argument says otherwise."""

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._own = {"task_type": task_type, "task_id": task_id, "rpc_layer": rpc_layer}
        self._environment = environment

    task_type = _set_or("task_type", lambda self: _tf_config().get("task", {}).get("type"))
    task_id = _set_or("task_id", lambda self: _number(_tf_config().get("task", {}).get("index")))
    rpc_layer = _set_or("rpc_layer", lambda self: _tf_config().get("rpc_layer"))

    @property
    def environment(self) -> str | None:
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec(_tf_config().get("cluster", {}))

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Empty, for a session in this process, where there is no other task."""
        told: str | None = _tf_config().get("session_master")
        if told is not None:
            return told
        spec = self.cluster_spec()
        if sum(map(spec.num_tasks, spec.jobs)) <= 1:
            return ""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        return url_of(spec.task_address(kind, number), rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        return super().num_accelerators(kind, number, config_proto)


def _tf_config() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG", "{}"))
    return told


def _number(text: Any) -> int | None:
    return None if text is None else int(text)


class UnionClusterResolver(ClusterResolver):
    """Several clusters as one. The first resolver is asked for what only one can answer."""

    def __init__(self, *args: ClusterResolver, **kwargs: Any) -> None:
        """`kwargs`: task_type, task_id and rpc_layer."""
        self._own = {name: kwargs.pop(name, None) for name in ("task_type", "task_id", "rpc_layer")}
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for each in args:
            if not isinstance(each, ClusterResolver):
                raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args

    task_type = _set_or("task_type", lambda self: self._resolvers[0].task_type)
    task_id = _set_or("task_id", lambda self: self._resolvers[0].task_id)
    rpc_layer = _set_or("rpc_layer", lambda self: self._resolvers[0].rpc_layer)

    @property
    def environment(self) -> str | None:
        return self._resolvers[0].environment

    def cluster_spec(self) -> ClusterSpec:
        """Tasks in lists one after the other; those of numbered jobs keep their numbers."""
        specs = [resolver.cluster_spec().as_dict() for resolver in self._resolvers]
        merged: dict[str, Any] = {}
        for job in dict.fromkeys(job for spec in specs for job in spec):
            parts = [spec[job] for spec in specs if job in spec]
            if all(isinstance(part, list) for part in parts):
                merged[job] = [address for part in parts for address in part]
            else:
                merged[job] = _numbered(parts)
        return ClusterSpec(merged)

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        if task_type is None or task_id is None:
            return self._resolvers[0].master(rpc_layer=rpc_layer)
        address = self.cluster_spec().task_address(task_type, task_id)
        return url_of(address, rpc_layer or self._own["rpc_layer"])

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


def _numbered(parts: list[Any]) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in parts:
        tasks = dict(enumerate(part)) if isinstance(part, list) else part
        twice = found.keys() & tasks.keys()
        if twice:
            raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {twice!r}")
        found.update(tasks)
    return found


class TPUClusterResolver(ClusterResolver):
    """The address of a TPU, where it is given as one.

    Names of TPUs are looked up by Google's cloud service, of which weft has no client.

    Args:
        tpu: the address, as "grpc://host:port"; None: from the environment.
        zone, project, credentials, service, discovery_url: of Google's cloud; not used.
        job_name: the job of the TPU's workers.
        coordinator_name, coordinator_address: of a job beside it.

    Raises:
        ValueError: no address is given or found.

    Example:
        >>> tf.contrib.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470").master()
        'grpc://10.0.0.1:8470'
    """

    def __init__(
        self,
        tpu: Any = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        if isinstance(tpu, list):
            if not tpu:
                raise ValueError("At least one TPU must be specified.")
            if len(tpu) != 1:
                raise NotImplementedError(
                    "Using multiple TPUs in a single session is not yet implemented"
                )
            tpu = tpu[0]
        if tpu is None:
            tpu = os.environ.get("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS") or os.environ.get("TPU_NAME")
        if tpu is None:
            raise ValueError("Please provide a TPU Name to connect to.")
        self._address = compat.as_str(tpu)
        self.task_type, self.task_id = job_name, 0
        is_local = self._address in ("", "local") or self._address.startswith("localhost:")
        self._environment = "google" if is_local else ""
        self.rpc_layer = None if is_local else "grpc"
        if not is_local and not self._address.startswith("grpc://"):
            raise ImportError(
                "googleapiclient and oauth2client must be installed before using the TPU cluster "
                "resolver. Execute: `pip install --upgrade google-api-python-client` and `pip "
                "install --upgrade oauth2client` to install with pip."
            )

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        return self._address

    def get_master(self) -> str:
        """As `master`."""
        return self.master()

    def get_job_name(self) -> str | None:
        """The job that the TPUs belong to; None where sessions need not be told."""
        return self.task_type if self._address.startswith("grpc://") else None

    def cluster_spec(self) -> ClusterSpec:
        """Of an address that is known, the one task that it is; nothing of a local one."""
        if not self._address.startswith("grpc://"):
            return ClusterSpec({})
        return ClusterSpec({str(self.task_type): [self._address.removeprefix("grpc://")]})

    @property
    def environment(self) -> str | None:
        return self._environment
