"""tf.contrib.distribute: the strategies of tf.distribute, with the arguments they had here.

A dataset is taken as it is: its batches are those of one replica.
"""

from __future__ import annotations

from typing import Any

from weft.lib.distribute import device_util
from weft.lib.distribute.collective import CollectiveCommunication, CollectiveExtended
from weft.lib.distribute.context import get_cross_replica_context as get_cross_replica_context
from weft.lib.distribute.context import get_loss_reduction as get_loss_reduction
from weft.lib.distribute.context import get_replica_context as get_replica_context
from weft.lib.distribute.context import get_strategy as get_strategy
from weft.lib.distribute.context import has_strategy as has_strategy
from weft.lib.distribute.context import in_cross_replica_context as in_cross_replica_context
from weft.lib.distribute.context import require_replica as require_replica_context  # noqa: F401
from weft.lib.distribute.cross_device_ops import AllReduceCrossDeviceOps as AllReduceCrossDeviceOps
from weft.lib.distribute.cross_device_ops import CrossDeviceOps as CrossDeviceOps
from weft.lib.distribute.cross_device_ops import ReductionToOneDevice
from weft.lib.distribute.extended import StrategyExtended
from weft.lib.distribute.mirrored import MirroredExtended
from weft.lib.distribute.one_device import OneDeviceStrategy as OneDeviceStrategy
from weft.lib.distribute.parameter_server import ParameterServerExtended
from weft.lib.distribute.replica_context import ReplicaContext as ReplicaContext
from weft.lib.distribute.server import (
    run_standard_tensorflow_server as run_standard_tensorflow_server,
)
from weft.lib.distribute.step_fn import DistributeConfig as DistributeConfig
from weft.lib.distribute.step_fn import Monitor as Monitor
from weft.lib.distribute.step_fn import StandardInputStep as StandardInputStep
from weft.lib.distribute.step_fn import StandardSingleLossStep as StandardSingleLossStep
from weft.lib.distribute.step_fn import Step as Step
from weft.lib.distribute.strategy import Strategy
from weft.lib.train.cluster.cluster_resolver import SimpleClusterResolver, TFConfigClusterResolver
from weft.ops.kit.replicas import updating as UpdateContext  # noqa: F401

DistributionStrategy = Strategy
DistributionStrategyExtended = StrategyExtended
ReductionToOneDeviceCrossDeviceOps = ReductionToOneDevice
get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy


class _PerReplicaBatches:
    """A dataset is taken as it is."""

    _global_batch_size = False

    def _make_dataset_iterator(self: Any, dataset: Any) -> Any:
        return self._pipeline().iterator_of(lambda _: dataset)


class _MirroredExtended(_PerReplicaBatches, MirroredExtended):
    pass


class MirroredStrategy(Strategy):
    """A copy of the model on each of `devices`, or of so many GPUs."""

    def __init__(
        self,
        devices: Any = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        count = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is None:
            devices = device_util.local_devices(count)
        elif count is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus_per_worker`.")
        super().__init__(_MirroredExtended(self, devices, cross_device_ops or cross_tower_ops))


def _resolver(num_gpus_per_worker: int) -> SimpleClusterResolver:
    """The cluster of TF_CONFIG, whose workers have so many GPUs."""
    found = TFConfigClusterResolver()
    return SimpleClusterResolver(
        found.cluster_spec(), task_type=found.task_type, task_id=found.task_id,
        num_accelerators={"GPU": num_gpus_per_worker},
    )  # fmt: skip


class _ParameterServerExtended(_PerReplicaBatches, ParameterServerExtended):
    pass


class ParameterServerStrategy(Strategy):
    """Variables on parameter servers; without TF_CONFIG, on this process's CPU."""

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        resolver = _resolver(num_gpus_per_worker)
        super().__init__(_ParameterServerExtended(self, cluster_resolver=resolver))


class CollectiveAllReduceStrategy(Strategy):
    """A copy of the model on so many GPUs of this worker, or on its CPU."""

    def __init__(
        self,
        num_gpus_per_worker: int = 0,
        communication: Any = CollectiveCommunication.AUTO,
    ) -> None:
        resolver = _resolver(num_gpus_per_worker)
        super().__init__(CollectiveExtended(self, communication, resolver))
