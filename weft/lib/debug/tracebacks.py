"""The lines of Python behind a graph and a call, sent to debug servers."""

from __future__ import annotations

import os
import socket
import traceback
from typing import Any

from tensorboard.compat.proto.tfprof_log_pb2 import CodeDef

from weft.lib.debug import sources
from weft.lib.debug.names import GRPC_URL_PREFIX, get_run_key
from weft.lib.profiler.op_log import Strings, merge_default_with_oplog

_SECONDS = 30


def publish_traceback(
    debug_server_urls: list[str], graph: Any, feed_dict: Any, fetches: Any, old_graph_version: int
) -> int:
    """Sends what the graph was made by, if it has grown since `old_graph_version`; its version."""
    if graph.version <= old_graph_version:
        return old_graph_version
    run_key = get_run_key(feed_dict, fetches)
    send_graph_tracebacks(debug_server_urls, run_key, traceback.extract_stack(), graph)
    return graph.version  # type: ignore[no-any-return]


def send_graph_tracebacks(
    destinations: Any, run_key: str, origin_stack: Any, graph: Any, send_source: bool = True
) -> None:
    """Sends the stacks that made the nodes of a graph and a call of `run`; and their files."""
    from weft.protos.debug import CallTraceback

    log = merge_default_with_oplog(graph, add_trainable_var=False)
    strings = Strings()
    origin = strings.code_def((f.filename, f.lineno, f.name, f.line, 0) for f in origin_stack)
    call = CallTraceback(
        call_type=1, call_key=run_key, origin_stack=origin.SerializeToString(),
        graph_traceback=log.SerializeToString(), graph_version=graph.version,
    )  # fmt: skip
    for number, text in strings.by_number().items():
        call.origin_id_to_string.add(key=number, value=text)
    files: list[Any] = []
    if send_source:
        stacks = [(entry.code_def, dict(log.id_to_string)) for entry in log.log_entries]
        files = [_file(path) for path in _own_files([*stacks, (origin, strings.by_number())])]
    given = [destinations] if isinstance(destinations, str) else destinations
    for address in given:
        _send(address.removeprefix(GRPC_URL_PREFIX), call, files)


def _own_files(stacks: list[tuple[CodeDef, dict[int, str]]]) -> list[str]:
    """The user's files in some stacks."""
    paths = {names[trace.file_id] for code, names in stacks for trace in code.traces}
    return sorted(
        path for path in paths
        if sources.is_extension_uncompiled_python_source(path)
        and os.path.isfile(path) and not sources.guess_is_tensorflow_py_library(path)
    )  # fmt: skip


def _file(path: str) -> Any:
    from weft.protos.debug import DebuggedSourceFiles

    about, message = os.stat(path), DebuggedSourceFiles()
    entry = message.source_files.add(
        host=socket.gethostname(), file_path=path, last_modified=about.st_mtime_ns,
        bytes=about.st_size,
    )  # fmt: skip
    with open(path, errors="replace") as file:
        entry.lines.extend(file.read().splitlines())
    return message


def _send(address: str, call: Any, files: list[Any]) -> None:
    import grpc

    from weft.protos.debug import SERVICE, EventReply

    options = [("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(address.partition("/")[0], options) as channel:
        for method, messages in (("SendTracebacks", [call]), ("SendSourceFiles", files)):
            ask = channel.unary_unary(
                f"/{SERVICE}/{method}", lambda m: m.SerializeToString(), EventReply.FromString
            )
            for message in messages:
                ask(message, timeout=_SECONDS, wait_for_ready=True)
