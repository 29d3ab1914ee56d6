"""One dumped tensor: a file with an Event message, whose path says all but the value."""

from __future__ import annotations

import json
import math
import os
import re
from typing import Any, NamedTuple

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef

from weft.core import dtypes
from weft.graph.tensor_proto import make_ndarray
from weft.lib.debug.inconvertible import InconvertibleTensorProto
from weft.runtime.debug.publish import PREFIX, device_folder

METADATA_FILE_PREFIX = PREFIX
CORE_METADATA_TAG = "core_metadata_"
GRAPH_FILE_TAG = "graph_"
DEVICE_TAG = "device_"
HASH_TAG = "hash"
FETCHES_INFO_FILE_TAG = "fetches_info_"
FEED_KEYS_INFO_FILE_TAG = "feed_keys_info_"
device_name_to_device_path = device_folder


def device_path_to_device_name(device_dir: str) -> str:
    """`_tfdbg_device_,job_a,device_CPU_0` -> `/job:a/device:CPU:0`."""
    folder = os.path.basename(device_dir).removeprefix(PREFIX + DEVICE_TAG)
    kinds = re.sub(r"(^|,)device_", r"\1device:", folder)
    return re.sub(r"(^|,)([^,_]*)_", r"\1\2:", kinds).replace(",", "/")


# ---- messages ------------------------------------------------------------------------------------


def read_event(path: str) -> Event:
    with open(path, "rb") as file:
        return Event.FromString(file.read())


def read_graph(path: str) -> GraphDef:
    return GraphDef.FromString(read_event(path).graph_def)


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The value that a file of a dump holds."""
    return load_tensor_from_event(read_event(event_file_path))


def load_tensor_from_event(event: Event) -> Any:
    """The value of a message: an array, or `InconvertibleTensorProto`."""
    proto = event.summary.value[0].tensor
    elements = math.prod(dim.size for dim in proto.tensor_shape.dim)
    if proto.dtype in (dtypes.resource.as_datatype_enum, dtypes.variant.as_datatype_enum):
        return InconvertibleTensorProto(proto)
    if not (proto.tensor_content or proto.string_val) and elements:
        return InconvertibleTensorProto(proto, initialized=False)
    try:
        return make_ndarray(proto)
    except (KeyError, TypeError):
        return InconvertibleTensorProto(proto)


class CoreMetadata(NamedTuple):
    """Which run a dump is of."""

    global_step: int
    session_run_index: int
    executor_step_index: int
    input_names: list[str]
    output_names: list[str]
    target_nodes: list[str]


def extract_core_metadata_from_event_proto(event: Event) -> CoreMetadata:
    told = json.loads(event.log_message.message)
    return CoreMetadata(*(told[name] for name in CoreMetadata._fields))


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a tensor holds a NaN or an infinity: a filter for `add_tensor_filter`."""
    if not isinstance(tensor, (np.ndarray, np.generic)):
        return False
    if tensor.dtype.kind not in "fc" and "float" not in tensor.dtype.name:
        return False
    return not bool(np.isfinite(tensor).all())


# ---- files ---------------------------------------------------------------------------------------


class DebugTensorDatum:
    """One tensor of a dump."""

    def __init__(self, dump_root: str, debug_dump_rel_path: str) -> None:
        parts = os.path.normpath(debug_dump_rel_path).split(os.sep)
        base = parts[-1]
        if base.count("_") < 3:
            raise ValueError(f"Dump file path does not conform to the naming pattern: {base}")
        name, slot, self.debug_op, self.extended_timestamp = base.rsplit("_", 3)
        # Tensors of one microsecond are told apart by a number behind a dash.
        self.timestamp = int(self.extended_timestamp.partition("-")[0])
        self.output_slot = int(slot)
        self.node_name = "/".join([*parts[1:-1], name])
        self.device_name = device_path_to_device_name(parts[0])
        self.file_path = os.path.join(dump_root, debug_dump_rel_path)

    @property
    def tensor_name(self) -> str:
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self) -> str:
        return f"{self.tensor_name}:{self.debug_op}"

    @property
    def dump_size_bytes(self) -> int | None:
        try:
            return os.path.getsize(self.file_path)
        except OSError:
            return None

    def get_tensor(self) -> Any:
        """The value."""
        return load_tensor_from_event_file(self.file_path)

    def __repr__(self) -> str:
        return (
            f"{{DebugTensorDatum ({self.device_name}) {self.tensor_name} @ {self.debug_op} @"
            f" {self.timestamp}}}"
        )
