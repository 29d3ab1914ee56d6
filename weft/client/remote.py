"""A session's steps on a master, in another process or in this one.

The graph travels as it grows: before a step, the master is sent the nodes that are new.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.cluster.definitions import is_address
from weft.cluster.guard import security
from weft.cluster.interfaces import Master, StepCall, StepResult
from weft.cluster.transport import inprocess
from weft.cluster.transport.wire import node_named
from weft.core import errors
from weft.core.dtypes import DType
from weft.core.errors import raise_from
from weft.core.exceptions import as_public
from weft.graph.graph import Graph
from weft.graph.graph_def import graph_def
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.state.session_tensors import delete_session_tensor, device_of, get_session_tensor
from weft.runtime.devices.device import Device
from weft.runtime.fetched import to_user

PREFIX = "grpc://"
_SECURE_PREFIX = "grpcs://"  # TLS, whatever else says so
_NODE = re.compile(r"\[\[(?:\{\{)?node ([^\s\]}]+)(?:\}\})?[^\]]*\]\]")
_TRANSFER = re.compile(r"/_\d+$")  # after the name of what is sent
_MAX_NAMES = 4096


def connect(target: str, config: Any = None) -> Master:
    """The master that a session's target stands for."""
    if not target.startswith((PREFIX, _SECURE_PREFIX)):
        raise errors.NotFoundError(
            None, None, "No session factory registered for the given session options: target"
            f" {target!r}. '' runs in this process, '{PREFIX}host:port' on a server",
        )  # fmt: skip
    local = inprocess.master_at(target)
    if local is not None:
        return local
    address = target.partition("//")[2]
    if not is_address(address):
        raise errors.InvalidArgumentError(
            None, None, f'Could not interpret "{address}" as a host-port pair.'
        )
    from weft.cluster.transport.grpc_transport import GrpcMaster

    limit = config.operation_timeout_in_ms if config is not None else 0
    identity = security.identity(None, config, tls=target.startswith(_SECURE_PREFIX))
    return GrpcMaster(address, limit / 1000 if limit else None, identity)


class RemoteRunner:
    """Runs steps on a master, as `StepRunner` does here. Its session begins with the first step."""

    def __init__(self, graph: Graph, config: Any, target: str) -> None:
        from tensorboard.compat.proto.config_pb2 import ConfigProto

        self.graph = graph
        self.config = security.stripped(config) if config is not None else ConfigProto()
        self.target = target
        self.master = connect(target, config)
        self._is_local = inprocess.master_at(target) is not None
        self._handle = ""
        self._version = self._sent = self._mutations = 0
        self._names: dict[Any, tuple[list[str], list[str]]] = {}
        self._quantized: dict[str, DType] = {}  # feeds of such types
        self._dead: list[str] = []
        self._handle_nodes: dict[Any, Any] = {}
        self._lock = threading.Lock()

    # ---- the session over there ----

    def handle(self) -> str:
        """The session's handle; the master knows the whole graph by then."""
        graph = self.graph
        if self._handle and self._sent == graph.version and self._mutations == graph._mutations:
            return self._handle
        with self._lock:
            mutations = graph._mutations
            if self._handle and self._mutations != mutations:
                if graph._has_mutated(self._mutations, self._sent):
                    self._begin_again()
                self._mutations = mutations
            if not self._handle:
                self._create()
            elif self._sent != graph.version:
                self._extend()
            return self._handle

    def _create(self) -> None:
        self._mutations, count = self.graph._mutations, self.graph.version
        whole = graph_def(self.graph)
        self._handle, self._version = self.master.create_session(whole, self.config, self.target)
        self._sent = count

    def _extend(self) -> None:
        count = self.graph.version
        added = graph_def(self.graph, self._sent)
        self._version = self.master.extend_session(self._handle, added, self._version)
        self._sent = count

    def _begin_again(self) -> None:
        """A node has changed that the master knows: only a new session can have it as it is now."""
        if self.config.isolate_session_state:
            raise errors.FailedPreconditionError(
                None, None, "A node was changed after the session had run it. The variables of an"
                " isolated session would be lost with the session",
            )  # fmt: skip
        self.master.close_session(self._handle)
        self._handle = ""

    # ---- steps ----

    def run(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: tuple[Tensor, ...],
        values: Sequence[Any],
        options: Any = None,
        metadata: Any = None,
        key: Any = None,
    ) -> list[Any]:
        """One step. `key` stands for (fetches, targets)."""
        names = self._names.get(key) if key is not None else None
        if names is None:
            names = [t.name for t in fetches], [op.name for op in targets]
            if len(self._names) >= _MAX_NAMES:
                self._names.clear()
            if key is not None:
                self._names[key] = names
        given = [(t.name, value) for t, value in zip(feeds, values, strict=True)]
        for tensor in feeds:
            if tensor.dtype.is_quantized and not self._is_local:
                self._quantized[tensor.name] = tensor.dtype
        return self.run_named(given, *names, options=options, metadata=metadata)

    def run_named(
        self, feeds: Sequence[tuple[str, Any]], fetches: Sequence[str], targets: Sequence[str],
        options: Any = None, metadata: Any = None, partial: str = "",
    ) -> list[Any]:  # fmt: skip
        if self._dead:
            self._forget_dead()
        if feeds and not partial:
            fed = dict(feeds)
            if not fed.keys().isdisjoint(fetches):
                return self._with_fed(fed, fetches, targets, options, metadata)
        if self._quantized:
            feeds = [(name, self._typed(name, value)) for name, value in feeds]
        try:
            call = StepCall(self.handle(), feeds, fetches, targets, options, partial)
            result = self.master.run_step(call)
        except errors.OpError as error:
            raise self._explained(error) from None
        except Exception as error:
            raise_from(as_public(error), error)
        self._tell(result, metadata)
        return [to_user(value) for value in result.values]

    def _typed(self, name: str, value: Any) -> Any:
        """A value to be sent. Quantized ones, plain integers here, must say what they are."""
        dtype = self._quantized.get(name)
        return value if dtype is None else value.view(dtype.as_numpy_dtype)

    def _with_fed(
        self, fed: dict[str, Any], fetches: Sequence[str], targets: Sequence[str], options: Any,
        metadata: Any,
    ) -> list[Any]:  # fmt: skip
        """A step that fetches what it feeds. TensorFlow's servers would refuse it."""
        asked = [name for name in fetches if name not in fed]
        known = {name: to_user(fed[name]) for name in fetches if name in fed}
        if asked or targets:
            made = self.run_named(list(fed.items()), asked, targets, options, metadata)
            known.update(zip(asked, made, strict=True))
        return [known[name] for name in fetches]

    def _tell(self, result: StepResult, metadata: Any) -> None:
        if metadata is not None:
            metadata.Clear()
            if result.metadata is not None:
                metadata.ParseFromString(result.metadata.SerializeToString())

    def _explained(self, error: errors.OpError) -> errors.OpError:
        """An error from afar, with the operation it names and the line that made it."""
        name = node_named(error.message)
        op = self._operation(name) if name is not None else None
        if op is None:
            return error

        def located(found: re.Match[str]) -> str:
            known = self._operation(found.group(1))
            if known is None:
                return f"[[node {found.group(1)} ]]"
            return f"[[node {known.name} (defined at {errors.locate(known)}) ]]"

        message = _NODE.sub(located, error.message)
        return errors.make_error(op.node_def, op, message, error.error_code)

    def _operation(self, name: str) -> Operation | None:
        """The client's operation for a node of a step; a _Send maps to its source."""
        known = self.graph._by_name
        return known.get(name) or known.get(_TRANSFER.sub("", name))

    def partial_run(
        self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]
    ) -> RemotePartialRun:
        """Declares a step that comes in several calls."""
        return RemotePartialRun(self, fetches, targets, feeds)

    # ---- tensors that stay there ----

    def kept(self, handle: str, dtype: Any) -> Any:
        """A tensor that the session keeps under a handle."""
        holder, value = self._node(("get", device_of(handle), dtype), handle, dtype)
        return self.run_named([(holder.name, _text(handle))], [value.name], ())[0]

    def forget(self, handle: str) -> None:
        """Drops a tensor that the session keeps, with the next step: any thread may call this."""
        self._dead.append(handle)

    def _forget_dead(self) -> None:
        while self._dead:
            handle = self._dead.pop()
            holder, gone = self._node(("delete", device_of(handle)), handle)
            self.run_named([(holder.name, _text(handle))], (), [gone.name])

    def _node(self, key: Any, handle: str, *dtype: Any) -> Any:
        """The placeholder and the operation for handles of one device."""
        if key not in self._handle_nodes:
            make = get_session_tensor if dtype else delete_session_tensor
            with self.graph.as_default(), self.graph._without_scopes():
                self._handle_nodes[key] = make(handle, *dtype)
        return self._handle_nodes[key]

    # ---- the rest of a runner ----

    def list_devices(self) -> list[Device]:
        local, remote = self.master.list_devices(self.handle())
        return [*local, *remote]

    def clear(self, containers: list[str] | None = None) -> None:
        """Empties resource containers on all workers; that ends the sessions on the master."""
        self.master.reset(containers or (), self.config.device_filters)

    def close(self) -> None:
        """Ends the session over there, if there is one and its master can be reached."""
        with self._lock:
            handle, self._handle = self._handle, ""
        try:
            if handle:
                self.master.close_session(handle)
        except errors.OpError:
            pass  # the master is gone, and the session with it
        finally:
            if not self._is_local:
                self.master.close()


def _text(handle: str) -> np.ndarray:
    return np.array(handle.encode(), object)


class RemotePartialRun:
    """A step in several calls, on a master."""

    def __init__(
        self, runner: RemoteRunner, fetches: Sequence[Tensor], targets: Sequence[Operation],
        feeds: Sequence[Tensor],
    ) -> None:  # fmt: skip
        self.runner = runner
        self.handle = runner.master.partial_run_setup(
            runner.handle(), [t.name for t in feeds], [t.name for t in fetches],
            [op.name for op in targets],
        )  # fmt: skip

    def advance(
        self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
        values: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        given = [(t.name, value) for t, value in zip(feeds, values, strict=True)]
        names = [t.name for t in fetches], [op.name for op in targets]
        return self.runner.run_named(given, *names, partial=self.handle)


def reset(target: str, containers: Sequence[str], config: Any) -> None:
    """Empties containers on the workers of a cluster, and ends all sessions of one master."""
    master = connect(target, config)
    filters = list(config.device_filters) if config is not None else []
    try:
        master.reset(containers, filters)
    finally:
        if inprocess.master_at(target) is not master:
            master.close()
