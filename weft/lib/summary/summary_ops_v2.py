"""tf.contrib.summary: summaries that are written when their operations run.

There is a default writer, and a condition for writing; both are the thread's. All operations made
here are collected, for the program to run with its steps.
"""

from __future__ import annotations

import getpass
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Graph,
    add_to_collection,
    control_dependencies,
    device,
    get_collection,
    get_default_graph,
    name_scope,
)
from weft.graph.op_def import raw
from weft.graph.stacks import get_default_session
from weft.graph.tensor import Tensor
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.summary import summary_scope
from weft.ops.array.placeholders import placeholder
from weft.ops.control.cond import cond
from weft.ops.math import math
from weft.ops.state.global_step import get_or_create_global_step

_WRITERS = "_SUMMARY_WRITER_V2"
_OPS = "_SUMMARY_V2"


class _State(threading.local):
    writer: Any = None
    recording: Any = None


_state = _State()

# ---- whether to write ----------------------------------------------------------------------------


def should_record_summaries() -> Any:
    """Whether summaries are written here: a bool or a tensor; False by default."""
    recording = _state.recording() if callable(_state.recording) else _state.recording
    return False if recording is None else recording


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Summaries made inside are written if `condition` holds: a bool, a tensor, a function."""
    before, _state.recording = _state.recording, condition
    try:
        yield
    finally:
        _state.recording = before


def record_summaries_every_n_global_steps(
    n: int, global_step: Any = None
) -> AbstractContextManager[None]:
    """Summaries made inside are written in every `n`-th step."""
    step = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):
        return record_if(math.equal(step % n, 0))


def always_record_summaries() -> AbstractContextManager[None]:
    """Summaries inside of `with` are written at every step."""
    return record_if(True)


def never_record_summaries() -> AbstractContextManager[None]:
    """Summaries inside of `with` are not written."""
    return record_if(False)


# ---- writers -------------------------------------------------------------------------------------


class SummaryWriter:
    """A writer of summaries. Its methods make operations."""

    def __init__(self, shared_name: str | None, init: Callable[[Tensor], Any] | None) -> None:
        self._init = init
        self._resource: Any = None
        if init is not None:
            self._resource = raw.SummaryWriter(shared_name=shared_name)
            add_to_collection(_WRITERS, init(self._resource))

    def set_as_default(self) -> None:
        """Summaries of this thread go here from now on."""
        if self._init is not None:
            _state.writer = self

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Summaries made inside go here."""
        before = _state.writer
        self.set_as_default()
        try:
            yield self
        finally:
            _state.writer = before

    def init(self) -> Any:
        """Begins the file."""
        return None if self._init is None else self._init(self._resource)

    def flush(self) -> Any:
        return None if self._init is None else flush(self)

    def close(self) -> Any:
        """Flushes and ends the file."""
        if self._init is None:
            return None
        with control_dependencies([self.flush()]), device("cpu:0"):
            return raw.CloseSummaryWriter(self._resource)


def default_writer() -> SummaryWriter | None:
    """The writer that summaries of this thread go to, if there is one."""
    writer: SummaryWriter | None = _state.writer
    return writer


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer to `logdir`; writers of one name share a file. With None, nothing is written."""
    if logdir is None:
        return SummaryWriter(None, None)
    logdir = str(logdir)

    def init(resource: Tensor) -> Any:
        return raw.CreateSummaryFileWriter(
            resource,
            logdir,
            10 if max_queue is None else max_queue,
            120_000 if flush_millis is None else flush_millis,
            ".v2" if filename_suffix is None else filename_suffix,
        )

    with device("cpu:0"):
        return SummaryWriter("logdir:" + logdir if name is None else name, init)


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
        return SummaryWriter(name, init)


def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """`create_file_writer` under an older name."""
    logging.warning(
        "Deprecation Warning: create_summary_file_writer was renamed to create_file_writer"
    )
    return create_file_writer(*args, **kwargs)


def summary_writer_initializer_op() -> list[Any]:
    """The operations that begin the files of all writers of the graph."""
    return get_collection(_WRITERS)


def all_v2_summary_ops() -> list[Any]:
    """All operations of the graph that write summaries."""
    return get_collection(_OPS)


def initialize(graph: Any = None, session: Any = None) -> None:
    """Begins the files of all writers, and writes `graph` if one is given."""
    if _state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    run = getattr(session or get_default_session(), "run", None)
    if run is None:
        raise ValueError("session must be passed if no default session exists")
    run(summary_writer_initializer_op())
    if graph is None:
        return
    source = placeholder(dtypes.string)
    run(write_graph(source, 0), {source: _serialized(graph)})


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Makes written summaries readable by others."""
    writer = _state.writer if writer is None else writer
    if writer is None:
        return raw.NoOp()
    resource = writer._resource if isinstance(writer, SummaryWriter) else writer
    with device("cpu:0"):
        return raw.FlushSummaryWriter(resource, name=name)


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder for the summaries of an evaluation, by convention."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


# ---- summaries -----------------------------------------------------------------------------------


def _written(
    name: str, tensor: Any, family: str | None, make: Callable[[Any, str, str], Any]
) -> Any:
    """`make(writer, tag, scope)` where summaries are recorded, as a collected operation."""
    writer = _state.writer
    if writer is None:
        return raw.NoOp()
    outer = get_default_graph().get_name_scope()

    def record() -> Any:
        # A conditional has a scope of its own; the tag is that of the place of the call.
        inside = name_scope(f"{outer}/" if outer else None)
        with inside, summary_scope(name, family, values=[tensor]) as (tag, scope):
            with control_dependencies([make(writer._resource, tag, scope)]):
                return constant(True)

    with device("cpu:0"):
        recording = should_record_summaries()
        if isinstance(recording, Tensor):
            made = cond(recording, record, lambda: constant(False))
        else:
            made = record() if recording else constant(False)
        add_to_collection(_OPS, made)
    return made


def _step(step: Any) -> Any:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)


def generic(
    name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None
) -> Any:
    """Writes a whole tensor; the metadata says which plugin may show it."""
    serialized = "" if metadata is None else metadata
    if hasattr(metadata, "SerializeToString"):
        serialized = metadata.SerializeToString()
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteSummary(
            writer, _step(step), raw.Identity(tensor), tag, serialized, name=scope
        ),
    )  # fmt: skip


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number."""
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteScalarSummary(
            writer, _step(step), tag, raw.Identity(tensor), name=scope
        ),
    )  # fmt: skip


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes how the elements of a tensor are distributed."""
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteHistogramSummary(
            writer, _step(step), tag, raw.Identity(tensor), name=scope
        ),
    )  # fmt: skip


def image(
    name: str,
    tensor: Any,
    bad_color: Any = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes the first images of a batch."""
    color = [255, 0, 0, 255] if bad_color is None else bad_color
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteImageSummary(
            writer, _step(step), tag, raw.Identity(tensor),
            convert_to_tensor(color, dtypes.uint8), max_images=max_images, name=scope,
        ),
    )  # fmt: skip


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes the first sounds of a batch."""
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteAudioSummary(
            writer, _step(step), tag, raw.Identity(tensor), sample_rate,
            max_outputs=max_outputs, name=scope,
        ),
    )  # fmt: skip


def graph(param: Tensor, step: Any = None, name: str | None = None) -> Any:
    """Writes a graph, given as a tensor that holds a serialized GraphDef."""
    if not isinstance(param, Tensor):
        raise TypeError(
            f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}"
        )
    if _state.writer is None:
        return raw.NoOp()
    with device("cpu:0"):
        return raw.WriteGraphSummary(
            _state.writer._resource, _step(step), raw.Identity(param), name=name
        )


write_graph = graph  # for functions with a parameter of that name


def import_event(tensor: Any, name: str | None = None) -> Any:
    """Writes a serialized `Event`."""
    return raw.ImportEvent(_state.writer._resource, tensor, name=name)


def _serialized(graph: Any) -> bytes:
    message = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
    return message.SerializeToString()
