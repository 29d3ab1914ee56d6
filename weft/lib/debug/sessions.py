"""Sessions around a session, which are asked before every run and told after it.

A subclass says before a run whether it is watched (`on_run_start`), and looks at it afterwards
(`on_run_end`).
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from weft.client.session import BaseSession, SessionInterface
from weft.core import errors, nest
from weft.graph import stacks
from weft.lib.debug import watching
from weft.lib.platform import tf_logging
from weft.lib.train.sessions.monitored_session import MonitoredSession
from weft.lib.train.sessions.wrapped_session import StepContext


def _check_type(obj: Any, expected_types: Any) -> None:
    if not isinstance(obj, expected_types):
        raise TypeError(f"Expected type {expected_types}; got type {type(obj)}")


class OnSessionInitRequest:
    """Told when a session is wrapped."""

    def __init__(self, sess: Any) -> None:
        _check_type(sess, (BaseSession, MonitoredSession))
        self.session = sess


class OnSessionInitAction:
    """What to do with a session that is wrapped."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"


class OnSessionInitResponse:
    """What to do now."""

    def __init__(self, action: str) -> None:
        _check_type(action, str)
        self.action = action


class OnRunStartRequest:
    """Told before a run."""

    def __init__(
        self, fetches: Any, feed_dict: Any, run_options: Any, run_metadata: Any,
        run_call_count: int, is_callable_runner: bool = False,
    ) -> None:  # fmt: skip
        self.fetches, self.feed_dict = fetches, feed_dict
        self.run_options, self.run_metadata = run_options, run_metadata
        self.run_call_count, self.is_callable_runner = run_call_count, is_callable_runner


class OnRunStartAction:
    """How a run goes: watched, traced, or as if there were no debugger."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"


class WatchOptions:
    """The watched tensors: those whose node's name, type and dtype the patterns match."""

    def __init__(
        self, debug_ops: Any = None, node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:  # fmt: skip
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"WatchOptions({told})"


class OnRunStartResponse:
    """How the run is to go, and what of it is watched."""

    def __init__(
        self, action: str, debug_urls: list[str], debug_ops: Any = "DebugIdentity",
        node_name_regex_whitelist: str | None = None, op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:  # fmt: skip
        _check_type(action, str)
        _check_type(debug_urls, list)
        self.action, self.debug_urls = action, debug_urls
        watched = WatchOptions(
            debug_ops, node_name_regex_whitelist, op_type_regex_whitelist,
            tensor_dtype_regex_whitelist, tolerate_debug_op_creation_failures,
        )  # fmt: skip
        self.watch_options = vars(watched)
        vars(self).update(self.watch_options)


class OnRunEndRequest:
    """Told after a run."""

    def __init__(
        self, performed_action: str, run_metadata: Any = None, client_graph_def: Any = None,
        tf_error: Any = None,
    ) -> None:  # fmt: skip
        _check_type(performed_action, str)
        if run_metadata is not None:
            from tensorboard.compat.proto.config_pb2 import RunMetadata

            _check_type(run_metadata, RunMetadata)
        self.performed_action, self.run_metadata = performed_action, run_metadata
        self.client_graph_def, self.tf_error = client_graph_def, tf_error


class OnRunEndResponse:
    """Nothing to say."""


class _Call(NamedTuple):
    """One call of `run`, or of a function that `make_callable` gave."""

    fetches: Any
    feed_dict: Any
    runner: Callable[..., Any] | None
    values: Any

    def make(self, session: Any, options: Any, run_metadata: Any) -> Any:
        if self.runner is not None:
            return self.runner(*self.values, options=options, run_metadata=run_metadata)
        return session.run(
            self.fetches, feed_dict=self.feed_dict, options=options, run_metadata=run_metadata
        )


def _is_empty(fetches: Any) -> bool:
    """Whether a structure holds nothing at all."""
    if isinstance(fetches, Mapping):
        fetches = list(fetches.values())
    return nest.is_nested(fetches) and all(map(_is_empty, fetches))


class BaseDebugWrapperSession(SessionInterface):
    """A session that stands for another one."""

    def __init__(
        self, sess: Any, thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = False,
    ) -> None:  # fmt: skip
        _check_type(sess, (BaseSession, MonitoredSession))
        self._sess = sess
        self._thread_names = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        self._entered: list[Any] = []
        response = self.on_session_init(OnSessionInitRequest(sess))
        _check_type(response, OnSessionInitResponse)
        if response.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError(
                "OnSessionInitAction REMOTE_INSTR_LOOP has not been implemented."
            )
        if response.action != OnSessionInitAction.PROCEED:
            raise ValueError(f"Invalid OnSessionInitAction value: {response.action}")

    # ---- for subclasses ----

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Called when the session is wrapped."""
        raise NotImplementedError

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Called before a run."""
        raise NotImplementedError

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Called after a run."""
        raise NotImplementedError

    def _is_disk_usage_reset_each_run(self) -> bool:
        return False

    # ---- runs ----

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None,
        callable_runner: Callable[..., Any] | None = None, callable_runner_args: Any = None,
    ) -> Any:  # fmt: skip
        """As the session's; the debugger is asked before it and told after it."""
        if callable_runner and (fetches or feed_dict):
            raise ValueError(
                "callable_runner and fetches/feed_dict are mutually exclusive, but are used"
                " simultaneously."
            )
        self.increment_run_call_count()
        call = _Call(fetches, feed_dict, callable_runner, callable_runner_args or ())
        if self._is_left_alone(fetches):
            return call.make(self._sess, options, run_metadata)
        request = OnRunStartRequest(
            fetches, feed_dict, options, run_metadata, self._run_call_count,
            is_callable_runner=callable_runner is not None,
        )  # fmt: skip
        response = self.on_run_start(request)
        _check_type(response, OnRunStartResponse)
        found, ended = self._performed(response, call, options, run_metadata)
        _check_type(self.on_run_end(ended), OnRunEndResponse)
        return found

    def _is_left_alone(self, fetches: Any) -> bool:
        if _is_empty(fetches):
            tf_logging.info(
                "Due to empty fetches, tfdbg Session wrapper is letting a Session.run pass through"
                " without any debugging actions."
            )
            return True
        name = threading.current_thread().name or ""
        return self._thread_names is not None and not self._thread_names.match(name)

    def _performed(
        self, response: OnRunStartResponse, call: _Call, options: Any, run_metadata: Any
    ) -> tuple[Any, OnRunEndRequest]:
        action = response.action
        if action == OnRunStartAction.NON_DEBUG_RUN:
            return call.make(self._sess, options, run_metadata), OnRunEndRequest(action)
        if action not in (OnRunStartAction.DEBUG_RUN, OnRunStartAction.PROFILE_RUN):
            raise ValueError(f"Invalid OnRunStartAction value: {action}")
        from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

        options = RunOptions() if options is None else options
        run_metadata = RunMetadata() if run_metadata is None else run_metadata
        error = None
        if action == OnRunStartAction.PROFILE_RUN:
            self._decorate_run_options_for_profile(options)
            found = call.make(self._sess, options, run_metadata)
        else:
            self._decorate_run_options_for_debug(
                options, response.debug_urls, **response.watch_options
            )
            try:
                found = call.make(self._sess, options, run_metadata)
            except errors.OpError as problem:
                if self._pass_through_operrors:
                    raise
                found = error = problem
        graph_def = self._sess.graph.as_graph_def()
        return found, OnRunEndRequest(action, run_metadata, graph_def, error)

    def _decorate_run_options_for_debug(
        self, run_options: Any, debug_urls: list[str], **watched: Any
    ) -> None:
        run_options.output_partition_graphs = True
        reset = self._run_call_count == 1 or self._is_disk_usage_reset_each_run()
        watching.watch_graph(
            run_options, self._sess.graph, debug_urls=debug_urls, reset_disk_byte_usage=reset,
            **watched,
        )  # fmt: skip

    def _decorate_run_options_for_profile(self, run_options: Any) -> None:
        run_options.trace_level = run_options.FULL_TRACE

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """As the session's, with the debugger around every call."""
        plain = self._sess.make_callable(fetches, feed_list=feed_list, accept_options=True)
        return functools.partial(self._call, plain)

    def _call(
        self, plain: Any, /, *values: Any, options: Any = None, run_metadata: Any = None
    ) -> Any:
        about = {"callable_runner": plain, "callable_runner_args": values}
        return self.run(None, None, options, run_metadata, **about)

    def run_step_fn(self, step_fn: Callable[[Any], Any]) -> Any:
        return step_fn(StepContext(self._sess, self.run))

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        raise NotImplementedError(
            "partial_run_setup is not implemented for debug-wrapper sessions."
        )

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        raise NotImplementedError("partial_run is not implemented for debug-wrapper sessions.")

    # ---- the session ----

    @property
    def session(self) -> Any:
        return self._sess

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def run_call_count(self) -> int:
        return self._run_call_count

    def increment_run_call_count(self) -> None:
        self._run_call_count += 1

    def __getattr__(self, name: str) -> Any:
        if name == "_sess":  # not wrapped yet
            raise AttributeError(name)
        return getattr(self._sess, name)

    def should_stop(self) -> bool:
        if not hasattr(self._sess, "should_stop"):
            raise ValueError(
                f"The wrapped session {self._sess!r} does not have a method called 'should_stop'."
                " Do you intend to wrap a tf.MonitoredSession instead?"
            )
        return bool(self._sess.should_stop())

    def as_default(self) -> Any:
        return stacks.sessions.enter(self)

    def __enter__(self) -> Any:
        self._entered.append(self.as_default())
        return self._entered[-1].__enter__()

    def __exit__(self, *exc: Any) -> Any:
        return self._entered.pop().__exit__(*exc)


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """A session whose every run is watched; `watch_fn(fetches, feeds)` gives `WatchOptions`."""

    def __init__(
        self, sess: Any, watch_fn: Callable[..., Any] | None = None,
        thread_name_filter: str | None = None, pass_through_operrors: bool | None = False,
    ) -> None:  # fmt: skip
        super().__init__(sess, thread_name_filter, pass_through_operrors)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._watch_fn = watch_fn

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        """Where the tensors of the next run go."""
        raise NotImplementedError

    def _prepare_run_watch_config(
        self, fetches: Any, feed_dict: Any
    ) -> tuple[list[str], WatchOptions]:
        urls = self.prepare_run_debug_urls(fetches, feed_dict)
        told = WatchOptions() if self._watch_fn is None else self._watch_fn(fetches, feed_dict)
        return urls, WatchOptions(*told) if isinstance(told, tuple) else told

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        urls, watched = self._prepare_run_watch_config(request.fetches, request.feed_dict)
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, urls, **vars(watched))

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        return OnRunEndResponse()
