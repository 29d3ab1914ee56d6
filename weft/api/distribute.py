"""tf.distribute: public names, re-exported from where they are made."""

from weft.cluster.server import Server as Server
from weft.distribute.context import (
    experimental_set_strategy as experimental_set_strategy,
    get_loss_reduction as get_loss_reduction,
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)
from weft.distribute.cross_device_ops import (
    CrossDeviceOps as CrossDeviceOps,
    HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
    NcclAllReduce as NcclAllReduce,
    ReductionToOneDevice as ReductionToOneDevice,
)
from weft.distribute.extended import StrategyExtended as StrategyExtended
from weft.distribute.input_context import (
    InputContext as InputContext,
    InputReplicationMode as InputReplicationMode,
)
from weft.distribute.mirrored import MirroredStrategy as MirroredStrategy
from weft.distribute.one_device import OneDeviceStrategy as OneDeviceStrategy
from weft.distribute.reduce_op import ReduceOp as ReduceOp
from weft.distribute.replica_context import ReplicaContext as ReplicaContext
from weft.distribute.strategy import Strategy as Strategy
from weft.api import distribute_cluster_resolver as cluster_resolver
from weft.api import distribute_experimental as experimental
