"""Writers of summaries that operations write: their methods make operations, too."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    add_to_collection,
    control_dependencies,
    device,
    get_default_graph,
    init_scope,
    name_scope,
)
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.recording import state
from weft.ops.kit.eager import executing_eagerly

WRITERS = "_SUMMARY_WRITER_V2"
# Two writers of a process may write to one folder.
_numbers = itertools.count()


class SummaryWriter:
    """A place where summaries go."""

    def set_as_default(self) -> None:
        """Summaries of this thread go here from now on."""
        raise NotImplementedError

    def as_default(self) -> Any:
        """Summaries made inside go here."""
        raise NotImplementedError

    def init(self) -> Any:
        """Begins the file."""
        raise NotImplementedError

    def flush(self) -> Any:
        """Makes what was written readable by others."""
        raise NotImplementedError

    def close(self) -> Any:
        """Flushes and ends the file."""
        raise NotImplementedError


class ResourceSummaryWriter(SummaryWriter):
    """A writer to a file or a database; `once`: one that is closed in eager execution stays so."""

    def __init__(
        self,
        shared_name: str | None,
        init_op_fn: Callable[[Tensor], Any],
        name: str | None = None,
        once: bool = False,
    ) -> None:
        self._resource = raw.SummaryWriter(shared_name=shared_name, name=name)
        self._init_op_fn, self._init_op = init_op_fn, init_op_fn(self._resource)
        self._once, self._closed = once, False
        if not executing_eagerly():
            add_to_collection(WRITERS, self._init_op)

    def set_as_default(self) -> None:
        self._check_open()
        state.writer = self

    @contextmanager
    def as_default(self) -> Iterator[ResourceSummaryWriter]:
        """Summaries made inside go here, and are flushed at the end."""
        self._check_open()
        before, state.writer = state.writer, self
        try:
            yield self
            self.flush()
        finally:
            state.writer = before

    def init(self) -> Any:
        if self._once:
            self._check_open()
            return self._init_op
        return self._init_op_fn(self._resource)

    def flush(self) -> Any:
        return None if self._is_over() else flush(self)

    def close(self) -> Any:
        if self._is_over():
            return None
        try:
            with control_dependencies([self.flush()]), device("cpu:0"):
                return raw.CloseSummaryWriter(self._resource)
        finally:
            self._closed = executing_eagerly()

    def _is_over(self) -> bool:
        return self._once and self._closed and executing_eagerly()

    def _check_open(self) -> None:
        if self._is_over():
            raise RuntimeError("SummaryWriter is already closed")


class NoopSummaryWriter(SummaryWriter):
    """A writer that writes nothing; summaries go where they went before."""

    def set_as_default(self) -> None:
        return

    @contextmanager
    def as_default(self) -> Iterator[None]:
        yield

    def init(self) -> None:
        return

    def flush(self) -> None:
        return

    def close(self) -> None:
        return


def create_noop_writer() -> SummaryWriter:
    """A writer that does nothing, where one is asked for.

    Returns:
        A `SummaryWriter`.
    """
    return NoopSummaryWriter()


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Makes written summaries readable by others."""
    writer = state.writer if writer is None else writer
    if writer is None:
        return raw.NoOp()
    resource = writer._resource if isinstance(writer, ResourceSummaryWriter) else writer
    with device("cpu:0"):
        return raw.FlushSummaryWriter(resource, name=name)


# ---- files ---------------------------------------------------------------------------------------


def _file(
    logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any
) -> Callable[[Tensor], Any]:
    """What begins a file, for a writer's handle."""

    def init(resource: Tensor) -> Any:
        return raw.CreateSummaryFileWriter(
            resource, logdir, max_queue, flush_millis, filename_suffix
        )

    return init


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer to `logdir`; writers of one name share a file. With None, nothing is written."""
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with device("cpu:0"):
        return ResourceSummaryWriter(
            "logdir:" + logdir if name is None else name,
            _file(logdir, *_settings(max_queue, flush_millis, filename_suffix)),
        )


def create_file_writer_v2(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer to a file of its own in a folder.

    Args:
        logdir: the folder.
        max_queue: how many summaries may wait before they are written; None: 10.
        flush_millis: after how many milliseconds they are written; None: 120,000.
        filename_suffix: the end of the file's name; None: ".v2".
        name: of the operation.

    Returns:
        A `SummaryWriter`.

    Raises:
        ValueError: there is no folder; an argument is a tensor of a graph in eager execution.
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    given = dict(
        logdir=logdir, max_queue=max_queue, flush_millis=flush_millis,
        filename_suffix=filename_suffix,
    )  # fmt: skip
    in_function = get_default_graph().outer_graph is not None
    with name_scope(name, "create_file_writer") as scope, device("cpu:0"), init_scope():
        if executing_eagerly():
            _refuse_graph_tensors(given, in_function)
        folder = convert_to_tensor(logdir, dtypes.string)
        queued, millis, suffix = _settings(max_queue, flush_millis, filename_suffix)
        suffix = constant(f".{os.getpid()}.{next(_numbers)}") + suffix
        shared = None if executing_eagerly() else (scope or "").rstrip("/")
        begin = _file(folder, queued, millis, suffix)
        return ResourceSummaryWriter(shared, begin, name, once=True)


def _settings(max_queue: Any, flush_millis: Any, filename_suffix: Any) -> list[Any]:
    """The arguments of a file; those that were not given are constants."""
    defaults = (max_queue, 10), (flush_millis, 120_000), (filename_suffix, ".v2")
    return [constant(default) if given is None else given for given, default in defaults]


def _refuse_graph_tensors(given: dict[str, Any], in_function: bool) -> None:
    """In eager execution, and in functions there, a writer is made at once."""
    for label, value in given.items():
        if not isinstance(value, Tensor) or hasattr(value, "numpy"):
            continue
        argument = f'Invalid graph Tensor argument "{label}={value}" to'
        if not in_function:
            raise ValueError(f"{argument} eagerly executed create_file_writer().")
        raise ValueError(
            f"{argument} create_file_writer() inside an @tf.function. The create call will be"
            " lifted into the outer eager execution context, so it cannot consume graph tensors"
            " defined inside the function body."
        )


def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """`create_file_writer` under an older name."""
    logging.warning(
        "Deprecation Warning: create_summary_file_writer was renamed to create_file_writer"
    )
    return create_file_writer(*args, **kwargs)


# ---- databases -----------------------------------------------------------------------------------

# What the names in a database may be.
_NAMES = {
    "experiment_name": re.compile(r"^[^\x00-\x1F<>]{0,256}$"),
    "run_name": re.compile(r"^[^\x00-\x1F<>]{0,512}$"),
    "user_name": re.compile(r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$", re.I),
}


def create_db_writer(
    db_uri: Any,
    experiment_name: Any = None,
    run_name: Any = None,
    user_name: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer to a database of TensorBoard's (SQLite), such as "file:/tmp/foo.sqlite".

    Names that are not given are the day, the time, and the user's; empty ones leave their rows out.
    """
    import getpass

    now = time.localtime()
    names = {
        "experiment_name": time.strftime("%Y-%m-%d", now)
        if experiment_name is None
        else experiment_name,
        "run_name": time.strftime("%H:%M:%S", now) if run_name is None else run_name,
        "user_name": getpass.getuser() if user_name is None else user_name,
    }
    for label, given in names.items():
        if isinstance(given, str) and not _NAMES[label].search(given):
            raise ValueError(f"{label} ({given}) must match {_NAMES[label].pattern}")

    def init(resource: Tensor) -> Any:
        return raw.CreateSummaryDbWriter(resource, db_uri, **names)

    with device("cpu:0"):
        return ResourceSummaryWriter(name, init)
