"""`horovod.keras` and `horovod.tensorflow.keras`: Keras models in all processes."""

from __future__ import annotations

from typing import Any

from weft.lib.horovod import callbacks, ops, training
from weft.lib.horovod.basics import (
    ccl_built,
    ddl_built,
    gloo_built,
    gloo_enabled,
    init,
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
from weft.lib.horovod.ops import Adasum, Average, Compression, Sum
from weft.lib.horovod.which_keras import backend_in_use, models_in_use

__all__ = [
    "Adasum", "Average", "Compression", "DistributedOptimizer", "Sum", "allgather", "allreduce",
    "broadcast", "broadcast_global_variables", "callbacks", "ccl_built", "ddl_built",
    "gloo_built", "gloo_enabled", "init", "load_model", "local_rank", "local_size", "mpi_built",
    "mpi_enabled", "mpi_threads_supported", "nccl_built", "rank", "shutdown", "size",
]  # fmt: skip


def DistributedOptimizer(
    optimizer: Any,
    name: str | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
) -> Any:
    """The optimizer, with gradients that are means over all processes."""
    settings = training.Settings(compression, sparse_as_dense, Average)
    return training.distributed_keras_optimizer(optimizer, settings)


def broadcast_global_variables(root_rank: int) -> Any:
    """Gives all global variables of Keras's session the values of one process."""
    return backend_in_use().get_session().run(training.broadcast_global_variables(root_rank))


def allreduce(value: Any, name: str | None = None, average: bool = True) -> Any:
    """The mean of a value over all processes, or its sum; a value, not a tensor."""
    return backend_in_use().get_session().run(ops.allreduce(value, average=average))


def allgather(value: Any, name: str | None = None) -> Any:
    """The rows of all processes; a value, not a tensor."""
    return backend_in_use().get_session().run(ops.allgather(value, name))


def broadcast(value: Any, root_rank: int, name: str | None = None) -> Any:
    """What one process has; a value, not a tensor."""
    return backend_in_use().get_session().run(ops.broadcast(value, root_rank, name))


def load_model(
    filepath: str,
    custom_optimizers: Any = None,
    custom_objects: dict[str, Any] | None = None,
    compression: Any = Compression.none,
) -> Any:
    """A saved model, whose optimizer is one for all processes from now on."""
    known = {kind.__name__: kind for kind in custom_optimizers or ()}
    model = models_in_use().load_model(filepath, custom_objects={**known, **(custom_objects or {})})
    settings = training.Settings(compression, False, Average)
    training.distribute(model.optimizer, settings)
    return model
