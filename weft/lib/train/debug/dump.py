"""Dumps of the tensors of a step: one file per tensor, an Event message each, below a folder."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event

from weft.graph.tensor import Tensor
from weft.graph.tensor_proto import make_ndarray, make_tensor_proto

_DEVICE = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
_OP = "DebugIdentity"


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a tensor holds a NaN or an infinity: a filter for `add_tensor_filter`."""
    value = np.asarray(tensor) if tensor is not None else np.zeros(0)
    return value.dtype.kind in "fc" and not np.isfinite(value).all()


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The value that a file of a dump holds."""
    event = Event()
    with open(event_file_path, "rb") as file:
        event.ParseFromString(file.read())
    return make_ndarray(event.summary.value[0].tensor)


def write(root: str, tensors: Iterable[Tensor], values: Iterable[Any]) -> None:
    """Writes the values of some tensors."""
    for tensor, value in zip(tensors, values, strict=True):
        now = time.time()
        event = Event(wall_time=now)
        entry = event.summary.value.add(
            node_name=f"{tensor.op.name}:{tensor.value_index}:{_OP}", tag=tensor.op.name
        )
        entry.tensor.CopyFrom(make_tensor_proto(value))
        path = os.path.join(root, _DEVICE, tensor.op.name)
        path += f"_{tensor.value_index}_{_OP}_{int(now * 1e6)}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(event.SerializeToString())


class DebugTensorDatum:
    """One tensor of a dump."""

    def __init__(self, dump_root: str, debug_dump_rel_path: str) -> None:
        self.file_path = os.path.join(dump_root, debug_dump_rel_path)
        device, _, rest = debug_dump_rel_path.partition(os.sep)
        found = re.fullmatch(r"(.*)_(\d+)_(\w+?)_(\d+)", rest.replace(os.sep, "/"))
        if found is None:
            raise ValueError(f"{debug_dump_rel_path} does not look like a dumped tensor")
        self.node_name, self.output_slot = found[1], int(found[2])
        self.debug_op, self.timestamp = found[3], int(found[4])
        parts = device.removeprefix("_tfdbg_device_").strip(",").split(",")
        self.device_name = "".join("/" + part.replace("_", ":") for part in parts)

    @property
    def tensor_name(self) -> str:
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self) -> str:
        return f"{self.tensor_name}:{self.debug_op}"

    @property
    def dump_size_bytes(self) -> int:
        return os.path.getsize(self.file_path)

    def get_tensor(self) -> Any:
        """The value."""
        return load_tensor_from_event_file(self.file_path)

    def __repr__(self) -> str:
        return f"{{DebugTensorDatum ({self.device_name}) {self.watch_key} @ {self.timestamp}}}"


class DebugDumpDir:
    """A dump that was written, by the names of tensors."""

    def __init__(self, dump_root: str, partition_graphs: Any = None, validate: bool = True) -> None:
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._root = dump_root
        found = []
        for folder, _, files in os.walk(dump_root):
            place = os.path.relpath(folder, dump_root)
            if place.startswith("_tfdbg_device_"):
                found += [DebugTensorDatum(dump_root, os.path.join(place, f)) for f in files]
        self._data = sorted(found, key=lambda datum: datum.timestamp)

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        return list(self._data)

    @property
    def size(self) -> int:
        return len(self._data)

    @property
    def t0(self) -> int | None:
        """When the first tensor was dumped."""
        return self._data[0].timestamp if self._data else None

    def nodes(self, device_name: str | None = None) -> list[str]:
        """The names of the nodes that are there."""
        return list(dict.fromkeys(datum.node_name for datum in self._data))

    def _of(self, node_name: str, output_slot: int, debug_op: str) -> list[DebugTensorDatum]:
        key = f"{node_name}:{output_slot}:{debug_op}"
        found = [datum for datum in self._data if datum.watch_key == key]
        if not found:
            raise ValueError(f'Watch key "{key}" does not exist in the debug dump')
        return found

    def watch_key_to_data(self, debug_watch_key: str, device_name: str | None = None) -> Any:
        return [datum for datum in self._data if datum.watch_key == debug_watch_key]

    def get_tensors(
        self, node_name: str, output_slot: int, debug_op: str = _OP, device_name: Any = None
    ) -> list[Any]:
        """All values of a tensor, in the order they were dumped."""
        return [datum.get_tensor() for datum in self._of(node_name, output_slot, debug_op)]

    def get_tensor_file_paths(
        self, node_name: str, output_slot: int, debug_op: str = _OP, device_name: Any = None
    ) -> list[str]:
        return [datum.file_path for datum in self._of(node_name, output_slot, debug_op)]

    def find(
        self, predicate: Callable[[Any, Any], bool], first_n: int = 0, device_name: Any = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:  # fmt: skip
        """The tensors for which `predicate(datum, value)` holds, at most `first_n` of them."""
        skipped = exclude_node_names
        kept = (d for d in self._data if not (skipped and re.match(skipped, d.node_name)))
        matched = (datum for datum in kept if predicate(datum, datum.get_tensor()))
        return list(itertools.islice(matched, first_n or None))
