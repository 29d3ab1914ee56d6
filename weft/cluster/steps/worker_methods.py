"""TensorFlow's WorkerService: messages in and out of the worker of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from weft.cluster.interfaces import Caller, GraphCall, Recording
from weft.cluster.steps import parcels
from weft.cluster.steps.worker import LocalWorker
from weft.cluster.transport import outcome, wire
from weft.cluster.transport.methods import (
    Handler,
    Message,
    PromptHandler,
    from_device,
    methods_of,
    pack,
    parse,
    prompt_methods_of,
)
from weft.core.deferred import Deferred
from weft.ops.functions.py_tokens import sign_foreign
from weft.protos.cluster import message
from weft.runtime.frames import DEAD

Answer = Callable[..., None]


class WorkerMethods:
    """The WorkerService of a worker."""

    NAMES = (
        "GetStatus CreateWorkerSession DeleteWorkerSession RegisterGraph DeregisterGraph RunGraph"
        " CleanupGraph CleanupAll RecvTensor Logging Tracing MarkRecvFinished PushTensors"
    )

    PROMPT = "Run PushTensors RecvTensor"

    def __init__(self, worker: LocalWorker) -> None:
        self.worker = worker
        # Where the same methods can be called by frames.
        self.frame_port, self.frame_name = 0, ""

    def methods(self) -> dict[str, Handler]:
        return methods_of("Worker", self, self.NAMES)

    def prompt(self) -> dict[str, PromptHandler]:
        """The methods that weft's own processes call in every step; none of them waits."""
        return prompt_methods_of("Worker", self, self.PROMPT)

    def _GetStatus(self, data: wire.Chunk, caller: Caller) -> bytes:
        devices = outcome.wait(self.worker.get_status())
        return pack(
            "GetStatus",
            device_attributes=[from_device(d) for d in devices],
            cleans_up=self.worker.cleans_up,
            frame_port=self.frame_port,
            frame_name=self.frame_name,
        )

    def _CreateWorkerSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        from weft.protos.server import ServerDef

        request = parse("CreateWorkerSession", data)
        handle, isolate = request.session_handle, request.isolate_session_state
        cluster = ServerDef.FromString(request.server_def) if request.server_def else None
        outcome.wait(self.worker.create_worker_session(handle, cluster, isolate))
        self.worker.set_loose(handle, True)  # until it is held
        return b""

    def _DeleteWorkerSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = parse("DeleteWorkerSession", data)
        outcome.wait(self.worker.delete_worker_session(request.session_handle))
        return b""

    @contextmanager
    def _held(self, request: Any) -> Iterator[None]:
        """Keeps the session of a graph that is registered without one having been made."""
        if request.create_worker_session_called:
            yield
            return
        self.worker.hold_session(request.session_handle)
        try:
            yield
        except BaseException:
            self.worker.let_go_session(request.session_handle)
            raise

    def _RegisterGraph(self, data: wire.Chunk, caller: Caller) -> bytes:
        from tensorboard.compat.proto.config_pb2 import GraphOptions
        from tensorboard.compat.proto.debug_pb2 import DebugOptions
        from tensorboard.compat.proto.graph_pb2 import GraphDef

        request = parse("RegisterGraph", data)
        options = GraphOptions.FromString(request.graph_options)
        graph_def = GraphDef.FromString(request.graph_def)
        sign_foreign(graph_def)
        debug = request.debug_options
        watches = DebugOptions.FromString(debug) if debug else None
        with self._held(request):
            handle = outcome.wait(
                self.worker.register_graph(request.session_handle, graph_def, options, watches)
            )
        return pack("RegisterGraph", graph_handle=handle)

    def _DeregisterGraph(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = parse("DeregisterGraph", data)
        session = request.session_handle
        outcome.wait(self.worker.deregister_graph(session, request.graph_handle))
        if not request.create_worker_session_called:
            self.worker.let_go_session(session)
        return b""

    def _RunGraph(self, data: wire.Chunk, caller: Caller) -> Message:
        rest, views = wire.split(data, 3)
        request = parse("RunGraph", rest)
        call = GraphCall(
            request.session_handle, request.graph_handle, request.step_id, wire.read_named(views),
            list(request.recv_key),
            Recording(request.exec_opts.record_timeline, request.exec_opts.record_partition_graphs),
            request.is_partial, request.is_last_partial_run,
        )  # fmt: skip
        step_id = request.step_id
        caller.on_gone(lambda: self.worker.cleanup_graph(step_id))
        try:
            result = outcome.wait(self.worker.run_graph(call, here=True))
        except Exception as error:
            if not request.store_errors_in_response_body:
                raise
            code, text = wire.to_status(error)
            return pack("RunGraph", status_code=code, status_error_message=text)
        response = message("RunGraphResponse")()
        if result.step_stats is not None:
            response.step_stats = result.step_stats.SerializeToString()
        response.partition_graph.extend(g.SerializeToString() for g in result.partition_graphs)
        return wire.with_named(response.SerializeToString(), 1, result.values)

    def _prompt_Run(self, data: wire.Chunk, caller: Caller, answer: Answer) -> None:
        """A whole step, asked for by a weft master."""
        number, (session, graph, fetches), keys, values = parcels.unpack(data)
        feeds = list(zip(keys, values, strict=True))
        result = self.worker.run_graph(GraphCall(session, graph, number, feeds, fetches))
        caller.on_gone(lambda: self.worker.cleanup_graph(number))
        result.deliver_to(partial(_answer, answer))

    def _prompt_PushTensors(self, data: wire.Chunk, caller: Caller, answer: Answer) -> None:
        answer([self._PushTensors(data, caller)])

    def _PushTensors(self, data: wire.Chunk, caller: Caller) -> bytes:
        parcel = parcels.unpack(data)
        self.worker.push_tensors(parcel.number, parcel.keys, parcel.values, _ignore)
        return b""

    def _RecvTensor(self, data: wire.Chunk, caller: Caller) -> Message:
        request = parse("RecvTensor", data)
        result: Deferred = self.worker.recv_tensor(request.step_id, request.rendezvous_key)
        caller.on_gone(result.cancel)
        value = outcome.wait(result)[0]
        return wire.received(value, value is DEAD)

    def _prompt_RecvTensor(self, data: wire.Chunk, caller: Caller, answer: Answer) -> None:
        request = parse("RecvTensor", data)
        result = self.worker.recv_tensor(request.step_id, request.rendezvous_key)
        caller.on_gone(result.cancel)
        result.deliver_to(partial(_answer_received, answer))

    def _CleanupGraph(self, data: wire.Chunk, caller: Caller) -> bytes:
        outcome.wait(self.worker.cleanup_graph(parse("CleanupGraph", data).step_id))
        return b""

    def _CleanupAll(self, data: wire.Chunk, caller: Caller) -> bytes:
        outcome.wait(self.worker.cleanup_all(list(parse("CleanupAll", data).container)))
        return b""

    def _Logging(self, data: wire.Chunk, caller: Caller) -> bytes:
        return b""  # calls are not logged

    def _Tracing(self, data: wire.Chunk, caller: Caller) -> bytes:
        return b""

    def _MarkRecvFinished(self, data: wire.Chunk, caller: Caller) -> bytes:
        return b""  # we keep nothing to be acknowledged


def _ignore(error: Exception) -> None:
    """Nothing to report: a push to this process itself cannot fail."""


def _answer(answer: Answer, result: Any, error: BaseException | None) -> None:
    if error is not None:
        answer(None, error)
        return
    try:
        pairs = result.values
        message = parcels.pack(0, (), *zip(*pairs, strict=True)) if pairs else []
    except Exception as problem:
        answer(None, problem)
    else:
        answer(message)


def _answer_received(answer: Answer, outputs: Any, error: BaseException | None) -> None:
    if error is not None:
        answer(None, error)
    else:  # it may be large, or on a device: the sender need not wait until it is away
        answer(partial(wire.received, outputs[0], outputs[0] is DEAD))
