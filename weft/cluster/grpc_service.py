"""The master and the worker of this process, for others to call over gRPC.

Requests and responses are bytes here; a request that cannot be parsed is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from weft.cluster import outcome, wire
from weft.cluster.grpc_transport import HOLD, SERVICE, from_device
from weft.cluster.interfaces import (
    Caller,
    GraphCall,
    Master,
    Recording,
    StepCall,
    StepResult,
    Worker,
)
from weft.core import errors
from weft.core.deferred import Deferred
from weft.protos.cluster import message
from weft.runtime import report
from weft.runtime.crew import Crew
from weft.runtime.frames import DEAD

Message = bytes | list[wire.Chunk]
_STATUS = {code.value[0]: code for code in grpc.StatusCode}
_LONGEST_MESSAGE = 3072  # of an error that travels in the headers of a response
Handler = Callable[[wire.Chunk, Caller], Message]


class Threads:
    """What gRPC runs calls on: one that waits, for a queue or a tensor, holds up no other."""

    def __init__(self) -> None:
        self._crew = Crew("weft-rpc")

    def submit(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        result: Future[Any] = Future()

        def job() -> None:
            try:
                result.set_result(function(*args, **kwargs))
            except BaseException as error:
                result.set_exception(error)

        self._crew.start(job)
        return result

    def close(self) -> None:
        self._crew.close()


class Service(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Looks methods up by their path."""

    def __init__(self, methods: dict[str, Handler], presence: Presence) -> None:
        self._handlers = {
            path: grpc.unary_unary_rpc_method_handler(_guarded(path, method))
            for path, method in methods.items()
        }
        self._handlers[HOLD] = grpc.unary_stream_rpc_method_handler(presence)

    def service(self, details: Any) -> Any:
        return self._handlers.get(details.method)


class GrpcCaller:
    """A `Caller` over gRPC."""

    def __init__(self, context: Any) -> None:
        self._context, self.answered = context, False

    def on_gone(self, action: Callable[[], Any]) -> None:
        def ended() -> None:
            if not self.answered:
                action()

        if not self._context.add_callback(ended):
            action()  # it has gone already


class Presence:
    """Knows which sessions have a client: each keeps a call open that is never answered."""

    experimental_non_blocking = True  # gRPC's word for a call that needs no thread to stay open

    def __init__(self, master: Master) -> None:
        self.master = master
        self._open: set[Any] = set()

    def __call__(self, request: bytes, context: Any, send: Any = None) -> Any:
        self._open.add(context)
        if not context.add_callback(lambda: self._gone(request.decode(), context)):
            self._gone(request.decode(), context)
        return ()

    def _gone(self, session: str, context: Any) -> None:
        self._open.discard(context)
        with contextlib.suppress(errors.OpError):  # most have closed their session themselves
            self.master.close_session(session)

    def close(self) -> None:
        for context in list(self._open):
            context.cancel()


def _guarded(path: str, method: Handler) -> Callable[[bytes, Any], bytes]:
    """`method`, whose errors become the status of the call."""

    def call(request: bytes, context: Any) -> bytes:
        caller = GrpcCaller(context)
        try:
            return wire.joined(method(request, caller))
        except DecodeError as error:
            status = errors.INVALID_ARGUMENT, f"{path}: a request could not be parsed: {error}"
        except Exception as error:
            status = wire.to_status(error)
            if not isinstance(error, errors.OpError):
                report.say(1, f"{path}: {error!r}".__str__)
        finally:
            caller.answered = True
        code, text = status
        if len(text) > _LONGEST_MESSAGE:
            text = text[:_LONGEST_MESSAGE] + " ... [truncated]"
        context.abort(_STATUS.get(code, grpc.StatusCode.UNKNOWN), text)
        raise AssertionError("abort raises")

    return call


def _parse(name: str, data: wire.Chunk) -> Any:
    return message(f"{name}Request").FromString(bytes(data))


def _pack(name: str, **fields: Any) -> bytes:
    data: bytes = message(f"{name}Response")(**fields).SerializeToString()
    return data


def _methods(service: str, owner: Any, names: str) -> dict[str, Handler]:
    return {SERVICE.format(service, name): getattr(owner, f"_{name}") for name in names.split()}


class WorkerMethods:
    """The WorkerService of a worker."""

    NAMES = (
        "GetStatus CreateWorkerSession DeleteWorkerSession RegisterGraph DeregisterGraph RunGraph"
        " CleanupGraph CleanupAll RecvTensor Logging Tracing MarkRecvFinished"
    )

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.frame_port = 0  # where the same methods can be called by frames

    def methods(self) -> dict[str, Handler]:
        return _methods("Worker", self, self.NAMES)

    def _GetStatus(self, data: wire.Chunk, caller: Caller) -> bytes:
        devices = outcome.wait(self.worker.get_status())
        return _pack(
            "GetStatus",
            device_attributes=[from_device(d) for d in devices],
            cleans_up=self.worker.cleans_up,
            frame_port=self.frame_port,
        )

    def _CreateWorkerSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        from weft.protos.server import ServerDef

        request = _parse("CreateWorkerSession", data)
        handle, isolate = request.session_handle, request.isolate_session_state
        cluster = ServerDef.FromString(request.server_def) if request.server_def else None
        outcome.wait(self.worker.create_worker_session(handle, cluster, isolate))
        return b""

    def _DeleteWorkerSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = _parse("DeleteWorkerSession", data)
        outcome.wait(self.worker.delete_worker_session(request.session_handle))
        return b""

    def _RegisterGraph(self, data: wire.Chunk, caller: Caller) -> bytes:
        from tensorboard.compat.proto.config_pb2 import GraphOptions
        from tensorboard.compat.proto.graph_pb2 import GraphDef

        request = _parse("RegisterGraph", data)
        options = GraphOptions.FromString(request.graph_options)
        graph_def = GraphDef.FromString(request.graph_def)
        session = _session(request)
        handle = outcome.wait(self.worker.register_graph(session, graph_def, options))
        return _pack("RegisterGraph", graph_handle=handle)

    def _DeregisterGraph(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = _parse("DeregisterGraph", data)
        outcome.wait(self.worker.deregister_graph(_session(request), request.graph_handle))
        return b""

    def _RunGraph(self, data: wire.Chunk, caller: Caller) -> Message:
        rest, views = wire.split(data, 3)
        request = _parse("RunGraph", rest)
        call = GraphCall(
            _session(request), request.graph_handle, request.step_id, wire.read_named(views),
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
            return _pack("RunGraph", status_code=code, status_error_message=text)
        response = message("RunGraphResponse")()
        if result.step_stats is not None:
            response.step_stats = result.step_stats.SerializeToString()
        response.partition_graph.extend(g.SerializeToString() for g in result.partition_graphs)
        return wire.with_named(response.SerializeToString(), 1, result.values)

    def _RecvTensor(self, data: wire.Chunk, caller: Caller) -> Message:
        request = _parse("RecvTensor", data)
        result: Deferred = self.worker.recv_tensor(request.step_id, request.rendezvous_key)
        caller.on_gone(result.cancel)
        value = outcome.wait(result)[0]
        return wire.received(value, value is DEAD)

    def _CleanupGraph(self, data: wire.Chunk, caller: Caller) -> bytes:
        outcome.wait(self.worker.cleanup_graph(_parse("CleanupGraph", data).step_id))
        return b""

    def _CleanupAll(self, data: wire.Chunk, caller: Caller) -> bytes:
        outcome.wait(self.worker.cleanup_all(list(_parse("CleanupAll", data).container)))
        return b""

    def _Logging(self, data: wire.Chunk, caller: Caller) -> bytes:
        return b""  # calls are not logged

    def _Tracing(self, data: wire.Chunk, caller: Caller) -> bytes:
        return b""

    def _MarkRecvFinished(self, data: wire.Chunk, caller: Caller) -> bytes:
        return b""  # we keep nothing to be acknowledged


def _session(request: Any) -> str:
    handle: str = request.session_handle
    return handle if request.create_worker_session_called else ""


class MasterMethods:
    """The MasterService of a master."""

    NAMES = (
        "CreateSession ExtendSession PartialRunSetup RunStep CloseSession ListDevices Reset"
        " MakeCallable RunCallable ReleaseCallable"
    )

    def __init__(self, master: Master) -> None:
        self.master = master
        self.frame_port = 0  # where the same methods can be called by frames

    def methods(self) -> dict[str, Handler]:
        return _methods("Master", self, self.NAMES)

    def _CreateSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        from tensorboard.compat.proto.config_pb2 import ConfigProto
        from tensorboard.compat.proto.graph_pb2 import GraphDef

        request = _parse("CreateSession", data)
        graph_def = GraphDef.FromString(request.graph_def)
        config = ConfigProto.FromString(request.config)
        handle, version = self.master.create_session(graph_def, config, request.target)
        return _pack(
            "CreateSession",
            session_handle=handle,
            graph_version=version,
            frame_port=self.frame_port,
        )

    def _ExtendSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        from tensorboard.compat.proto.graph_pb2 import GraphDef

        request = _parse("ExtendSession", data)
        graph_def = GraphDef.FromString(request.graph_def)
        version = self.master.extend_session(
            request.session_handle, graph_def, request.current_graph_version
        )
        return _pack("ExtendSession", new_graph_version=version)

    def _PartialRunSetup(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = _parse("PartialRunSetup", data)
        handle = self.master.partial_run_setup(
            request.session_handle, list(request.feed), list(request.fetch), list(request.target)
        )
        return _pack("PartialRunSetup", partial_run_handle=handle)

    def _RunStep(self, data: wire.Chunk, caller: Caller) -> Message:
        rest, views = wire.split(data, 2)
        request = _parse("RunStep", rest)
        call = StepCall(
            request.session_handle, wire.read_named(views), list(request.fetch),
            list(request.target), _run_options(request.options), request.partial_run_handle,
        )  # fmt: skip
        try:
            result = self.master.run_step(call, caller.on_gone)
        except Exception as error:
            if not request.store_errors_in_response_body:
                raise
            code, text = wire.to_status(error)
            return _pack("RunStep", status_code=code, status_error_message=text)
        named = zip(call.fetches, result.values, strict=True)
        return wire.with_named(_pack("RunStep", metadata=_metadata(result)), 1, named)

    def _CloseSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        self.master.close_session(_parse("CloseSession", data).session_handle)
        return b""

    def _ListDevices(self, data: wire.Chunk, caller: Caller) -> bytes:
        local, remote = self.master.list_devices(_parse("ListDevices", data).session_handle)
        return _pack(
            "ListDevices",
            local_device=[from_device(d) for d in local],
            remote_device=[from_device(d) for d in remote],
        )

    def _Reset(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = _parse("Reset", data)
        self.master.reset(list(request.container), list(request.device_filters))
        return b""

    def _MakeCallable(self, data: wire.Chunk, caller: Caller) -> bytes:
        from tensorboard.compat.proto.config_pb2 import CallableOptions

        request = _parse("MakeCallable", data)
        options = CallableOptions.FromString(request.options)
        return _pack(
            "MakeCallable", handle=self.master.make_callable(request.session_handle, options)
        )

    def _RunCallable(self, data: wire.Chunk, caller: Caller) -> Message:
        rest, views = wire.split(data, 3)
        request = _parse("RunCallable", rest)
        feeds = [wire.read_tensor(view) for view in views]
        result = self.master.run_callable(
            request.session_handle, request.handle, feeds, caller.on_gone
        )
        small = _pack("RunCallable", metadata=_metadata(result))
        return wire.with_tensors(small, 1, result.values)

    def _ReleaseCallable(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = _parse("ReleaseCallable", data)
        self.master.release_callable(request.session_handle, request.handle)
        return b""


def _run_options(data: bytes) -> Any:
    if not data:
        return None
    from tensorboard.compat.proto.config_pb2 import RunOptions

    return RunOptions.FromString(data)


def _metadata(result: StepResult) -> bytes:
    data: bytes = result.metadata.SerializeToString() if result.metadata is not None else b""
    return data
