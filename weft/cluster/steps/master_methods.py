"""TensorFlow's MasterService: messages in and out of the master of this process."""

from __future__ import annotations

import time
from typing import Any

from weft.cluster.interfaces import Caller, StepCall, StepResult
from weft.cluster.steps.master import LocalMaster
from weft.cluster.transport import wire
from weft.cluster.transport.methods import Handler, Message, from_device, methods_of, pack, parse
from weft.ops.functions.py_tokens import sign_foreign


class MasterMethods:
    """The MasterService of a master."""

    NAMES = (
        "CreateSession ExtendSession PartialRunSetup RunStep CloseSession ListDevices Reset"
        " MakeCallable RunCallable ReleaseCallable"
    )

    def __init__(self, master: LocalMaster) -> None:
        self.master, self.clients = master, master.clients
        # Where the same methods can be called by frames.
        self.frame_port, self.frame_name = 0, ""

    def methods(self) -> dict[str, Handler]:
        return methods_of("Master", self, self.NAMES)

    def _heard(self, session: str, caller: Caller) -> None:
        if caller.peer:
            self.clients.called(session, caller.peer, time.monotonic())

    def _CreateSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        from tensorboard.compat.proto.config_pb2 import ConfigProto
        from tensorboard.compat.proto.graph_pb2 import GraphDef

        request = parse("CreateSession", data)
        graph_def = GraphDef.FromString(request.graph_def)
        sign_foreign(graph_def)
        config = ConfigProto.FromString(request.config)
        handle, version = self.master.create_session(graph_def, config, request.target)
        self.clients.called(handle, caller.peer, time.monotonic(), is_new=True)
        return pack(
            "CreateSession",
            session_handle=handle,
            graph_version=version,
            frame_port=self.frame_port,
            frame_name=self.frame_name,
        )

    def _ExtendSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        from tensorboard.compat.proto.graph_pb2 import GraphDef

        request = parse("ExtendSession", data)
        self._heard(request.session_handle, caller)
        graph_def = GraphDef.FromString(request.graph_def)
        sign_foreign(graph_def)
        version = self.master.extend_session(
            request.session_handle, graph_def, request.current_graph_version
        )
        return pack("ExtendSession", new_graph_version=version)

    def _PartialRunSetup(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = parse("PartialRunSetup", data)
        self._heard(request.session_handle, caller)
        handle = self.master.partial_run_setup(
            request.session_handle, list(request.feed), list(request.fetch), list(request.target)
        )
        return pack("PartialRunSetup", partial_run_handle=handle)

    def _RunStep(self, data: wire.Chunk, caller: Caller) -> Message:
        rest, views = wire.split(data, 2)
        request = parse("RunStep", rest)
        self._heard(request.session_handle, caller)
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
            return pack("RunStep", status_code=code, status_error_message=text)
        named = zip(call.fetches, result.values, strict=True)
        return wire.with_named(pack("RunStep", metadata=_metadata(result)), 1, named)

    def _CloseSession(self, data: wire.Chunk, caller: Caller) -> bytes:
        self.master.close_session(parse("CloseSession", data).session_handle)
        return b""

    def _ListDevices(self, data: wire.Chunk, caller: Caller) -> bytes:
        local, remote = self.master.list_devices(parse("ListDevices", data).session_handle)
        return pack(
            "ListDevices",
            local_device=[from_device(d) for d in local],
            remote_device=[from_device(d) for d in remote],
        )

    def _Reset(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = parse("Reset", data)
        self.master.reset(list(request.container), list(request.device_filters))
        return b""

    def _MakeCallable(self, data: wire.Chunk, caller: Caller) -> bytes:
        from tensorboard.compat.proto.config_pb2 import CallableOptions

        request = parse("MakeCallable", data)
        self._heard(request.session_handle, caller)
        options = CallableOptions.FromString(request.options)
        return pack(
            "MakeCallable", handle=self.master.make_callable(request.session_handle, options)
        )

    def _RunCallable(self, data: wire.Chunk, caller: Caller) -> Message:
        rest, views = wire.split(data, 3)
        request = parse("RunCallable", rest)
        self._heard(request.session_handle, caller)
        feeds = [wire.read_tensor(view) for view in views]
        result = self.master.run_callable(
            request.session_handle, request.handle, feeds, caller.on_gone
        )
        small = pack("RunCallable", metadata=_metadata(result))
        return wire.with_tensors(small, 1, result.values)

    def _ReleaseCallable(self, data: wire.Chunk, caller: Caller) -> bytes:
        request = parse("ReleaseCallable", data)
        self._heard(request.session_handle, caller)
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
