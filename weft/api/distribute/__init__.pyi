# Written by `make stubs` from weft/api/distribute/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.cluster.server import Server as Server
from weft.lib.distribute.context import experimental_set_strategy as experimental_set_strategy
from weft.lib.distribute.context import get_loss_reduction as get_loss_reduction
from weft.lib.distribute.context import get_replica_context as get_replica_context
from weft.lib.distribute.context import get_strategy as get_strategy
from weft.lib.distribute.context import has_strategy as has_strategy
from weft.lib.distribute.context import in_cross_replica_context as in_cross_replica_context
from weft.lib.distribute.cross_device_ops import CrossDeviceOps as CrossDeviceOps
from weft.lib.distribute.cross_device_ops import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from weft.lib.distribute.cross_device_ops import NcclAllReduce as NcclAllReduce
from weft.lib.distribute.cross_device_ops import ReductionToOneDevice as ReductionToOneDevice
from weft.lib.distribute.extended import StrategyExtended as StrategyExtended
from weft.lib.distribute.input_context import InputContext as InputContext
from weft.lib.distribute.input_context import InputReplicationMode as InputReplicationMode
from weft.lib.distribute.mirrored import MirroredStrategy as MirroredStrategy
from weft.lib.distribute.one_device import OneDeviceStrategy as OneDeviceStrategy
from weft.ops.state.reduce_op import ReduceOp as ReduceOp
from weft.lib.distribute.replica_context import ReplicaContext as ReplicaContext
from weft.lib.distribute.strategy import Strategy as Strategy
from weft.api.distribute import cluster_resolver as cluster_resolver
from weft.api.distribute import experimental as experimental
