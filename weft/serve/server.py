"""A model server, put together: models, fronts, and the thread that looks for new versions."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.cluster.guard.limits import message_limit
from weft.cluster.guard.security import Credentials, Identity
from weft.cluster.transport.listening import obstacle, socket_obstacle
from weft.core import errors, machine
from weft.runtime.debug import report
from weft.serve.batching import Places
from weft.serve.config import Batching, ModelConfig, read_config
from weft.serve.errors import invalid, precondition, unavailable
from weft.serve.grpc_front import GrpcFront
from weft.serve.http_front import METRICS_PATH, HttpFront, HttpLimits
from weft.serve.loading import Loader
from weft.serve.metrics import Metrics, gauge
from weft.serve.models import Models, Spec
from weft.serve.observe import Observer
from weft.serve.page import Page
from weft.serve.request_log import RequestLog
from weft.serve.requests import Requests
from weft.serve.rest import Rest
from weft.storage import file_io

LOOPBACK = "localhost"


@dataclass(frozen=True)
class Options:
    """How to serve. Ports: 0 is any that is free, None is none; sockets are paths."""

    models: tuple[ModelConfig, ...] = ()
    config_file: str = ""
    host: str = LOOPBACK
    grpc_port: int | None = 8500
    rest_port: int | None = 8501
    grpc_socket: str = ""
    rest_socket: str = ""
    batching: Batching | None = None
    own_batching: bool = False
    tags: tuple[str, ...] = ("serve",)
    poll_seconds: float = 1.0
    config_poll_seconds: float = 0.0
    memory: int = 0
    labels_in_advance: bool = False
    warms_up: bool = True
    warm_up_runs: int = 1
    credentials: Credentials = field(default_factory=Credentials)
    message_limit: int = field(default_factory=message_limit)
    calls: int = 1000
    rest_seconds: float = 30.0
    rest_threads: int = 0
    grpc_threads: int = 0
    cors: bool = False
    as_content: bool = False
    request_log: str = ""
    sampling: float = 1.0
    metrics_path: str = METRICS_PATH


class ModelServer:
    """Serves from `start` on, until `stop`."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._identity = Identity(options.credentials)
        self._identity.check_server()
        self.metrics = Metrics()
        self.observer = Observer(self.metrics, RequestLog(options.request_log, options.sampling))
        batching = options.batching
        loader = Loader(
            options.tags, batching, Places(batching.num_batch_threads if batching else 1),
            self.observer.batch, options.own_batching, options.warms_up, options.warm_up_runs,
        )  # fmt: skip
        self.models = Models(loader, options.memory, options.labels_in_advance)
        self.observer.knows = self.models.has
        self.observer.sampling_of = self._sampling
        self.metrics.state = self._gauges
        self._stopping = threading.Event()
        self._stopped = threading.Event()
        self._grpc: GrpcFront | None = None
        self._http: HttpFront | None = None
        self._watch: threading.Thread | None = None
        self._config_text: str | None = ""
        self._config_lock = threading.Lock()
        self.grpc_port = self.rest_port = 0
        self.addresses: list[str] = []

    def _sampling(self, name: str) -> float | None:
        config = self.models.config_of(name)
        return config.sampling if config is not None else None

    # ---- starting ----

    def start(self) -> None:
        """Opens the ports, then loads the models; requests before that find none.

        OpError if a port cannot be opened, or if the config file is none.
        """
        if self.options.config_file:
            self._configs(file_io.read_file_to_string(self.options.config_file))
        try:
            self._open_grpc()
            self._open_http()
        except BaseException:
            self.stop(0.0)
            raise
        self._read_models()
        if self.options.poll_seconds > 0 or self.options.config_poll_seconds > 0:
            self._watch = threading.Thread(target=self._look, name="weft-versions", daemon=True)
            self._watch.start()

    def _open_grpc(self) -> None:
        options = self.options
        if options.grpc_port is None and not options.grpc_socket:
            return
        requests = Requests(self.models, options.as_content, self._configure)
        self._grpc = front = GrpcFront(
            requests, self.observer, self._identity, lambda: self.is_ready,
            options.message_limit, options.calls, options.grpc_threads or self._threads(),
        )  # fmt: skip
        if options.grpc_port is not None:
            self.grpc_port = self._bound(front, f"{options.host}:{options.grpc_port}")
            self.addresses.append(f"gRPC at {options.host}:{self.grpc_port}")
        if options.grpc_socket:
            self._bound(front, f"unix:{options.grpc_socket}")
            self.addresses.append(f"gRPC at unix:{options.grpc_socket}")
        front.start()

    def _bound(self, front: GrpcFront, address: str) -> int:
        if address.startswith("unix:"):
            problem = socket_obstacle(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            problem = obstacle(host, int(port))
        try:
            bound = 0 if problem else front.listen(address)
        except RuntimeError:
            bound = 0
        if not bound:
            raise unavailable(
                f"No gRPC server can listen at {address}: {problem or 'is it in use?'}"
            )
        return bound

    def _threads(self) -> int:
        """Threads of gRPC: few, as they take turns in Python, but each of a batch has one."""
        few = max(16, 4 * machine.cores())
        batching = self.options.batching
        return few if batching is None else max(few, min(512, 2 * batching.max_batch_size))

    def _open_http(self) -> None:
        options = self.options
        if options.rest_port is None and not options.rest_socket:
            return
        threads = options.rest_threads or max(64, 4 * machine.cores())
        self._http = front = HttpFront(
            Rest(self.models, self.observer), self.metrics, Page(self.models, self.observer),
            self._identity, lambda: self.is_ready,
            HttpLimits(options.message_limit, options.rest_seconds, options.calls, threads),
            options.cors, options.metrics_path,
        )  # fmt: skip
        if options.rest_port is not None:
            host = _first_address(options.host)
            problem = obstacle(options.host, options.rest_port)
            if problem:
                raise unavailable(
                    f"No HTTP server can listen at {options.host}:{options.rest_port}: {problem}"
                )
            self.rest_port = front.listen(options.credentials, host=host, port=options.rest_port)
            scheme = "https" if options.credentials.cert else "http"
            self.addresses.append(f"REST at {scheme}://{options.host}:{self.rest_port}")
        if options.rest_socket:
            problem = socket_obstacle(options.rest_socket)
            if problem:
                raise unavailable(
                    f"No HTTP server can listen at unix:{options.rest_socket}: {problem}"
                )
            front.listen(options.credentials, uds=options.rest_socket)
            self.addresses.append(f"REST at unix:{options.rest_socket}")

    @property
    def reach(self) -> str:
        """Who can use the server, in words."""
        return self._identity.reach(f"{self.options.host}:0")

    # ---- models ----

    @property
    def is_ready(self) -> bool:
        """Whether all models can be asked, and will be for a while."""
        return not self._stopping.is_set() and bool(self.models.names) and self.models.is_ready

    def _configure(self, configs: Sequence[ModelConfig]) -> None:
        try:
            self.models.configure(configs)
        finally:
            self.observer.forget(set(self.models.names))

    def _read_models(self) -> None:
        try:
            if self.options.config_file:
                self.reload()
            else:
                self._configure(self.options.models)
        except errors.OpError as error:
            report.log(f"weft serve: {error.message}")

    def reload(self, if_changed: bool = False) -> None:
        """Reads the config file again. OpError if it cannot be, or is not, served as it says."""
        with self._config_lock:
            text = file_io.read_file_to_string(self.options.config_file)
            if if_changed and text == self._config_text:
                return
            self._config_text = text
            configs = self._configs(text)
            try:
                self._configure(configs)
            except errors.OpError:
                self._config_text = None  # a version that is lacking may come
                raise

    def _configs(self, text: str) -> tuple[ModelConfig, ...]:
        """The models of the config file, which says this.

        One that is empty, as it is while somebody writes it, takes no model away.
        """
        try:
            found = read_config(text)
        except errors.InvalidArgumentError as error:
            raise invalid(f"{self.options.config_file}: {error.message}") from None
        if found is None and self.models.names:
            raise precondition(
                f"{self.options.config_file} has no model_config_list: the models stay"
            )
        return found or ()

    def reload_or_complain(self, if_changed: bool = False) -> None:
        """As `reload`, for who cannot be told."""
        try:
            if self.options.config_file:
                self.reload(if_changed)
            else:
                self.models.look_again()
        except (errors.OpError, OSError) as error:
            text = getattr(error, "message", None) or str(error)
            report.log(f"weft serve: {text}")

    def _look(self) -> None:
        """Looks at folders and at the config file, each when its time has come."""
        every = {"folders": self.options.poll_seconds, "config": self.options.config_poll_seconds}
        due = {name: time.monotonic() + s for name, s in every.items() if s > 0}
        while not self._stopping.wait(max(0.0, min(due.values()) - time.monotonic())):
            for name in [name for name, when in due.items() if when <= time.monotonic()]:
                due[name] = time.monotonic() + every[name]
                try:
                    if name == "folders":
                        self.models.look_again()
                    elif self.options.config_file:
                        self.reload_or_complain(if_changed=True)
                except Exception as error:  # the next look may do better
                    report.log(f"weft serve: {type(error).__name__}: {error}")

    def _gauges(self) -> Iterable[Any]:
        states, queues = [], []
        for name in self.models.names:
            for version, servable in self.models.available(name).items():
                queued = servable.batcher.queued if servable.batcher is not None else 0
                queues.append(((name, str(version)), float(queued)))
            try:
                known = self.models.statuses(Spec(name))
            except errors.OpError:
                known = []
            states += [((name, str(v), s.state.name), 1.0) for v, s in known]
        yield gauge("models", "Versions and their states.", ("model_name", "version", "state"),
                    states)  # fmt: skip
        yield gauge("batching_session:queued_batches", "Batches that wait.",
                    ("model_name", "version"), queues)  # fmt: skip
        yield gauge("model_memory_bytes", "Memory of all models, estimated.", (),
                    [((), float(self.models.memory_used))])  # fmt: skip

    # ---- stopping ----

    def stop(self, seconds: float = 15.0) -> None:
        """Says that it is not ready, takes no more requests, and lets those under way finish."""
        if self._stopping.is_set():
            self._stopped.wait(seconds + 10.0)
            return
        self._stopping.set()
        if self._http is not None:
            self._http.stop(seconds)
        if self._grpc is not None:
            self._grpc.stop(seconds)
        if self._watch is not None:
            self._watch.join()
        self.models.close(seconds)
        self.observer.log.close()
        self._stopped.set()

    def wait(self) -> None:
        """Until it is stopped."""
        while not self._stopped.wait(3600.0):
            pass


def _first_address(host: str) -> str:
    """An address of a host: where uvicorn listens, which takes but one."""
    found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    families = sorted(found, key=lambda each: each[0] != socket.AF_INET)
    return str(families[0][4][0])
