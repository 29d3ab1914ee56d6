"""The debugging sessions as hooks, for monitored sessions and Estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.debug import watching
from weft.lib.debug.dumping import (
    DumpingDebugWrapperSession,
    GrpcDebugWrapperSession,
    TensorBoardDebugWrapperSession,
    as_urls,
    watch_gated,
)
from weft.lib.debug.local import LocalCLIDebugWrapperSession
from weft.lib.debug.sessions import (
    NonInteractiveDebugWrapperSession,
    OnRunEndRequest,
    OnRunStartAction,
    OnRunStartRequest,
)
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook


def _new_options() -> Any:
    from tensorboard.compat.proto.config_pb2 import RunOptions

    return RunOptions()


class LocalCLIDebugHook(SessionRunHook):
    """As `LocalCLIDebugWrapperSession`."""

    def __init__(
        self, ui_type: str = "curses", dump_root: str | None = None,
        thread_name_filter: str | None = None, config_file_path: str | None = None,
    ) -> None:  # fmt: skip
        self._settings = dict(
            ui_type=ui_type, dump_root=dump_root, thread_name_filter=thread_name_filter,
            config_file_path=config_file_path,
        )  # fmt: skip
        self._filters: dict[str, Any] = {}
        self._session_wrapper: LocalCLIDebugWrapperSession | None = None
        self._performed_action = OnRunStartAction.NON_DEBUG_RUN

    def add_tensor_filter(self, filter_name: str, tensor_filter: Any) -> None:
        """A filter that `run -f` and `lt -f` know by name."""
        self._filters[filter_name] = tensor_filter
        if self._session_wrapper is not None:
            self._session_wrapper.add_tensor_filter(filter_name, tensor_filter)

    def _wrapper(self, session: Any) -> LocalCLIDebugWrapperSession:
        if self._session_wrapper is None:
            wrapper: Any = LocalCLIDebugWrapperSession
            self._session_wrapper = made = wrapper(_plain(session), **self._settings)
            for name, chosen in self._filters.items():
                made.add_tensor_filter(name, chosen)
        return self._session_wrapper

    def before_run(self, run_context: Any) -> SessionRunArgs:
        wrapper, args = self._wrapper(run_context.session), run_context.original_args
        wrapper.increment_run_call_count()
        request = OnRunStartRequest(
            args.fetches, args.feed_dict, None, None, wrapper.run_call_count
        )
        response = wrapper.on_run_start(request)
        self._performed_action = response.action
        options = _new_options()
        if response.action == OnRunStartAction.DEBUG_RUN:
            wrapper._decorate_run_options_for_debug(
                options, response.debug_urls, **response.watch_options
            )
        elif response.action == OnRunStartAction.PROFILE_RUN:
            wrapper._decorate_run_options_for_profile(options)
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        assert self._session_wrapper is not None
        ended = OnRunEndRequest(self._performed_action, run_values.run_metadata)
        self._session_wrapper.on_run_end(ended)


def _plain(session: Any) -> Any:
    """The session that a hook is given, without what a monitored session puts around it."""
    from weft.client.session import BaseSession

    while not isinstance(session, BaseSession):
        session = session._sess
    return session


class _WatchingHook(SessionRunHook):
    """Adds the watches of a session that it wraps to every run."""

    def __init__(self, wrap: Callable[[Any], NonInteractiveDebugWrapperSession]) -> None:
        self._wrap = wrap
        self._session_wrapper: NonInteractiveDebugWrapperSession | None = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        is_first = self._session_wrapper is None
        if self._session_wrapper is None:
            self._session_wrapper = self._wrap(_plain(run_context.session))
        wrapper, args = self._session_wrapper, run_context.original_args
        wrapper.increment_run_call_count()
        urls, watched = wrapper._prepare_run_watch_config(args.fetches, args.feed_dict)
        options = _new_options()
        watching.watch_graph(
            options, run_context.session.graph, debug_urls=urls, reset_disk_byte_usage=is_first,
            **vars(watched),
        )  # fmt: skip
        return SessionRunArgs(None, feed_dict=None, options=options)


class DumpingDebugHook(_WatchingHook):
    """As `DumpingDebugWrapperSession`."""

    def __init__(
        self, session_root: str, watch_fn: Callable[..., Any] | None = None,
        thread_name_filter: str | None = None, log_usage: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            lambda session: DumpingDebugWrapperSession(
                session, session_root, watch_fn, thread_name_filter
            )
        )


class GrpcDebugHook(_WatchingHook):
    """As `GrpcDebugWrapperSession`."""

    def __init__(
        self, grpc_debug_server_addresses: Any, watch_fn: Callable[..., Any] | None = None,
        thread_name_filter: str | None = None, log_usage: bool = True,
    ) -> None:  # fmt: skip
        urls = as_urls(grpc_debug_server_addresses)
        super().__init__(
            lambda session: GrpcDebugWrapperSession(session, urls, watch_fn, thread_name_filter)
        )


class TensorBoardDebugHook(GrpcDebugHook):
    """As `TensorBoardDebugWrapperSession`."""

    def __init__(
        self, grpc_debug_server_addresses: Any, thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True, log_usage: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(grpc_debug_server_addresses, watch_gated, thread_name_filter)
        self._urls = as_urls(grpc_debug_server_addresses)
        self._sends_sources, self._sent_version = send_traceback_and_source_code, -1

    def before_run(self, run_context: Any) -> SessionRunArgs:
        if self._sends_sources:
            from weft.lib.debug.tracebacks import publish_traceback

            args = run_context.original_args
            self._sent_version = publish_traceback(
                self._urls, run_context.session.graph, args.feed_dict, args.fetches,
                self._sent_version,
            )  # fmt: skip
        return super().before_run(run_context)


__all__ = [
    "DumpingDebugHook", "GrpcDebugHook", "LocalCLIDebugHook", "TensorBoardDebugHook",
    "TensorBoardDebugWrapperSession",
]  # fmt: skip
