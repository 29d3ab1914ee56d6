"""tf.summary.FileWriter: summaries, graphs and logs become events, events go to a file."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Any, ClassVar

from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.summary_pb2 import Summary

from weft.core import compat
from weft.graph.graph import Graph, get_default_graph, name_scope
from weft.graph.meta_graph import create_meta_graph_def
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.event_writers import create_file_writer
from weft.lib.summary.plugin_asset import get_all_plugin_assets
from weft.lib.summary.summary_ops_v2 import import_event
from weft.ops.array.placeholders import placeholder_with_default
from weft.storage import file_io
from weft.storage.event_file_writer import EventFileWriter

# The byte that announces the metadata of a value: a serialized summary without it has none.
_METADATA = bytes([Summary.Value.METADATA_FIELD_NUMBER << 3 | 2])


class SummaryToEventTransformer:
    """Wraps what is to be written in events, and hands them to an event writer."""

    def __init__(self, event_writer: Any, graph: Any = None, graph_def: Any = None) -> None:
        self.event_writer = event_writer
        self._session_run_tags: set[str] = set()
        self._seen_summary_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            as_def = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
            self.add_meta_graph(create_meta_graph_def(graph_def=graph_def or as_def))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Adds a `Summary`, as a message or serialized (as summary operations give it).

        None, which a step gives that runs no summary, adds an event without one. Metadata is
        written with the first value of each tag only.
        """
        if isinstance(summary, bytes) and _METADATA not in summary:
            event = Event()
            event.summary.ParseFromString(summary)
        else:
            summary = Summary.FromString(summary) if isinstance(summary, bytes) else summary
            if summary is not None:
                self._strip_metadata(summary)
            event = Event(summary=summary)
        self._add_event(event, global_step)

    def _strip_metadata(self, summary: Any) -> None:
        for value in summary.value:
            if value.HasField("metadata"):
                if value.tag in self._seen_summary_tags:
                    value.ClearField("metadata")
                self._seen_summary_tags.add(value.tag)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Adds a `SessionLog`: that a session started, stopped, or saved a checkpoint."""
        self._add_event(Event(session_log=session_log), global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a graph, for TensorBoard to draw."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if isinstance(given, Graph):
            if graph is None:
                logging.warning(
                    "When passing a `Graph` object, please use the `graph` named argument instead "
                    "of `graph_def`."
                )
            self._write_plugin_assets(given)
            given = given.as_graph_def(add_shapes=True)
        elif isinstance(given, GraphDef):
            logging.warning(
                "Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object "
                "instead, such as `sess.graph`."
            )
        else:
            raise TypeError(
                "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`"
            )
        self._add_event(Event(graph_def=given.SerializeToString()), global_step)

    def _write_plugin_assets(self, graph: Graph) -> None:
        for asset in get_all_plugin_assets(graph):
            folder = os.path.join(self.event_writer.get_logdir(), "plugins", asset.plugin_name)
            file_io.makedirs(folder)
            for name, content in asset.assets().items():
                file_io.write_string_to_file(os.path.join(folder, name), content)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Adds a `MetaGraphDef`."""
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        self._add_event(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Adds what `session.run` told about a step; each tag can be used once."""
        if tag in self._session_run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._session_run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add_event(Event(tagged_run_metadata=tagged), global_step)

    def _add_event(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self._open_writer().add_event(event)

    def _open_writer(self) -> Any:
        return self.event_writer


class SessionEventWriter:
    """Writes events by operations of a session, to a file that others of the session share."""

    def __init__(
        self, session: Any, logdir: Any, max_queue: int, flush_secs: float, suffix: str | None
    ) -> None:
        self._session = session
        self._logdir = compat.as_str_any(compat.path_to_str(logdir))
        self._closed = False
        with session.graph.as_default(), name_scope("filewriter"):
            writer = create_file_writer(self._logdir, max_queue, int(flush_secs * 1000), suffix)
            with writer.as_default():
                self._event = placeholder_with_default("unused", shape=[])
                self._add_op = import_event(self._event)
            self._init_op, self._flush_op, self._close_op = (
                writer.init(), writer.flush(), writer.close(),
            )  # fmt: skip
        session.run(self._init_op)

    def get_logdir(self) -> str:
        return self._logdir

    def reopen(self) -> None:
        if self._closed:
            self._closed = False
            self._session.run(self._init_op)

    def add_event(self, event: Any) -> None:
        if not self._closed:
            self._session.run(self._add_op, {self._event: event.SerializeToString()})

    def flush(self) -> None:
        self._session.run(self._flush_op)

    def close(self) -> None:
        if not self._closed:
            self._session.run(self._close_op)
            self._closed = True


class FileWriter(SummaryToEventTransformer):
    """Writes summaries and other events to a file in `logdir`, for TensorBoard to show.

    No event waits longer than `flush_secs` until it can be read by others. With a `session`, all
    writers of that session and directory share one file, also with `tf.contrib.summary`.

    Args:
        logdir: the folder; it is made if need be.
        graph: a graph to show in TensorBoard.
        max_queue: events that may wait before `add_summary` waits too.
        flush_secs: see above.
        graph_def: an older way to give the graph.
        filename_suffix: comes at the end of the file's name.
        session: see above.

    Example:
        >>> with tf.summary.FileWriter("./logs") as writer:
        ...     writer.add_summary(session.run(tf.summary.scalar("loss", 0.5)), global_step=1)
        >>> len(tf.gfile.Glob("./logs/events.out.tfevents.*"))
        1
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        given = (logdir, max_queue, flush_secs, filename_suffix)
        writer = EventFileWriter(*given) if session is None else SessionEventWriter(session, *given)
        self._closed = False
        super().__init__(writer, graph, graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        return self.event_writer.get_logdir()

    def _open_writer(self) -> Any:
        """The writer of events; warns if it is closed and will not write them."""
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=3,
            )
        return self.event_writer

    def add_event(self, event: Any) -> None:
        """Adds an `Event` as it is."""
        self._open_writer().add_event(event)

    def flush(self) -> None:
        """Makes what was added readable by others."""
        self._open_writer().flush()

    def close(self) -> None:
        """Writes what is left and ends the file."""
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """After `close`: what is added from now on goes to a new file."""
        self.event_writer.reopen()
        self._closed = False


class FileWriterCache:
    """One writer for each directory, made when it is first asked for."""

    _cache: ClassVar[dict[Any, FileWriter]] = {}
    _lock = threading.RLock()

    @classmethod
    def clear(cls) -> None:
        """Closes and forgets them all."""
        with cls._lock:
            while cls._cache:
                _, writer = cls._cache.popitem()
                writer.close()

    @classmethod
    def get(cls, logdir: Any) -> FileWriter:
        with cls._lock:
            if logdir not in cls._cache:
                cls._cache[logdir] = FileWriter(logdir, get_default_graph())
            return cls._cache[logdir]
