"""`horovod.tensorflow`."""

from __future__ import annotations

from weft.lib.horovod import elastic
from weft.lib.horovod.basics import (
    ccl_built,
    ddl_built,
    gloo_built,
    gloo_enabled,
    init,
    is_homogeneous,
    is_initialized,
    local_rank,
    local_size,
    mpi_built,
    mpi_enabled,
    mpi_threads_supported,
    nccl_built,
    rank,
    shutdown,
    size,
)
from weft.lib.horovod.objects import allgather_object, broadcast_object
from weft.lib.horovod.ops import (
    Adasum,
    Average,
    Compression,
    Sum,
    allgather,
    allreduce,
    broadcast,
)
from weft.lib.horovod.training import (
    BroadcastGlobalVariablesHook,
    DistributedGradientTape,
    DistributedOptimizer,
    broadcast_global_variables,
    broadcast_variables,
)

__all__ = [
    "Adasum", "Average", "BroadcastGlobalVariablesHook", "Compression", "DistributedGradientTape",
    "DistributedOptimizer", "Sum", "allgather", "allgather_object", "allreduce", "broadcast",
    "broadcast_global_variables", "broadcast_object", "broadcast_variables", "ccl_built",
    "ddl_built", "elastic", "gloo_built",
    "gloo_enabled", "init", "is_homogeneous", "is_initialized", "local_rank", "local_size",
    "mpi_built", "mpi_enabled", "mpi_threads_supported", "nccl_built", "rank", "shutdown", "size",
]  # fmt: skip
