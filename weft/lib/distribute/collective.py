"""MultiWorkerMirroredStrategy: copies of the model on the devices of workers; here of one."""

from __future__ import annotations

import copy
import enum
from typing import Any

from weft.lib.distribute import device_util
from weft.lib.distribute.cross_device_ops import AllReduceCrossDeviceOps, CrossDeviceOps
from weft.lib.distribute.mirrored import MirroredExtended
from weft.lib.distribute.strategy import Strategy
from weft.lib.distribute.worker import Worker, gpus_of
from weft.lib.distribute.worker_roles import worker_count
from weft.lib.platform import tf_logging as logging
from weft.lib.train.cluster.cluster_resolver import TFConfigClusterResolver


class CollectiveCommunication(enum.Enum):
    """How workers talk; whatever is asked for, sums are made the same way."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CollectiveAllReduce(AllReduceCrossDeviceOps):
    """Sums over the devices of all workers, of which there is one."""


class MultiWorkerMirroredStrategy(Strategy):
    """One replica on each GPU of this worker, or on its CPU; the cluster comes from TF_CONFIG."""

    def __init__(self, communication: Any = CollectiveCommunication.AUTO) -> None:
        super().__init__(CollectiveExtended(self, communication))

    @classmethod
    def _from_local_devices(cls, devices: Any) -> MultiWorkerMirroredStrategy:
        made = cls()
        made.extended._initialize_local(TFConfigClusterResolver(), devices)
        return made


class CollectiveExtended(Worker, MirroredExtended):
    """The implementation of a MultiWorkerMirroredStrategy."""

    def __init__(
        self, container_strategy: Any, communication: Any, cluster_resolver: Any = None
    ) -> None:
        super().__init__(container_strategy, ["/device:CPU:0"], CollectiveAllReduce())
        assert isinstance(communication, CollectiveCommunication)
        self._communication = communication
        resolver = cluster_resolver or TFConfigClusterResolver()
        if resolver.cluster_spec().as_dict():
            self._initialize_worker(resolver)
        else:
            self._initialize_local(resolver)

    def _initialize_local(self, cluster_resolver: Any, devices: Any = None) -> None:
        self._initialize(devices or device_util.local_devices(self._gpus(cluster_resolver)))
        self._host = device_util.canonicalize("/device:CPU:0")

    def _gpus(self, cluster_resolver: Any) -> int:
        count = gpus_of(cluster_resolver)
        if self._communication is CollectiveCommunication.NCCL and not count:
            logging.warning("Enabled NCCL communication but no GPUs detected/specified.")
        return count

    def _initialize_worker(self, cluster_resolver: Any) -> None:
        spec = cluster_resolver.cluster_spec()
        task_type, task_id = cluster_resolver.task_type, cluster_resolver.task_id
        if task_type is None or task_id is None:
            raise ValueError(
                "When `cluster_spec` is given, you must also specify `task_type` and `task_id`."
            )
        workers = worker_count(spec, task_type)
        if not workers:
            raise ValueError(
                "No `worker`, `chief` or `evaluator` tasks can be found in `cluster_spec`."
            )
        if workers > 1:
            raise NotImplementedError(
                f"MultiWorkerMirroredStrategy with {workers} workers: weft has it for one worker"
                " with several devices. Across workers, use ParameterServerStrategy, or"
                " tf.train.SyncReplicasOptimizer."
            )
        worker = f"/job:{task_type}/task:{task_id}"
        gpus = [f"{worker}/device:GPU:{i}" for i in range(self._gpus(cluster_resolver))]
        self._initialize(gpus or [worker])
        self._host = self._default_device = worker
        self._set_task(spec, task_type, task_id)

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        if self._cluster_spec is not None:
            del updated.device_filters[:]
            updated.device_filters.append(f"/job:{self._task_type}/task:{self._task_id}")
        return updated

    def _get_cross_device_ops(self) -> CrossDeviceOps:
        ops: CrossDeviceOps = self._cross_device_ops
        return ops
