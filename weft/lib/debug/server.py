"""A debug server: receives the graphs and tensors that watched runs send, and asks for more."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any, NamedTuple

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef

from weft.lib.debug import graphs
from weft.protos.debug import (
    SERVICE,
    CallTraceback,
    DebuggedSourceFiles,
    DebugOpStateChange,
    EventReply,
)

DISABLED, READ_ONLY, READ_WRITE = 1, 2, 3


class DebugWatch(NamedTuple):
    """A tensor that a server can ask for."""

    node_name: str
    output_slot: int
    debug_op: str


class EventListenerBaseStreamHandler:
    """What a server does with what one run sends; each method may answer with an EventReply."""

    def on_core_metadata_event(self, event: Any) -> Any:
        """The run's names."""
        raise NotImplementedError(
            "on_core_metadata_event() is not implemented in the base servicer class"
        )

    def on_graph_def(self, graph_def: Any, device_name: Any, wall_time: int) -> Any:
        """The graph of one device."""
        raise NotImplementedError("on_graph_def() is not implemented in the base servicer class")

    def on_value_event(self, event: Any) -> Any:
        """One tensor."""
        raise NotImplementedError("on_value_event() is not implemented in the base servicer class")


class EventListenerBaseServicer:
    """A server on this machine; `stream_handler_class()` is made anew for every run."""

    def __init__(
        self, server_port: int, stream_handler_class: Callable[[], Any], host: str = "localhost"
    ) -> None:
        self._port, self._host = server_port, host
        self._stream_handler_class = stream_handler_class
        self._lock = threading.Lock()
        self._started = False
        self._stopped = threading.Event()
        self._changes: queue.Queue[Any] = queue.Queue()
        self._gated: set[DebugWatch] = set()
        self._breakpoints: set[DebugWatch] = set()

    # ---- what it is sent ----

    def SendEvents(self, request_iterator: Any, context: Any) -> Iterator[Any]:
        """Hands the events of one run to a handler, and its answers back."""
        handler, parts, is_told = self._stream_handler_class(), _Parts(), False
        for event in request_iterator:
            if event.summary.value:
                whole = parts.tensor(event)
                answer = handler.on_value_event(whole) if whole is not None else None
                if answer is not None:
                    yield self._with_changes(answer)
            elif event.graph_def:
                found = parts.graph(event)
                if found is not None:
                    self._note_gated(found[0])
                    yield self._with_changes(handler.on_graph_def(*found))
            elif event.log_message.message:
                if is_told:
                    raise ValueError("Expected one core metadata event; received multiple")
                is_told = True
                yield self._with_changes(handler.on_core_metadata_event(event))

    def SendTracebacks(self, request: Any, context: Any) -> Any:
        """The lines of Python behind a graph; a subclass may keep them."""
        return EventReply()

    def SendSourceFiles(self, request: Any, context: Any) -> Any:
        """The user's files; a subclass may keep them."""
        return EventReply()

    def _with_changes(self, reply: Any) -> Any:
        reply = EventReply() if reply is None else reply
        while not self._changes.empty():
            change = self._changes.get()
            watch = DebugWatch(change.node_name, change.output_slot, change.debug_op)
            keep = change.state == READ_WRITE
            (self._breakpoints.add if keep else self._breakpoints.discard)(watch)
            reply.debug_op_state_changes.add().CopyFrom(change)
        return reply

    def _note_gated(self, graph: Any) -> None:
        debugging = [node for node in graph.node if graphs.is_debug_node(node.name)]
        gated = [node.name for node in debugging if node.attr["gated_grpc"].b]
        found = map(graphs.parse_debug_node_name, gated)
        self._gated.update(DebugWatch(name, slot, kind) for name, slot, _, kind in found)

    # ---- what it asks for ----

    def _change(self, state: int, node_name: str, output_slot: int, debug_op: str) -> None:
        self._changes.put(
            DebugOpStateChange(
                state=state, node_name=node_name, output_slot=output_slot, debug_op=debug_op
            )
        )

    def request_watch(
        self, node_name: str, output_slot: int, debug_op: str, breakpoint: bool = False
    ) -> None:
        """Asks for a gated tensor, from the next run on."""
        self._change(READ_WRITE if breakpoint else READ_ONLY, node_name, output_slot, debug_op)

    def request_unwatch(self, node_name: str, output_slot: int, debug_op: str) -> None:
        self._change(DISABLED, node_name, output_slot, debug_op)

    @property
    def breakpoints(self) -> set[DebugWatch]:
        return self._breakpoints

    def gated_grpc_debug_watches(self) -> list[DebugWatch]:
        """The tensors that could be asked for."""
        return list(self._gated)

    # ---- running ----

    def run_server(self, blocking: bool = True) -> None:
        """Listens; with `blocking`, until another thread stops it."""
        import grpc

        with self._lock:
            if self._stopped.is_set():
                raise ValueError("Server has already stopped")
            if self._started:
                raise ValueError("Server has already started running")
            size = [(f"grpc.max_{way}_message_length", -1) for way in ("receive", "send")]
            self._pool = futures.ThreadPoolExecutor(max_workers=10)
            self.server = grpc.server(self._pool, options=size)
            self.server.add_generic_rpc_handlers((self._handlers(),))
            self.port = self.server.add_insecure_port(f"{self._host}:{self._port}")
            self.server.start()
            self._started = True
        if blocking:
            self._stopped.wait()

    def _handlers(self) -> Any:
        import grpc

        def reply(message: Any) -> bytes:
            return message.SerializeToString()  # type: ignore[no-any-return]

        events = grpc.stream_stream_rpc_method_handler(self.SendEvents, Event.FromString, reply)
        stacks = grpc.unary_unary_rpc_method_handler(
            self.SendTracebacks, CallTraceback.FromString, reply
        )
        files = grpc.unary_unary_rpc_method_handler(
            self.SendSourceFiles, DebuggedSourceFiles.FromString, reply
        )
        methods = {"SendEvents": events, "SendTracebacks": stacks, "SendSourceFiles": files}
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    def stop_server(self, grace: float = 1.0) -> Any:
        with self._lock:
            if not self._started:
                raise ValueError("Server has not started running")
            if self._stopped.is_set():
                raise ValueError("Server has already stopped")
            self._stopped.set()
            stopped = self.server.stop(grace=grace)
            self._pool.shutdown(wait=False)  # calls under way have their threads already
            return stopped


class _Parts:
    """Messages that came in several parts."""

    def __init__(self) -> None:
        self._waiting: dict[Any, dict[int, Any]] = {}

    def _gather(self, key: Any, index: int, count: int, part: Any) -> list[Any] | None:
        """All parts in order, with the last that comes."""
        parts = self._waiting.setdefault(key, {})
        parts[index] = part
        if len(parts) < count:
            return None
        del self._waiting[key]
        return [parts[i] for i in range(count)]

    def graph(self, event: Any) -> tuple[Any, bytes, int] | None:
        """(the graph, its device, when)."""
        key, index, count, data = event.graph_def.split(b"|", 3)
        parts = self._gather(key, int(index), int(count), data)
        if parts is None:
            return None
        _, device, when = key.split(b",")
        return GraphDef.FromString(b"".join(parts)), device, int(when)

    def tensor(self, event: Any) -> Any:
        value = event.summary.value[0]
        about = json.loads(value.metadata.plugin_data.content or b"{}")
        count = about.get("numChunks", 1)
        if count <= 1:
            return event
        key = about.get("device"), value.node_name, event.wall_time
        parts = self._gather(key, about["chunkIndex"], count, value.tensor)
        if parts is None:
            return None
        joined = b"".join(part.tensor_content for part in parts)
        texts = [text for part in parts for text in part.string_val]
        value.tensor.tensor_content = joined
        value.tensor.string_val[:] = texts
        return event
