"""MirroredStrategy: a copy of the model on each device, all updated by the same gradients."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.core.device_name import DeviceSpec
from weft.graph.graph import device, name_scope
from weft.lib.distribute import device_util
from weft.lib.distribute.cross_device_ops import (
    CrossDeviceOps,
    NcclAllReduce,
    ReductionToOneDevice,
    check_destinations,
    reduce_non_distributed_value,
)
from weft.lib.distribute.extended import StrategyExtended
from weft.lib.distribute.input import InputPipeline
from weft.lib.distribute.input_context import InputContext
from weft.lib.distribute.mirrored_creation import create_mirrored
from weft.lib.distribute.numpy_dataset import SingleDevice, one_host_numpy_dataset
from weft.lib.distribute.replica_threads import call_for_each_replica
from weft.lib.distribute.steps import run_steps
from weft.lib.distribute.strategy import Strategy
from weft.lib.distribute.values import (
    DistributedValues,
    Mirrored,
    PerReplica,
    select_device_mirrored,
    update_regroup,
    value_container,
)
from weft.lib.distribute.variables import SyncOnReadVariable
from weft.lib.distribute.worker_roles import cluster_devices
from weft.ops.array import array
from weft.ops.kit.replicas import updating
from weft.ops.state.reduce_op import ReduceOp


class MirroredStrategy(Strategy):
    """One replica on each of `devices`: by default all GPUs, or the CPU where there is none."""

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        super().__init__(MirroredExtended(self, devices, cross_device_ops))


class ReplicatedExtended(StrategyExtended):
    """The base of strategies with replicas on devices of one process, wherever variables are."""

    _devices: tuple[str, ...] = ()
    _host: str

    # ---- input ----

    def _pipeline(self) -> InputPipeline:
        context = InputContext(num_replicas_in_sync=self._num_replicas_in_sync)
        return InputPipeline(self._host, self._devices, context)

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return self._pipeline().split(dataset).make_initializable_iterator()

    def _make_input_fn_iterator(self, input_fn: Any, replication_mode: Any = None) -> Any:
        return self._pipeline().iterator_of(input_fn)

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return self._pipeline().split(dataset)

    def _experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        return self._pipeline().from_function(dataset_fn)

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        with self._container_strategy().scope():
            return one_host_numpy_dataset(numpy_input, SingleDevice(self._host), session)

    def _experimental_run_steps_on_iterator(
        self, fn: Any, iterator: Any, iterations: Any, initial_loop_values: Any
    ) -> Any:
        return run_steps(self, fn, iterator, iterations, initial_loop_values)

    # ---- replicas ----

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return call_for_each_replica(self._container_strategy(), self._devices, fn, args, kwargs)

    def _get_cross_device_ops(self) -> CrossDeviceOps:
        raise NotImplementedError("must be implemented in descendants")

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        if isinstance(tensor, (float, int)):
            return tensor
        everywhere = PerReplica(self._devices, self._devices)
        where = destinations if check_destinations(destinations) else everywhere
        return self._get_cross_device_ops().broadcast(tensor, where)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        if isinstance(value, Mirrored):
            assert reduce_op is ReduceOp.MEAN, f"A sum of what is equal everywhere: {value}"
            return value
        if not isinstance(value, DistributedValues):
            return reduce_non_distributed_value(reduce_op, len(self._devices), value, destinations)
        return self._get_cross_device_ops().reduce(reduce_op, value, destinations)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: list[Any]) -> list[Any]:
        return self._get_cross_device_ops().batch_reduce(reduce_op, value_destination_pairs)

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return value.values if isinstance(value, DistributedValues) else (value,)

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return self._devices

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = copy.deepcopy(config_proto)
        updated.isolate_session_state = True
        return updated


class MirroredExtended(ReplicatedExtended):
    """The implementation of a MirroredStrategy."""

    _runs_in_replicas = True

    def __init__(
        self, container_strategy: Any, devices: Any = None, cross_device_ops: Any = None
    ) -> None:
        super().__init__(container_strategy)
        self._cross_device_ops = cross_device_ops
        self._initialize(devices or device_util.local_devices())

    def _initialize(self, devices: Sequence[str]) -> None:
        assert devices, "Must specify at least one device."
        self._devices = tuple(device_util.resolve(name) for name in devices)
        assert len(set(self._devices)) == len(self._devices), (
            f"No duplicates allowed in `devices` argument: {self._devices}"
        )
        workers = _workers_of(self._devices)
        if len(workers) > 1:
            raise ValueError(
                "In-graph multi-worker training with `MirroredStrategy` is not supported."
            )
        self._host = device_util.host_of(self._devices[0])
        self._default_device = workers[0] or None
        all_gpus = all(device_util.is_gpu(name) for name in self._devices)
        self._inferred: CrossDeviceOps = NcclAllReduce() if all_gpus else ReductionToOneDevice()

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        super()._configure(session_config)
        if cluster_spec:
            per_worker = sum(device_util.is_gpu(name) for name in self._devices)
            self._initialize(cluster_devices(cluster_spec, per_worker))

    def _get_cross_device_ops(self) -> CrossDeviceOps:
        return self._cross_device_ops or self._inferred

    # ---- variables ----

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        colocate_with = kwargs.pop("colocate_with", None)
        if isinstance(colocate_with, SingleDevice):
            with device(colocate_with.device):
                return next_creator(**kwargs)
        devices = self._devices if colocate_with is None else colocate_with.devices
        return create_mirrored(self, devices, next_creator, kwargs)

    def _first_value(self, where: str, kwargs: dict[str, Any]) -> Any:
        """The initial value of the copy in the first replica."""
        return kwargs["initial_value"]

    def _validate_colocate_with_variable(self, variable: Any) -> None:
        super()._validate_colocate_with_variable(variable)
        assert isinstance(variable, DistributedValues)

    def read_var(self, v: Any) -> Any:
        """The value outside of replicas."""
        if isinstance(v, SyncOnReadVariable):
            return v._get_cross_replica()
        assert isinstance(v, Mirrored)
        return array.identity(v.get())

    def value_container(self, value: Any) -> Any:
        """The variable that `value` is a copy of."""
        return value_container(value)

    def non_slot_devices(self, var_list: Any) -> Any:
        """The devices of an optimizer's own variables: those of all replicas."""
        return self._devices

    # ---- updates ----

    def _update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        assert isinstance(var, DistributedValues)
        own = [partial(fn, copy_) for copy_ in var.values]
        return self._update_each(var.devices, own, args, kwargs, group)

    def _update_non_slot(self, colocate: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        assert isinstance(colocate, tuple)
        return self._update_each(colocate, [fn] * len(colocate), args, kwargs, group)

    def _update_each(self, devices: Any, fns: Any, args: Any, kwargs: Any, group: bool) -> Any:
        """An update on each device, by the function that is for it."""
        updates = []
        for i, (where, fn) in enumerate(zip(devices, fns, strict=True)):
            with device(where), updating(where), name_scope(f"update_{i}"):
                given = [select_device_mirrored(where, each) for each in (args, kwargs)]
                updates.append(fn(*given[0], **given[1]))
        return update_regroup(self, devices, updates, group)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self._devices


def _workers_of(devices: Sequence[str]) -> list[str]:
    """The tasks that devices belong to; one empty string if that is this process."""
    specs = [DeviceSpec.from_string(name) for name in devices]
    remote = [spec for spec in specs if spec.job not in (None, "localhost")]
    if not remote:
        return [""]
    if len(remote) < len(specs):
        if specs[0] in remote:
            raise ValueError("Remote device string must have job specified.")
        raise ValueError("Local device string cannot have job specified other than 'localhost'")
    return list(dict.fromkeys(f"/job:{spec.job}/task:{spec.task}" for spec in specs))
