"""Where watched tensors go: files below a folder (`file://`), or a debug server (`grpc://`).

Both get Event messages, named and laid out as TensorFlow's runtime does it, for its tools to read.
"""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes, errors
from weft.graph.tensor_proto import array_to_proto
from weft.runtime.debug.debug_ops import DebugOp, Resource, Uninitialized
from weft.storage.confinement import is_confined, permitted

PREFIX = "_tfdbg_"
DISK_LIMIT = 100 << 30  # bytes, unless TFDBG_DISK_BYTES_LIMIT says another number


class Key(NamedTuple):
    """The output of a node on a device."""

    device: str
    node: str
    slot: int


def device_folder(device: str) -> str:
    """`/job:a/task:0/device:CPU:0` -> `_tfdbg_device_,job_a,task_0,device_CPU_0`."""
    return f"{PREFIX}device_" + ",".join(p.replace(":", "_") for p in device.split("/"))


def new_event(micros: float) -> Any:
    from tensorboard.compat.proto.event_pb2 import Event

    return Event(wall_time=micros)


def tensor_event(key: Key, op: DebugOp, value: Any, dtype: dtypes.DType, micros: int) -> Any:
    """The message of one value."""
    event = new_event(micros)
    entry = event.summary.value.add(node_name=f"{key.node}:{key.slot}:{op.name}", tag=key.node)
    entry.metadata.plugin_data.plugin_name = "debugger"
    about = {"device": key.device, "outputSlot": key.slot, "numChunks": 1, "chunkIndex": 0}
    entry.metadata.plugin_data.content = json.dumps(about).encode()
    kind = dtype.base_dtype if op.name == "DebugIdentity" else dtypes.as_dtype(value.dtype)
    entry.tensor.CopyFrom(_content(value, kind))
    return event


def _content(value: Any, dtype: dtypes.DType) -> Any:
    """A TensorProto with its numbers as bytes: without them there is no value, to readers."""
    if isinstance(value, Uninitialized):
        message = array_to_proto(np.zeros(0, np.float32))
        message.dtype = dtype.as_datatype_enum
        del message.tensor_shape.dim[:]
        return message
    if isinstance(value, Resource):
        message = array_to_proto(np.zeros(0, np.float32))
        message.dtype = dtypes.resource.as_datatype_enum
        message.tensor_content = value.text.encode()
        return message
    array = np.asarray(value)
    if dtype is dtypes.string or not array.size:
        return array_to_proto(array, dtype)
    message = array_to_proto(np.zeros((0,) * array.ndim, array.dtype), dtype)
    for dim, extent in zip(message.tensor_shape.dim, array.shape, strict=True):
        dim.size = extent
    message.tensor_content = np.ascontiguousarray(array).tobytes()
    return message


class Sinks:
    """The places of one step, opened when they are first written to."""

    def __init__(self) -> None:
        self._open: dict[str, FileSink | GrpcSink] = {}

    def of(self, url: str) -> FileSink | GrpcSink:
        if url not in self._open:
            scheme, _, rest = url.partition("://")
            kinds: dict[str, Any] = {"file": FileSink, "grpc": GrpcSink}
            if scheme.lower() not in kinds:
                raise errors.UnavailableError(None, None, f"Invalid debug target URL: {url}")
            if is_confined() and scheme.lower() != "file":
                message = f"{url} is not a file, and this process is confined to files"
                raise errors.PermissionDeniedError(None, None, message)
            self._open[url] = kinds[scheme.lower()](rest)
        return self._open[url]

    def close(self) -> None:
        for sink in self._open.values():
            sink.close()


# ---- files ---------------------------------------------------------------------------------------

_disk_lock = threading.Lock()
_disk_bytes = 0


def reset_disk_usage() -> None:
    """Begins to count the bytes of dumps anew."""
    global _disk_bytes
    with _disk_lock:
        _disk_bytes = 0


def _take_disk(key: Key, count: int) -> None:
    global _disk_bytes
    limit = int(os.environ.get("TFDBG_DISK_BYTES_LIMIT") or DISK_LIMIT)
    with _disk_lock:
        if limit > 0 and _disk_bytes + count > limit:
            raise errors.ResourceExhaustedError(
                None, None,
                f"TensorFlow Debugger has exhausted file-system byte-size allowance ({limit}),"
                f" therefore it cannot dump an additional {count} byte(s) of tensor data for the"
                f" debug tensor {key.node}:{key.slot}. You may use the environment variable"
                " TFDBG_DISK_BYTES_LIMIT to set a higher limit.",
            )  # fmt: skip
        _disk_bytes += count


class FileSink:
    """One file per message below a folder."""

    def __init__(self, root: str) -> None:
        self.root = permitted(root)

    def metadata(self, about: dict[str, Any]) -> None:
        now = int(time.time() * 1e6)
        event = new_event(now)
        event.log_message.message = json.dumps(about, separators=(",", ":"))
        name = f"{PREFIX}core_metadata_sessionrun{about['session_run_index']:014d}"
        self._write(os.path.join(self.root, f"{name}_{now}"), event)

    def graph(self, graph: Any, device: str) -> None:
        now = int(time.time() * 1e6)
        event = new_event(now)
        event.graph_def = graph.SerializeToString()
        name = f"{PREFIX}graph_hash{zlib.crc32(event.graph_def)}_{now}"
        self._write(os.path.join(self.root, device_folder(device), name), event)

    def tensor(self, key: Key, op: DebugOp, value: Any, dtype: dtypes.DType, micros: int) -> None:
        _take_disk(key, getattr(value, "nbytes", 0))
        path = os.path.join(self.root, device_folder(key.device), *key.node.split("/"))
        path += f"_{key.slot}_{op.name}_{micros}"
        self._write(path, tensor_event(key, op, value, dtype, micros))

    @staticmethod
    def _write(path: str, event: Any) -> None:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            raise errors.FailedPreconditionError(
                None, None, f"The path of a dump is taken by a file: {error}"
            ) from error
        free, count = path, 0
        while os.path.exists(free):
            count += 1
            free = f"{path}-{count}"
        with open(free, "wb") as file:
            file.write(event.SerializeToString())

    def close(self) -> None:
        pass


# ---- servers -------------------------------------------------------------------------------------

# Whether gated tensors are sent, by server and watch key: servers say so in their replies.
_gates: dict[str, set[tuple[str, int, str]]] = {}
_METHOD = "/tensorflow.EventListener/SendEvents"
_CHUNK = 4_000_000
_SECONDS = 30


def open_gates(address: str) -> set[tuple[str, int, str]]:
    """The gated watch keys (node, slot, operation) that a server asked for."""
    return _gates.setdefault(address.partition("/")[0], set())


class GrpcSink:
    """Events kept until the step is over, then streamed to a server; its replies open gates."""

    def __init__(self, address: str) -> None:
        self.address, _, self.path = address.partition("/")
        self.events: list[Any] = []

    def metadata(self, about: dict[str, Any]) -> None:
        path = f"/{self.path}" if self.path else ""
        event = new_event(time.time() * 1e6)
        event.log_message.message = json.dumps({**about, "grpc_path": path})
        self.events.append(event)

    def graph(self, graph: Any, device: str) -> None:
        data, now = graph.SerializeToString(), int(time.time() * 1e6)
        parts = [data[i : i + _CHUNK] for i in range(0, len(data), _CHUNK)] or [b""]
        for i, part in enumerate(parts):
            event = new_event(now)
            head = f"{zlib.crc32(data)},{device},{now}|{i}|{len(parts)}|"
            event.graph_def = head.encode() + part
            self.events.append(event)

    def tensor(self, key: Key, op: DebugOp, value: Any, dtype: dtypes.DType, micros: int) -> None:
        if op.is_gated and (key.node, key.slot, op.name) not in open_gates(self.address):
            return
        self.events.append(tensor_event(key, op, value, dtype, micros))

    def close(self) -> None:
        events, self.events = self.events, []
        if events:
            self._send(events)

    def _send(self, events: list[Any]) -> None:
        import grpc

        from weft.protos.debug import EventReply

        size = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
        with grpc.insecure_channel(self.address, size) as channel:
            call = channel.stream_stream(
                _METHOD, lambda event: event.SerializeToString(), EventReply.FromString
            )
            try:
                grpc.channel_ready_future(channel).result(timeout=_SECONDS)
                for reply in call(iter(events)):
                    self._obey(reply)
            except (grpc.RpcError, grpc.FutureTimeoutError) as error:
                raise errors.FailedPreconditionError(
                    None, None, f"Cannot publish to the debug server at {self.address}: {error}"
                ) from error

    def _obey(self, reply: Any) -> None:
        gates = open_gates(self.address)
        for change in reply.debug_op_state_changes:
            key = change.node_name, change.output_slot, change.debug_op
            (gates.add if change.state in (2, 3) else gates.discard)(key)
