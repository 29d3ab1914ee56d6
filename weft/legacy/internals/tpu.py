"""Names of `tensorflow.python.tpu`: what programs ask about TPUs, where there are none."""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np


class TpuContext(threading.local):
    """The number of shards of the computation that is being built in this thread."""

    number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        self.number_of_shards = number_of_shards


_context = TpuContext()


def get_tpu_context() -> TpuContext:
    return _context


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Inside the block, so many shards are being built."""
    if _context.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _context.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _context.set_number_of_shards(None)


class Topology:
    """The chips of a TPU pod: how they are laid out, and where the devices of a task are."""

    def __init__(
        self, serialized: Any = None, mesh_shape: Any = None, device_coordinates: Any = None
    ) -> None:
        if serialized is not None:
            raise ValueError("weft runs on no TPU: there is no topology to be read")
        self.mesh_shape = np.asarray(mesh_shape, np.int32)
        self.device_coordinates = np.asarray(device_coordinates, np.int32)
        if self.mesh_shape.ndim != 1 or (self.mesh_shape < 1).any():
            raise ValueError(f"`mesh_shape` must be a sequence of 3 positive entries; got {mesh_shape}")  # noqa: E501  # fmt: skip

    @property
    def mesh_rank(self) -> int:
        """How many axes the mesh has."""
        return len(self.mesh_shape)

    @property
    def num_tasks(self) -> int:
        return int(self.device_coordinates.shape[0])

    @property
    def num_tpus_per_task(self) -> int:
        return int(self.device_coordinates.shape[1])


class BatchConfig(NamedTuple):
    """How requests to a served model are collected into batches."""

    num_batch_threads: int
    max_batch_size: int
    batch_timeout_micros: int
    allowed_batch_sizes: Any
    max_enqueued_batches: int = 10


class ExportSavedModelApiVersion(enum.Enum):
    """Which way a model is exported for TPUs."""

    V1 = 1
    V2 = 2
