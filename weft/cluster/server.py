"""`tf.train.Server`: a task of a cluster, as a worker that runs graphs and a master for clients."""

from __future__ import annotations

import threading
from typing import Any

from weft.cluster.definitions import make_server_def, task_addresses, task_name
from weft.cluster.guard import security
from weft.cluster.guard.limits import Limits, Meters
from weft.cluster.guard.security import Credentials
from weft.cluster.guard.unfinished import Unfinished
from weft.cluster.recording import TraceMethods
from weft.cluster.steps.master import LocalMaster
from weft.cluster.steps.master_methods import MasterMethods
from weft.cluster.steps.worker import LocalWorker
from weft.cluster.steps.worker_methods import WorkerMethods
from weft.cluster.transport import inprocess
from weft.cluster.transport.frame_transport import FrameServer
from weft.cluster.transport.listening import obstacle
from weft.cluster.transport.methods import HOLD, HOLD_WORKER
from weft.core import errors, flags
from weft.runtime.recording import environment
from weft.runtime.threads import short_turns

LOOPBACK = "localhost"
_STOP_SECONDS = 1.0
_HANDSHAKE_MS = 20_000


# Keeps servers alive that the program holds no reference to any more.
_serving: set[Server] = set()


class Server:
    """Serves one task of a cluster until the process ends, or `stop` is called.

    Args:
        server_or_cluster_def: the cluster: a `ClusterSpec`, a dict from jobs to addresses, or
            messages.
        job_name: the job of this task.
        task_index: its number in the job.
        protocol: "grpc"; None: what the definition says.
        config: a `tf.ConfigProto` for its sessions.
        start: whether to listen at once.
        credentials, limits: weft's own: who may connect, and how much memory they may take.

    Raises:
        ValueError: the definition does not say which task this is.

    Example:
        >>> server = tf.train.Server.create_local_server()
        >>> with tf.Session(server.target) as remote:
        ...     int(remote.run(tf.constant(6) * 7))
        42
        >>> server.stop()
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
        *,
        credentials: Credentials | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`server_or_cluster_def` is a ServerDef, ClusterDef, ClusterSpec or dictionary.

        The other arguments override what a ServerDef says. Without `job_name` and `task_index`
        the cluster must have one task. Without `credentials`, those in the config count, or else
        the environment's.
        """
        environment.begin()
        self._server_def = make_server_def(
            server_or_cluster_def, job_name, task_index, protocol, config
        )
        config = self._server_def.default_session_config
        self._identity = security.identity(credentials, config)
        self._identity.check_server()
        config.CopyFrom(security.stripped(config))
        self._meters = Meters(limits)
        self._lock = threading.Lock()
        self._state = "new"
        self._stopped = threading.Event()
        self._frames: FrameServer | None = None
        self._bind()
        if start:
            self.start()

    @staticmethod
    def create_local_server(
        config: Any = None,
        start: bool = True,
        *,
        credentials: Credentials | None = None,
        limits: Limits | None = None,
    ) -> Server:
        """A cluster of one task in this process, at a port that is free."""
        from tensorboard.compat.proto.cluster_pb2 import ClusterDef

        cluster = ClusterDef()
        cluster.job.add(name="local").tasks[0] = f"{LOOPBACK}:0"
        return Server(
            cluster, protocol="grpc", config=config, start=start, credentials=credentials,
            limits=limits,
        )  # fmt: skip

    def _bind(self) -> None:
        import grpc

        from weft.cluster.transport.grpc_connection import (
            CHANNEL_OPTIONS,
            keepalive_options,
            received_up_to,
        )
        from weft.cluster.transport.grpc_service import Presence, Service, Threads

        definition = self._server_def
        addresses = task_addresses(definition.cluster)
        self.task = task_name(definition.job_name, definition.task_index)
        self._peers = inprocess.Peers(self.task, addresses, identity=self._identity)
        config = definition.default_session_config
        self.worker = LocalWorker(self._peers, config, self._meters)
        self._peers.add(self.task, self.worker)
        self.master = LocalMaster(self._peers, config, self._meters)
        self._threads = Threads()
        limits = self._meters.limits
        options = [
            *CHANNEL_OPTIONS, *keepalive_options(is_server=True), ("grpc.so_reuseport", 0),
            ("grpc.server_handshake_timeout_ms", _HANDSHAKE_MS), received_up_to(limits.message),
        ]  # fmt: skip
        self._server = grpc.server(
            self._threads, options=options, maximum_concurrent_rpcs=limits.calls
        )
        owners = WorkerMethods(self.worker), MasterMethods(self.master)
        methods = {
            name: method
            for owner in (*owners, TraceMethods(self.worker))
            for name, method in owner.methods().items()
        }
        self._presences = {
            HOLD: Presence(self.master.clients.forget, self.master.close_session),
            HOLD_WORKER: Presence(
                lambda session: self.worker.set_loose(session, False),
                self.worker.delete_worker_session,
            ),
        }
        unfinished = Unfinished(self._meters.arriving)
        self._service = Service(methods, self._presences, self._identity, unfinished)
        self._server.add_generic_rpc_handlers((self._service,))
        host, port = self._listen(addresses[self.task])
        unfinished.port = port
        if flags.FRAMES and not self._identity.uses_tls:  # frames are not encrypted
            self._frames = FrameServer(
                host, methods, self._identity, self._meters, owners[0].prompt()
            )
            for owner in owners:
                owner.frame_port, owner.frame_name = self._frames.port, self._frames.name
        addresses[self.task] = f"{host}:{port}"
        self._target = f"grpc://{host}:{port}"

    def _listen(self, address: str) -> tuple[str, int]:
        host, _, port = address.rpartition(":")
        host = host or LOOPBACK
        problem = obstacle(host, int(port))
        try:
            bound = 0 if problem else self._identity.listen(self._server, f"{host}:{port}")
        except RuntimeError:
            bound = 0
        if not bound:
            self._release()
            raise errors.UnknownError(
                None, None, f"Could not start gRPC server: {self.task} cannot listen at {address}:"
                f" {problem or 'is another process using the port?'}", errors.UNKNOWN,
            )  # fmt: skip
        return host, bound

    @property
    def reach(self) -> str:
        """The clients that can open sessions here, in words."""
        return self._identity.reach(self._target.partition("//")[2])

    # ---- what users ask for ----

    @property
    def server_def(self) -> Any:
        """The server's definition, as a ServerDef."""
        return self._server_def

    @property
    def target(self) -> str:
        """The target with which a `tf.Session` connects to this server."""
        return self._target

    def start(self) -> None:
        """Starts to serve; a server that has been started goes on."""
        with self._lock:
            if self._state == "stopped":
                raise errors.UnimplementedError(
                    None, None, "A server that was stopped cannot be started again"
                )
            if self._state == "new":
                self._state = "started"
                self._server.start()
                if self._frames is not None:
                    self._frames.start()
                inprocess.register(self._target, self.master)
                _serving.add(self)

    def join(self) -> None:
        """Blocks until the server is stopped; for most that is never."""
        if self._state == "new":
            raise errors.InternalError(
                None, None, "Server not started yet. Call start() before join()."
            )
        with short_turns():
            while not self._stopped.wait(3600.0):
                pass

    def stop(self) -> None:
        """Ends all sessions and steps, and frees the port."""
        _serving.discard(self)
        with self._lock:
            was, self._state = self._state, "stopped"
            if was == "stopped":
                return
        inprocess.unregister(self._target, self.master)
        self.master.close()
        self.worker.close()
        for presence in self._presences.values():
            presence.close()
        self._server.stop(_STOP_SECONDS).wait()
        self._release()
        self._stopped.set()

    def _release(self) -> None:
        self._peers.close()
        self._service.close()
        self._threads.close()
        if self._frames is not None:
            self._frames.close()
