"""Strategies that keep one copy of each variable, away from the replicas.

ParameterServerStrategy deals variables out to the parameter servers of a cluster, and every worker
has a graph of its own; CentralStorageStrategy keeps them on one device of this process.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.core.device_name import DeviceSpec
from weft.graph.graph import GraphKeys, colocate_with, device, get_default_graph
from weft.lib.distribute import device_util
from weft.lib.distribute.aggregating import AggregatingVariable
from weft.lib.distribute.cross_device_ops import CrossDeviceOps, ReductionToOneDevice, devices_of
from weft.lib.distribute.input import InputPipeline
from weft.lib.distribute.input_context import InputContext
from weft.lib.distribute.mirrored import ReplicatedExtended
from weft.lib.distribute.mirrored_creation import leave_collections
from weft.lib.distribute.numpy_dataset import SingleDevice
from weft.lib.distribute.strategy import Strategy
from weft.lib.distribute.values import DistributedValues, Mirrored
from weft.lib.distribute.worker import Worker, gpus_of
from weft.lib.distribute.worker_roles import cluster_jobs, id_in_cluster, worker_count
from weft.lib.train.cluster.cluster_resolver import TFConfigClusterResolver
from weft.lib.train.cluster.device_setter import replica_device_setter
from weft.ops.array import array
from weft.ops.kit.replicas import updating
from weft.ops.state.resource_variable import BaseResourceVariable
from weft.ops.state.variable_def import validate_distribution

_LOCAL_CPU = "/device:CPU:0"


class ParameterServerStrategy(Strategy):
    """Variables on the parameter servers of the cluster, replicas on the devices of this worker."""

    def __init__(self, cluster_resolver: Any = None) -> None:
        resolver = cluster_resolver or TFConfigClusterResolver()
        super().__init__(ParameterServerExtended(self, cluster_resolver=resolver))


class CentralStorageStrategy(Strategy):
    """Variables on one device, by default the CPU; replicas on `compute_devices`, or all GPUs."""

    def __init__(self, compute_devices: Any = None, parameter_device: str | None = None) -> None:
        super().__init__(
            ParameterServerExtended(
                self, compute_devices=compute_devices, parameter_device=parameter_device
            )
        )


class ParameterServerExtended(Worker, ReplicatedExtended):
    """The implementation of both strategies."""

    def __init__(
        self,
        container_strategy: Any,
        cluster_resolver: Any = None,
        compute_devices: Any = None,
        parameter_device: str | None = None,
    ) -> None:
        super().__init__(container_strategy)
        self._cross_device_ops = ReductionToOneDevice(_LOCAL_CPU)
        if cluster_resolver is not None and cluster_resolver.cluster_spec().as_dict():
            self._initialize_worker(cluster_resolver)
        else:
            self._initialize_local(compute_devices, parameter_device, cluster_resolver)

    def _initialize_local(
        self, compute_devices: Any, parameter_device: str | None, cluster_resolver: Any
    ) -> None:
        self._host = device_util.canonicalize(_LOCAL_CPU)
        if compute_devices is None:
            compute_devices = device_util.local_devices(gpus_of(cluster_resolver))
        self._devices = tuple(device_util.canonicalize(name) for name in compute_devices)
        if parameter_device is None:
            parameter_device = compute_devices[0] if len(compute_devices) == 1 else _LOCAL_CPU
        self._variable_device: Any = parameter_device
        self._parameter_devices: tuple[str, ...] = (parameter_device,)

    def _initialize_worker(self, cluster_resolver: Any) -> None:
        spec = cluster_resolver.cluster_spec()
        task_type, task_id = cluster_resolver.task_type, cluster_resolver.task_id
        if not task_type or task_id is None:
            raise ValueError(
                "When `cluster_spec` is given, you must also specify `task_type` and `task_id`"
            )
        servers = len(cluster_jobs(spec).get("ps", []))
        if not servers:
            raise ValueError("The cluster spec needs to have `ps` jobs.")
        worker = f"/job:{task_type}/task:{task_id}"
        gpus = [f"{worker}/device:GPU:{i}" for i in range(gpus_of(cluster_resolver))]
        self._devices = tuple(device_util.canonicalize(name) for name in gpus or [worker])
        self._host = self._default_device = worker
        self._variable_device = replica_device_setter(
            ps_tasks=servers, worker_device=worker, merge_devices=True, cluster=spec
        )
        self._parameter_devices = tuple(f"/job:ps/task:{i}" for i in range(servers))
        self._set_task(spec, task_type, task_id)

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        updated.isolate_session_state = self._cluster_spec is None
        if self._cluster_spec is None:
            return updated
        del updated.device_filters[:]
        own = f"/job:{self._task_type}/task:{self._task_id}"
        filters = {"chief": [own, "/job:ps"], "worker": [own, "/job:ps"], "evaluator": [own]}
        updated.device_filters.extend(filters.get(str(self._task_type), []))
        return updated

    def _pipeline(self) -> InputPipeline:
        if self._cluster_spec is None:
            return super()._pipeline()
        spec, task_type = self._cluster_spec, self._task_type
        number = id_in_cluster(spec, task_type, self._task_id or 0)
        context = InputContext(worker_count(spec, task_type), number, self._num_replicas_in_sync)
        return InputPipeline(self._host, self._devices, context)

    # ---- variables ----

    def _allow_variable_partition(self) -> bool:
        return True

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        create = next_creator if self._num_replicas_in_sync == 1 else self._wrapping(next_creator)
        beside = kwargs.pop("colocate_with", None)
        if isinstance(beside, SingleDevice):
            with device(beside.device):
                return create(**kwargs)
        if beside is not None:
            with device(None), colocate_with(beside):
                return create(**kwargs)
        with colocate_with(None, ignore_existing=True), device(self._variable_device):
            return create(**kwargs)

    def _wrapping(self, next_creator: Callable[..., Any]) -> Callable[..., Any]:
        """Makes variables that join what replicas assign to them."""

        def create(**kwargs: Any) -> Any:
            collections = kwargs.pop("collections", None)
            collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
            _, aggregation, trainable = validate_distribution(
                kwargs.get("synchronization"), kwargs.pop("aggregation", None),
                kwargs.get("trainable"), kwargs.get("name"),
            )  # fmt: skip
            variable = next_creator(**kwargs, collections=[])
            variable._distribute_strategy = self._container_strategy()
            wrapped = AggregatingVariable(self._container_strategy(), variable, aggregation)
            leave_collections([variable])
            if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
                collections.append(GraphKeys.TRAINABLE_VARIABLES)
            get_default_graph().add_to_collections(collections, wrapped)
            return wrapped

        return create

    def read_var(self, v: Any) -> Any:
        return array.identity(v)

    def value_container(self, value: Any) -> Any:
        reference = getattr(value, "_aggregating_container", None)
        container = None if reference is None else reference()
        return value if container is None else container

    def non_slot_devices(self, var_list: Any) -> Any:
        return min(var_list, key=lambda variable: variable.name)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self._parameter_devices

    # ---- reducing and updating ----

    def _get_cross_device_ops(self) -> CrossDeviceOps:
        return self._cross_device_ops

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        self._check_destinations(destinations)
        return super()._reduce_to(reduce_op, value, destinations)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: list[Any]) -> list[Any]:
        for _, destinations in value_destination_pairs:
            self._check_destinations(destinations)
        return super()._batch_reduce_to(reduce_op, value_destination_pairs)

    def _check_destinations(self, destinations: Any) -> None:
        if self._cluster_spec is None or destinations is None:
            return
        names = {name: DeviceSpec.from_string(name) for name in devices_of(destinations)}
        elsewhere = [
            name
            for name, spec in names.items()
            if spec.job == self._task_type and spec.task != self._task_id
        ]
        if elsewhere:
            raise ValueError(
                f"Cannot reduce to another worker: {elsewhere[0]!r}, current worker is"
                f" {self._host!r}"
            )

    def _update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        held = var.get() if isinstance(var, AggregatingVariable) else var
        if not isinstance(held, BaseResourceVariable):
            raise ValueError(f"You can not update `var` {held!r}. It must be a Variable.")
        with colocate_with(held), updating(held.device):
            return self._updated(fn(held, *_single(args), **_single(kwargs)), group)

    def _update_non_slot(self, colocate: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        with device(colocate.device), updating(colocate.device):
            return self._updated(fn(*args, **kwargs), group)

    def _updated(self, result: Any, group: bool) -> Any:
        return result if group else nest.map_structure(self._local_results, result)

    # ---- what it is ----

    @property
    def _runs_in_replicas(self) -> bool:  # type: ignore[override]
        return len(self._devices) > 1

    @property
    def experimental_should_init(self) -> bool:
        return self._is_chief


def _single(structure: Any) -> Any:
    """Values that one variable can be updated with."""

    def one(value: Any) -> Any:
        if not isinstance(value, DistributedValues):
            return value
        if isinstance(value, Mirrored) and len(value.devices) == 1:
            return value.primary
        raise ValueError(
            f"You cannot update variable with a {type(value).__name__} object {value!r} when using"
            " ParameterServerStrategy. You must specify a single value or a Mirrored with a single"
            " value."
        )

    return nest.map_structure(one, structure)
