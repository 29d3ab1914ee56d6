"""Masters and workers in other processes: every call becomes a message of TensorFlow's services."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from weft.cluster.guard.security import NOBODY, Identity
from weft.cluster.interfaces import (
    NOTHING,
    Failed,
    GraphCall,
    GraphResult,
    Master,
    StepCall,
    StepResult,
    Watch,
    Worker,
)
from weft.cluster.steps import parcels
from weft.cluster.transport import outcome, wire
from weft.cluster.transport.grpc_connection import Connection, Frames
from weft.cluster.transport.methods import SERVICE, Message, to_device
from weft.core import errors, flags
from weft.core.deferred import Deferred
from weft.ops.functions.py_tokens import sign_own
from weft.protos.cluster import message
from weft.runtime.devices.device import Device
from weft.runtime.frames import DEAD

Decode = Callable[[Any], Any]


def _nothing(response: Any) -> None:
    return None


def _unchanged(response: wire.Chunk) -> wire.Chunk:
    return response


class GrpcWorker(Worker):
    """The worker at `address`, which is `task` of the cluster."""

    def __init__(self, task: str, address: str, identity: Identity = NOBODY) -> None:
        self._connection = Connection(address, "Worker", task, identity)
        self._frames = Frames(address, self._connection.where, identity)
        self._presence: dict[str, Any] = {}

    def _start(self, name: str, decode: Decode = _nothing, **fields: Any) -> Deferred:
        return self._send(name, message(f"{name}Request")(**fields).SerializeToString(), decode)

    def _send(self, name: str, request: Message, decode: Decode) -> Deferred:
        frames = self._frames.connection
        if frames is not None:
            chunks = [request] if isinstance(request, bytes) else request
            return frames.start(SERVICE.format("Worker", name), chunks, decode)
        if self._frames.may_ask():
            self.get_status(flags.HEALTH.value)  # it tells whether there is a better way
        return self._connection.start(name, request, decode)

    def get_status(self, timeout: float | None = None) -> Deferred:
        def decode(response: bytes) -> list[Device]:
            status = message("GetStatusResponse").FromString(response)
            self.cleans_up = status.cleans_up
            self._frames.connect(status.frame_port, status.frame_name)
            return [to_device(each) for each in status.device_attributes]

        return self._connection.start("GetStatus", b"", decode, timeout)

    def create_worker_session(self, session: str, cluster: Any, isolate: bool) -> Deferred:
        fields: dict[str, Any] = {"session_handle": session, "isolate_session_state": isolate}
        if cluster is not None:
            fields["server_def"] = cluster.SerializeToString()
        with contextlib.suppress(ValueError):  # closed: the call says so
            self._presence[session] = self._connection.hold(session)
        return self._start("CreateWorkerSession", **fields)

    def delete_worker_session(self, session: str) -> Deferred:
        result = self._start("DeleteWorkerSession", session_handle=session)
        presence = self._presence.pop(session, None)
        if presence is not None:
            presence.cancel()
        return result

    def register_graph(
        self, session: str, graph_def: Any, options: Any, watches: Any = None
    ) -> Deferred:
        sign_own(graph_def)
        return self._start(
            "RegisterGraph",
            lambda data: message("RegisterGraphResponse").FromString(data).graph_handle,
            session_handle=session,
            graph_def=graph_def.SerializeToString(),
            graph_options=options.SerializeToString(),
            debug_options=b"" if watches is None else watches.SerializeToString(),
            create_worker_session_called=True,
        )

    def deregister_graph(self, session: str, graph: str) -> Deferred:
        return self._start(
            "DeregisterGraph", session_handle=session, graph_handle=graph,
            create_worker_session_called=True,
        )  # fmt: skip

    def run_graph(self, call: GraphCall, here: bool = False) -> Deferred:
        frames = self._frames.connection
        if frames is not None and not call.partial and call.recording is NOTHING:
            return frames.start(_RUN, run_parcel(call), _run_result, here)
        request = message("RunGraphRequest")(
            session_handle=call.session, graph_handle=call.graph, step_id=call.step_id,
            recv_key=call.fetches, is_partial=call.partial, is_last_partial_run=call.last,
            store_errors_in_response_body=True, create_worker_session_called=True,
        )  # fmt: skip
        request.exec_opts.record_timeline = call.recording.timeline
        request.exec_opts.record_partition_graphs = call.recording.partition_graphs
        data = wire.with_named(request.SerializeToString(), 3, call.feeds)
        return self._send("RunGraph", data, _graph_result)

    def recv_tensor(self, step_id: int, key: str) -> Deferred:
        def decode(response: bytes) -> list[Any]:
            value, is_dead = wire.read_received(response)
            return [DEAD if is_dead else value]

        return self._start("RecvTensor", decode, step_id=step_id, rendezvous_key=key)

    def push_tensors(
        self, step_id: int, keys: Sequence[str], values: Sequence[Any], failed: Failed
    ) -> None:
        parcel = parcels.pack(step_id, (), keys, values)
        frames = self._frames.connection
        if frames is not None:
            frames.post(_PUSH, parcel)
            return
        self._push(parcel, failed, is_first=True)

    def _push(self, parcel: Message, failed: Failed, is_first: bool) -> None:
        def done(nothing: Any, error: BaseException | None) -> None:
            if isinstance(error, errors.UnavailableError) and is_first:
                # A connection from before a cut: another can be made. Twice does no harm.
                self._push(parcel, failed, is_first=False)
            elif isinstance(error, Exception):
                failed(error)

        self._send("PushTensors", parcel, _nothing).deliver_to(done)

    def cleanup_graph(self, step_id: int) -> Deferred:
        return self._start("CleanupGraph", step_id=step_id)

    def cleanup_all(self, containers: Sequence[str]) -> Deferred:
        return self._start("CleanupAll", container=containers)

    def close(self) -> None:
        self._frames.close()
        self._connection.close()


_RUN, _PUSH = SERVICE.format("Worker", "Run"), SERVICE.format("Worker", "PushTensors")


def run_parcel(call: GraphCall) -> list[wire.Chunk]:
    """The request of a whole step, as weft's workers take it."""
    route = call.session, call.graph, tuple(call.fetches)
    keys, values = zip(*call.feeds, strict=True) if call.feeds else ((), ())
    return parcels.pack(call.step_id, route, keys, values)


def _run_result(data: wire.Chunk) -> GraphResult:
    if not data:
        return GraphResult([])
    parcel = parcels.unpack(data)
    return GraphResult(list(zip(parcel.keys, parcel.values, strict=True)))


def _graph_result(data: wire.Chunk) -> GraphResult:
    rest, views = wire.split(data, 1)
    response = message("RunGraphResponse").FromString(rest)
    if response.status_code:
        raise wire.from_status(response.status_code, response.status_error_message)
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.step_stats_pb2 import StepStats

    stats = StepStats.FromString(response.step_stats) if response.step_stats else None
    graphs = [GraphDef.FromString(each) for each in response.partition_graph]
    return GraphResult(list(wire.read_named(views)), stats, graphs)


class GrpcMaster(Master):
    """The master at `address`. With `patience`, it is waited for so many seconds."""

    def __init__(
        self, address: str, patience: float | None = None, identity: Identity = NOBODY
    ) -> None:
        self._patience = patience
        self._connection = Connection(address, "Master", "the master", identity)
        self._frames = Frames(address, self._connection.where, identity)
        self._presence: dict[str, Any] = {}

    def _call(self, name: str, timeout: float | None = None, **fields: Any) -> Any:
        request = message(f"{name}Request")(**fields).SerializeToString()
        response = self._connection.call(name, request, timeout, patience=self._patience)
        return message(f"{name}Response").FromString(response)

    def create_session(self, graph_def: Any, config: Any, target: str = "") -> tuple[str, int]:
        sign_own(graph_def)
        response = self._call(
            "CreateSession", graph_def=graph_def.SerializeToString(),
            config=config.SerializeToString(), target=target,
        )  # fmt: skip
        self._presence[response.session_handle] = self._connection.hold(response.session_handle)
        if response.frame_port and flags.FRAMES and self._frames.connection is None:
            self._frames.connect_now(response.frame_port, response.frame_name)
        return response.session_handle, response.graph_version

    def extend_session(self, session: str, graph_def: Any, version: int) -> int:
        sign_own(graph_def)
        response = self._call(
            "ExtendSession", session_handle=session, graph_def=graph_def.SerializeToString(),
            current_graph_version=version,
        )  # fmt: skip
        new: int = response.new_graph_version
        return new

    def partial_run_setup(
        self, session: str, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]
    ) -> str:
        response = self._call(
            "PartialRunSetup", session_handle=session, feed=feeds, fetch=fetches, target=targets
        )
        handle: str = response.partial_run_handle
        return handle

    def run_step(self, call: StepCall, watch: Watch | None = None) -> StepResult:
        request = message("RunStepRequest")(
            session_handle=call.session, fetch=call.fetches, target=call.targets,
            partial_run_handle=call.partial, store_errors_in_response_body=True,
        )  # fmt: skip
        if call.options is not None:
            request.options = call.options.SerializeToString()
        data = wire.with_named(request.SerializeToString(), 2, call.feeds)
        rest, views = wire.split(self._run("RunStep", data), 1)
        response = message("RunStepResponse").FromString(rest)
        if response.status_code:
            raise wire.from_status(response.status_code, response.status_error_message)
        made = dict(wire.read_named(views))
        return StepResult([made[name] for name in call.fetches], _metadata(response.metadata))

    def _run(self, name: str, request: list[wire.Chunk]) -> wire.Chunk:
        """A call that may take long: meanwhile the master is asked for signs of life."""
        frames = self._frames.connection
        if frames is None:
            return self._connection.call(name, request)
        result = frames.start(SERVICE.format("Master", name), request, _unchanged, here=True)
        answer: wire.Chunk = outcome.wait_watching(
            result, flags.HEALTH.value, self._connection.check
        )
        return answer

    def make_callable(self, session: str, options: Any) -> int:
        response = self._call(
            "MakeCallable", session_handle=session, options=options.SerializeToString()
        )
        handle: int = response.handle
        return handle

    def run_callable(
        self, session: str, handle: int, feeds: Sequence[Any], watch: Watch | None = None
    ) -> StepResult:
        request = message("RunCallableRequest")(session_handle=session, handle=handle)
        data = wire.with_tensors(request.SerializeToString(), 3, feeds)
        rest, views = wire.split(self._run("RunCallable", data), 1)
        response = message("RunCallableResponse").FromString(rest)
        return StepResult([wire.read_tensor(v) for v in views], _metadata(response.metadata))

    def release_callable(self, session: str, handle: int) -> None:
        self._call("ReleaseCallable", session_handle=session, handle=handle)

    def close_session(self, session: str) -> None:
        presence = self._presence.pop(session, None)
        try:
            self._call("CloseSession", _CLOSE_SECONDS, session_handle=session)
        finally:
            if presence is not None:
                presence.cancel()

    def list_devices(self, session: str) -> tuple[list[Device], list[Device]]:
        response = self._call("ListDevices", session_handle=session)
        local = [to_device(each) for each in response.local_device]
        return local, [to_device(each) for each in response.remote_device]

    def reset(self, containers: Sequence[str], device_filters: Sequence[str]) -> None:
        self._call("Reset", container=containers, device_filters=device_filters)

    def close(self) -> None:
        self._frames.close()
        self._connection.close()


_CLOSE_SECONDS = 10.0


def _metadata(data: bytes) -> Any:
    if not data:
        return None
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    return RunMetadata.FromString(data)
