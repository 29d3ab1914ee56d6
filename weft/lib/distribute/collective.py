"""MultiWorkerMirroredStrategy: copies of the model on the devices of workers.

Each worker is a process with a graph and a session of its own, on its own devices; what reaches
the others are collectives.
"""

from __future__ import annotations

import copy
import enum
from typing import Any

from weft.core.processes import Place, place_in
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import device
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.lib.distribute import device_util, group_ops
from weft.lib.distribute.cross_device_ops import (
    AllReduceCrossDeviceOps,
    CrossDeviceOps,
    _joined,
    check_destinations,
    devices_of,
)
from weft.lib.distribute.input import InputPipeline
from weft.lib.distribute.input_context import InputContext
from weft.lib.distribute.mirrored import MirroredExtended
from weft.lib.distribute.strategy import Strategy
from weft.lib.distribute.values import PerReplica
from weft.lib.distribute.variables import SyncOnReadVariable
from weft.lib.distribute.worker import Worker, gpus_of
from weft.lib.distribute.worker_roles import id_in_cluster, worker_count
from weft.lib.platform import tf_logging as logging
from weft.lib.train.cluster.cluster_resolver import TFConfigClusterResolver
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.state.reduce_op import ReduceOp
from weft.ops.state.variable_def import VariableAggregation
from weft.runtime.xla.processes import join


class CollectiveCommunication(enum.Enum):
    """How workers talk; whatever is asked for, sums are made the same way."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CollectiveAllReduce(AllReduceCrossDeviceOps):
    """Sums over the devices of this worker, and of those over all workers."""

    def __init__(self, workers: int = 1) -> None:
        super().__init__()
        self._num_between_graph_workers = workers

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        if self._num_between_graph_workers == 1:
            return super().reduce_implementation(reduce_op, per_replica_value, destinations)
        return self._reduced(reduce_op, [(per_replica_value, destinations)])[0]

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        if self._num_between_graph_workers == 1:
            return super().batch_reduce_implementation(reduce_op, value_destination_pairs)
        return self._reduced(reduce_op, list(value_destination_pairs))

    def _reduced(self, reduce_op: Any, pairs: list[tuple[Any, Any]]) -> list[Any]:
        mine = [self._joined_here(reduce_op, *pair) for pair in pairs]
        mean = reduce_op is ReduceOp.MEAN
        rows = {i: each for i, each in enumerate(mine) if isinstance(each, IndexedSlices)}
        dense = [i for i in range(len(mine)) if i not in rows]
        with device(device_util.host_of(self._where(*pairs[0])) if rows else None):
            found: dict[int, Any] = {
                i: group_ops.reduce_slices(each, mean) for i, each in rows.items()
            }
        with device(self._where(*pairs[0])):
            sums = group_ops.reduce_all([mine[i] for i in dense], mean)
        found.update(zip(dense, sums, strict=True))
        return [self.broadcast(found[i], where) for i, (_, where) in enumerate(pairs)]

    def _joined_here(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        if len(value.values) == 1:
            return value.values[0]
        with device(self._where(value, destinations)):
            return _joined(value.values, self.accumulation_fn, reduce_op)

    def _where(self, value: Any, destinations: Any) -> str:
        return devices_of(destinations if check_destinations(destinations) else value)[0]


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
        self._place = Place()
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
            self._join_workers(spec, task_type, task_id)
            self._initialize_local(cluster_resolver)
            self._set_task(spec, task_type, task_id)
            return
        worker = f"/job:{task_type}/task:{task_id}"
        gpus = [f"{worker}/device:GPU:{i}" for i in range(self._gpus(cluster_resolver))]
        self._initialize(gpus or [worker])
        self._host = self._default_device = worker
        self._set_task(spec, task_type, task_id)

    def _join_workers(self, spec: Any, task_type: str, task_id: int) -> None:
        """Waits for the other workers; then they are one group."""
        jobs = spec.as_dict()
        addresses = [address for job in ("chief", "worker") for address in jobs.get(job, ())]
        place = place_in(addresses, id_in_cluster(spec, task_type, task_id))
        join(place)
        self._place, self._cross_device_ops = place, CollectiveAllReduce(place.size)

    # ---- several workers ----

    @property
    def _has_own_session(self) -> bool:
        return self._place.size > 1

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._place.size * len(self._devices)

    @property
    def _first_replica(self) -> int:
        return self._place.rank * len(self._devices)

    def _pipeline(self) -> InputPipeline:
        context = InputContext(self._place.size, self._place.rank, self._num_replicas_in_sync)
        return InputPipeline(self._host, self._devices, context)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """A plain tensor is what the one replica of this worker has."""
        if self._place.size > 1 and isinstance(value, Tensor):
            value = PerReplica(self._devices[:1], (value,))
        return super()._reduce_to(reduce_op, value, destinations)

    def _first_value(self, where: str, kwargs: dict[str, Any]) -> Any:
        """The initial value that the first worker has."""
        given = kwargs["initial_value"]
        if self._place.size == 1:
            return given

        def initial_value() -> Any:
            value = convert_to_tensor(given() if callable(given) else given, kwargs.get("dtype"))
            with device(where):
                return group_ops.broadcast(value)

        return initial_value

    def read_var(self, v: Any) -> Any:
        """The value outside of replicas; for a checkpoint, which one worker writes, of its own."""
        if self._place.size > 1 and isinstance(v, SyncOnReadVariable):
            return self._read_here(v)
        return super().read_var(v)

    def _read_here(self, v: SyncOnReadVariable) -> Any:
        if v.aggregation is VariableAggregation.ONLY_FIRST_REPLICA or len(v.values) == 1:
            return array.identity(v.primary)
        how = ReduceOp.from_variable_aggregation(v.aggregation)
        return _joined([each.value() for each in v.values], math.add_n, how)

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        if self._cluster_spec is not None and not self._has_own_session:
            del updated.device_filters[:]
            updated.device_filters.append(f"/job:{self._task_type}/task:{self._task_id}")
        return updated

    def _get_cross_device_ops(self) -> CrossDeviceOps:
        ops: CrossDeviceOps = self._cross_device_ops
        return ops
