"""The identity of a worker, for strategies whose workers have graphs of their own."""

from __future__ import annotations

from typing import Any

from weft.lib.distribute import device_util
from weft.lib.distribute.worker_roles import is_chief
from weft.lib.train.cluster.cluster_resolver import SimpleClusterResolver, TFConfigClusterResolver


class Worker:
    """The part of a strategy that knows its place in a cluster; without one, it is the chief."""

    _devices: tuple[str, ...]
    _cluster_spec: Any = None
    _task_type: str | None = None
    _task_id: int | None = None
    _is_chief = True

    def _initialize_worker(self, cluster_resolver: Any) -> None:
        raise NotImplementedError("must be implemented in descendants")

    def _update_config_proto(self, config_proto: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    def _set_task(self, spec: Any, task_type: str, task_id: int) -> None:
        self._is_chief = is_chief(spec, task_type, task_id)
        self._cluster_spec, self._task_type, self._task_id = spec, task_type, task_id

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        if cluster_spec:
            gpus = sum(device_util.is_gpu(name) for name in self._devices)
            resolver = SimpleClusterResolver(
                cluster_spec, task_type=task_type, task_id=task_id, num_accelerators={"GPU": gpus}
            )
            self._initialize_worker(resolver)
        if session_config is not None:
            session_config.CopyFrom(self._update_config_proto(session_config))

    @property
    def experimental_between_graph(self) -> bool:
        return True

    @property
    def should_checkpoint(self) -> bool:
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        return self._is_chief


def gpus_of(cluster_resolver: Any) -> int:
    """How many GPUs a worker has: as many as there are here, unless the resolver knows."""
    if cluster_resolver is None or isinstance(cluster_resolver, TFConfigClusterResolver):
        return device_util.count_gpus()
    return int(cluster_resolver.num_accelerators().get("GPU", 0))
