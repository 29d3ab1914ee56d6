"""Session: what a user holds to run steps of a graph."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.client import process_config
from weft.client.feeds import as_given, storage_of, to_feed, to_feeds
from weft.client.fetches import Fetches, feed_items, structure_key
from weft.client.run_metadata import RunMetadata  # noqa: F401  (with a picture)
from weft.client.tensor_handle import with_handles
from weft.core import errors
from weft.graph import stacks
from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.runtime.recording import environment
from weft.runtime.step import StepRunner

_MAX_FETCHES = 4096
_open_sessions: weakref.WeakSet[BaseSession] = weakref.WeakSet()


class SessionInterface:
    """What runs operations: a session, or something around one."""


class BaseSession(SessionInterface):
    """Runs operations of one graph. Safe to call from many threads at once."""

    def __init__(self, target: Any = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if target is not None and not isinstance(target, (str, bytes)):
            raise TypeError("target must be a string")
        self._graph = graph if graph is not None else stacks.get_default_graph()
        if self._graph is None:
            raise ValueError("A session needs a graph")
        self._target = target.decode() if isinstance(target, bytes) else (target or "")
        if config is not None and not hasattr(config, "SerializeToString"):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._config = config = process_config.config_for(config)
        self._closed = False
        self._lock = threading.Lock()
        self._runner = _runner(self._graph, config, self._target)
        self._fetches: dict[Any, Fetches] = {}
        self._fed: dict[tuple[Any, ...], list[Any]] = {}
        self._partial_runs: dict[str, Any] = {}
        _open_sessions.add(self)

    # ---- about the session ----

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def graph_def(self) -> Any:
        shapes = self._config is not None and self._config.graph_options.infer_shapes
        return self._graph.as_graph_def(add_shapes=shapes)

    @property
    def sess_str(self) -> str:
        return self._target

    @property
    def _config_proto(self) -> Any:
        return self._config

    def list_devices(self) -> list[Any]:
        """The devices this session can place operations on."""
        self._check_open()
        return self._runner.list_devices()

    def close(self) -> None:
        """Frees the session's state. Steps that wait are cancelled; later ones fail."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._runner.close()
        _open_sessions.discard(self)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def as_default(self) -> Any:
        return stacks.sessions.enter(self)

    def _repr_html_(self) -> str:
        from weft.client.pictures import session_card

        return session_card(self)

    # ---- running ----

    def run(
        self,
        fetches: Any,
        feed_dict: dict[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Computes `fetches` (a graph element, or a nested structure of them).

        `feed_dict` gives values to any tensors. Returns NumPy values in the structure of
        `fetches`; operations give None.
        """
        if self._closed:
            self._check_open()
        if not self._graph._ops:
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )
        handler = self._handler(fetches)
        keys: tuple[Tensor, ...] = ()
        values: list[Any] = []
        if feed_dict:
            keys, values = self._feeds(feed_dict)
        results = self._runner.run(
            handler.tensors, handler.targets, keys, values, options, run_metadata, handler
        )
        if handler.handles:
            results = with_handles(self, handler.tensors, handler.handles, results)
        if keys and not handler.fetched.isdisjoint(keys):
            results = _with_fed(results, handler.tensors, keys, feed_dict)
        return handler.rebuild(results)

    def _handler(self, fetches: Any) -> Fetches:
        try:
            key = structure_key(fetches)
            handler = self._fetches.get(key)
        except TypeError:
            return Fetches(self._graph, fetches)
        if handler is None:
            handler = Fetches(self._graph, fetches)
            if len(self._fetches) >= _MAX_FETCHES:
                self._fetches.clear()
            self._fetches[key] = handler
        return handler

    def _feeds(self, feed_dict: Any) -> tuple[tuple[Tensor, ...], list[Any]]:
        """The tensors that are fed, and the arrays they are fed with."""
        given = tuple(feed_dict)
        storage = self._fed.get(given)
        if storage is not None and not self._graph._unfeedable:
            return given, to_feeds(given, storage, feed_dict.values())
        if not isinstance(feed_dict, Mapping):
            raise TypeError("input must be a dictionary")
        pairs = [pair for key, value in feed_dict.items() for pair in _feed_pairs(key, value)]
        # Of two values for a tensor, as by its name and by itself, the last one counts.
        fed = {self._feed_tensor(element): value for element, value in pairs}
        tensors = tuple(fed)
        for tensor in tensors:
            if tensor in self._graph._unfeedable:
                raise ValueError(f"Tensor {tensor} may not be fed.")
        if tensors == given:  # nothing but tensors of this graph: they need no second look
            if len(self._fed) >= _MAX_FETCHES:
                self._fed.clear()
            self._fed[given] = [storage_of(tensor) for tensor in given]
        return tensors, [*map(to_feed, tensors, fed.values())]

    def _feed_tensor(self, element: Any) -> Tensor:
        if type(element) is Tensor and element.op.graph is self._graph:
            return element
        try:
            return self._graph.as_graph_element(element, allow_operation=False)
        except Exception as error:
            text = error.args[0] if error.args else error
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from None

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the values of `feed_list` that runs `fetches`, with less work per call."""
        return self._make_callable(fetches, feed_list, accept_options, to_feed)

    def _make_callable(
        self,
        fetches: Any,
        feed_list: Sequence[Any] | None,
        accept_options: bool,
        as_feed: Callable[[Tensor, Any], Any],
    ) -> Callable[..., Any]:
        """As `make_callable`; `as_feed` is `to_array` where shapes are not to be checked."""
        self._check_open()
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        handler = self._handler(fetches)
        keys = tuple(self._feed_tensor(f) for f in feed_list or ())
        if feed_list is None and not accept_options:
            return self._bare_call(handler)

        runner, rebuild = self._runner, handler.rebuild  # a recording replaces `runner.run`
        tensors, targets, count = handler.tensors, handler.targets, len(keys)

        def call(*args: Any, **kwargs: Any) -> Any:
            options = metadata = None
            if kwargs:
                options, metadata = kwargs.pop("options", None), kwargs.pop("run_metadata", None)
                if kwargs:
                    raise TypeError("The callable takes only the values to feed")
            if self._closed:
                self._check_open()
            values = [*map(as_feed, keys, args)]  # as many as there are of both
            fed = keys if len(values) == count else keys[: len(values)]
            return rebuild(runner.run(tensors, targets, fed, values, options, metadata, handler))

        return call

    def _bare_call(self, handler: Fetches) -> Callable[[], Any]:
        """A callable without feeds or options: what queue runners call for every element."""
        runner, rebuild = self._runner, handler.rebuild
        tensors, targets = handler.tensors, handler.targets

        def call() -> Any:
            if self._closed:
                self._check_open()
            return rebuild(runner.run(tensors, targets, (), (), None, None, handler))

        return call

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Declares what a sequence of `partial_run` calls will fetch and feed."""
        self._check_open()
        handler = Fetches(self._graph, fetches)
        if not handler.tensors and not handler.targets:
            raise errors.InvalidArgumentError(
                None, None, "PRunSetup: specify at least one target to fetch or execute."
            )
        tensors = [self._feed_tensor(f) for key in feeds or () for f, _ in _expand_key(key)]
        run = self._runner.partial_run(handler.tensors, handler.targets, tensors)
        with self._lock:
            handle = f"partial_run_{len(self._partial_runs)}"
            self._partial_runs[handle] = run
        return handle

    def partial_run(
        self, handle: str, fetches: Any, feed_dict: dict[Any, Any] | None = None
    ) -> Any:
        """Continues a step: feeds some more values and computes some more fetches."""
        self._check_open()
        run = self._partial_runs.get(handle)
        if run is None:
            raise errors.InvalidArgumentError(
                None, None, "Must run 'setup' before performing partial runs!"
            )
        handler = Fetches(self._graph, fetches)
        keys, values = self._feeds(feed_dict or {})
        results = run.advance(handler.tensors, handler.targets, keys, values)
        return handler.rebuild(_with_fed(results, handler.tensors, keys, feed_dict or {}))


def _runner(graph: Graph, config: Any, target: str) -> Any:
    """The runner of a session's steps: this process, or the master that `target` names."""
    if target in ("", "local"):
        environment.begin()
        return StepRunner(graph, config)
    from weft.client.remote import RemoteRunner

    environment.begin()
    return RemoteRunner(graph, config, target)


def _expand_key(key: Any) -> list[tuple[Any, Any]]:
    components = getattr(key, "_composite_components", None)
    return [(c, None) for c in components()] if components is not None else [(key, None)]


def _with_fed(
    results: Sequence[Any], fetched: Sequence[Tensor], keys: Sequence[Tensor], feed_dict: Any
) -> list[Any]:
    """The results, with what is both fed and fetched as the array that was given."""
    pairs = [pair for key, value in feed_dict.items() for pair in _feed_pairs(key, value)]
    given = {tensor: value for tensor, (_, value) in zip(keys, pairs, strict=True)}
    return [
        as_given(tensor, given[tensor]) if tensor in given else result
        for tensor, result in zip(fetched, results, strict=True)
    ]


def _feed_pairs(key: Any, value: Any) -> Sequence[Any]:
    return ((key, value),) if type(key) is Tensor else feed_items(key, value)


class Session(BaseSession):
    """A session that is also a context manager: it becomes the default, and closes at the end.

    Args:
        target: the address of a server, such as "grpc://host:2222"; "" runs in this process.
        graph: the graph to run; None: the default graph.
        config: a `tf.ConfigProto`.

    Raises:
        TypeError: `target` is no string, `graph` no graph or `config` no ConfigProto.
        tf.errors.FailedPreconditionError: from `run`: a variable was read before it was
            initialized.

    Example:
        >>> with tf.Session() as session:
        ...     total = session.run(tf.constant(3) + 5)
        >>> int(total)
        8
    """

    def __init__(self, target: Any = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._contexts: list[tuple[Any, Any]] = []

    def __enter__(self) -> Session:
        if self._contexts:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you"
                " want to enter a session multiple times."
            )
        graph = self._graph.as_default()
        session = self.as_default()
        graph.__enter__()
        session.__enter__()
        self._contexts.append((graph, session))
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        graph, session = self._contexts.pop()
        session.__exit__(kind, value, trace)
        graph.__exit__(kind, value, trace)
        self.close()

    @staticmethod
    def reset(target: str, containers: list[str] | None = None, config: Any = None) -> None:
        """Clears resource containers of `target` and ends the sessions on it."""
        if target:
            from weft.client.remote import reset

            reset(target, containers or (), config)
            return
        for session in list(_open_sessions):
            if session._target == "":
                session._runner.clear(containers)
                session.close()


def _config_proto() -> Any:
    from tensorboard.compat.proto.config_pb2 import ConfigProto

    return ConfigProto()


class InteractiveSession(BaseSession):
    """A session that is the default from its creation until it is closed.

    Args:
        target: the address of a server; "" runs in this process.
        graph: the graph to run; None: the default graph.
        config: a `tf.ConfigProto`.

    Raises:
        TypeError: `target` is no string, `graph` no graph or `config` no ConfigProto.

    Example:
        >>> session = tf.InteractiveSession()
        >>> int((tf.constant(2) * 21).eval())
        42
        >>> session.close()
    """

    def __init__(self, target: Any = "", graph: Graph | None = None, config: Any = None) -> None:
        # What is typed in is run bit by bit: only what a step needs must have its place.
        own = _config_proto()
        if config is not None:
            own.CopyFrom(config)
        own.graph_options.place_pruned_graph = True
        super().__init__(target, graph, own)
        self._session_scope = self.as_default()
        self._session_scope.enforce_nesting = False
        self._session_scope.__enter__()
        self._graph_scope: Any = None
        if graph is not None:
            self._graph_scope = graph.as_default()
            self._graph_scope.enforce_nesting = False
            self._graph_scope.__enter__()

    def close(self) -> None:
        if not self._closed:
            self._session_scope.__exit__(None, None, None)
            if self._graph_scope is not None:
                self._graph_scope.__exit__(None, None, None)
        super().close()


def open_sessions() -> list[BaseSession]:
    """The sessions that have not been closed: for tests that look for leaks."""
    return [s for s in _open_sessions if not s._closed]


__all__ = ["BaseSession", "InteractiveSession", "Operation", "Session"]
