"""Master and Worker: what the processes of a cluster ask of each other.

Values are NumPy arrays here, whatever carries them; `grpc_transport.py` turns calls into messages
and back, `inprocess.py` calls straight through. Every method may be called from any thread, and
raises (or fails its `Deferred`) with TensorFlow's errors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from weft.core.deferred import Deferred
from weft.runtime.devices.device import Device

Watch = Callable[[Callable[[], None]], object]
"""Registers a function to be called when the caller goes away before there is an answer."""


Failed = Callable[[Exception], None]
"""Receives, later, the error of a request that has no reply."""


class Caller(Protocol):
    """The other process, as it waits for the answer to one call."""

    @property
    def peer(self) -> str:
        """From where it called, as gRPC says; "" for one of weft's, which tells when it goes."""

    def on_gone(self, action: Callable[[], Any]) -> None:
        """`action` is called if the caller goes, or loses interest, before it has an answer."""


@dataclass(frozen=True)
class StepCall:
    """One `run`. Tensors and operations go by name. `partial`: the partial run it goes on with."""

    session: str
    feeds: Sequence[tuple[str, Any]] = ()
    fetches: Sequence[str] = ()
    targets: Sequence[str] = ()
    options: Any = None  # RunOptions
    partial: str = ""


@dataclass(frozen=True)
class StepResult:
    """`values` of the fetches, in order. `metadata` is a RunMetadata, if there is any to tell."""

    values: list[Any]
    metadata: Any = None


@dataclass(frozen=True)
class Recording:
    """The records of a step that a worker is to make."""

    timeline: bool = False
    partition_graphs: bool = False


NOTHING = Recording()


class GraphCall(NamedTuple):
    """One step of a registered graph. `feeds` and `fetches` are rendezvous keys.

    A `partial` call starts the step, or goes on with it; the `last` one waits until it is over.
    """

    session: str
    graph: str
    step_id: int
    feeds: Sequence[tuple[str, Any]] = ()
    fetches: Sequence[str] = ()
    recording: Recording = NOTHING
    partial: bool = False
    last: bool = False


class GraphResult(NamedTuple):
    """`values` by rendezvous key. `step_stats` is a StepStats message or None."""

    values: list[tuple[str, Any]]
    step_stats: Any = None
    partition_graphs: Sequence[Any] = ()


class Worker(ABC):
    """A process that runs its share of steps: devices, the state on them, registered graphs.

    No method blocks, but for `run_graph` where it may; each gives a `Deferred` of its result,
    which is in place of the list of outputs. Cancelling the `Deferred` withdraws the request.
    """

    cleans_up = False
    """Whether a step that went well ends by itself, once all that it sent has been taken."""

    @abstractmethod
    def get_status(self, timeout: float | None = None) -> Deferred:
        """The worker's devices, as a list of `Device`."""

    @abstractmethod
    def create_worker_session(self, session: str, cluster: Any, isolate: bool) -> Deferred:
        """Makes a session known under its master's handle. None.

        An isolated one has variables of its own; others share what the worker holds, which
        outlives them. `cluster` is a ServerDef or None: the worker's own idea of the cluster.
        """

    @abstractmethod
    def delete_worker_session(self, session: str) -> Deferred:
        """Forgets a session, its graphs and what it did not share. None."""

    @abstractmethod
    def register_graph(
        self, session: str, graph_def: Any, options: Any, watches: Any = None
    ) -> Deferred:
        """Takes a graph whose nodes are all on devices of this worker; gives a handle to run it by.

        Edges to other workers are `_Send` and `_Recv` nodes; those with `client_terminated` are
        the feeds and fetches. `options` is a GraphOptions, `watches` a DebugOptions or None: the
        tensors that each step of the graph publishes.
        """

    @abstractmethod
    def deregister_graph(self, session: str, graph: str) -> Deferred:
        """Forgets a registered graph; steps under way go on. None."""

    @abstractmethod
    def run_graph(self, call: GraphCall, here: bool = False) -> Deferred:
        """Runs one step of a graph; gives a `GraphResult`.

        An error ends the step on this worker, and fails requests for its tensors; the caller
        tells the other workers. With `here`, the caller waits for nothing else: it may run on the
        calling thread before it returns; otherwise only a step that is over at once does.
        """

    @abstractmethod
    def recv_tensor(self, step_id: int, key: str) -> Deferred:
        """The value that the step sends, or will send, under `key`: a list of one, maybe DEAD.

        It is given out once. AbortedError when the sending device lives another life than the one
        the key is about.
        """

    @abstractmethod
    def push_tensors(
        self, step_id: int, keys: Sequence[str], values: Sequence[Any], failed: Failed
    ) -> None:
        """Hands over values of a step that the worker's graph says are pushed to it.

        Only to workers that clean up; what they have no use for they drop.
        """

    @abstractmethod
    def cleanup_graph(self, step_id: int) -> Deferred:
        """Removes what is left of a step that is over everywhere; pending requests fail. None."""

    @abstractmethod
    def cleanup_all(self, containers: Sequence[str]) -> Deferred:
        """Empties containers of resources on all devices; all of them if none is named. None."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of connections. Calls under way fail."""


class Master(ABC):
    """A process that clients open sessions on. All methods block until there is an answer."""

    @abstractmethod
    def create_session(self, graph_def: Any, config: Any, target: str = "") -> tuple[str, int]:
        """Opens a session on a graph, once all workers of the cluster are there.

        Gives a handle, and the version of the graph. UnavailableError when a worker is missing.
        """

    @abstractmethod
    def extend_session(self, session: str, graph_def: Any, version: int) -> int:
        """Adds nodes to the graph that has `version`, all or none; gives the new version.

        AbortedError if another client has extended it meanwhile.
        """

    @abstractmethod
    def partial_run_setup(
        self, session: str, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]
    ) -> str:
        """Declares a step that comes in several calls; gives a handle for `StepCall.partial`."""

    @abstractmethod
    def run_step(self, call: StepCall, watch: Watch | None = None) -> StepResult:
        """Runs one step on all workers that have a part in it.

        The first error ends it on all of them. Steps of a session run concurrently.
        """

    @abstractmethod
    def make_callable(self, session: str, options: Any) -> int:
        """A step with fixed feeds, fetches and targets (CallableOptions), to be run by number."""

    @abstractmethod
    def run_callable(
        self, session: str, handle: int, feeds: Sequence[Any], watch: Watch | None = None
    ) -> StepResult:
        """Runs it; the feeds come in the order they were declared in."""

    @abstractmethod
    def release_callable(self, session: str, handle: int) -> None: ...

    @abstractmethod
    def close_session(self, session: str) -> None:
        """Ends the steps under way and frees what workers hold for the session."""

    @abstractmethod
    def list_devices(self, session: str) -> tuple[list[Device], list[Device]]:
        """The devices of the master's own process, and those of others."""

    @abstractmethod
    def reset(self, containers: Sequence[str], device_filters: Sequence[str]) -> None:
        """Empties containers of resources on the workers and closes all sessions."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of connections."""
