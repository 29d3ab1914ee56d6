"""Sessions that write the tensors of every run to files, or send them to a debug server."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

from weft.lib.debug.datum import (
    FEED_KEYS_INFO_FILE_TAG,
    FETCHES_INFO_FILE_TAG,
    METADATA_FILE_PREFIX,
)
from weft.lib.debug.names import GRPC_URL_PREFIX
from weft.lib.debug.sessions import NonInteractiveDebugWrapperSession, WatchOptions
from weft.runtime.debug.publish import new_event

GATED = "DebugIdentity(gated_grpc=true)"


class DumpingDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Every `run` writes its tensors to a new folder below `session_root`."""

    def __init__(
        self, sess: Any, session_root: str, watch_fn: Callable[..., Any] | None = None,
        thread_name_filter: str | None = None, pass_through_operrors: bool | None = None,
        log_usage: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(sess, watch_fn, thread_name_filter, pass_through_operrors)
        root = os.path.expanduser(session_root)
        check_free(root, "session_root")
        os.makedirs(root, exist_ok=True)
        self._session_root, self._run_counter = root, 0
        self._run_counter_lock = threading.Lock()

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        with self._run_counter_lock:
            name = f"run_{int(time.time() * 1e6)}_{self._run_counter}"
            self._run_counter += 1
        folder = os.path.join(self._session_root, name)
        os.mkdir(folder)
        keys = feed_dict.keys() if feed_dict else feed_dict
        for tag, told in ((FETCHES_INFO_FILE_TAG, fetches), (FEED_KEYS_INFO_FILE_TAG, keys)):
            event = new_event(0)
            event.log_message.message = repr(told)
            with open(os.path.join(folder, METADATA_FILE_PREFIX + tag), "wb") as file:
                file.write(event.SerializeToString())
        return [f"file://{folder}"]


def check_free(root: str, name: str) -> None:
    """ValueError unless a folder is empty, or not there yet."""
    if os.path.isfile(root):
        raise ValueError(f"{name} path points to a file: {root}")
    if os.path.isdir(root) and os.listdir(root):
        raise ValueError(f"{name} path points to a non-empty directory: {root}")


class GrpcDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Every `run` sends its tensors to debug servers at these addresses."""

    def __init__(
        self, sess: Any, grpc_debug_server_addresses: Any,
        watch_fn: Callable[..., Any] | None = None, thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(sess, watch_fn, thread_name_filter)
        self._grpc_debug_server_urls = as_urls(grpc_debug_server_addresses)

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        return self._grpc_debug_server_urls


def as_urls(addresses: Any) -> list[str]:
    """Addresses of debug servers, as `grpc://host:port`."""
    if not isinstance(addresses, (str, list)):
        raise TypeError(
            "Expected type str or list in grpc_debug_server_addresses, received type"
            f" {type(addresses)}"
        )
    given = [addresses] if isinstance(addresses, str) else addresses
    for each in given:
        if not isinstance(each, str):
            raise TypeError(
                f"Expected type str in list grpc_debug_server_addresses, received type {type(each)}"
            )
    return [GRPC_URL_PREFIX + each.removeprefix(GRPC_URL_PREFIX) for each in given]


def watch_gated(fetches: Any, feeds: Any) -> WatchOptions:
    """Watches everything, for a server to say which tensors it wants."""
    return WatchOptions(debug_ops=[GATED])


class TensorBoardDebugWrapperSession(GrpcDebugWrapperSession):
    """Sends graphs and lines of Python to a debug server, and the tensors that it asks for."""

    def __init__(
        self, sess: Any, grpc_debug_server_addresses: Any, thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True, log_usage: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(sess, grpc_debug_server_addresses, watch_gated, thread_name_filter)
        self._sends_sources, self._sent_version = send_traceback_and_source_code, -1

    def run(self, fetches: Any, feed_dict: Any = None, *args: Any, **kwargs: Any) -> Any:
        """As the session's; the lines that made new nodes go to the server first."""
        if self._sends_sources:
            from weft.lib.debug.tracebacks import publish_traceback

            self._sent_version = publish_traceback(
                self._grpc_debug_server_urls, self.graph, feed_dict, fetches, self._sent_version
            )
        return super().run(fetches, feed_dict, *args, **kwargs)
